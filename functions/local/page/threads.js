/** The conversations in the side list. */

import { deleteThread, listThreads, Problem } from './api.js';
import { confirmed } from './confirm.js';
import { find, h, iconButton } from './dom.js';
import { languageOf, onLanguage, t } from './i18n.js';
import { asProblem, problemBox } from './problems.js';

/** @typedef {import('./types.js').ThreadBrief} ThreadBrief */

export class Threads {
  /** @param {(threadId: string) => void} onDeleted */
  constructor(onDeleted) {
    this.onDeleted = onDeleted;
    this.nav = find('#threads');
    this.list = find('#threads-list');
    this.more = find('#threads-more');
    /** @type {ThreadBrief[]} */
    this.threads = [];
    /** @type {string | null} */
    this.cursor = null;
    /** @type {string | null} */
    this.current = null;
    this.more.addEventListener('click', () => this.#load(this.cursor));
    this.menu = find('#menu');
    this.menu.addEventListener('click', () => this.toggle());
    this.nav.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || this.menu.getAttribute('aria-expanded') !== 'true') return;
      event.preventDefault();
      this.toggle(false);
      this.menu.focus();
    });
    document.addEventListener('click', ({ target }) => {
      const isOutside = target instanceof Node && !this.nav.contains(target) && !this.menu.contains(target);
      if (isOutside && this.menu.getAttribute('aria-expanded') === 'true') this.toggle(false);
    });
    onLanguage(() => this.#show());
  }

  /** @param {boolean} [isOpen] The list slides over the page where there is no room beside it. */
  toggle(isOpen = this.menu.getAttribute('aria-expanded') !== 'true') {
    this.menu.setAttribute('aria-expanded', String(isOpen));
    document.body.classList.toggle('has-menu', isOpen);
    if (isOpen) find('#new-thread').focus();
  }

  /** @param {string | null} threadId The conversation that is open. */
  select(threadId) {
    this.current = threadId;
    this.toggle(false);
    this.#show();
  }

  /** Read the list anew. */
  refresh() {
    return this.#load(null);
  }

  /** @param {string | null} cursor */
  async #load(cursor) {
    try {
      const page = await listThreads(cursor);
      const known = new Set(page.threads.map((/** @type {ThreadBrief} */ thread) => thread.thread_id));
      // a refresh leaves the further pages that were asked for in place
      this.threads = cursor
        ? [...this.threads.filter(({ thread_id }) => !known.has(thread_id)), ...page.threads]
        : [...page.threads, ...(page.next_cursor ? this.threads.filter(({ thread_id }) => !known.has(thread_id)) : [])];
      if (cursor || this.threads.length === page.threads.length) this.cursor = page.next_cursor;
      this.#show();
    } catch {
      // the banner says that the server is away
    }
  }

  #show() {
    const focused = document.activeElement?.closest?.('#threads-list [data-thread]')?.getAttribute('data-thread');
    this.list.replaceChildren(...this.threads.map((thread) => this.#row(thread)));
    if (focused) /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-thread="${CSS.escape(focused)}"] a`))?.focus();
    find('#threads-none').hidden = this.threads.length > 0;
    this.more.hidden = !this.cursor;
  }

  /** @param {ThreadBrief} thread */
  #row(thread) {
    const { thread_id, turns } = thread;
    const title = thread.title || t('threads.untitled');
    const isCurrent = thread_id === this.current;
    return h(
      'li',
      { class: 'thread', 'data-thread': thread_id },
      h(
        'a',
        { href: `#/threads/${thread_id}`, 'aria-current': isCurrent ? 'page' : null },
        h('span', { class: 'thread-title', lang: languageOf(title) }, title),
        h('span', { class: 'thread-turns' }, t('threads.turns', { n: turns })),
      ),
      iconButton('trash', t('threads.delete', { title }), () => this.#delete(thread)),
    );
  }

  /** @param {ThreadBrief} thread */
  async #delete({ thread_id }) {
    if (!(await confirmed(t('threads.delete.ask')))) return;
    try {
      await deleteThread(thread_id);
    } catch (error) {
      if (!(error instanceof Problem && error.status === 404)) {
        this.list.querySelector(`[data-thread="${thread_id}"]`)?.append(problemBox(asProblem(error)));
        return;
      }
    }
    this.threads = this.threads.filter((thread) => thread.thread_id !== thread_id);
    this.#show();
    find('#new-thread').focus();
    this.onDeleted(thread_id);
  }
}
