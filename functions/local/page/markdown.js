/**
 * Markdown to elements, footnote markers to buttons.
 *
 * The parser's tokens become elements one by one and no HTML string is ever parsed, so neither a document nor an answer
 * can bring markup, styles or scripts with it.
 */

import { Markers } from './markers.js';
import MarkdownIt from './vendor/markdown-it.esm.min.mjs';

/** @typedef {import('./types.js').Citation} Citation */
/** @typedef {{type: string, tag: string, nesting: number, content: string, info: string, hidden: boolean, level: number,
 *   attrs: [string, string][] | null, children: Token[] | null, meta: any}} Token */

const TAGS = new Set(
  ['p', 'strong', 'em', 's', 'ul', 'ol', 'li', 'blockquote', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'a', 'br', 'hr'].concat(
    ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  ),
);
/** Answers stand below the h2 of their question. */
const HEADINGS_DOWN = 2;
/** A word, or one character of a script that breaks lines anywhere, and the punctuation after it. */
const WORD_AT_END = /(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{Script=Latin}\p{N}]{1,16})?\p{P}{0,4}$/u;
const OUTSIDE = /^(https?:|mailto:)/i;

const markdown = MarkdownIt({ html: false, linkify: true });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
markdown.validateLink = (/** @type {string} */ url) => OUTSIDE.test(url.trim());

/**
 * @param {string} text
 * @returns {Node[]}
 */
export function render(text) {
  return renderAnswer(text, [], () => document.createTextNode(''));
}

/**
 * @param {string} answer
 * @param {Citation[]} citations
 * @param {(citation: Citation) => Node} button Makes what stands where the marker stood.
 * @returns {Node[]}
 */
export function renderAnswer(answer, citations, button) {
  const markers = new Markers(answer);
  const byNumber = new Map(citations.map((citation) => [String(citation.number), citation]));
  const root = document.createElement('div');
  const writer = new Writer(root, markers, (number) => {
    const citation = byNumber.get(number);
    return citation ? button(citation) : document.createTextNode(`[${number}]`);
  });
  writer.write(markdown.parse(markers.place(answer, citations), {}));
  return Array.from(root.childNodes);
}

/** Builds elements from tokens, innermost last. */
class Writer {
  /**
   * @param {Element} root
   * @param {Markers} markers
   * @param {(number: string) => Node} footnote
   */
  constructor(root, markers, footnote) {
    this.open = [root];
    this.markers = markers;
    this.footnote = footnote;
    /** @type {Node[]} A button cannot stand in a link: it follows it. */
    this.afterLink = [];
  }

  get parent() {
    return this.open[this.open.length - 1];
  }

  /** @param {Token[]} tokens */
  write(tokens) {
    for (const token of tokens) {
      if (token.children && token.type === 'inline') this.write(token.children);
      else if (token.nesting === 1) this.#begin(token);
      else if (token.nesting === -1) this.#end(token);
      else this.#leaf(token);
    }
  }

  /** @param {Token} token */
  #begin(token) {
    const element = token.hidden ? this.parent : this.#element(token);
    if (element !== this.parent) this.parent.append(element);
    this.open.push(element);
  }

  /** @param {Token} token */
  #end(token) {
    this.open.pop();
    if (token.tag !== 'a') return;
    for (const footnote of this.afterLink) appendToWord(this.parent, footnote);
    this.afterLink = [];
  }

  /**
   * @param {Token} token
   * @returns {Element}
   */
  #element({ tag, attrs }) {
    const name = /^h[1-6]$/.test(tag) ? `h${Math.min(6, Number(tag[1]) + HEADINGS_DOWN)}` : tag;
    const element = document.createElement(TAGS.has(tag) ? name : 'span');
    const values = new Map(attrs ?? []);
    if (tag === 'a') link(element, this.markers.restore(values.get('href') ?? ''));
    if (tag === 'ol' && values.has('start')) element.setAttribute('start', String(values.get('start')));
    const align = /text-align:(left|center|right)/.exec(values.get('style') ?? '');
    if (align) element.className = `align-${align[1]}`;
    return element;
  }

  /** @param {Token} token */
  #leaf(token) {
    if (token.type === 'softbreak') this.parent.append('\n');
    else if (token.tag === 'br' || token.tag === 'hr') this.parent.append(document.createElement(token.tag));
    else if (token.type === 'code_inline') this.parent.append(this.#code(token.content));
    else if (token.type === 'fence' || token.type === 'code_block') {
      const block = document.createElement('pre');
      block.tabIndex = 0; // it scrolls sideways, by keyboard too
      block.append(this.#code(token.content));
      this.parent.append(block);
    } else if (token.type === 'image') this.#image(token);
    else this.#text(token.content);
  }

  /** @param {string} content */
  #code(content) {
    const code = document.createElement('code');
    code.textContent = this.markers.restore(content);
    return code;
  }

  /**
   * An image is never loaded: a link to it stands in its place.
   * @param {Token} token
   */
  #image(token) {
    const address = this.markers.restore(new Map(token.attrs ?? []).get('src') ?? '');
    const inLink = this.open.some((element) => element.tagName === 'A');
    const element = document.createElement(inLink ? 'span' : 'a');
    if (!inLink) link(element, address);
    element.textContent = this.markers.restore(token.content) || address;
    this.parent.append(element);
  }

  /** @param {string} content */
  #text(content) {
    const inLink = this.open.some((element) => element.tagName === 'A');
    content.split(this.markers.split).forEach((piece, index) => {
      if (index % 2 === 0) this.parent.append(piece);
      else if (inLink) this.afterLink.push(this.footnote(piece));
      else appendToWord(this.parent, this.footnote(piece));
    });
  }
}

/**
 * Append a footnote so that no line begins with it: a button breaks lines as no character would.
 * @param {Element} parent
 * @param {Node} footnote
 */
function appendToWord(parent, footnote) {
  const last = parent.lastChild;
  if (last instanceof HTMLElement && last.className === 'no-break') {
    last.append(footnote);
    return;
  }
  const word = document.createElement('span');
  word.className = 'no-break';
  if (last instanceof Text) {
    const text = last.data.trimEnd(); // models like to put a space between a sentence and its marker
    const tail = WORD_AT_END.exec(text)?.[0] ?? '';
    last.data = text.slice(0, text.length - tail.length);
    word.append(tail);
  }
  word.append(footnote);
  parent.append(word);
}

/**
 * @param {Element} element
 * @param {string} address
 */
function link(element, address) {
  if (!OUTSIDE.test(address)) return;
  element.setAttribute('href', address);
  element.setAttribute('rel', 'noopener noreferrer nofollow');
  element.setAttribute('target', '_blank');
}
