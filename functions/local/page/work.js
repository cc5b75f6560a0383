/** How an answer was found: the plan and the passages as they come, the timeline once it is asked for. */

import { eventsOf, traceOf } from './api.js';
import { h } from './dom.js';
import { languageOf, lookup, t } from './i18n.js';
import { asProblem, problemBox } from './problems.js';
import { timeline } from './trace.js';
import { apply, asked } from './turn.js';

/** @typedef {import('./turn.js').TurnView} TurnView */

export class Work {
  /** @param {TurnView} view */
  constructor(view) {
    this.view = view;
    this.title = h('summary', {}, t('work.title'));
    this.body = h('div', { class: 'work-body' });
    this.trace = h('div', { class: 'work-trace' });
    this.element = h('details', { class: 'work' }, this.title, this.body, this.trace);
    this.element.addEventListener('toggle', () => this.element.open && this.#complete());
    this.made = '';
    /** Whether the user has opened or closed it: the page then leaves it alone. */
    this.isTouched = false;
    this.title.addEventListener('click', () => (this.isTouched = true));
  }

  /** Show what the turn has come to; open while there is nothing else to see. */
  update() {
    const { phase, plan, passages, text, turnId } = this.view;
    this.element.hidden = !turnId || (phase === 'running' && !plan && !passages);
    if (!this.isTouched) this.element.open = phase === 'running' && !text && Boolean(plan);
    const key = JSON.stringify([plan, passages]);
    if (key !== this.made) this.#fill();
    this.made = key;
  }

  translate() {
    this.title.textContent = t('work.title');
    this.made = '';
    this.trace.replaceChildren();
    if (this.element.open) this.#complete();
  }

  #fill() {
    const { plan, passages, question } = this.view;
    const restated = plan && plan.question !== question ? plan.question : null;
    this.body.replaceChildren(
      ...[
        plan && h('h3', {}, t('work.plan'), h('span', { class: 'intent' }, lookup(`intent.${plan.intent}`) ?? plan.intent)),
        restated && h('p', { class: 'restated' }, `${t('work.asked')}: `, h('span', { lang: languageOf(restated) }, restated)),
        plan && h('ol', { class: 'steps' }, ...plan.steps.map(step)),
        passages?.length && h('h3', {}, t('work.passages')),
        passages?.length && h('ul', { class: 'found' }, ...merged(passages)),
      ].filter((node) => node instanceof Node),
    );
  }

  /** Once it is over: fetch what a reload has lost, and the trace. */
  async #complete() {
    const { view } = this;
    if (view.phase !== 'over' || !view.turnId || this.trace.hasChildNodes()) return;
    this.trace.replaceChildren(h('p', { class: 'quiet' }, t('work.load')));
    try {
      if (!view.plan) await this.#remember(view.turnId);
      const spans = await traceOf(view.turnId);
      this.trace.replaceChildren(h('h3', {}, t('work.trace')), spans.length ? timeline(spans) : h('p', { class: 'quiet' }, t('work.empty')));
    } catch (error) {
      this.trace.replaceChildren(problemBox(asProblem(error)));
    }
  }

  /** @param {string} turnId */
  async #remember(turnId) {
    const past = asked(this.view);
    for (const event of await eventsOf(turnId)) apply(past, event);
    this.view.plan = past.plan;
    this.view.passages = past.passages;
    this.update();
  }
}

/** @param {import('./types.js').Step} step */
function step({ tool, query, purpose, depends_on }) {
  return h(
    'li',
    {},
    h('span', { class: 'step-query', lang: languageOf(query) }, query),
    h('code', { class: 'step-tool' }, tool),
    depends_on.length > 0 && h('span', { class: 'step-after' }, t('work.after', { steps: depends_on.join(', ') })),
    purpose && h('span', { class: 'step-purpose', lang: languageOf(purpose) }, purpose),
  );
}

/**
 * @param {import('./types.js').PassageBrief[]} passages
 * @returns {HTMLLIElement[]} One per document and page.
 */
function merged(passages) {
  const places = new Map(passages.map((passage) => [`${passage.document_id}#${passage.page ?? ''}`, passage]));
  return [...places.values()].map(({ title, page }) =>
    h('li', { lang: languageOf(title) }, page === undefined ? title : `${title} · ${t('page', { n: page })}`),
  );
}
