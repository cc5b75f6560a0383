/** Files on their way to the server, a few at a time. */

import { announce } from './announcer.js';
import { Problem, upload } from './api.js';
import { t } from './i18n.js';
import { asProblem, summary } from './problems.js';

/** @typedef {{path: string, status: 'uploading' | 'failed', problem?: Problem}} Upload */

const AT_ONCE = 3;

export class Uploads {
  /** @type {Map<string, Upload>} By path: on their way, or refused. */
  #uploads = new Map();
  /** @type {import('./drop.js').Dropped[]} */
  #queue = [];
  #running = 0;

  /**
   * @param {object} on
   * @param {(document: import('./types.js').Document) => void} on.arrived
   * @param {() => void} on.changed
   */
  constructor(on) {
    this.on = on;
  }

  /** @returns {Upload[]} */
  get all() {
    return [...this.#uploads.values()];
  }

  /** @param {import('./drop.js').Dropped[]} files */
  add(files) {
    for (const { path } of files) this.#uploads.set(path, { path, status: 'uploading' });
    this.#queue.push(...files);
    this.on.changed();
    while (this.#running < AT_ONCE && this.#queue.length) this.#next();
  }

  /** @param {string} path Of a file that was refused: it is not to be seen any more. */
  dismiss(path) {
    this.#uploads.delete(path);
    this.on.changed();
  }

  async #next() {
    const next = this.#queue.shift();
    if (!next) return;
    const { file, path } = next;
    this.#running += 1;
    try {
      const document = await upload(file, path);
      this.#uploads.delete(path);
      this.on.arrived(document);
    } catch (error) {
      const problem = asProblem(error);
      this.#uploads.set(path, { path, status: 'failed', problem });
      announce(t('documents.announce.failed', { title: path, message: summary(problem) }));
    }
    this.#running -= 1;
    this.on.changed();
    this.#next();
  }
}
