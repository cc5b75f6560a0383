/** The HTTP routes that the page uses. */

/** @typedef {import('./types.js').Document} Document */

/** What the server refused, or that it could not be reached. */
export class Problem extends Error {
  /** @param {{code: string, detail?: string, remedy?: string, traceId?: string, retryable?: boolean, status?: number}} what */
  constructor({ code, detail = '', remedy = '', traceId, retryable = false, status = 0 }) {
    super(detail || code);
    this.code = code;
    this.detail = detail;
    this.remedy = remedy;
    this.traceId = traceId;
    this.retryable = retryable;
    this.status = status;
  }
}

/**
 * @param {string} path Relative to where the page is served.
 * @returns {string}
 */
export function address(path) {
  return new URL(path, document.baseURI.split('#')[0]).href;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{json?: unknown, form?: FormData, query?: Record<string, string | number | null | undefined>, prefer?: string}} [options]
 * @returns {Promise<any>} The JSON of the answer; null where there is none.
 * @throws {Problem}
 */
async function request(method, path, { json, form, query = {}, prefer } = {}) {
  const url = new URL(address(path));
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
  }
  /** @type {Record<string, string>} */
  const headers = { Accept: 'application/json' };
  if (json !== undefined) headers['Content-Type'] = 'application/json';
  if (prefer) headers.Prefer = prefer;
  let response;
  try {
    response = await fetch(url, { method, headers, body: json === undefined ? form : JSON.stringify(json) });
  } catch {
    throw new Problem({ code: 'network', retryable: true });
  }
  if (!response.ok) throw await problem(response);
  return response.status === 204 ? null : response.json().catch(() => null);
}

/**
 * @param {Response} response
 * @returns {Promise<Problem>} From problem+json, or from whatever a gateway in between said.
 */
async function problem(response) {
  const body = await response.json().catch(() => ({}));
  const details = (body.errors ?? []).map((/** @type {any} */ error) => `${error.pointer}: ${error.message}`);
  return new Problem({
    code: body.code ?? 'unknown',
    detail: [body.detail ?? body.message ?? body.title ?? `HTTP ${response.status}`, ...details].join('\n'),
    remedy: body.remedy,
    traceId: body.trace_id,
    retryable: [429, 502, 503, 504].includes(response.status) || body.code === 'thread_busy',
    status: response.status,
  });
}

/**
 * @template Item
 * @param {string} path
 * @param {string} field Where a page of them has its items.
 * @returns {Promise<Item[]>} The items of all pages.
 */
async function all(path, field) {
  const items = [];
  let cursor = null;
  do {
    const page = await request('GET', path, { query: { limit: 100, cursor } });
    items.push(...page[field]);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

const id = encodeURIComponent;

/** @param {string | null} [cursor] */
export const listThreads = (cursor) => request('GET', 'threads', { query: { limit: 30, cursor } });

/**
 * @param {string} threadId
 * @returns {Promise<import('./types.js').Turn[]>} Oldest first.
 */
export const turnsOf = (threadId) => all(`threads/${id(threadId)}`, 'turns');

/** @param {string} threadId */
export const deleteThread = (threadId) => request('DELETE', `threads/${id(threadId)}`);

/**
 * @param {string} turnId
 * @returns {Promise<import('./types.js').TurnEvent[]>} What was stored of it.
 */
export const eventsOf = async (turnId) => (await request('GET', `turns/${id(turnId)}/events`)).events;

/**
 * @param {string} turnId
 * @returns {Promise<import('./types.js').Span[]>}
 */
export const traceOf = async (turnId) => (await request('GET', `turns/${id(turnId)}/trace`)).spans;

/** @param {string} turnId */
export const cancel = (turnId) => request('POST', `turns/${id(turnId)}/cancel`);

/**
 * Reply to a turn that waits; what follows comes over the WebSocket.
 * @param {string} turnId
 * @param {{answer?: string, approve?: boolean, interrupt_id: string}} reply
 */
export const resume = (turnId, reply) =>
  request('POST', `turns/${id(turnId)}/resume`, { json: reply, prefer: 'respond-async' });

/**
 * @param {string} turnId
 * @param {{rating: 'up' | 'down', comment?: string}} feedback
 */
export const rate = (turnId, feedback) => request('POST', `turns/${id(turnId)}/feedback`, { json: feedback });

/** @returns {Promise<Document[]>} */
export const listDocuments = () => all('documents', 'documents');

/** @param {string} documentId */
export const deleteDocument = (documentId) => request('DELETE', `documents/${id(documentId)}`);

/**
 * @param {File} file
 * @param {string} path Its name with the folders it was dropped with.
 * @returns {Promise<Document>}
 */
export function upload(file, path) {
  const form = new FormData();
  form.append('file', file, path);
  return request('POST', 'documents', { form });
}

/**
 * @param {string} documentId
 * @param {string | null} cursor
 * @returns {Promise<{version: string, characters: number, passages: import('./types.js').Passage[], next_cursor: string | null}>}
 */
export const passagesOf = (documentId, cursor) =>
  request('GET', `documents/${id(documentId)}/passages`, { query: { limit: 100, cursor } });

/** @param {string} documentId */
export const sourceOf = (documentId) => address(`documents/${id(documentId)}/source`);
