/** The panel beside the conversation: a source or the documents. On small screens it covers the page. */

import { find, h, iconButton } from './dom.js';
import { t } from './i18n.js';

/** As style.css has it: from here down the panel covers what is behind it. */
const COVERS = matchMedia('(max-width: 60rem)');

export class Panel {
  constructor() {
    this.element = find('#panel');
    this.behind = ['#top', '#threads', '#main'].map(find);
    this.title = h('h2', { id: 'panel-title', tabindex: -1 });
    this.content = h('div', { class: 'panel-content' });
    /** @type {Element | null} Where the focus returns to. */
    this.opener = null;
    /** @type {string | null} What it shows. */
    this.kind = null;
    COVERS.addEventListener('change', () => this.#cover());
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.defaultPrevented || !this.kind || document.querySelector('dialog[open]')) return;
      this.close();
    });
  }

  /**
   * @param {string} kind
   * @param {string} title
   * @param {Node[]} content
   * @param {{lang?: string, back?: () => void}} [options] `back`: to what it showed before.
   */
  open(kind, title, content, { lang = '', back } = {}) {
    // opened from inside itself, by "next footnote" for example: what opened it first is where the focus returns to
    if (!this.element.contains(document.activeElement)) this.opener = document.activeElement;
    this.kind = kind;
    this.title.textContent = title;
    if (lang) this.title.lang = lang;
    else this.title.removeAttribute('lang');
    this.content.replaceChildren(...content);
    this.element.replaceChildren(
      h('header', { class: 'panel-header' }, back && iconButton('previous', t('back'), back), this.title, iconButton('close', t('close'), () => this.close())),
      this.content,
    );
    this.element.dataset.kind = kind;
    this.element.hidden = false;
    document.body.classList.add('has-panel');
    this.#cover();
    this.title.focus({ preventScroll: true });
  }

  close() {
    this.kind = null;
    this.element.hidden = true;
    this.content.replaceChildren();
    document.body.classList.remove('has-panel');
    this.#cover();
    if (this.opener instanceof HTMLElement && this.opener.isConnected) this.opener.focus();
    else find('#question').focus();
  }

  #cover() {
    const isCovered = this.kind !== null && COVERS.matches;
    this.behind.forEach((element) => (element.inert = isCovered));
  }
}
