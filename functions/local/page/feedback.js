/** Thumbs up and down, with a comment for those who have more to say. */

import { announce } from './announcer.js';
import { rate } from './api.js';
import { h, iconButton } from './dom.js';
import { t } from './i18n.js';
import { asProblem, problemBox } from './problems.js';
import { keep, kept } from './storage.js';

/** @typedef {'up' | 'down'} Rating */

/** Ratings remembered in this browser, so that a reload shows them. */
const REMEMBERED = 200;

/**
 * @param {string} turnId
 * @returns {Node[]} The two buttons, and the place where the comment form opens.
 */
export function feedback(turnId) {
  const place = h('div', { class: 'feedback-form' });
  const buttons = /** @type {Record<Rating, HTMLButtonElement>} */ ({});
  for (const rating of /** @type {Rating[]} */ (['up', 'down'])) {
    buttons[rating] = iconButton(rating, t(`feedback.${rating}`), () => choose(rating));
  }
  const show = (/** @type {Rating | undefined} */ rating) => {
    buttons.up.setAttribute('aria-pressed', String(rating === 'up'));
    buttons.down.setAttribute('aria-pressed', String(rating === 'down'));
  };
  /** @param {Rating} rating */
  const choose = async (rating) => {
    show(rating);
    try {
      await rate(turnId, { rating });
      remember(turnId, rating);
      place.replaceChildren(commentForm(turnId, rating, place, buttons[rating]));
      place.scrollIntoView({ block: 'nearest' });
      announce(t('feedback.thanks'));
    } catch (error) {
      show(remembered()[turnId]);
      place.replaceChildren(problemBox(asProblem(error)));
    }
  };
  show(remembered()[turnId]);
  return [h('div', { class: 'feedback', role: 'group', 'aria-label': t('feedback.label') }, buttons.up, buttons.down), place];
}

/**
 * @param {string} turnId
 * @param {Rating} rating
 * @param {HTMLElement} place
 * @param {HTMLElement} back Where the focus returns to.
 */
function commentForm(turnId, rating, place, back) {
  const label = t(rating === 'up' ? 'feedback.comment.up' : 'feedback.comment');
  const input = h('textarea', { class: 'field', rows: 2, maxlength: 2000, 'aria-label': label, placeholder: label });
  const close = (/** @type {Node[]} */ ...instead) => {
    place.replaceChildren(...instead);
    back.focus();
  };
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault();
    const comment = input.value.trim();
    try {
      if (comment) await rate(turnId, { rating, comment });
      close(h('p', { class: 'feedback-thanks' }, t('feedback.thanks')));
      announce(t('feedback.thanks'));
    } catch (error) {
      place.append(problemBox(asProblem(error)));
    }
  };
  const form = h('form', { onsubmit: send }, input, h('button', { type: 'submit', class: 'button' }, t('feedback.send')));
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  });
  return form;
}

/** @returns {Record<string, Rating>} By turn. */
function remembered() {
  return kept('ratings') ?? {};
}

/**
 * @param {string} turnId
 * @param {Rating} rating
 */
function remember(turnId, rating) {
  const { [turnId]: _, ...others } = remembered();
  keep('ratings', Object.fromEntries([...Object.entries(others).slice(1 - REMEMBERED), [turnId, rating]]));
}
