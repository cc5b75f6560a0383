/** The page: puts its parts together and keeps the address in step with the conversation that is open. */

import { announce } from './announcer.js';
import { Documents } from './documents.js';
import { find, h, icon } from './dom.js';
import { acceptDrops } from './drop.js';
import { LANGUAGES, language, onLanguage, setLanguage, t, translate } from './i18n.js';
import { Panel } from './panel.js';
import { TurnSocket } from './socket.js';
import { Sources } from './sources.js';
import { Thread } from './thread.js';
import { Threads } from './threads.js';

/** A connection that is back within this time was never worth a word. */
const AWAY_MS = 800;

const panel = new Panel();
const sources = new Sources(panel);
const documents = new Documents(panel, sources);
const threads = new Threads((deleted) => deleted === thread.id && go(null));
const socket = new TurnSocket({ event: (event) => thread.handle(event), state: showConnection });
const thread = new Thread({
  socket,
  sources,
  onStarted: (threadId) => {
    history.pushState(null, '', `#/threads/${threadId}`);
    threads.select(threadId);
  },
  onProgress: () => threads.refresh(),
});

/** @returns {string | null} The conversation that the address names. */
function addressed() {
  return /^#\/threads\/([A-Za-z0-9_-]{1,64})$/.exec(location.hash)?.[1] ?? null;
}

/** @param {string | null} threadId */
function go(threadId) {
  history.pushState(null, '', threadId ? `#/threads/${threadId}` : location.pathname + location.search);
  show();
}

/** Show the conversation that the address names. */
function show() {
  const threadId = addressed();
  threads.select(threadId);
  return thread.open(threadId);
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let away;

/** @param {boolean} isConnected */
function showConnection(isConnected) {
  const banner = find('#away');
  clearTimeout(away);
  if (!isConnected) {
    away = setTimeout(() => {
      banner.hidden = false;
      announce(t('server.away'));
    }, banner.hidden ? AWAY_MS : 0);
    return;
  }
  if (banner.hidden) return;
  banner.hidden = true;
  announce(t('server.back'));
  threads.refresh();
  documents.refresh();
  if (thread.isMissed) thread.open(thread.id);
}

function showWelcome() {
  const { ready, unfinished } = documents.tally;
  const counts = [ready && t('welcome.ready', { n: ready }), unfinished && t('welcome.unfinished', { n: unfinished })];
  find('#welcome-documents').textContent = ready + unfinished ? counts.filter(Boolean).join(' ') : t('welcome.none');
}

function fillLanguages() {
  const select = /** @type {HTMLSelectElement} */ (find('#language'));
  select.replaceChildren(...LANGUAGES.map(([tag, name]) => h('option', { value: tag, lang: tag, selected: tag === language() }, name)));
  select.addEventListener('change', () => setLanguage(/** @type {import('./i18n.js').Language} */ (select.value)));
}

for (const [selector, name] of /** @type {const} */ ([
  ['#menu', 'menu'],
  ['#new-thread', 'plus'],
  ['#documents-button', 'file'],
  ['#welcome-upload', 'upload'],
])) {
  find(selector).prepend(icon(name));
}
find('#new-thread').addEventListener('click', () => {
  go(null);
  thread.composer.focus();
});
find('#welcome-upload').addEventListener('click', () => documents.input.click());
find('#skip').addEventListener('click', (event) => {
  event.preventDefault(); // the address stays with the conversation
  thread.composer.focus();
});
find('#away-try').addEventListener('click', () => socket.connect());
addEventListener('popstate', show);
acceptDrops((files) => documents.add(files));
documents.onchange = showWelcome;
onLanguage(translate);
onLanguage(showWelcome);
fillLanguages();
translate();
showWelcome();
socket.connect();
await Promise.all([show(), threads.refresh(), documents.refresh()]);
