/** What a paused turn asks of the user: which of several things is meant, or a yes before something is done. */

import { h } from './dom.js';
import { languageOf, t } from './i18n.js';
import { asProblem, problemBox } from './problems.js';

/** @typedef {{answer?: string, approve?: boolean, interrupt_id: string}} Reply */

/**
 * @param {import('./types.js').Turn} turn
 * @param {(reply: Reply) => Promise<void>} send
 * @returns {HTMLElement}
 */
export function replyForm(turn, send) {
  const failed = h('div', { role: 'alert' });
  /** @param {Reply} reply */
  const submit = async (reply) => {
    form.inert = true;
    await send(reply).catch((error) => failed.replaceChildren(problemBox(asProblem(error))));
    form.inert = false;
  };
  const form = h('form', { class: 'reply-form' }, ...(turn.approval ? approval(turn.approval, submit) : clarification(turn, submit)));
  form.append(failed);
  return form;
}

/**
 * @param {import('./types.js').Approval} asked
 * @param {(reply: Reply) => void} submit
 */
function approval({ interrupt_id, tool, arguments: values, summary }, submit) {
  const answer = (/** @type {boolean} */ approve) => () => submit({ approve, interrupt_id });
  const rows = Object.entries(values).flatMap(([name, value]) => [
    h('dt', {}, name),
    h('dd', {}, typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
  return [
    h('p', { class: 'reply-question', lang: languageOf(summary) }, summary),
    h('p', { class: 'reply-tool' }, h('code', {}, tool)),
    rows.length > 0 && h('dl', { class: 'reply-arguments', 'aria-label': t('reply.arguments') }, ...rows),
    h(
      'div',
      { class: 'reply-options' },
      h('button', { type: 'button', class: 'button button-primary', onclick: answer(true) }, t('reply.yes')),
      h('button', { type: 'button', class: 'button', onclick: answer(false) }, t('reply.no')),
    ),
  ];
}

/**
 * @param {import('./types.js').Turn} turn
 * @param {(reply: Reply) => void} submit
 */
function clarification({ clarification: asked }, submit) {
  if (!asked) return [];
  const { interrupt_id, question, options } = asked;
  const input = h('input', { class: 'field', name: 'reply', 'aria-label': t('reply.label'), required: true, autocomplete: 'off' });
  if (options.length) input.placeholder = t('reply.other');
  const send = h('button', { type: 'submit', class: 'button' }, t('reply.send'));
  send.addEventListener('click', (event) => {
    event.preventDefault();
    if (input.value.trim()) submit({ answer: input.value.trim(), interrupt_id });
    else input.focus();
  });
  return [
    h('p', { class: 'reply-question', lang: languageOf(question) }, question),
    h(
      'div',
      { class: 'reply-options' },
      ...options.map((answer) =>
        h('button', { type: 'button', class: 'button', lang: languageOf(answer), onclick: () => submit({ answer, interrupt_id }) }, answer),
      ),
    ),
    h('div', { class: 'reply-other' }, input, send),
  ];
}
