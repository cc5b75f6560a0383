/** Every text that the page itself says, in English and Chinese, and the choice between them. */

const STORED = 'footnote.language';

const en = {
  language: 'English',
  'language.label': 'Language',
  description: 'Ask your documents. Every sentence shows where it comes from.',
  skip: 'Skip to the question',
  threads: 'Conversations',
  'threads.new': 'New conversation',
  'threads.none': 'Your conversations will be listed here.',
  'threads.more': 'Show more',
  'threads.menu': 'Conversations',
  'threads.turns': ({ n }) => (n === 1 ? '1 question' : `${n} questions`),
  'threads.delete': ({ title }) => `Delete the conversation “${title}”`,
  'threads.delete.ask': 'Delete this conversation? Its questions and answers are gone for good.',
  'threads.untitled': 'Untitled conversation',
  'threads.gone': 'This conversation does not exist any more.',
  'welcome.title': 'Ask your documents',
  'welcome.text': 'You get an answer with footnotes. Each one opens the source at the exact words.',
  'welcome.none': 'There are no documents yet. Drop files anywhere on this page, or choose them.',
  'welcome.ready': ({ n }) => (n === 1 ? '1 document is ready.' : `${n} documents are ready.`),
  'welcome.unfinished': ({ n }) => (n === 1 ? '1 more is being read.' : `${n} more are being read.`),
  'composer.label': 'Your question',
  'composer.placeholder': 'Ask a question…',
  'composer.send': 'Ask',
  'composer.stop': 'Stop',
  'composer.hint': 'Enter asks, Shift + Enter starts a new line.',
  'composer.long': ({ n, limit }) => `${n} of at most ${limit} characters: please shorten the question.`,
  conversation: 'Questions and answers',
  'turn.sending': 'Sending the question…',
  'turn.stopping': 'Stopping…',
  'node.begin': 'Reading the question',
  'node.plan': 'Planning',
  'node.gather': 'Searching',
  'node.grade': 'Judging what was found',
  'node.clarify': 'Asking back',
  'node.answer': 'Writing the answer',
  'node.check': 'Checking the answer against the sources',
  'node.finish': 'Placing the footnotes',
  'turn.waiting': ({ reason, seconds }) => `Waiting ${seconds} s: ${reason}`,
  'turn.progress': 'Progress',
  'turn.announce': ({ outcome, answer }) => `${outcome}. ${answer}`,
  'outcome.answered': 'Answered',
  'outcome.partial': 'Partly answered',
  'outcome.unanswerable': 'Not in the documents',
  'outcome.needs_clarification': 'A question back',
  'outcome.needs_approval': 'Needs your approval',
  'outcome.refused': 'Refused',
  'outcome.cancelled': 'Stopped',
  'outcome.failed': 'Failed',
  'work.title': 'How this was found',
  'work.plan': 'Plan',
  'work.asked': 'Understood as',
  'work.after': ({ steps }) => `after step ${steps}`,
  'work.passages': 'Passages found',
  'work.trace': 'Timeline',
  'work.empty': 'Nothing was recorded.',
  'work.load': 'Loading…',
  'work.ms': ({ ms }) => `${ms} ms`,
  'intent.lookup': 'Look-up',
  'intent.multi_hop': 'Several steps',
  'intent.comparison': 'Comparison',
  'intent.summary': 'Summary',
  'intent.action': 'Action',
  'intent.out_of_scope': 'Out of scope',
  footnotes: 'Footnotes',
  'footnote.open': ({ number, title }) => `Footnote ${number}: ${title}`,
  page: ({ n }) => `page ${n}`,
  'feedback.label': 'Was this answer good?',
  'feedback.up': 'Good answer',
  'feedback.down': 'Bad answer',
  'feedback.comment': 'What should be different? (optional)',
  'feedback.comment.up': 'What was good? (optional)',
  'feedback.send': 'Send comment',
  'feedback.thanks': 'Thank you, that is noted.',
  'turn.copy': 'Copy the answer',
  'turn.copied': 'Copied.',
  'turn.again': 'Ask again',
  'turn.measure': ({ seconds, calls }) =>
    calls === 0 ? `${seconds} s` : `${seconds} s · ${calls} model ${calls === 1 ? 'call' : 'calls'}`,
  'reply.label': 'Your reply',
  'reply.other': 'Or in your own words',
  'reply.send': 'Reply',
  'reply.yes': 'Yes, do it',
  'reply.no': 'No',
  'reply.arguments': 'Arguments',
  panel: 'Side panel',
  close: 'Close',
  'source.loading': 'Opening the source…',
  'source.file': 'Download the file',
  'source.changed': 'The document has changed since this answer. These are the words the answer rests on:',
  'source.gone': 'The document has been deleted since this answer. These are the words the answer rests on:',
  'source.text': 'Text of the source',
  'source.more': 'Show the rest',
  'source.before': 'Show the beginning',
  'source.previous': 'Previous footnote',
  'source.next': 'Next footnote',
  'source.place': ({ number, count }) => `Footnote ${number} of ${count}`,
  documents: 'Documents',
  'documents.drop': 'Drop files or folders here',
  'documents.here': 'Drop to add them to your documents',
  'documents.choose': 'Choose files',
  'documents.none': 'No documents yet.',
  'documents.list': 'All documents',
  'documents.find': 'Find by name',
  'documents.counts': ({ ready, unfinished, failed }) =>
    [`${ready} ready`, unfinished && `${unfinished} in work`, failed && `${failed} failed`].filter(Boolean).join(' · '),
  'documents.delete': ({ title }) => `Delete ${title}`,
  'documents.delete.ask': ({ title }) => `Delete “${title}”? No answer will rest on it from now on.`,
  'documents.dismiss': ({ title }) => `Remove ${title} from this list`,
  'documents.passages': ({ n }) => (n === 1 ? '1 passage' : `${n} passages`),
  'documents.open': ({ title }) => `Read ${title}`,
  'documents.announce.ready': ({ title }) => `${title} is ready.`,
  'documents.announce.failed': ({ title, message }) => `${title} failed: ${message}`,
  'documents.warnings': 'Warnings',
  'status.uploading': 'Uploading',
  'status.pending': 'Waiting',
  'status.processing': 'Being read',
  'status.ready': 'Ready',
  'status.failed': 'Failed',
  'stage.parsing': 'Reading',
  'stage.chunking': 'Cutting into passages',
  'stage.embedding': 'Embedding',
  'stage.indexing': 'Indexing',
  'confirm.yes': 'Delete',
  'confirm.no': 'Keep',
  'server.away': 'Footnote cannot be reached. What you asked is kept, and sent as soon as it is back.',
  'server.try': 'Try now',
  'server.back': 'Connected again.',
  'problem.network': 'The server cannot be reached',
  'problem.network.remedy': 'Is “footnote serve” still running? Start it again and try once more.',
  'problem.unknown': 'Something went wrong',
  'problem.thread_busy': 'A question is still running here',
  'problem.rate_limited': 'Too many questions at once',
  'problem.message_id_reused': 'This question was already sent with other words',
  'problem.turn_finished': 'This answer is finished already',
  'problem.not_waiting': 'This question does not wait for a reply any more',
  'problem.invalid_request': 'The question could not be taken',
  'problem.bad_name': 'This file name is not possible',
  'problem.too_large': 'Too large',
  'problem.not_found': 'Not there (any more)',
  'problem.unauthorized': 'Please sign in',
  'problem.forbidden': 'Not allowed',
  'problem.unavailable': 'Not available at the moment',
  'problem.internal': 'An error inside Footnote',
  'problem.model_unavailable': 'The model does not answer',
  'problem.index_unavailable': 'The search does not answer',
  'problem.deadline': 'The time for this answer ran out',
  'problem.crashed': 'The answer was interrupted',
  'problem.unsupported_format': 'This format cannot be read',
  'problem.no_text': 'No text in this file',
  'problem.empty': 'This file is empty',
  'problem.encrypted': 'This file is encrypted',
  'problem.damaged': 'This file is damaged',
  'problem.too_many_pages': 'Too many pages',
  'problem.expansion_limit': 'The file expands to too much',
  'problem.timeout': 'Reading took too long',
  'problem.memory_limit': 'Reading needs too much memory',
  'problem.nested_archive': 'An archive in an archive',
  'problem.trace': ({ id }) => `Error id: ${id}`,
  'problem.again': 'Try again',
};

/** @type {typeof en} */
const zh = {
  language: '中文',
  'language.label': '语言',
  description: '向您的文档提问。每句话都标明出处。',
  skip: '跳到提问框',
  threads: '对话',
  'threads.new': '新对话',
  'threads.none': '您的对话会列在这里。',
  'threads.more': '显示更多',
  'threads.menu': '对话',
  'threads.turns': ({ n }) => `${n} 个问题`,
  'threads.delete': ({ title }) => `删除对话“${title}”`,
  'threads.delete.ask': '删除此对话？其中的问题和回答将无法恢复。',
  'threads.untitled': '未命名的对话',
  'threads.gone': '此对话已不存在。',
  'welcome.title': '向您的文档提问',
  'welcome.text': '回答带有脚注，点击即可打开原文中的确切字句。',
  'welcome.none': '还没有文档。把文件拖到页面任意处，或选择文件。',
  'welcome.ready': ({ n }) => `${n} 份文档已就绪。`,
  'welcome.unfinished': ({ n }) => `另有 ${n} 份正在读取。`,
  'composer.label': '您的问题',
  'composer.placeholder': '输入问题…',
  'composer.send': '提问',
  'composer.stop': '停止',
  'composer.hint': '回车发送，Shift + 回车换行。',
  'composer.long': ({ n, limit }) => `${n} 个字符，最多 ${limit} 个：请缩短问题。`,
  conversation: '问题与回答',
  'turn.sending': '正在发送问题…',
  'turn.stopping': '正在停止…',
  'node.begin': '正在理解问题',
  'node.plan': '正在规划',
  'node.gather': '正在搜索',
  'node.grade': '正在评估搜索结果',
  'node.clarify': '需要向您确认',
  'node.answer': '正在撰写回答',
  'node.check': '正在对照原文核查回答',
  'node.finish': '正在标注脚注',
  'turn.waiting': ({ reason, seconds }) => `等待 ${seconds} 秒：${reason}`,
  'turn.progress': '进度',
  'turn.announce': ({ outcome, answer }) => `${outcome}。${answer}`,
  'outcome.answered': '已回答',
  'outcome.partial': '部分回答',
  'outcome.unanswerable': '文档中没有答案',
  'outcome.needs_clarification': '需要您说明',
  'outcome.needs_approval': '需要您同意',
  'outcome.refused': '已拒绝',
  'outcome.cancelled': '已停止',
  'outcome.failed': '失败',
  'work.title': '查找过程',
  'work.plan': '计划',
  'work.asked': '理解为',
  'work.after': ({ steps }) => `在第 ${steps} 步之后`,
  'work.passages': '找到的段落',
  'work.trace': '时间线',
  'work.empty': '没有记录。',
  'work.load': '正在加载…',
  'work.ms': ({ ms }) => `${ms} 毫秒`,
  'intent.lookup': '查找',
  'intent.multi_hop': '多步',
  'intent.comparison': '比较',
  'intent.summary': '总结',
  'intent.action': '操作',
  'intent.out_of_scope': '超出范围',
  footnotes: '脚注',
  'footnote.open': ({ number, title }) => `脚注 ${number}：${title}`,
  page: ({ n }) => `第 ${n} 页`,
  'feedback.label': '这个回答好吗？',
  'feedback.up': '回答得好',
  'feedback.down': '回答得不好',
  'feedback.comment': '应当怎样改进？（可选）',
  'feedback.comment.up': '好在哪里？（可选）',
  'feedback.send': '发送意见',
  'feedback.thanks': '谢谢，已记录。',
  'turn.copy': '复制回答',
  'turn.copied': '已复制。',
  'turn.again': '再问一次',
  'turn.measure': ({ seconds, calls }) => (calls === 0 ? `${seconds} 秒` : `${seconds} 秒 · 调用模型 ${calls} 次`),
  'reply.label': '您的回复',
  'reply.other': '或用您自己的话说明',
  'reply.send': '回复',
  'reply.yes': '同意执行',
  'reply.no': '不同意',
  'reply.arguments': '参数',
  panel: '侧栏',
  close: '关闭',
  'source.loading': '正在打开原文…',
  'source.file': '下载文件',
  'source.changed': '此回答之后文档已有改动。回答所依据的原文是：',
  'source.gone': '此回答之后文档已被删除。回答所依据的原文是：',
  'source.text': '原文',
  'source.more': '显示其余部分',
  'source.before': '显示开头部分',
  'source.previous': '上一条脚注',
  'source.next': '下一条脚注',
  'source.place': ({ number, count }) => `脚注 ${number}，共 ${count} 条`,
  documents: '文档',
  'documents.drop': '把文件或文件夹拖到这里',
  'documents.here': '松开即可加入您的文档',
  'documents.choose': '选择文件',
  'documents.none': '还没有文档。',
  'documents.list': '全部文档',
  'documents.find': '按名称查找',
  'documents.counts': ({ ready, unfinished, failed }) =>
    [`${ready} 份就绪`, unfinished && `${unfinished} 份处理中`, failed && `${failed} 份失败`].filter(Boolean).join(' · '),
  'documents.delete': ({ title }) => `删除 ${title}`,
  'documents.delete.ask': ({ title }) => `删除“${title}”？此后的回答将不再引用它。`,
  'documents.dismiss': ({ title }) => `从列表中移除 ${title}`,
  'documents.passages': ({ n }) => `${n} 个段落`,
  'documents.open': ({ title }) => `阅读 ${title}`,
  'documents.announce.ready': ({ title }) => `${title} 已就绪。`,
  'documents.announce.failed': ({ title, message }) => `${title} 失败：${message}`,
  'documents.warnings': '警告',
  'status.uploading': '正在上传',
  'status.pending': '等待中',
  'status.processing': '正在读取',
  'status.ready': '就绪',
  'status.failed': '失败',
  'stage.parsing': '正在解析',
  'stage.chunking': '正在切分段落',
  'stage.embedding': '正在计算向量',
  'stage.indexing': '正在建立索引',
  'confirm.yes': '删除',
  'confirm.no': '保留',
  'server.away': '无法连接 Footnote。您的问题已保留，恢复后会立即发送。',
  'server.try': '立即重试',
  'server.back': '已重新连接。',
  'problem.network': '无法连接服务器',
  'problem.network.remedy': '“footnote serve”还在运行吗？请重新启动后再试。',
  'problem.unknown': '出错了',
  'problem.thread_busy': '这里还有一个问题正在处理',
  'problem.rate_limited': '提问过于频繁',
  'problem.message_id_reused': '此问题已用别的内容发送过',
  'problem.turn_finished': '此回答已经结束',
  'problem.not_waiting': '此问题已不再等待回复',
  'problem.invalid_request': '无法接受此问题',
  'problem.bad_name': '不能使用此文件名',
  'problem.too_large': '太大了',
  'problem.not_found': '不存在（或已被删除）',
  'problem.unauthorized': '请先登录',
  'problem.forbidden': '没有权限',
  'problem.unavailable': '暂时不可用',
  'problem.internal': 'Footnote 内部错误',
  'problem.model_unavailable': '模型没有响应',
  'problem.index_unavailable': '搜索没有响应',
  'problem.deadline': '回答超时',
  'problem.crashed': '回答被中断',
  'problem.unsupported_format': '无法读取此格式',
  'problem.no_text': '此文件中没有文字',
  'problem.empty': '此文件是空的',
  'problem.encrypted': '此文件已加密',
  'problem.damaged': '此文件已损坏',
  'problem.too_many_pages': '页数太多',
  'problem.expansion_limit': '文件解压后过大',
  'problem.timeout': '读取时间过长',
  'problem.memory_limit': '读取需要过多内存',
  'problem.nested_archive': '压缩包中还有压缩包',
  'problem.trace': ({ id }) => `错误编号：${id}`,
  'problem.again': '重试',
};

const TEXTS = { en, 'zh-Hans': zh };

/** @typedef {keyof typeof TEXTS} Language */
/** @typedef {keyof typeof en} Key */

/** Languages of the interface and what they call themselves. */
export const LANGUAGES = /** @type {[Language, string][]} */ (
  Object.entries(TEXTS).map(([tag, texts]) => [tag, texts.language])
);

/** @type {Set<() => void>} */
const listeners = new Set();
/** @type {Language} */
let current = preferred();

/** @returns {Language} What was chosen before, else what the browser prefers. */
function preferred() {
  let stored = null;
  try {
    stored = localStorage.getItem(STORED);
  } catch {
    // storage can be forbidden; the choice then lasts as long as the page
  }
  if (stored && Object.hasOwn(TEXTS, stored)) return /** @type {Language} */ (stored);
  for (const tag of navigator.languages ?? [navigator.language]) {
    if (/^zh\b/i.test(tag)) return 'zh-Hans';
    if (/^en\b/i.test(tag)) return 'en';
  }
  return 'en';
}

/** @returns {Language} The tag of the interface's language. */
export function language() {
  return current;
}

/** @param {Language} tag */
export function setLanguage(tag) {
  current = tag;
  try {
    localStorage.setItem(STORED, tag);
  } catch {
    // as above
  }
  listeners.forEach((listener) => listener());
}

/** @param {() => void} listener Called after each change of language. */
export function onLanguage(listener) {
  listeners.add(listener);
}

/**
 * @param {Key} key
 * @param {Record<string, any>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = TEXTS[current][key];
  return typeof text === 'function' ? text(/** @type {any} */ (values)) : text;
}

/**
 * A text whose key is made from data, for example of an error's code.
 * @param {string} key
 * @returns {string | null} null where there is none
 */
export function lookup(key) {
  return Object.hasOwn(en, key) ? t(/** @type {Key} */ (key)) : null;
}

/** Fill in the fixed texts of the document: `data-text`, `data-label` (its accessible name), `data-placeholder`. */
export function translate() {
  document.documentElement.lang = current;
  document.querySelector('meta[name=description]')?.setAttribute('content', t('description'));
  for (const [attribute, write] of /** @type {[string, (element: Element, text: string) => void][]} */ ([
    ['data-text', (element, text) => (element.textContent = text)],
    ['data-label', (element, text) => element.setAttribute('aria-label', text)],
    ['data-placeholder', (element, text) => element.setAttribute('placeholder', text)],
  ])) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
      write(element, t(/** @type {Key} */ (element.getAttribute(attribute))));
    }
  }
}

/**
 * The language that a text is probably written in, so that it is read aloud and set in type as such.
 * @param {string} text
 * @returns {string}
 */
export function languageOf(text) {
  const count = (/** @type {RegExp} */ script) => text.match(script)?.length ?? 0;
  const han = count(/\p{Script=Han}/gu);
  if (count(/\p{Script=Hangul}/gu) > han) return 'ko';
  if (count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu) * 4 > han && han) return 'ja';
  // a Chinese sentence about `docs_url=None` has more Latin letters than Han characters in it
  return han * 3 > count(/\p{Script=Latin}/gu) ? 'zh-Hans' : 'en';
}
