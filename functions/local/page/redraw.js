/** Draws what has changed with the next frame, however many changes come before it. */

/** @template Thing */
export class Redraw {
  /** @type {Map<Thing, boolean>} What has changed, and whether in a way that is news. */
  #changed = new Map();

  /** @param {(changed: Map<Thing, boolean>) => void} draw */
  constructor(draw) {
    this.draw = draw;
  }

  /**
   * @param {Thing} thing
   * @param {boolean} [isNews]
   */
  request(thing, isNews = false) {
    const isFirst = this.#changed.size === 0;
    this.#changed.set(thing, isNews || this.#changed.get(thing) === true);
    if (!isFirst) return;
    // a page in the background gets no frames, and must not fall behind for it
    if (document.hidden) setTimeout(() => this.#flush());
    else requestAnimationFrame(() => this.#flush());
  }

  #flush() {
    const changed = this.#changed;
    this.#changed = new Map();
    this.draw(changed);
  }
}
