/**
 * The shapes that the page gets from the server, as its HTTP and WebSocket contract has them.
 *
 * @typedef {'answered' | 'partial' | 'unanswerable' | 'needs_clarification' | 'needs_approval' | 'refused' | 'cancelled'
 *   | 'failed'} Outcome
 *
 * @typedef {object} Citation
 * @property {number} number
 * @property {string} document_id
 * @property {string} passage_id
 * @property {string} title
 * @property {string} uri
 * @property {string} version
 * @property {number} [page]
 * @property {string} [heading]
 * @property {number} start In Unicode code points of the extracted text.
 * @property {number} end
 * @property {string} quote
 * @property {number[]} at Where in the answer each of its markers starts, in code points.
 *
 * @typedef {{interrupt_id: string, question: string, options: string[]}} Clarification
 * @typedef {{interrupt_id: string, tool: string, arguments: Record<string, unknown>, summary: string}} Approval
 *
 * @typedef {object} Turn
 * @property {string} turn_id
 * @property {string} thread_id
 * @property {string} [message_id]
 * @property {string} question
 * @property {string} [standalone_question]
 * @property {Outcome | null} outcome null while it runs.
 * @property {string} answer
 * @property {Citation[]} citations
 * @property {string} [note]
 * @property {{code: string, message: string}} [error]
 * @property {Clarification} [clarification]
 * @property {Approval} [approval]
 * @property {{calls: number}} [usage]
 * @property {{total: number, first_token?: number}} [timings_ms]
 *
 * @typedef {{tool: string, query: string, purpose: string, depends_on: number[]}} Step
 * @typedef {{document_id: string, title: string, page?: number, score: number}} PassageBrief
 *
 * @typedef {object} TurnEvent An event of a turn, or `error`, `heartbeat`, `pong`; which other fields it has depends on its type.
 * @property {string} type
 * @property {string} [turn_id]
 * @property {string} [thread_id]
 * @property {string} [message_id]
 * @property {number} [seq]
 * @property {any} [turn]
 * @property {string} [node]
 * @property {string} [message]
 * @property {number} [progress]
 * @property {string} [intent]
 * @property {string} [question]
 * @property {Step[]} [steps]
 * @property {PassageBrief[]} [passages]
 * @property {string} [text]
 * @property {string} [answer]
 * @property {string} [interrupt_id]
 * @property {string[]} [options]
 * @property {string} [tool]
 * @property {Record<string, unknown>} [arguments]
 * @property {string} [summary]
 * @property {string} [reason]
 * @property {number} [seconds]
 * @property {string} [code]
 * @property {boolean} [retryable]
 * @property {string} [trace_id]
 *
 * @typedef {{span_id: string, parent_id: string | null, name: string, start_ms: number, duration_ms: number,
 *   attributes: Record<string, unknown>}} Span
 *
 * @typedef {{thread_id: string, title: string, turns: number, created_at: string, updated_at: string}} ThreadBrief
 *
 * @typedef {object} Document
 * @property {string} document_id
 * @property {string} title
 * @property {string} path
 * @property {'pending' | 'processing' | 'ready' | 'failed'} status
 * @property {string} [stage]
 * @property {number} [progress]
 * @property {string} version
 * @property {number} bytes
 * @property {number} passages
 * @property {{code: string, message: string, remedy: string}} [error]
 * @property {string[]} warnings
 *
 * @typedef {{passage_id: string, start: number, end: number, text: string, page?: number, heading?: string}} Passage
 */

export {};
