/** Elements from data. Text only ever becomes a text node, so nothing that is shown can bring markup with it. */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [properties] `on…`: a listener; true, false and null: whether the attribute is there.
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]} Those that are there.
 */
function nodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Put children in place of what is there, and leave alone those at the front that stay the same: a selection and the
 * focus in them survive while an answer grows.
 * @param {Element} parent
 * @param {Node[]} children
 */
export function patch(parent, children) {
  let same = 0;
  while (same < children.length && parent.childNodes[same]?.isEqualNode(children[same])) same += 1;
  while (parent.childNodes.length > same) parent.lastChild?.remove();
  parent.append(...children.slice(same));
}

/**
 * @param {string} selector
 * @returns {HTMLElement} An element that index.html has.
 */
export function find(selector) {
  return /** @type {HTMLElement} */ (document.querySelector(selector));
}

const SVG = 'http://www.w3.org/2000/svg';

/** Outlines on a grid of 24. */
const ICONS = {
  up: 'M7 11v9M7 11l4-7.5a2 2 0 0 1 3 2.2L13 10h5.5a2 2 0 0 1 2 2.4l-1.2 6a2 2 0 0 1-2 1.6H4a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1z',
  down: 'M17 13V4M17 13l-4 7.5a2 2 0 0 1-3-2.2l1-4.3H5.5a2 2 0 0 1-2-2.4l1.2-6a2 2 0 0 1 2-1.6H20a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1z',
  copy: 'M9 9h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1zM5 15H4V4a1 1 0 0 1 1-1h10v1',
  close: 'M6 6l12 12M18 6L6 18',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  plus: 'M12 5v14M5 12h14',
  menu: 'M4 7h16M4 12h16M4 17h16',
  send: 'M12 20V5M5.5 11.5L12 5l6.5 6.5',
  stop: 'M7 7h10v10H7z',
  file: 'M6 3h8l4 4v13a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM14 3v4h4',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v3a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-3',
  previous: 'M15 6l-6 6 6 6',
  next: 'M9 6l6 6-6 6',
  again: 'M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5',
  download: 'M12 4v12M7 11l5 5 5-5M4 20h16',
};

/**
 * @param {keyof typeof ICONS} name
 * @returns {SVGElement} An icon for the eye alone; what it stands in has the name.
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [key, value] of Object.entries({ viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' })) {
    svg.setAttribute(key, value);
  }
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * @param {keyof typeof ICONS} name
 * @param {string} label Its accessible name, shown as a tip.
 * @param {(event: MouseEvent) => void} onclick
 * @param {Record<string, any>} [properties]
 * @returns {HTMLButtonElement}
 */
export function iconButton(name, label, onclick, properties = {}) {
  return h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick, ...properties }, icon(name));
}
