/** What a screen reader is told: progress that lasts, and each finished answer once. */

import { find } from './dom.js';

/** Stages shorter than this are not worth interrupting anybody for. */
const LASTING_MS = 1_200;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let pending;

/** @param {string} text */
export function announce(text) {
  clearTimeout(pending);
  const region = find('#announcer');
  region.textContent = '';
  // a change in the same task is not noticed as one
  setTimeout(() => (region.textContent = text), 50);
}

/** @param {string} text Said only if nothing else is to be said before it has lasted. */
export function announceLasting(text) {
  clearTimeout(pending);
  pending = setTimeout(() => announce(text), LASTING_MS);
}
