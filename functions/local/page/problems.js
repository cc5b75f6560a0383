/** A problem, said plainly: what it is, what the server says about it, what to do. */

import { Problem } from './api.js';
import { h } from './dom.js';
import { lookup, t } from './i18n.js';

/**
 * @param {unknown} error
 * @returns {Problem}
 */
export function asProblem(error) {
  if (error instanceof Problem) return error;
  console.error(error);
  return new Problem({ code: 'unknown', detail: String(error) });
}

/**
 * @param {Problem} problem
 * @returns {string} One line, for announcements.
 */
export function summary(problem) {
  return [title(problem), problem.detail].filter(Boolean).join(': ');
}

/** @param {Problem} problem */
function title({ code }) {
  return lookup(`problem.${code}`) ?? t('problem.unknown');
}

/**
 * @param {Problem} problem
 * @param {() => void} [again] What "Try again" does, where that can help.
 * @returns {HTMLElement}
 */
export function problemBox(problem, again) {
  const remedy = problem.code === 'network' ? t('problem.network.remedy') : problem.remedy;
  return h(
    'div',
    { class: 'problem', 'data-code': problem.code },
    h('p', { class: 'problem-title' }, title(problem)),
    problem.detail && h('p', { class: 'problem-detail', lang: 'en' }, problem.detail),
    remedy && h('p', { class: 'problem-remedy', lang: problem.code === 'network' ? null : 'en' }, remedy),
    problem.traceId && h('p', { class: 'problem-trace' }, t('problem.trace', { id: problem.traceId })),
    again && h('button', { type: 'button', class: 'button', onclick: again }, t('problem.again')),
  );
}
