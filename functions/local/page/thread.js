/** The conversation that is open: its turns, the question being asked, what comes in. */

import { TurnElement } from './answer.js';
import { announce } from './announcer.js';
import { cancel, Problem, resume, turnsOf } from './api.js';
import { Composer } from './composer.js';
import { find } from './dom.js';
import { onLanguage, t } from './i18n.js';
import { asProblem, problemBox } from './problems.js';
import { Redraw } from './redraw.js';
import { keep, kept } from './storage.js';
import { apply, asked, resumed, stored } from './turn.js';

/** @typedef {import('./types.js').TurnEvent} TurnEvent */
/** @typedef {import('./turn.js').TurnView} TurnView */

/** How close to the end one must be for the page to go on scrolling as the answer grows. */
const NEAR_END_PX = 120;
/** What stays free above a question that was scrolled to. */
const ABOVE_QUESTION_PX = 16;

export class Thread {
  /** @type {TurnElement[]} */
  #turns = [];
  /** @type {Redraw<TurnElement>} */
  #redraw = new Redraw((changed) => this.#draw(changed));
  /** Counts openings: what was fetched for an earlier one comes too late. */
  #opening = 0;

  /**
   * @param {object} parts
   * @param {import('./socket.js').TurnSocket} parts.socket
   * @param {import('./sources.js').Sources} parts.sources
   * @param {(threadId: string) => void} parts.onStarted A question was asked in a conversation that is new.
   * @param {() => void} parts.onProgress A turn was accepted or has ended.
   */
  constructor({ socket, sources, onStarted, onProgress }) {
    this.socket = socket;
    this.onStarted = onStarted;
    this.onProgress = onProgress;
    /** @type {string | null} null: a new one, not asked in yet. */
    this.id = null;
    /** Whether it could not be read because the server was away. */
    this.isMissed = false;
    this.scroller = find('#conversation');
    this.list = find('#turns');
    this.welcome = find('#welcome');
    this.notice = find('#thread-notice');
    this.composer = new Composer({ ask: (question) => this.ask(question), stop: () => this.#stop() });
    /** @type {import('./answer.js').Actions} */
    this.actions = {
      openSource: (citations, citation) => sources.open(citations, citation),
      reply: (view, reply) => this.#reply(view, reply),
      again: (view) => this.#again(view),
    };
    onLanguage(() => this.#turns.forEach((turn) => turn.translate()));
  }

  /** @param {string | null} id */
  async open(id) {
    const opening = (this.#opening += 1);
    this.id = id;
    this.isMissed = false;
    this.socket.leave();
    this.#turns = [];
    this.list.replaceChildren();
    this.notice.replaceChildren();
    this.#settle();
    if (id === null) return;
    try {
      const turns = await turnsOf(id);
      if (opening === this.#opening) turns.forEach((turn) => this.#add(stored(turn)));
    } catch (error) {
      if (opening === this.#opening) this.#missing(asProblem(error));
    }
    if (opening !== this.#opening) return;
    this.#askPending();
    this.#settle();
    this.#scroll();
  }

  /** @param {string} question */
  ask(question) {
    const isNew = this.id === null;
    const threadId = this.id ?? crypto.randomUUID();
    this.id = threadId;
    const pending = { message_id: crypto.randomUUID(), thread_id: threadId, question };
    keep('pending', pending);
    if (isNew) this.onStarted(threadId);
    this.#send(pending);
  }

  /** @param {TurnEvent} event */
  handle(event) {
    const turn = this.#turns.find(
      ({ view }) => (event.turn_id && view.turnId === event.turn_id) || (event.message_id && view.messageId === event.message_id),
    );
    if (!turn) {
      if (event.type === 'error') this.#complain(event);
      return;
    }
    const before = turn.view.phase;
    apply(turn.view, event);
    if (turn.view.phase !== 'sending' && kept('pending')?.message_id === turn.view.messageId) keep('pending', undefined);
    if (before !== turn.view.phase) this.onProgress();
    this.#redraw.request(turn, event.type !== 'token');
  }

  get isEmpty() {
    return this.#turns.length === 0;
  }

  /** @param {{message_id: string, thread_id: string, question: string}} pending */
  #send(pending) {
    this.notice.replaceChildren();
    this.#add(asked({ messageId: pending.message_id, threadId: pending.thread_id, question: pending.question }));
    this.socket.ask(pending);
    this.#settle();
    this.#scroll();
  }

  /** A question that was asked before a reload and perhaps never arrived: its message id makes sure that it runs once. */
  #askPending() {
    const pending = kept('pending');
    if (pending?.thread_id !== this.id || !pending) return;
    if (this.#turns.some(({ view }) => view.messageId === pending.message_id)) keep('pending', undefined);
    else this.#send(pending);
  }

  /** @param {TurnView} view */
  #add(view) {
    const turn = new TurnElement(view, this.actions);
    this.#turns.push(turn);
    this.list.append(turn.element);
    if (view.turnId && view.phase === 'running') this.socket.follow(view.turnId, 0);
  }

  /** @param {Map<TurnElement, boolean>} changed And whether that is worth announcing. */
  #draw(changed) {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    const isNearEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    for (const [turn, isNews] of changed) {
      turn.update();
      if (isNews) turn.announce();
    }
    this.#settle();
    if (isNearEnd) this.#scroll();
  }

  /** Scroll towards the end, but no further than to the last question: an answer is read from its beginning. */
  #scroll() {
    const { scroller } = this;
    const question = this.list.lastElementChild?.getBoundingClientRect().top ?? 0;
    const atQuestion = scroller.scrollTop + question - scroller.getBoundingClientRect().top - ABOVE_QUESTION_PX;
    scroller.scrollTop = Math.min(scroller.scrollHeight, Math.max(atQuestion, scroller.scrollTop));
  }

  #settle() {
    const title = this.#turns[0]?.view.question;
    document.title = title ? `${title} · Footnote` : 'Footnote';
    this.welcome.hidden = !this.isEmpty || this.notice.hasChildNodes();
    this.composer.setBusy(this.#running() !== undefined);
  }

  #running() {
    return this.#turns.find(({ view }) => view.phase !== 'over');
  }

  async #stop() {
    const turn = this.#running();
    if (!turn) return;
    const { view } = turn;
    if (!view.turnId) {
      this.#withdraw(turn);
      return;
    }
    view.stopping = true;
    this.#redraw.request(turn);
    try {
      await cancel(view.turnId);
    } catch (error) {
      view.stopping = false;
      this.#redraw.request(turn);
      const problem = asProblem(error);
      if (problem.code !== 'turn_finished') this.notice.replaceChildren(problemBox(problem, () => this.#stop()));
    }
  }

  /**
   * Take back a question that the server has not accepted yet.
   * @param {TurnElement} turn
   */
  #withdraw(turn) {
    this.socket.withdraw(turn.view.messageId);
    keep('pending', undefined);
    this.#turns = this.#turns.filter((other) => other !== turn);
    turn.element.remove();
    this.composer.fill(turn.view.question);
    this.#settle();
  }

  /**
   * @param {TurnView} view
   * @param {import('./reply.js').Reply} reply
   */
  async #reply(view, reply) {
    if (!view.turnId) return;
    await resume(view.turnId, reply);
    const turn = this.#turns.find((other) => other.view === view);
    if (!turn) return;
    resumed(view);
    this.socket.follow(view.turnId, view.seq);
    this.#redraw.request(turn);
    this.composer.focus();
  }

  /** @param {TurnView} view A turn that failed, or could not even begin. */
  #again(view) {
    if (this.#running()) return;
    const turn = this.#turns.find((other) => other.view === view);
    if (turn && !view.turnId) {
      this.#turns = this.#turns.filter((other) => other !== turn);
      turn.element.remove();
    }
    this.ask(view.question);
    this.composer.focus();
  }

  /** @param {Problem} problem */
  #missing(problem) {
    const isAsked = kept('pending')?.thread_id === this.id;
    this.isMissed = problem.code === 'network';
    if (problem.status !== 404) this.notice.replaceChildren(problemBox(problem, () => this.open(this.id)));
    else if (!isAsked) this.notice.replaceChildren(problemBox(new Problem({ code: 'not_found', detail: t('threads.gone') })));
  }

  /** @param {TurnEvent} event An error that belongs to no turn. */
  #complain({ code = 'unknown', message, trace_id }) {
    const problem = new Problem({ code, detail: message, traceId: trace_id });
    this.notice.replaceChildren(problemBox(problem));
    announce(problem.message);
  }
}
