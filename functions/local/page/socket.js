/**
 * The WebSocket: asks, follows turns, and survives its own end.
 *
 * Every event of a turn carries `seq`, which rises by one. What was already seen is dropped, a gap is asked for again,
 * and after a reconnect each running turn is replayed from the last event that was seen: nothing lost, nothing twice.
 */

import { address } from './api.js';

/** @typedef {import('./types.js').TurnEvent} TurnEvent */
/** @typedef {{message_id: string, thread_id: string, question: string}} Question */

const BACKOFF_MS = { first: 400, most: 15_000 };
const PING_MS = 20_000;
/** The server sends a heartbeat every 25 s and answers pings: after this long without a word the connection is dead. */
const SILENCE_MS = 60_000;

export class TurnSocket {
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Map<string, Question>} By message id: asked, not accepted yet. */
  #asked = new Map();
  /** @type {Set<string>} Message ids of questions that were taken back and may be on their way all the same. */
  #withdrawn = new Set();
  /** @type {Map<string, number>} The last `seq` seen, by turn that still runs. */
  #following = new Map();
  /** @type {Map<string, number>} The `seq` after which a replay was asked for because of a gap, by turn. */
  #gaps = new Map();
  #failures = 0;
  #heardAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;

  /**
   * @param {object} on
   * @param {(event: TurnEvent) => void} on.event Each event of the turns that are followed, once and in order; and errors.
   * @param {(connected: boolean) => void} on.state
   */
  constructor(on) {
    this.on = on;
    setInterval(() => this.#ping(), PING_MS);
    addEventListener('online', () => this.connect());
    document.addEventListener('visibilitychange', () => document.hidden || this.connect());
  }

  /** Connect now, if there is no connection. */
  connect() {
    if (this.#socket) return;
    clearTimeout(this.#retry);
    const socket = new WebSocket(address('ws').replace(/^http/, 'ws'));
    this.#socket = socket;
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }) => this.#heard(JSON.parse(data));
    socket.onclose = () => this.#closed(socket);
  }

  /**
   * Ask, now or as soon as there is a connection. The message id makes sure that it is run once.
   * @param {Question} question
   */
  ask(question) {
    this.#asked.set(question.message_id, question);
    this.#send({ action: 'ask', ...question });
  }

  /** @param {string} messageId Of a question that is not to be asked any more. */
  withdraw(messageId) {
    if (this.#asked.delete(messageId)) this.#withdrawn.add(messageId);
  }

  /**
   * Follow a turn from after an event on, until it is done.
   * @param {string} turnId
   * @param {number} after
   */
  follow(turnId, after) {
    this.#following.set(turnId, after);
    this.#gaps.delete(turnId);
    this.#send({ action: 'replay', turn_id: turnId, after });
  }

  /** Follow nothing any more; running turns run on. */
  leave() {
    this.#following.clear();
    this.#asked.clear();
  }

  /** @param {object} frame */
  #send(frame) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
    else this.connect();
  }

  #opened() {
    this.#failures = 0;
    this.#heardAt = Date.now();
    this.#gaps.clear();
    this.on.state(true);
    for (const question of this.#asked.values()) this.#send({ action: 'ask', ...question });
    for (const [turnId, after] of this.#following) this.#send({ action: 'replay', turn_id: turnId, after });
  }

  /** @param {WebSocket} socket */
  #closed(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.on.state(false);
    const wait = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** this.#failures);
    this.#failures += 1;
    // half of it by chance, so that many pages do not come back in one moment
    this.#retry = setTimeout(() => this.connect(), wait / 2 + (Math.random() * wait) / 2);
  }

  /** @param {TurnEvent} event */
  #heard(event) {
    this.#heardAt = Date.now();
    if (event.type === 'heartbeat' || event.type === 'pong') return;
    if (event.type === 'error') this.#refused(event);
    else if (event.seq !== undefined && event.turn_id) this.#arrived(event, event.turn_id, event.seq);
  }

  /** @param {TurnEvent} event */
  #refused(event) {
    if (event.message_id && this.#withdrawn.delete(event.message_id)) return;
    if (event.message_id) this.#asked.delete(event.message_id);
    if (event.turn_id) this.#following.delete(event.turn_id);
    this.on.event(event);
  }

  /**
   * @param {TurnEvent} event
   * @param {string} turnId
   * @param {number} seq
   */
  #arrived(event, turnId, seq) {
    if (event.type === 'accepted' && event.message_id && this.#withdrawn.delete(event.message_id)) {
      this.#send({ action: 'cancel', turn_id: turnId }); // else it would keep the conversation busy
    }
    if (event.type === 'accepted' && event.message_id && this.#asked.delete(event.message_id)) {
      this.#following.set(turnId, seq - 1);
    }
    const last = this.#following.get(turnId);
    if (last === undefined || seq <= last) return;
    if (seq > last + 1) {
      this.#fill(turnId, last);
      return;
    }
    this.#following.set(turnId, seq);
    // a turn that pauses goes on after its `done`, once the user has replied
    if (event.type === 'done' && !event.turn.outcome.startsWith('needs_')) this.#following.delete(turnId);
    this.on.event(event);
  }

  /**
   * Ask once for what is missing.
   * @param {string} turnId
   * @param {number} last
   */
  #fill(turnId, last) {
    if (this.#gaps.get(turnId) === last) return;
    this.#gaps.set(turnId, last);
    this.#send({ action: 'replay', turn_id: turnId, after: last });
  }

  #ping() {
    if (!this.#socket) return;
    if (this.#following.size && Date.now() - this.#heardAt > SILENCE_MS) {
      const silent = this.#socket;
      silent.close();
      this.#closed(silent); // the close of a dead connection can take minutes to be reported
      this.connect();
    } else this.#send({ action: 'ping' });
  }
}
