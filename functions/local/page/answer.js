/** One turn on the page: the question, how it is going, the answer with its footnotes, and what can be done with it. */

import { announce, announceLasting } from './announcer.js';
import { h, icon, iconButton, patch } from './dom.js';
import { feedback } from './feedback.js';
import { footnoteList, marker } from './footnotes.js';
import { languageOf, lookup, t } from './i18n.js';
import { render, renderAnswer } from './markdown.js';
import { problemBox, summary } from './problems.js';
import { Problem } from './api.js';
import { replyForm } from './reply.js';
import { isPaused } from './turn.js';
import { Work } from './work.js';

/** @typedef {import('./types.js').Citation} Citation */
/** @typedef {import('./turn.js').TurnView} TurnView */
/** @typedef {import('./reply.js').Reply} Reply */

/**
 * @typedef {object} Actions
 * @property {(citations: Citation[], citation: Citation) => void} openSource
 * @property {(view: TurnView, reply: Reply) => Promise<void>} reply
 * @property {(view: TurnView) => void} again
 */

export class TurnElement {
  /**
   * @param {TurnView} view
   * @param {Actions} actions
   */
  constructor(view, actions) {
    this.view = view;
    this.actions = actions;
    this.work = new Work(view);
    /** @type {Map<string, string>} What each part was last made from. */
    this.made = new Map();
    const id = `question-${view.messageId}`;
    this.parts = {
      progress: h('div', { class: 'progress' }),
      answer: h('div', { class: 'answer' }),
      verdict: h('div', { class: 'verdict' }),
      reply: h('div', { class: 'reply' }),
      footnotes: h('section', { class: 'footnotes' }),
      actions: h('div', { class: 'actions' }),
    };
    const { progress, answer, verdict, reply, footnotes, actions: buttons } = this.parts;
    this.element = h(
      'article',
      { class: 'turn', 'aria-labelledby': id },
      h('h2', { class: 'question', id, lang: languageOf(view.question) }, view.question),
      progress,
      this.work.element,
      answer,
      verdict,
      reply,
      footnotes,
      buttons,
    );
    this.update();
  }

  /** Bring the element up to what the turn is now. */
  update() {
    const { view } = this;
    const { turn, phase } = view;
    this.element.dataset.phase = phase;
    this.element.dataset.outcome = turn?.outcome ?? '';
    this.#part('progress', [phase, view.status, view.waiting, view.stopping], () => this.#progress());
    this.#part('answer', [view.text, turn?.answer, turn?.citations], () => this.#answer());
    this.#part('verdict', [turn?.outcome, turn?.note, turn?.error, view.problem?.message], () => this.#verdict());
    this.#part('reply', [isPaused(view) && turn], () => this.#reply());
    this.#part('footnotes', [turn?.citations], () => this.#footnotes());
    this.#part('actions', [phase, turn?.outcome, turn?.answer], () => this.#actions());
    this.work.update();
  }

  /** Say everything anew, in the language that was just chosen. */
  translate() {
    this.made.clear();
    this.work.translate();
    this.update();
  }

  /** Tell a screen reader how it is going; the finished answer as a whole, not its tokens. */
  announce() {
    const { view } = this;
    if (view.phase === 'over') {
      const outcome = view.turn?.outcome ? t(`outcome.${view.turn.outcome}`) : '';
      const said = view.problem ? summary(view.problem) : this.parts.answer.innerText;
      const note = view.turn?.note ?? view.turn?.clarification?.question ?? view.turn?.approval?.summary ?? '';
      announce(t('turn.announce', { outcome, answer: `${said} ${note}` }));
    } else announceLasting(this.#stage());
  }

  /**
   * @param {keyof TurnElement['parts']} name
   * @param {unknown[]} from What it is made from: made anew only when that has changed.
   * @param {() => (Node | '' | null | undefined | false)[]} make
   */
  #part(name, from, make) {
    const key = JSON.stringify(from);
    if (this.made.get(name) === key) return;
    this.made.set(name, key);
    const children = /** @type {Node[]} */ (make().filter(Boolean));
    if (name === 'answer') patch(this.parts[name], children);
    else this.parts[name].replaceChildren(...children);
    this.parts[name].hidden = children.length === 0;
  }

  #stage() {
    const { phase, status, waiting, stopping } = this.view;
    if (stopping) return t('turn.stopping');
    if (phase === 'sending') return t('turn.sending');
    if (waiting) return t('turn.waiting', { reason: waiting.reason, seconds: Math.ceil(waiting.seconds) });
    return status ? (lookup(`node.${status.node}`) ?? status.message) : t('node.begin');
  }

  #progress() {
    if (this.view.phase === 'over') return [];
    const value = this.view.status?.progress ?? 0;
    return [
      h('progress', { max: 1, value, 'aria-label': t('turn.progress') }),
      h('p', { class: this.view.waiting ? 'stage stage-waiting' : 'stage' }, this.#stage()),
    ];
  }

  #answer() {
    const { turn, text } = this.view;
    const shown = turn ? turn.answer : text;
    this.parts.answer.lang = languageOf(shown);
    if (!turn) return render(shown);
    const { citations } = turn;
    return renderAnswer(shown, citations, (citation) => marker(citation, () => this.actions.openSource(citations, citation)));
  }

  #verdict() {
    const { turn, problem } = this.view;
    if (problem) return [problemBox(problem, () => this.actions.again(this.view))];
    if (!turn?.outcome) return [];
    const { outcome, note, error } = turn;
    return [
      h(
        'p',
        { class: 'outcome' },
        h('span', { class: 'badge', 'data-outcome': outcome }, t(`outcome.${outcome}`)),
        note && note !== error?.message && h('span', { class: 'note', lang: languageOf(note) }, note),
      ),
      error && problemBox(new Problem({ code: error.code, detail: error.message }), () => this.actions.again(this.view)),
    ];
  }

  #reply() {
    return isPaused(this.view) && this.view.turn
      ? [replyForm(this.view.turn, (reply) => this.actions.reply(this.view, reply))]
      : [];
  }

  #footnotes() {
    const citations = this.view.turn?.citations ?? [];
    if (!citations.length) return [];
    const id = `footnotes-${this.view.messageId}`;
    this.parts.footnotes.setAttribute('aria-labelledby', id);
    return [h('h3', { id }, t('footnotes')), footnoteList(citations, (citation) => this.actions.openSource(citations, citation))];
  }

  #actions() {
    const { turn, phase, turnId } = this.view;
    if (phase !== 'over' || !turn || !turnId || isPaused(this.view)) return [];
    const ms = turn.timings_ms?.total ?? 0;
    const time = ms < 1000 ? t('work.ms', { ms: Math.round(ms) }) : t('work.s', { s: (ms / 1000).toFixed(1) });
    const again = turn.outcome === 'cancelled' || (turn.outcome === 'failed' && !turn.error);
    return [
      ...feedback(turnId),
      turn.answer && iconButton('copy', t('turn.copy'), () => this.#copy(turn.answer)),
      again && h('button', { type: 'button', class: 'button', onclick: () => this.actions.again(this.view) }, icon('again'), t('turn.again')),
      h('span', { class: 'measure' }, t('turn.measure', { time, calls: turn.usage?.calls ?? 0 })),
    ];
  }

  /** @param {string} answer */
  async #copy(answer) {
    await navigator.clipboard.writeText(answer);
    announce(t('turn.copied'));
  }
}
