// history.js - the view of what happened to an object, or in a namespace: a timeline, its records, and each in full.
//
// The records come from an event log (/informerd/v1/history), the newest LIMIT of a time. Zooming in shows a part of them;
// zooming out or moving beyond what was loaded requests again.

import {Failure, followLines} from '/page/api.js';
import {changes, entryOf} from '/page/changes.js';
import {findResource, resources} from '/page/discovery.js';
import {clock, count, duration, h, plural, setText} from '/page/dom.js';
import {makeView, viewKey, VirtualList} from '/page/list.js';
import {fillChange, makeRow} from '/page/live.js';
import {recordView} from '/page/record.js';
import {Timeline} from '/page/timeline.js';

const LIMIT = 10000; // records of an answer
const LIMIT_BYTES = 15e6; // answers end at 16 MiB
const RANGES = [['300', '5 minutes'], ['900', '15 minutes'], ['3600', '1 hour'], ['21600', '6 hours'], ['86400', '1 day'], ['604800', '7 days']];
const INPUT_MS = 400;

class HistoryView {
  constructor(main) {
    this.entries = [];  // loaded, the oldest first
    this.visible = [];  // those between `from` and `to`
    this.range = 3600;
    this.timeline = new Timeline({onZoom: (from, to) => this.zoom(from, to), onPick: i => { this.list.select(i); this.open(i); }});
    this.list = new VirtualList({label: 'Records, the oldest first', item: i => this.visible[i], makeRow, fillRow: (row, e) => fillChange(row, e, 1),
      onSelect: i => this.pane.hidden || this.open(i), onOpen: i => this.open(i, true)});
    this.build(main);
  }

  close() {
    this.abort?.abort();
    clearTimeout(this.timer);
    this.timeline.close();
    this.list.close();
  }

  build(main) {
    const button = (text, label, action) => h('button', {type: 'button', 'aria-label': label, title: label, onclick: action}, text);
    const input = (key, label, placeholder, list) => h('input', {'aria-label': label, placeholder, 'data-key': key, autocomplete: 'off', spellcheck: 'false', list,
      oninput: () => this.later()});
    this.kind = h('select', {'aria-label': 'Kind', 'data-key': 'kind', onchange: () => this.go()}, h('option', {value: ''}, 'all kinds'));
    this.ns = input('ns', 'Namespace', 'namespace', 'known-namespaces');
    this.name = input('name', 'Name', 'name (/)');
    this.ranges = h('select', {'aria-label': 'Time', 'data-key': 'range', onchange: event => this.setRange(Number(event.target.value))},
      RANGES.map(([value, text]) => h('option', {value, selected: Number(value) === this.range}, `last ${text}`)));
    this.known = h('datalist', {id: 'known-namespaces'}, [...new Set(changes.entries.map(e => e.ns).filter(Boolean))].sort().map(value => h('option', {value})));
    this.status = h('span.muted', {role: 'status'});
    this.message = h('p.message');
    this.pane = h('aside.pane', {'aria-label': 'Record', hidden: true, tabindex: '-1'});
    main.replaceChildren(h('.history.split', {},
      h('.front', {}, h('h1.hidden', {}, 'History'),
        h('form.tools', {role: 'search', 'aria-label': 'Select records', onsubmit: event => { event.preventDefault(); this.go(); }},
          this.kind, this.ns, this.known, this.name, this.ranges,
          h('span.group', {role: 'group', 'aria-label': 'Zoom'}, button('←', 'Earlier ([)', () => this.move(-0.5)), button('→', 'Later (])', () => this.move(0.5)),
            button('+', 'Zoom in (+)', () => this.scale(0.5)), button('−', 'Zoom out (-)', () => this.scale(2)), button('now', 'Load again up to now (r)', () => this.setRange(this.range))),
          this.status),
        this.timeline.element, this.message, this.list.element),
      this.pane));
  }

  /* ---- what to show ---- */

  async route([cluster = '', id = '', ns = '', name = '']) {
    const turn = this.turn = (this.turn || 0) + 1;
    try {
      const all = (await resources()).filter(r => r.kind !== 'Event'), several = new Set(all.map(r => r.cluster)).size > 1;
      const chosen = id && id !== '_' ? await findResource(cluster === '_' ? '' : cluster, id) : null;
      if (turn !== this.turn)
        return;
      this.resources = all;
      this.kind.replaceChildren(h('option', {value: ''}, 'all kinds'),
        ...all.map((r, i) => h('option', {value: String(i), selected: r === chosen}, `${r.kind}${several ? ` (${r.cluster})` : ''}`)));
    } catch (error) {
      if (!(error instanceof Failure))
        throw error;
    }
    this.ns.value = ns === '_' ? '' : ns;
    this.name.value = name;
    this.setRange(this.range);
  }

  resource() {
    return this.kind.value === '' ? null : this.resources[Number(this.kind.value)];
  }

  /* The fields have changed: the address follows, so that 'back' works. */
  go() {
    const r = this.resource();
    clearTimeout(this.timer);
    location.hash = `#/history/${[r?.cluster || '_', r?.id || '_', this.ns.value.trim() || '_', this.name.value.trim()].map(encodeURIComponent).join('/')}`;
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.go(), INPUT_MS);
  }

  setRange(seconds) {
    this.range = seconds;
    this.load(Date.now() - seconds * 1000, Date.now());
  }

  /* ---- loading ---- */

  query(from, to) {
    const r = this.resource(), ns = this.ns.value.trim(), name = this.name.value.trim(), query = new URLSearchParams();
    if (r) {
      query.set('resource', r.id.split('/')[0]);
      if (r.cluster)
        query.set('cluster', r.cluster);
    }
    if (ns)
      query.set('namespace', ns);
    if (name)
      query.set('name', name);
    if (![...query].length)
      return null;
    query.set('since', new Date(from).toISOString());
    query.set('until', new Date(to).toISOString());
    query.set('limit', LIMIT);
    return query;
  }

  async load(from, to) {
    const query = this.query(from, to), found = [];
    let size = 0;
    this.abort?.abort();
    Object.assign(this, {entries: [], cut: false, from, to, loadedFrom: from, loadedTo: to});
    if (!query) {
      this.show('Select a kind, a namespace or a name.');
      return;
    }
    const {signal} = this.abort = new AbortController();
    this.show('Loading …');
    try {
      await followLines(`/informerd/v1/history?${query}`, {line: line => {
        const e = entryOf(line);
        e.ms = Date.parse(e.time);
        size += line.length;
        found.push(e);
      }}, {signal});
    } catch (error) {
      if (error.name === 'AbortError' || signal.aborted)
        return;
      if (!(error instanceof Failure))
        throw error;
      this.show(error.message);
      return;
    }
    this.entries = found;
    this.cut = found.length >= LIMIT || size >= LIMIT_BYTES;
    this.show(found.length ? '' : 'Nothing happened in this time.');
  }

  /* ---- showing ---- */

  show(message) {
    this.visible = this.entries.filter(e => e.ms >= this.from && e.ms <= this.to);
    this.list.selected = -1;
    this.list.update(this.visible.length);
    setText(this.message, message || (this.visible.length ? '' : 'Nothing happened in this time.'));
    this.message.hidden = !this.message.textContent;
    const text = `${plural(this.visible.length, 'record')} in ${duration(this.to - this.from)}, ${clock(this.from).slice(0, 8)} to ${clock(this.to).slice(0, 8)}` +
      (this.cut ? `; only the newest ${count(this.entries.length)} were loaded` : '');
    setText(this.status, message === 'Loading …' ? message : text);
    this.timeline.draw(this.visible, this.from, this.to, `Timeline: ${text}`);
  }

  zoom(from, to) {
    if (to - from < 100)
      return;
    Object.assign(this, {from, to});
    if (from < this.loadedFrom || to > this.loadedTo)
      this.load(from, Math.min(to, Date.now()));
    else
      this.show('');
  }

  scale(factor) {
    const middle = (this.from + this.to) / 2, half = (this.to - this.from) / 2 * factor;
    this.zoom(middle - half, middle + half);
  }

  move(part) {
    const by = (this.to - this.from) * part;
    this.zoom(this.from + by, this.to + by);
  }

  open(index, focus) {
    const e = this.visible[index];
    this.pane.hidden = false;
    this.pane.replaceChildren(h('button.close', {type: 'button', 'aria-label': 'Close', onclick: () => this.closePane()}, '✕'),
      ...recordView(JSON.parse(e.raw), null).filter(Boolean));
    if (focus && matchMedia('(max-width: 70rem)').matches)
      this.pane.focus();
  }

  closePane() {
    this.pane.hidden = true;
    this.list.element.focus();
  }

  onKey(event) {
    const actions = {'+': () => this.scale(0.5), '-': () => this.scale(2), '[': () => this.move(-0.5), ']': () => this.move(0.5),
      r: () => this.setRange(this.range), '/': () => this.name.focus()};
    return viewKey(event, actions, this.pane, () => this.closePane(), this.list);
  }
}

export const historyView = makeView(HistoryView, {
  name: 'history',
  title: 'History',
  keys: [['+, -', 'history: zoom in, out'], ['[, ]', 'history: earlier, later'], ['r', 'history: up to now']],
});
