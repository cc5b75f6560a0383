/** The source of a footnote: the document's text, opened at the exact words. */

import { Problem, sourceOf } from './api.js';
import { h, icon, iconButton } from './dom.js';
import { languageOf, t } from './i18n.js';
import { asProblem, problemBox } from './problems.js';
import { Extract } from './extract.js';

/** @typedef {import('./types.js').Citation} Citation */
/** @typedef {{document_id: string, title: string}} Titled */

export class Sources {
  /** @param {import('./panel.js').Panel} panel */
  constructor(panel) {
    this.panel = panel;
    /** What was opened last: an answer that comes late is not shown any more. */
    this.opened = {};
  }

  /**
   * Open the source of a footnote.
   * @param {Citation[]} citations All of the answer, to go on to.
   * @param {Citation} citation
   */
  async open(citations, citation) {
    const body = h('div', { class: 'source-body' }, quoted(citation), h('p', { class: 'quiet' }, t('source.loading')));
    const isCurrent = this.#show(citation, [this.#steps(citations, citation), place(citation), body]);
    try {
      const extract = await Extract.until(citation.document_id, citation.end);
      if (!isCurrent()) return;
      if (extract.slice(citation.start, citation.end) === citation.quote) showText(body, extract, citation);
      else body.replaceChildren(h('p', { class: 'source-note' }, t('source.changed')), quoted(citation));
    } catch (error) {
      if (isCurrent()) body.replaceChildren(...lost(error, citation));
    }
  }

  /**
   * Open a document at its beginning.
   * @param {Titled} document
   * @param {() => void} back
   */
  async read(document, back) {
    const body = h('div', { class: 'source-body' }, h('p', { class: 'quiet' }, t('source.loading')));
    const isCurrent = this.#show(document, [place(document), body], back);
    try {
      const extract = await Extract.until(document.document_id, 0);
      if (isCurrent()) showText(body, extract, null);
    } catch (error) {
      if (isCurrent()) body.replaceChildren(problemBox(asProblem(error)));
    }
  }

  /**
   * @param {Titled} document
   * @param {Node[]} content
   * @param {() => void} [back]
   * @returns {() => boolean} Whether it is still what the panel shows.
   */
  #show({ title }, content, back) {
    const opened = {};
    this.opened = opened;
    this.panel.open('source', title, content, { lang: languageOf(title), back });
    return () => this.opened === opened && this.panel.kind === 'source';
  }

  /**
   * @param {Citation[]} citations
   * @param {Citation} citation
   */
  #steps(citations, citation) {
    const index = citations.findIndex(({ number }) => number === citation.number);
    /** @type {(name: 'previous' | 'next', to: Citation | undefined) => Node} */
    const step = (name, to) => iconButton(name, t(`source.${name}`), () => to && this.open(citations, to), { disabled: !to });
    return h(
      'div',
      { class: 'source-steps' },
      h('span', { class: 'marker-still' }, citation.number),
      h('span', {}, t('source.place', { number: citation.number, count: citations.length })),
      step('previous', citations[index - 1]),
      step('next', citations[index + 1]),
    );
  }
}

/** @param {Titled & {heading?: string, page?: number}} source */
function place({ document_id, title, heading, page }) {
  const parts = [heading, page != null && t('page', { n: page })].filter(Boolean);
  return h(
    'div',
    { class: 'source-place' },
    parts.length > 0 && h('p', { class: 'source-heading', lang: languageOf(heading ?? title) }, parts.join(' · ')),
    h('a', { class: 'source-file', href: sourceOf(document_id), download: true }, icon('download'), t('source.file')),
  );
}

/** @param {Citation} citation */
function quoted({ quote }) {
  return h('blockquote', { class: 'source-quote', lang: languageOf(quote) }, h('mark', {}, quote));
}

/**
 * @param {unknown} error
 * @param {Citation} citation
 */
function lost(error, citation) {
  const isGone = error instanceof Problem && error.code === 'not_found';
  return [isGone ? h('p', { class: 'source-note' }, t('source.gone')) : problemBox(asProblem(error)), quoted(citation)];
}

/**
 * @param {HTMLElement} body
 * @param {Extract} extract
 * @param {Citation | null} citation What is highlighted and scrolled to.
 */
function showText(body, extract, citation) {
  const { before, marked, after } = citation ? extract.around(citation.start, citation.end) : extract.around(0, 0);
  const mark = h('mark', {}, marked);
  const text = h(
    'div',
    { class: 'source-text', role: 'document', tabindex: 0, 'aria-label': t('source.text'), lang: languageOf(after + before) },
    before,
    marked ? mark : null,
    after,
  );
  const more = h('button', { type: 'button', class: 'button' }, t('source.more'));
  more.addEventListener('click', async () => {
    more.disabled = true;
    try {
      text.append(await extract.rest());
      more.remove();
      text.focus();
    } catch (error) {
      body.append(problemBox(asProblem(error)));
      more.disabled = false;
    }
  });
  body.replaceChildren(text, ...(extract.isWhole ? [] : [more]));
  if (marked) mark.scrollIntoView({ block: 'center' });
}
