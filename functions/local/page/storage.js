/** Small things that the browser remembers. Where storage is forbidden or full, they last as long as the page. */

/** @type {Map<string, string>} */
const unstored = new Map();

/**
 * @param {string} name
 * @returns {any} What was kept under the name, undefined if nothing was.
 */
export function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(`footnote.${name}`) ?? unstored.get(name) ?? '');
  } catch {
    return undefined;
  }
}

/**
 * @param {string} name
 * @param {unknown} value undefined: forget it.
 */
export function keep(name, value) {
  const text = JSON.stringify(value);
  try {
    if (value === undefined) localStorage.removeItem(`footnote.${name}`);
    else localStorage.setItem(`footnote.${name}`, text);
  } catch {
    unstored.set(name, text);
  }
}
