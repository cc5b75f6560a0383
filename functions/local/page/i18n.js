/** The language of the interface. Every text that the page itself says is in `texts_en.js` and `texts_zh.js`. */

import { en } from './texts_en.js';
import { zh } from './texts_zh.js';

const STORED = 'footnote.language';

const TEXTS = { en, 'zh-Hans': zh };

/** @typedef {keyof typeof TEXTS} Language */
/** @typedef {keyof typeof en} Key */

/** Languages of the interface and what they call themselves. */
export const LANGUAGES = /** @type {[Language, string][]} */ (
  Object.entries(TEXTS).map(([tag, texts]) => [tag, texts.language])
);

/** @type {Set<() => void>} */
const listeners = new Set();
/** @type {Language} */
let current = preferred();

/** @returns {Language} What was chosen before, else what the browser prefers. */
function preferred() {
  let stored = null;
  try {
    stored = localStorage.getItem(STORED);
  } catch {
    // storage can be forbidden; the choice then lasts as long as the page
  }
  if (stored && Object.hasOwn(TEXTS, stored)) return /** @type {Language} */ (stored);
  for (const tag of navigator.languages ?? [navigator.language]) {
    if (/^zh\b/i.test(tag)) return 'zh-Hans';
    if (/^en\b/i.test(tag)) return 'en';
  }
  return 'en';
}

/** @returns {Language} The tag of the interface's language. */
export function language() {
  return current;
}

/** @param {Language} tag */
export function setLanguage(tag) {
  current = tag;
  try {
    localStorage.setItem(STORED, tag);
  } catch {
    // as above
  }
  listeners.forEach((listener) => listener());
}

/** @param {() => void} listener Called after each change of language. */
export function onLanguage(listener) {
  listeners.add(listener);
}

/**
 * @param {Key} key
 * @param {Record<string, any>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = TEXTS[current][key];
  return typeof text === 'function' ? text(values) : text;
}

/**
 * A text whose key is made from data, for example of an error's code.
 * @param {string} key
 * @returns {string | null} null where there is none
 */
export function lookup(key) {
  return Object.hasOwn(en, key) ? t(/** @type {Key} */ (key)) : null;
}

/** Fill in the fixed texts of the document: `data-text`, `data-label` (its accessible name), `data-placeholder`. */
export function translate() {
  document.documentElement.lang = current;
  document.querySelector('meta[name=description]')?.setAttribute('content', t('description'));
  for (const [attribute, write] of /** @type {[string, (element: Element, text: string) => void][]} */ ([
    ['data-text', (element, text) => (element.textContent = text)],
    ['data-label', (element, text) => element.setAttribute('aria-label', text)],
    ['data-placeholder', (element, text) => element.setAttribute('placeholder', text)],
  ])) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
      write(element, t(/** @type {Key} */ (element.getAttribute(attribute))));
    }
  }
}

/**
 * The language that a text is probably written in, so that it is read aloud and set in type as such.
 * @param {string} text
 * @returns {string}
 */
export function languageOf(text) {
  const count = (/** @type {RegExp} */ script) => text.match(script)?.length ?? 0;
  const han = count(/\p{Script=Han}/gu);
  if (count(/\p{Script=Hangul}/gu) > han) return 'ko';
  if (count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu) * 4 > han && han) return 'ja';
  // a Chinese sentence about `docs_url=None` has more Latin letters than Han characters in it
  return han * 3 > count(/\p{Script=Latin}/gu) ? 'zh-Hans' : 'en';
}
