// overview.js - the view of clusters, watches and outputs, from /informerd/v1/status.
//
// The status is requested every PERIOD_MS while the page is visible. Rates are differences of two answers, so the daemon
// keeps no history for this view.

import {Failure, getJson} from '/page/api.js';
import {age, bytes, count, duration, h, rate, setText, sparkline} from '/page/dom.js';
import {problemsOf} from '/page/problems.js';

const PERIOD_MS = 2000;
const SAMPLES = 60;

/* ---- rates ---- */

/* name -> {total, values}: the last SAMPLES rates of a counter. Kept while other views are shown. */
const rates = new Map();
let sampledAt = 0;

function sample(name, total, seconds) {
  let r = rates.get(name);
  if (!r)
    rates.set(name, r = {total, values: []});
  else if (seconds > 0) {
    r.values.push(total < r.total ? 0 : (total - r.total) / seconds);
    if (r.values.length > SAMPLES)
      r.values.shift();
  }
  r.total = total;
}

function changesOf(watch) {
  return watch.added + watch.modified + watch.deleted;
}

function sampleAll(status) {
  const now = Date.parse(status.time), seconds = sampledAt ? (now - sampledAt) / 1000 : 0;
  sampledAt = now;
  let all = 0;
  for (const watch of status.watches) {
    all += changesOf(watch);
    sample(`${watch.cluster}/${watch.watch}`, changesOf(watch), seconds);
  }
  sample('', all, seconds);
}

function lastRate(name) {
  const r = rates.get(name);
  return r && r.values.length ? r.values.at(-1) : null;
}

/* ---- tables that are updated in place ---- */

/*
 * A table whose rows are found again by their key. A column is {title, text(item), ...}: `number` aligns it to the right,
 * `minor` hides it on narrow screens, `make(item)` makes an element in place of text, which `update(element, item)` changes.
 */
class Table {
  constructor(caption, columns, keyOf) {
    this.columns = columns;
    this.keyOf = keyOf;
    this.rows = new Map();
    this.body = h('tbody');
    this.element = h('.scroll', {tabindex: '0', role: 'region', 'aria-label': caption},
      h('table', {}, h('caption.hidden', {}, caption),
        h('thead', {}, h('tr', {}, columns.map(c => h('th', {scope: 'col', class: Table.classes(c)}, c.title)))), this.body));
  }

  static classes(column) {
    return [column.number && 'number', column.minor && 'minor', column.wide && 'wide'].filter(Boolean).join(' ') || null;
  }

  makeRow(item) {
    const cells = this.columns.map(c => h('td', {class: Table.classes(c)}, c.make ? c.make(item) : ''));
    return {tr: h('tr', {}, cells), cells};
  }

  update(items) {
    const keys = new Set();
    for (const item of items) {
      const key = this.keyOf(item);
      let row = this.rows.get(key);
      keys.add(key);
      if (!row) {
        this.rows.set(key, row = this.makeRow(item));
        this.body.append(row.tr);
      }
      this.columns.forEach((c, i) =>
        c.make ? c.update?.(row.cells[i].firstChild, item) : setText(row.cells[i], c.text(item)));
    }
    for (const [key, row] of this.rows)
      if (!keys.has(key)) {
        row.tr.remove();
        this.rows.delete(key);
      }
  }
}

function pill(state, good) {
  return h('span.pill', {'data-good': String(good)}, state);
}

function pillColumn(isGood) {
  return {title: 'State', make: item => pill(item.state, isGood(item)),
    update: (element, item) => {
      setText(element, item.state);
      element.dataset.good = String(isGood(item));
    }};
}

const watchColumns = [
  {title: 'Watch', make: w => h('a', {href: `#/objects/${[w.cluster, w.resource].map(encodeURIComponent).join('/')}`}, w.watch)},
  pillColumn(w => w.state === 'live'),
  {title: 'Objects', number: true, text: w => count(w.objects)},
  {title: 'Changes', number: true, minor: true, text: w => count(changesOf(w))},
  {title: 'Per second', number: true, make: () => h('span.rate', {}, sparkline(SAMPLES), h('span')),
    update: (element, w) => {
      const name = `${w.cluster}/${w.watch}`;
      element.firstChild.update(rates.get(name)?.values || []);
      setText(element.lastChild, rate(lastRate(name)));
    }},
  {title: 'Last event', number: true, text: w => age(w.event_age_ms)},
  {title: 'Last data', number: true, minor: true, text: w => age(w.heard_age_ms)},
  {title: 'Memory', number: true, text: w => bytes(w.bytes)},
  {title: 'Streams', number: true, minor: true, text: w => `${w.live}/${w.streams}`},
  {title: 'Gaps', number: true, minor: true, text: w => count(w.gaps)},
];

const logColumns = [
  {title: 'Event log', wide: true, text: log => log.path},
  pillColumn(log => log.state === 'writable'),
  {title: 'Unwritten', number: true, text: log => bytes(log.unwritten_bytes)},
  {title: 'Oldest line', number: true, text: log => age(log.oldest_unwritten_ms)},
];

const handlerColumns = [
  {title: 'Handler', text: item => item.name},
  {title: 'Kind', minor: true, text: item => item.kind},
  pillColumn(item => item.state === 'idle' || item.state === 'running'),
  {title: 'Position', number: true, text: item => `#${count(item.position)}`},
  {title: 'Waiting', number: true, text: item => count(item.records)},
  {title: 'Oldest', number: true, text: item => item.records ? age(item.oldest_ms) : '–'},
  {title: 'Running', number: true, minor: true, text: item => count(item.running)},
  {title: 'Runs', number: true, minor: true, text: item => count(item.runs)},
  {title: 'Failed', number: true, text: item => count(item.failures)},
  {title: 'Parked', number: true, text: item => count(item.parked)},
];

/* ---- the view ---- */

const facts = [
  ['Changes per second', () => rate(lastRate('')), true],
  ['Objects', s => count(s.watches.reduce((sum, w) => sum + w.objects, 0))],
  ['Memory', s => bytes(s.resident_bytes)],
  ['Up', s => duration(Date.parse(s.time) - Date.parse(s.started))],
  ['CPU time', s => duration(s.cpu_ms)],
  ['Last record', s => `#${count(s.seq - 1)}`],
  ['On disk', s => s.state ? bytes(s.state.disk_bytes) : 'no state'],
  ['Version', s => s.version],
];

let timer = null, parts = null;

function makeFacts() {
  const values = facts.map(([title, , spark]) => {
    const value = h('dd', {}, h('span'), spark ? sparkline(SAMPLES) : null);
    return {value, row: h('div', {}, h('dt', {}, title), value)};
  });
  return {element: h('dl.facts', {}, values.map(v => v.row)), values};
}

function makeParts(main) {
  const made = makeFacts();
  parts = {
    problems: h('section.problems', {'aria-label': 'Problems'}),
    facts: made.values,
    clusters: h('.clusters'),
    tables: new Map(),
    logs: new Table('Event logs', logColumns, log => log.path),
    handlers: new Table('Handlers', handlerColumns, item => item.name),
    logSection: null,
    handlerSection: null,
    shown: '',
  };
  parts.logSection = h('section', {hidden: true}, h('h2', {}, 'Event logs'), parts.logs.element);
  parts.handlerSection = h('section', {hidden: true}, h('h2', {}, 'Handlers'), parts.handlers.element);
  main.replaceChildren(h('.overview', {}, h('h1.hidden', {}, 'Overview'), parts.problems, made.element, parts.clusters,
    h('.columns', {}, parts.logSection, parts.handlerSection)));
}

function showProblems(problems) {
  const text = JSON.stringify(problems);
  if (text === parts.shown)
    return;
  parts.shown = text;
  parts.problems.replaceChildren(problems.length ?
    h('ul', {}, problems.map(p => h('li', {'data-level': p.level},
      h('strong', {}, p.title), p.reasons.map(reason => h('p', {}, reason)), p.remedy ? h('p.remedy', {}, p.remedy) : null))) :
    h('p.fine', {}, 'No problems: every watch is live, every output takes its records.'));
}

function showClusters(watches) {
  const clusters = Map.groupBy ? Map.groupBy(watches, w => w.cluster) : new Map([...new Set(watches.map(w => w.cluster))]
    .map(name => [name, watches.filter(w => w.cluster === name)]));
  for (const [name, own] of clusters) {
    let made = parts.tables.get(name);
    if (!made) {
      const table = new Table(`Watches of ${name}`, watchColumns, w => w.watch);
      made = {table, section: h('section', {}, h('h2', {}, name, ' ', h('small', {}, own[0].server)), table.element)};
      parts.tables.set(name, made);
      parts.clusters.append(made.section);
    }
    made.table.update(own);
  }
  for (const [name, made] of parts.tables)
    if (!clusters.has(name)) {
      made.section.remove();
      parts.tables.delete(name);
    }
}

function show(status) {
  showProblems(problemsOf(status));
  facts.forEach(([, text, spark], i) => {
    const {value} = parts.facts[i];
    setText(value.firstChild, text(status));
    if (spark)
      value.lastChild.update(rates.get('')?.values || []);
  });
  showClusters(status.watches);
  parts.logs.update(status.event_logs);
  parts.handlers.update(status.handlers);
  parts.logSection.hidden = !status.event_logs.length;
  parts.handlerSection.hidden = !status.handlers.length;
}

function fail(error) {
  if (error.status === 403) {
    parts.problems.replaceChildren(h('p.message', {},
      `The overview is for readers without limits: ${error.message}. The other views show what this reader may read.`));
    parts.shown = '';
  }
}

async function poll() {
  clearTimeout(timer);
  timer = null;
  try {
    const status = await getJson('/informerd/v1/status');
    sampleAll(status);
    if (parts)
      show(status);
  } catch (error) {
    if (!(error instanceof Failure))
      throw error;
    if (parts)
      fail(error);
  }
  if (parts && !document.hidden)
    timer = setTimeout(poll, PERIOD_MS);
}

document.addEventListener('visibilitychange', () => {
  if (parts && !document.hidden && !timer)
    poll();
});

export const overview = {
  name: 'overview',
  title: 'Overview',
  mount(main) {
    if (parts)
      return;
    makeParts(main);
    poll();
  },
  unmount() {
    clearTimeout(timer);
    timer = parts = null;
  },
};
