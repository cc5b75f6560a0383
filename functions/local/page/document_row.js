/** One file in the list of documents: its name, how far it is, or what is wrong with it and what to do. */

import { Problem } from './api.js';
import { h, iconButton } from './dom.js';
import { languageOf, lookup, t } from './i18n.js';
import { problemBox } from './problems.js';

/** @typedef {import('./types.js').Document} Document */
/** @typedef {import('./uploads.js').Upload} Upload */

export class DocumentRow {
  /** @param {{read: (document: Document) => void, remove: (item: Document | Upload) => void}} actions */
  constructor(actions) {
    this.actions = actions;
    this.element = h('li', { class: 'document' });
    this.made = '';
  }

  /** @param {Document | Upload} item */
  update(item) {
    const made = JSON.stringify([item, 'problem' in item && item.problem?.detail]);
    if (made === this.made) return;
    this.made = made;
    this.element.dataset.status = item.status;
    this.element.dataset.path = item.path;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.replaceChildren(h('div', { class: 'document-body' }, this.#name(item), ...state(item)), this.#button(item));
    if (hadFocus) this.element.querySelector('button')?.focus();
  }

  /** @param {Problem} problem */
  fail(problem) {
    this.element.firstElementChild?.append(problemBox(problem));
  }

  /** @param {Document | Upload} item */
  #name(item) {
    if (!('document_id' in item)) return h('span', { class: 'document-title' }, item.path);
    const { title, path, status } = item;
    const label = title || path;
    const name =
      status === 'ready'
        ? h('button', { type: 'button', class: 'document-title', title: t('documents.open', { title: label }), onclick: () => this.actions.read(item) }, label)
        : h('span', { class: 'document-title' }, label);
    name.lang = languageOf(label);
    return h('div', {}, name, label !== path && h('span', { class: 'document-path' }, path));
  }

  /** @param {Document | Upload} item */
  #button(item) {
    if (item.status === 'uploading') return '';
    const title = 'title' in item ? item.title || item.path : item.path;
    return 'document_id' in item
      ? iconButton('trash', t('documents.delete', { title }), () => this.actions.remove(item))
      : iconButton('close', t('documents.dismiss', { title }), () => this.actions.remove(item));
  }
}

/**
 * @param {Document | Upload} item
 * @returns {Node[]}
 */
function state(item) {
  if ('problem' in item && item.problem) return [status(item.status), problemBox(item.problem)];
  if (!('document_id' in item)) return [status(item.status), h('progress', { 'aria-label': t('status.uploading') })];
  const { stage, progress, error, warnings, passages } = item;
  const stageName = stage && (lookup(`stage.${stage}`) ?? stage);
  return [
    status(item.status, item.status === 'processing' ? stageName : item.status === 'ready' && t('documents.passages', { n: passages })),
    (item.status === 'processing' || item.status === 'pending') &&
      h('progress', { max: 1, value: progress ?? (item.status === 'pending' ? 0 : null), 'aria-label': t(`status.${item.status}`) }),
    error && problemBox(new Problem({ code: error.code, detail: error.message, remedy: error.remedy })),
    warnings?.length > 0 && h('ul', { class: 'document-warnings', 'aria-label': t('documents.warnings'), lang: 'en' }, ...warnings.map((warning) => h('li', {}, warning))),
  ].filter((node) => node instanceof Node);
}

/**
 * @param {'uploading' | 'pending' | 'processing' | 'ready' | 'failed'} name
 * @param {string | false | undefined} [detail]
 */
function status(name, detail) {
  return h('span', { class: 'document-status', 'data-status': name }, [t(`status.${name}`), detail].filter(Boolean).join(' · '));
}
