/** A turn as the page knows it: made from a question or from what is stored, changed by events. Plain data. */

import { Problem } from './api.js';

/** @typedef {import('./types.js').Turn} Turn */
/** @typedef {import('./types.js').TurnEvent} TurnEvent */

/**
 * @typedef {object} TurnView
 * @property {string} messageId
 * @property {string} threadId
 * @property {string | null} turnId null until the server has accepted the question.
 * @property {string} question
 * @property {'sending' | 'running' | 'over'} phase `over`: finished, or it waits for the user.
 * @property {boolean} stopping
 * @property {number} seq The last event seen.
 * @property {string} text What has streamed in so far.
 * @property {{node: string, message: string, progress: number} | null} status
 * @property {{reason: string, seconds: number} | null} waiting
 * @property {{intent: string, question: string, steps: import('./types.js').Step[]} | null} plan
 * @property {import('./types.js').PassageBrief[] | null} passages
 * @property {Turn | null} turn How it ended.
 * @property {Problem | null} problem
 */

/**
 * @param {{messageId: string, threadId: string, question: string}} asked
 * @returns {TurnView}
 */
export function asked({ messageId, threadId, question }) {
  return {
    messageId,
    threadId,
    turnId: null,
    question,
    phase: 'sending',
    stopping: false,
    seq: 0,
    text: '',
    status: null,
    waiting: null,
    plan: null,
    passages: null,
    turn: null,
    problem: null,
  };
}

/**
 * @param {Turn} turn
 * @returns {TurnView}
 */
export function stored(turn) {
  const view = asked({ messageId: turn.message_id ?? turn.turn_id, threadId: turn.thread_id, question: turn.question });
  const running = turn.outcome === null;
  return { ...view, turnId: turn.turn_id, phase: running ? 'running' : 'over', turn: running ? null : turn };
}

/**
 * @param {TurnView} view Changed in place.
 * @param {TurnEvent} event
 */
export function apply(view, event) {
  if (event.seq !== undefined) view.seq = event.seq;
  if (event.type !== 'waiting') view.waiting = null;
  CHANGES[event.type]?.(view, event);
}

/** What each type of event changes; types that are not here are from a newer server and change nothing. */
const CHANGES = /** @type {Record<string, (view: TurnView, event: any) => void>} */ ({
  accepted(view, { turn_id }) {
    resumed(view);
    view.turnId = turn_id;
  },
  status(view, { node, message, progress }) {
    resumed(view);
    view.status = { node, message, progress };
  },
  plan(view, { intent, question, steps }) {
    view.plan = { intent, question, steps };
  },
  passages(view, { passages }) {
    view.passages = passages;
  },
  token(view, { text }) {
    resumed(view);
    view.text += text;
  },
  revised(view, { answer }) {
    view.text = answer;
  },
  waiting(view, { reason, seconds }) {
    view.waiting = { reason, seconds };
  },
  done(view, { turn }) {
    view.phase = 'over';
    view.turn = turn;
    view.stopping = false;
    view.status = null;
  },
  error(view, { code, message, trace_id, retryable }) {
    view.problem = new Problem({ code, detail: message, traceId: trace_id, retryable });
    view.phase = 'over';
    view.stopping = false;
  },
});

/**
 * A turn that had paused goes on: what it showed then is over.
 * @param {TurnView} view
 */
export function resumed(view) {
  if (view.phase === 'running') return;
  view.phase = 'running';
  view.turn = null;
  view.problem = null;
  view.text = '';
}

/**
 * @param {TurnView} view
 * @returns {boolean} Whether it is a pause in which the user is asked.
 */
export function isPaused({ turn }) {
  return turn?.outcome === 'needs_clarification' || turn?.outcome === 'needs_approval';
}
