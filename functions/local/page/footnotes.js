/** Footnotes: the markers in an answer and the list below it. */

import { h } from './dom.js';
import { languageOf, t } from './i18n.js';

/** @typedef {import('./types.js').Citation} Citation */

/**
 * @param {Citation} citation
 * @param {() => void} onclick
 * @returns {HTMLElement} What stands in the answer in place of `[1]`.
 */
export function marker(citation, onclick) {
  const label = t('footnote.open', citation);
  return h('sup', {}, h('button', { type: 'button', class: 'marker', 'aria-label': label, title: citation.title, onclick }, citation.number));
}

/**
 * @param {Citation[]} citations
 * @param {(citation: Citation) => void} open
 * @returns {HTMLElement}
 */
export function footnoteList(citations, open) {
  return h('ol', {}, ...citations.map((citation) => h('li', { value: citation.number }, footnote(citation, () => open(citation)))));
}

/**
 * @param {Citation} citation
 * @param {() => void} onclick
 */
function footnote({ number, title, heading, page, quote }, onclick) {
  const place = [heading, page != null && t('page', { n: page })].filter(Boolean).join(' · ');
  const lang = languageOf(quote);
  return h(
    'button',
    { type: 'button', class: 'footnote', onclick },
    h('span', { class: 'footnote-number', 'aria-hidden': 'true' }, number),
    h(
      'span',
      { class: 'footnote-body' },
      h('span', { class: 'footnote-title', lang }, title),
      place && h('span', { class: 'footnote-place', lang }, place),
      h('q', { class: 'footnote-quote', lang }, quote),
    ),
  );
}
