/** The documents: uploads, what becomes of each file, deleting. */

import { announce } from './announcer.js';
import { deleteDocument, listDocuments } from './api.js';
import { confirmed } from './confirm.js';
import { DocumentRow } from './document_row.js';
import { find, h, icon } from './dom.js';
import { onLanguage, t } from './i18n.js';
import { asProblem } from './problems.js';
import { Uploads } from './uploads.js';

/** @typedef {import('./types.js').Document} Document */
/** @typedef {import('./uploads.js').Upload} Upload */

const POLL_MS = { working: 1_000, watched: 5_000, idle: 20_000 };
/** From this many documents on there is a field to find one by name. */
const MANY = 8;
const ORDER = { uploading: 0, processing: 1, pending: 2, failed: 3, ready: 4 };

export class Documents {
  /** @type {Map<string, Document>} By id. */
  #documents = new Map();
  #uploads = new Uploads({ arrived: (document) => this.#arrived(document), changed: () => this.#show() });
  /** @type {Map<string, DocumentRow>} */
  #rows = new Map();
  /** @type {Set<string>} Ids of documents uploaded here: they are listed first. */
  #own = new Set();
  /** @type {Set<string>} Those of them whose end is still to be announced. */
  #awaited = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {import('./panel.js').Panel} panel
   * @param {import('./sources.js').Sources} sources
   */
  constructor(panel, sources) {
    this.panel = panel;
    this.sources = sources;
    /** @type {() => void} Called whenever the counts may have changed. */
    this.onchange = () => {};
    this.button = find('#documents-button');
    this.button.addEventListener('click', () => (panel.kind === 'documents' ? panel.close() : this.open()));
    this.input = /** @type {HTMLInputElement} */ (find('#files'));
    this.input.addEventListener('change', () => {
      this.add([...(this.input.files ?? [])].map((file) => ({ file, path: file.name })));
      this.input.value = '';
    });
    this.counts = h('p', { class: 'documents-counts' });
    this.list = h('ul', { class: 'documents-list' });
    this.search = h('input', { type: 'search', class: 'field documents-search', oninput: () => this.#show() });
    this.drop = h('p');
    this.choose = h('button', { type: 'button', class: 'button button-primary', onclick: () => this.input.click() });
    onLanguage(() => this.#translate());
    this.#translate();
  }

  /** @returns {{ready: number, unfinished: number, failed: number, total: number}} How many documents there are. */
  get tally() {
    const tally = { ready: 0, unfinished: 0, failed: 0, total: this.#documents.size };
    for (const { status } of this.#documents.values()) {
      if (status === 'ready' || status === 'failed') tally[status] += 1;
      else tally.unfinished += 1;
    }
    return tally;
  }

  open() {
    const zone = h('div', { class: 'dropzone' }, icon('upload'), this.drop, this.choose);
    this.panel.open('documents', t('documents'), [zone, this.counts, this.search, this.list]);
    this.refresh();
  }

  /** @param {import('./drop.js').Dropped[]} files */
  add(files) {
    if (!files.length) return;
    if (this.panel.kind !== 'documents') this.open();
    this.#uploads.add(files);
  }

  /** @param {Document} document As the server has just taken it. */
  #arrived(document) {
    this.#documents.set(document.document_id, document);
    this.#own.add(document.document_id);
    this.#awaited.add(document.document_id);
    this.#schedule(POLL_MS.working);
  }

  /** Ask the server how the documents are, and again after a while. */
  async refresh() {
    clearTimeout(this.#timer);
    try {
      const documents = await listDocuments();
      this.#documents = new Map(documents.map((document) => [document.document_id, document]));
      this.#tell();
      this.#show();
    } catch {
      // the banner says that the server is away; the next round finds it back
    }
    const { unfinished } = this.tally;
    this.#schedule(unfinished ? POLL_MS.working : this.panel.kind === 'documents' ? POLL_MS.watched : POLL_MS.idle);
  }

  /** @param {number} ms */
  #schedule(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (document.hidden ? this.#schedule(ms) : this.refresh()), ms);
  }

  #tell() {
    for (const id of this.#awaited) {
      const document = this.#documents.get(id);
      if (document?.status !== 'ready' && document?.status !== 'failed') continue;
      this.#awaited.delete(id);
      const { title, error } = document;
      announce(error ? t('documents.announce.failed', { title, message: error.message }) : t('documents.announce.ready', { title }));
    }
  }

  #show() {
    const tally = this.tally;
    const badge = find('#documents-count');
    badge.textContent = tally.total ? String(tally.total) : '';
    badge.dataset.working = String(tally.unfinished > 0);
    this.counts.textContent = tally.total ? t('documents.counts', tally) : this.#uploads.all.length ? '' : t('documents.none');
    this.search.hidden = tally.total < MANY;
    const wanted = this.search.hidden ? '' : this.search.value.toLowerCase();
    const shown = [...this.#uploads.all, ...this.#documents.values()]
      .filter((item) => `${item.path}\n${'title' in item ? item.title : ''}`.toLowerCase().includes(wanted))
      .sort((a, b) => this.#rank(a) - this.#rank(b) || a.path.localeCompare(b.path));
    this.#arrange(shown.map((item) => this.#row(item)));
    this.onchange();
  }

  /**
   * @param {Document | Upload} item
   * @returns {number} Where in the list it belongs: what moves first, what was uploaded here before what was not.
   */
  #rank(item) {
    const isOwn = 'document_id' in item && this.#own.has(item.document_id);
    return ORDER[item.status] - (isOwn ? 0.5 : 0);
  }

  /**
   * @param {Document | Upload} item
   * @returns {HTMLElement} Its row, brought up to date.
   */
  #row(item) {
    const key = 'document_id' in item ? item.document_id : item.path;
    const row = this.#rows.get(key) ?? new DocumentRow({ read: (document) => this.#read(document), remove: (what) => this.#remove(what) });
    this.#rows.set(key, row);
    row.update(item);
    return row.element;
  }

  /**
   * Put the rows in order, moving only those that must move: a moved element loses the focus.
   * @param {HTMLElement[]} rows
   */
  #arrange(rows) {
    const focused = document.activeElement;
    rows.forEach((row, index) => this.list.children[index] === row || this.list.insertBefore(row, this.list.children[index] ?? null));
    while (this.list.children.length > rows.length) this.list.lastElementChild?.remove();
    if (focused instanceof HTMLElement && this.list.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** @param {Document} document */
  #read(document) {
    this.sources.read(document, () => this.open());
  }

  /** @param {Document | Upload} item */
  async #remove(item) {
    if (!('document_id' in item)) {
      this.#uploads.dismiss(item.path);
      this.panel.title.focus();
      return;
    }
    if (!(await confirmed(t('documents.delete.ask', { title: item.title })))) return;
    try {
      await deleteDocument(item.document_id);
      this.#documents.delete(item.document_id);
    } catch (error) {
      this.#rows.get(item.document_id)?.fail(asProblem(error));
      return;
    }
    this.#show();
    this.panel.title.focus();
  }

  #translate() {
    this.drop.textContent = t('documents.drop');
    this.choose.textContent = t('documents.choose');
    this.list.setAttribute('aria-label', t('documents.list'));
    this.search.setAttribute('aria-label', t('documents.find'));
    this.search.placeholder = t('documents.find');
    this.#rows.clear();
    this.#show();
    if (this.panel.kind === 'documents') this.open();
  }
}
