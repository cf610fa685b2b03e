// live.js - the view of changes as they come: filtered, folded, and in full beside the list.
//
// The list shows rows: a row is a change, or several that look the same (same object, verb, author and fields), as long as
// they come within FOLD_ROWS rows. The newest row is at the top. Pausing freezes the rows, not the buffer (changes.js).

import {changes, LIMIT} from '/page/changes.js';
import {clock, count, h, plural, rate, setText} from '/page/dom.js';
import {filterOf} from '/page/filter.js';
import {makeView, viewKey, VirtualList} from '/page/list.js';
import {recordView, VERBS} from '/page/record.js';

const FOLD_ROWS = 400;
const FOLD_KEPT = 50; // changes of a folded row that are kept for its details
const DRAW_MS = 100;

const settings = {text: '', watch: '', ns: '', label: '', path: '', level: '', verbs: new Set(), fold: true};

function foldKey(e) {
  return e.isNote ? null : `${e.type}\0${e.cluster}\0${e.watch}\0${e.ns}\0${e.name}\0${e.manager}\0${e.paths}${e.kind === 'Event' ? e.summary : ''}`;
}

/* ---- rows ---- */

class Rows {
  constructor() {
    this.reset();
  }

  reset() {
    this.items = [];   // the oldest first
    this.recent = new Map();  // fold key -> row
    this.hidden = 0;
    this.dropped = 0;
  }

  /* Returns the number of rows that were added. */
  add(entries, matches) {
    let added = 0;
    for (const e of entries) {
      if (!matches(e)) {
        this.hidden++;
        continue;
      }
      added += this.addOne(e);
    }
    if (this.items.length > LIMIT) {
      this.dropped += this.items.length - LIMIT;
      this.items.splice(0, this.items.length - LIMIT);
    }
    return added;
  }

  addOne(e) {
    const key = settings.fold ? foldKey(e) : null, row = key && this.recent.get(key);
    if (row && this.dropped + this.items.length - row.position <= FOLD_ROWS) {
      row.count++;
      row.entries.push(e);
      if (row.entries.length > FOLD_KEPT)
        row.entries.shift();
      return 0;
    }
    const made = {entries: [e], count: 1, position: this.dropped + this.items.length};
    this.items.push(made);
    if (key) {
      this.recent.delete(key);
      this.recent.set(key, made);
      if (this.recent.size > 2 * FOLD_ROWS)
        this.recent.delete(this.recent.keys().next().value);
    }
    return 1;
  }

  at(index) {
    return this.items[this.items.length - 1 - index];
  }
}

/* ---- drawing ---- */

export function makeRow() {
  return h('.change', {}, h('time'), h('span.verb', {}, h('b'), h('span')), h('span.kind'), h('span.object'), h('span.summary'), h('span.manager'), h('span.fold'));
}

/* Shows an entry in a row; @times: how many changes the row stands for. */
export function fillChange(row, e, times) {
  const [time, verb, kind, object, summary, manager, fold] = row.children;
  setText(time, clock(e.time));
  setText(verb.firstChild, VERBS[e.type] || '·');
  setText(verb.lastChild, e.type);
  verb.dataset.verb = e.isNote ? 'NOTE' : e.type;
  setText(kind, e.kind);
  setText(object, e.title);
  setText(summary, e.summary);
  setText(manager, e.manager);
  setText(fold, times > 1 ? `×${count(times)}` : '');
  row.dataset.level = e.level;
  row.dataset.type = e.isNote ? 'NOTE' : e.type;
}

function fillRow(row, item) {
  fillChange(row, item.entries.at(-1), item.count);
}

/* ---- the view ---- */

class LiveView {
  constructor(main) {
    this.rows = new Rows();
    this.paused = false;
    this.incoming = []; // entries since the rows were drawn
    this.waiting = []; // entries that came during a pause
    this.filter = filterOf(settings);
    this.times = [];
    this.shown = null;
    this.list = new VirtualList({label: 'Changes, the newest first', item: i => this.rows.at(i), makeRow, fillRow,
      onSelect: i => this.pane.hidden || this.showDetails(i), onOpen: i => this.showDetails(i, true)});
    this.pane = h('aside.pane', {'aria-label': 'Change', hidden: true, tabindex: '-1'});
    this.build(main);
    this.refill();
    this.stop = changes.listen(entries => this.onEntries(entries));
    this.timer = setInterval(() => this.draw(), DRAW_MS);
  }

  close() {
    this.stop();
    clearInterval(this.timer);
    this.list.close();
    changes.hold(false);
  }

  build(main) {
    const select = (key, label, options, rare) => h('select', {class: rare, 'aria-label': label, 'data-key': key, onchange: event => this.set(key, event.target.value)},
      options.map(([value, text]) => h('option', {value, selected: settings[key] === value}, text)));
    const input = (key, label, placeholder, extra) => h('input', {type: 'search', 'aria-label': label, placeholder, value: settings[key],
      'data-key': key, autocomplete: 'off', spellcheck: 'false', oninput: event => this.set(key, event.target.value), ...extra});
    const verb = name => h('button', {type: 'button', 'data-verb': name, 'aria-pressed': String(settings.verbs.has(name)),
      onclick: event => this.toggleVerb(name, event.target)}, `${VERBS[name]} ${name.toLowerCase()}`);
    this.watches = select('watch', 'Resource', [['', 'all resources']]);
    this.namespaces = select('ns', 'Namespace', [['', 'all namespaces']]);
    this.pauseButton = h('button', {type: 'button', 'aria-pressed': 'false', onclick: () => this.pause(!this.paused)}, 'Pause');
    this.foldButton = h('button', {type: 'button', 'aria-pressed': String(settings.fold), onclick: () => this.toggleFold()}, 'Fold');
    this.status = h('span.muted', {role: 'status'});
    this.text = input('text', 'Text in name, message or author', 'Filter (/)', {class: 'main'});
    this.empty = h('p.message', {}, 'No changes yet. They appear here as they happen.');
    main.replaceChildren(h('.live.split', {},
      h('.front', {},
        h('h1.hidden', {}, 'Changes'),
        h('form.tools', {role: 'search', 'aria-label': 'Filter changes', onsubmit: event => event.preventDefault()},
          this.text, this.watches, this.namespaces,
          h('button.more', {type: 'button', 'aria-expanded': 'false', onclick: event => this.toggleMore(event.target)}, 'More'),
          h('span.group.rare', {role: 'group', 'aria-label': 'Verbs'}, ['ADDED', 'MODIFIED', 'DELETED'].map(verb)),
          select('level', 'Minimum level', [['', 'all levels'], ['warn', 'warn and error'], ['error', 'error']], 'rare'),
          input('label', 'Labels, such as app=web,tier!=db', 'labels: app=web', {class: 'rare'}),
          input('path', 'Path of a changed field', 'changed path: spec.', {class: 'rare'}),
          h('span.group', {}, this.pauseButton, this.foldButton,
            h('button', {type: 'button', onclick: () => this.clear()}, 'Clear')),
          this.status),
        this.empty,
        this.list.element),
      this.pane));
  }

  /* ---- filters ---- */

  set(key, value) {
    settings[key] = value;
    this.filter = filterOf(settings);
    this.refill();
  }

  toggleVerb(name, button) {
    settings.verbs.delete(name) || settings.verbs.add(name);
    button.setAttribute('aria-pressed', String(settings.verbs.has(name)));
    this.set('verbs', settings.verbs);
  }

  /* On narrow screens only. */
  toggleMore(button) {
    const all = button.parentElement.classList.toggle('all');
    button.setAttribute('aria-expanded', String(all));
  }

  toggleFold() {
    settings.fold = !settings.fold;
    this.foldButton.setAttribute('aria-pressed', String(settings.fold));
    this.refill();
  }

  /* Makes all rows again, from what the buffer has. */
  refill() {
    const frozen = new Set(this.waiting);
    this.incoming = [];
    this.rows.reset();
    this.rows.add(frozen.size ? changes.entries.filter(e => !frozen.has(e)) : changes.entries, this.filter);
    this.list.selected = -1;
    this.list.element.scrollTop = 0;
    this.addNames(changes.entries);
    this.list.update(this.rows.items.length);
    this.draw();
  }

  /* Offers the resources and namespaces that have occurred. */
  addNames(entries) {
    for (const [select, key, all] of [[this.watches, 'watch', 'all resources'], [this.namespaces, 'ns', 'all namespaces']]) {
      const known = new Set([...select.options].map(o => o.value));
      const names = new Set(entries.map(e => e[key]).filter(name => name && !known.has(name)));
      if (!names.size)
        continue;
      const sorted = [...known, ...names].filter(Boolean).sort();
      select.replaceChildren(h('option', {value: ''}, all), ...sorted.map(name => h('option', {value: name}, name)));
      select.value = settings[key];
    }
  }

  /* ---- changes ---- */

  onEntries(entries) {
    this.times.push([performance.now(), entries.length]);
    if (this.paused) {
      this.waiting.push(...entries);
      return;
    }
    this.incoming.push(...entries);
  }

  /* At most every DRAW_MS, however many changes there are. */
  draw() {
    const now = performance.now();
    while (this.times.length && this.times[0][0] < now - 2000)
      this.times.shift();
    const perSecond = this.times.reduce((sum, [, n]) => sum + n, 0) / 2;
    if (this.incoming.length) {
      const entries = this.incoming;
      this.incoming = [];
      this.addNames(entries);
      const added = this.rows.add(entries, this.filter);
      this.list.update(this.rows.items.length, added);
      if (this.shown && !this.pane.hidden && this.shown.count !== this.shownCount)
        this.fillPane();
    }
    this.empty.hidden = this.rows.items.length > 0;
    setText(this.empty, this.rows.hidden ? 'No change matches the filter.' : 'No changes yet. They appear here as they happen.');
    setText(this.status, `${this.paused ? `paused, ${plural(this.waiting.length, 'new change')}` : `${rate(perSecond)}/s`} · ` +
      `${plural(this.rows.items.length, 'row')} of ${plural(changes.entries.length - this.waiting.length, 'change')}` +
      (this.rows.hidden ? ` · ${count(this.rows.hidden)} filtered out` : ''));
  }

  pause(paused) {
    this.paused = paused;
    changes.hold(paused);
    this.pauseButton.setAttribute('aria-pressed', String(paused));
    setText(this.pauseButton, paused ? 'Resume' : 'Pause');
    if (!paused) {
      this.incoming.push(...this.waiting);
      this.waiting = [];
    }
    this.draw();
  }

  clear() {
    changes.clear();
    this.waiting = [];
    this.closePane();
    this.refill();
  }

  /* ---- details ---- */

  showDetails(index, focus) {
    this.shown = this.rows.at(index);
    this.pane.hidden = false;
    this.fillPane();
    if (focus && matchMedia('(max-width: 70rem)').matches)
      this.pane.focus();
  }

  fillPane() {
    const item = this.shown, e = item.entries.at(-1);
    this.shownCount = item.count;
    const record = e.raw ? JSON.parse(e.raw) : {type: 'NOTE', msg: e.summary, time: e.time, seq: e.seq, level: e.level};
    const extra = item.count > 1 ? h('p.muted', {}, `${plural(item.count, 'change')} like this; the last ones at ` +
      item.entries.slice(-5).map(x => clock(x.time)).reverse().join(', ')) : null;
    this.pane.replaceChildren(
      h('button.close', {type: 'button', onclick: () => this.closePane(), 'aria-label': 'Close'}, '✕'),
      ...recordView(record, extra).filter(Boolean));
  }

  closePane() {
    const hadFocus = this.pane.contains(document.activeElement);
    this.pane.hidden = true;
    this.shown = null;
    if (hadFocus)
      this.list.element.focus();
  }

  onKey(event) {
    const actions = {'/': () => this.text.focus(), p: () => this.pause(!this.paused), f: () => this.toggleFold()};
    return viewKey(event, actions, this.pane, () => this.closePane(), this.list);
  }
}

export const live = makeView(LiveView, {
  name: 'changes',
  title: 'Changes',
  keys: [['j, k, ↑, ↓', 'next, previous row'], ['g, G', 'first, last row'], ['Enter', 'show the row in full'], ['Esc', 'close, or leave a field'],
    ['/', 'filter'], ['p', 'pause the changes'], ['f', 'fold changes that look the same']],
});
