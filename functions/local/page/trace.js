/** The trace of a turn as a timeline: one bar per span, indented below the span that it is part of. */

import { h } from './dom.js';
import { t } from './i18n.js';

/** @typedef {import('./types.js').Span} Span */

/**
 * @param {Span[]} spans
 * @returns {HTMLElement}
 */
export function timeline(spans) {
  const total = Math.max(...spans.map((span) => span.start_ms + span.duration_ms), 1);
  return h('ol', { class: 'timeline' }, ...inOrder(spans).map(([span, depth]) => row(span, depth, total)));
}

/**
 * @param {Span[]} spans
 * @returns {[Span, number][]} Parents before their children, each with its depth.
 */
function inOrder(spans) {
  const known = new Set(spans.map((span) => span.span_id));
  /** @type {Map<string | null, Span[]>} */
  const children = new Map();
  for (const span of [...spans].sort((a, b) => a.start_ms - b.start_ms)) {
    const parent = span.parent_id !== null && known.has(span.parent_id) ? span.parent_id : null;
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  /** @type {(parent: string | null, depth: number) => [Span, number][]} */
  const below = (parent, depth) =>
    (children.get(parent) ?? []).flatMap((span) => [/** @type {[Span, number]} */ ([span, depth]), ...below(span.span_id, depth + 1)]);
  return below(null, 0);
}

/**
 * @param {Span} span
 * @param {number} depth
 * @param {number} total Milliseconds of the whole.
 */
function row({ name, start_ms, duration_ms, attributes }, depth, total) {
  const bar = h('span', { class: 'bar', 'aria-hidden': 'true' });
  bar.style.setProperty('--start', String(start_ms / total));
  bar.style.setProperty('--length', String(duration_ms / total));
  const ms = duration_ms < 10 ? duration_ms.toFixed(1) : duration_ms.toFixed(0);
  const label = h('span', { class: 'span-name' }, name);
  label.style.setProperty('--depth', String(depth));
  const facts = Object.entries(attributes).map(([key, value]) => `${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return h(
    'li',
    { title: facts.join('\n') || null },
    label,
    h('span', { class: 'track', 'aria-hidden': 'true' }, bar),
    h('span', { class: 'span-ms' }, t('work.ms', { ms })),
  );
}
