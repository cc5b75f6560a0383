/** Footnote markers, carried through Markdown to exactly where `at` says they are. */

/** @typedef {import('./types.js').Citation} Citation */

/**
 * What stands for the markers while Markdown is read: `｜`, a character that the text does not have, the number, `｜`.
 * To Markdown `｜` is punctuation, as `[` was, so emphasis around it ends where it did; and no web address contains it.
 */
export class Markers {
  /** @param {string} answer */
  constructor(answer) {
    let sign = 0xe000;
    while (answer.includes(String.fromCharCode(sign))) sign += 1;
    this.sign = String.fromCharCode(sign);
    const anywhere = `[｜]${this.sign}(\\d+)[｜]`;
    this.split = new RegExp(anywhere, 'u');
    this.every = new RegExp(`${anywhere}|${encodeURIComponent('｜' + this.sign)}(\\d+)${encodeURIComponent('｜')}`, 'gu');
  }

  /**
   * @param {string} answer
   * @param {Citation[]} citations
   * @returns {string} The answer with each marker that `at` names replaced.
   */
  place(answer, citations) {
    const points = Array.from(answer);
    for (const { number, at } of citations) {
      for (const start of at) {
        const marker = Array.from(`[${number}]`);
        if (points.slice(start, start + marker.length).join('') !== marker.join('')) continue;
        points.fill('', start, start + marker.length);
        points[start] = `｜${this.sign}${number}｜`;
      }
    }
    return points.join('');
  }

  /**
   * @param {string} text
   * @returns {string} As it was, where a button cannot stand: in code and in addresses.
   */
  restore(text) {
    return text.replace(this.every, (_, plain, encoded) => `[${plain ?? encoded}]`);
  }
}
