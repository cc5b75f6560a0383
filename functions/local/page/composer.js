/** Where questions are written. While a turn runs its button stops it. */

import { find, icon } from './dom.js';
import { onLanguage, t } from './i18n.js';
import { keep, kept } from './storage.js';

/** What the server takes, in code points. */
const LIMIT = 8_000;

export class Composer {
  /**
   * @param {object} on
   * @param {(question: string) => void} on.ask
   * @param {() => void} on.stop
   */
  constructor(on) {
    this.on = on;
    this.form = /** @type {HTMLFormElement} */ (find('#composer'));
    this.input = /** @type {HTMLTextAreaElement} */ (find('#question'));
    this.button = /** @type {HTMLButtonElement} */ (find('#ask'));
    this.hint = find('#composer-hint');
    this.isBusy = false;
    this.input.value = kept('draft') ?? '';
    this.input.addEventListener('input', () => this.#changed());
    this.input.addEventListener('keydown', (event) => {
      // Enter also ends the input of a Chinese word: that is not meant for us
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!this.isBusy) this.#ask();
    });
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.isBusy) this.on.stop();
      else this.#ask();
    });
    onLanguage(() => this.#show());
    this.#show();
  }

  /** @param {boolean} isBusy Whether a turn runs. */
  setBusy(isBusy) {
    if (this.isBusy === isBusy) return;
    this.isBusy = isBusy;
    this.#show();
  }

  /** @param {string} text */
  fill(text) {
    this.input.value = text;
    this.#changed();
    this.focus();
  }

  focus() {
    this.input.focus();
  }

  #ask() {
    const question = this.input.value.trim();
    if (!question || this.#length() > LIMIT) {
      this.focus();
      return;
    }
    this.input.value = '';
    this.#changed();
    this.on.ask(question);
  }

  #length() {
    return Array.from(this.input.value).length;
  }

  #changed() {
    keep('draft', this.input.value || undefined);
    this.#show();
  }

  #show() {
    const n = this.#length();
    const isLong = n > LIMIT;
    this.hint.textContent = isLong ? t('composer.long', { n, limit: LIMIT }) : t('composer.hint');
    this.hint.classList.toggle('is-wrong', isLong);
    this.input.setAttribute('aria-invalid', String(isLong));
    const label = t(this.isBusy ? 'composer.stop' : 'composer.send');
    if (this.button.getAttribute('aria-label') === label) return;
    this.button.replaceChildren(icon(this.isBusy ? 'stop' : 'send'));
    this.button.setAttribute('aria-label', label);
    this.button.title = label;
    this.button.classList.toggle('is-stop', this.isBusy);
  }
}
