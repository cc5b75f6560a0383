/** A document's extracted text, put together from its overlapping passages. Offsets count Unicode code points. */

import { passagesOf } from './api.js';

/** @typedef {import('./types.js').Passage} Passage */

export class Extract {
  /** @param {string} documentId */
  constructor(documentId) {
    this.documentId = documentId;
    /** @type {string[]} Code points as they are shown. */
    this.points = [];
    /** @type {{from: number, shift: number}[]} From this offset on, what is shown stands `shift` further than the offset says. */
    this.shifts = [{ from: 0, shift: 0 }];
    /** How far the text has been put together. */
    this.end = 0;
    /** @type {string | null} */
    this.cursor = null;
    this.isWhole = false;
  }

  /**
   * @param {string} documentId
   * @param {number} offset
   * @returns {Promise<Extract>} The text from its beginning to past the offset at least.
   */
  static async until(documentId, offset) {
    const extract = new Extract(documentId);
    do await extract.#more();
    while (!extract.isWhole && extract.end <= offset);
    return extract;
  }

  /** @returns {Promise<string>} What is still missing, to the end. */
  async rest() {
    const shown = this.points.length;
    while (!this.isWhole) await this.#more();
    return this.points.slice(shown).join('');
  }

  async #more() {
    const { passages, next_cursor } = await passagesOf(this.documentId, this.cursor);
    passages.forEach((passage) => this.#add(passage));
    this.cursor = next_cursor;
    this.isWhole = next_cursor === null;
  }

  /**
   * Take what a passage adds. Between passages only white space is left out: a blank line stands for it.
   * @param {Passage} passage
   */
  #add({ start, end, text }) {
    if (end <= this.end) return;
    if (start > this.end) {
      const gap = this.points.length === 0 ? '' : '\n'.repeat(Math.min(2, start - this.end));
      this.points.push(...gap);
      this.shifts.push({ from: start, shift: this.points.length - start });
    }
    for (const point of Array.from(text).slice(Math.max(0, this.end - start))) this.points.push(point);
    this.end = end;
  }

  /**
   * @param {number} offset
   * @returns {number} Where in `points` it is.
   */
  #at(offset) {
    let shift = 0;
    for (const step of this.shifts) if (step.from <= offset) shift = step.shift;
    return offset + shift;
  }

  /**
   * @param {number} start
   * @param {number} end
   * @returns {string} The text from start to end.
   */
  slice(start, end) {
    return this.points.slice(this.#at(start), this.#at(end)).join('');
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  around(start, end) {
    return {
      before: this.points.slice(0, this.#at(start)).join(''),
      marked: this.slice(start, end),
      after: this.points.slice(this.#at(end)).join(''),
    };
  }
}
