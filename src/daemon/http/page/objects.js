// objects.js - the view of objects: a table with kubectl's columns that follows the cluster, and one object beside it.
//
// The table of one resource is a list and then a watch, as Tables. 'All kinds' lists the metadata of every resource instead,
// to search by name or label; it is loaded once.

import {Failure, followLines, getJson} from '/page/api.js';
import {findResource, listPath, METADATA_LIST, pageLink, resources, TABLE} from '/page/discovery.js';
import {age, count, h, plural, setText} from '/page/dom.js';
import {labelTests} from '/page/filter.js';
import {makeView, viewKey, VirtualList} from '/page/list.js';
import {ObjectPane} from '/page/object.js';
import {untilHidden, whenVisible} from '/page/visible.js';

const ALL = 'all';
const DRAW_MS = 250;
const RETRY_MS = 2000;
const REM_PER_CH = 0.56; // width of a character of a row
const NARROW_REM = 40; // below it: the name with its namespace is in a line of its own
const NARROW_COLUMNS = 5; // with Age, and without the columns of -o wide
const WIDTH_ROWS = 300; // rows that determine the widths of columns

const settings = {search: '', ns: ''};

/* Words are parts of names; words with = or ! are labels. Objects without a namespace are in all of them. */
function searchOf({search, ns}) {
  const words = search.toLowerCase().split(/[\s]+/).filter(Boolean);
  const tests = labelTests(search.split(/\s+/).filter(w => /[=!]/.test(w)).join(',')), names = words.filter(w => !/[=!]/.test(w));
  return row => (!ns || !row.ns || row.ns === ns) && names.every(w => row.hay.includes(w)) && tests.every(test => test(row.labels));
}

function rowOf(resource, metadata, cells) {
  return {resource, uid: metadata.uid, ns: metadata.namespace || '', name: metadata.name, labels: metadata.labels || {},
    created: Date.parse(metadata.creationTimestamp), cells, hay: `${resource.kind} ${metadata.namespace || ''}/${metadata.name}`.toLowerCase()};
}

class ObjectsView {
  constructor(main) {
    this.rows = new Map(); // uid -> row
    this.found = [];
    this.columns = [];
    this.resource = null;
    this.abort = null;
    this.list = new VirtualList({label: 'Objects', item: i => this.found[i], makeRow: () => h('.object-row'),
      fillRow: (element, row) => this.fillRow(element, row), onSelect: i => this.paneElement.hidden || this.go(this.found[i]),
      onOpen: i => this.go(this.found[i])});
    this.build(main);
    this.pane = new ObjectPane(this.paneElement, () => this.closePane());
    this.timer = setInterval(() => this.refresh(), DRAW_MS);
    this.observer = new ResizeObserver(() => this.refresh());
    this.observer.observe(this.list.element);
    this.ages = setInterval(() => this.list.draw(), 1000);
  }

  close() {
    this.abort?.abort();
    clearInterval(this.timer);
    clearInterval(this.ages);
    this.observer.disconnect();
    this.pane.close();
    this.list.close();
  }

  build(main) {
    this.search = h('input.main', {type: 'search', 'aria-label': 'Name, kind or label', placeholder: 'Name, or label like app=web (/)', autocomplete: 'off',
      spellcheck: 'false', value: settings.search, 'data-key': 'search', oninput: event => this.set('search', event.target.value)});
    this.kinds = h('select', {'aria-label': 'Kind', 'data-key': 'kind', onchange: event => { location.hash = event.target.value; }});
    this.namespaces = h('select', {'aria-label': 'Namespace', 'data-key': 'ns', onchange: event => this.set('ns', event.target.value)});
    this.status = h('span.muted', {role: 'status'});
    this.message = h('p.message', {hidden: true});
    this.head = h('.object-row.head', {'aria-hidden': 'true'});
    this.paneElement = h('aside.pane', {'aria-label': 'Object', hidden: true, tabindex: '-1'});
    main.replaceChildren(h('.objects.split', {},
      h('.front', {}, h('h1.hidden', {}, 'Objects'),
        h('form.tools', {role: 'search', 'aria-label': 'Search objects', onsubmit: event => event.preventDefault()}, this.search, this.kinds, this.namespaces, this.status),
        this.message, this.head, this.list.element),
      this.paneElement));
  }

  /* ---- the resource ---- */

  /* What the address says: cluster, resource, namespace, name. */
  async route([cluster = '', id = '', ns = '', name = '']) {
    const turn = this.turn = (this.turn || 0) + 1;
    try {
      const all = await resources();
      const resource = id && id !== ALL ? await findResource(cluster === '_' ? '' : cluster, id) : id || !all.length ? null : all.find(r => r.kind === 'Pod') || all[0];
      if (turn !== this.turn)
        return;
      this.fillKinds(all, resource);
      if (id && id !== ALL && !resource) {
        this.stop();
        this.say(`${id} is not watched, or this reader may not read it.`);
      } else if (!this.loaded || this.loaded !== (resource || ALL))
        this.start(resource, all);
      if (resource && name)
        this.pane.show(resource, ns === '_' ? '' : ns, name);
      else
        this.paneElement.hidden = true;
    } catch (error) {
      if (!(error instanceof Failure))
        throw error;
      this.say(error.message);
    }
  }

  fillKinds(all, chosen) {
    const several = new Set(all.map(r => r.cluster)).size > 1;
    this.kinds.replaceChildren(h('option', {value: `#/objects/_/${ALL}`}, 'all kinds'),
      ...all.map(r => h('option', {value: pageLink(r), selected: r === chosen}, `${r.kind}${several ? ` (${r.cluster})` : ''}`)));
  }

  /* A table that is still loading would be shown later, and remove the message. */
  stop() {
    this.abort?.abort();
    this.loaded = null;
    this.rows.clear();
    this.columns = [];
    this.list.selected = -1;
    this.list.element.scrollTop = 0;
    this.dirty = true;
  }

  start(resource, all) {
    this.stop();
    this.abort = new AbortController();
    this.loaded = resource || ALL;
    this.resource = resource;
    this.say('Loading …');
    this.follow(resource, all, this.abort.signal);
  }

  async follow(resource, all, signal) {
    while (!signal.aborted) {
      await whenVisible();
      try {
        await (resource ? this.followTable(resource, untilHidden(signal)) : this.listAll(all, signal));
        if (!resource)
          return;
      } catch (error) {
        if (signal.aborted)
          return;
        if (error.name === 'AbortError') // the tab is hidden
          continue;
        if (!(error instanceof Failure))
          throw error;
        if (!this.rows.size)
          this.say(error.message);
        if (error.status === 401)
          return;
      }
      await new Promise(resolve => setTimeout(resolve, RETRY_MS));
    }
  }

  async followTable(resource, signal) {
    const table = await getJson(listPath(resource), {accept: TABLE, signal});
    this.columns = table.columnDefinitions.map((c, index) => ({...c, index}));
    this.rows.clear();
    for (const row of table.rows || [])
      this.put(rowOf(resource, row.object.metadata, row.cells));
    this.say('');
    this.dirty = true;
    await followLines(`${listPath(resource)}?watch=true&resourceVersion=${table.metadata.resourceVersion}`, {
      line: line => {
        const event = JSON.parse(line);
        if (event.type === 'ERROR')
          throw new Failure(event.object.code || 410, event.object.message);
        for (const row of event.object.rows || []) {
          if (event.type === 'DELETED')
            this.rows.delete(row.object.metadata.uid);
          else if (event.type === 'ADDED' || event.type === 'MODIFIED')
            this.put(rowOf(resource, row.object.metadata, row.cells));
        }
        this.dirty = true;
      },
    }, {accept: TABLE, signal});
  }

  async listAll(all, signal) {
    this.columns = [{name: 'Kind', index: 0, priority: 0}, {name: 'Name', index: 1, priority: 0}, {name: 'Age', index: 2, priority: 0},
      {name: 'Labels', index: 3, priority: 0}];
    for (const resource of all.filter(r => r.kind !== 'Event')) {
      const list = await getJson(listPath(resource), {accept: METADATA_LIST, signal});
      for (const {metadata} of list.items)
        this.put(rowOf(resource, metadata, [resource.kind, metadata.name, '', Object.entries(metadata.labels || {}).map(l => l.join('=')).join(' ')]));
      this.dirty = true;
    }
    this.say('');
  }

  put(row) {
    this.rows.set(row.uid, row);
  }

  say(text) {
    setText(this.message, text);
    this.message.hidden = !text;
  }

  /* ---- the table ---- */

  set(key, value) {
    settings[key] = value;
    this.list.element.scrollTop = 0;
    this.list.selected = -1;
    this.dirty = true;
    this.refresh();
  }

  width() {
    return this.list.element.clientWidth;
  }

  /* After a change of the objects, the search or the width. */
  refresh() {
    if (!this.dirty && this.width() === this.laidOut)
      return;
    this.dirty = false;
    const all = [...this.rows.values()], selected = this.found[this.list.selected]?.uid;
    this.found = all.filter(searchOf(settings)).sort((a, b) => a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
    this.list.selected = selected ? this.found.findIndex(row => row.uid === selected) : -1;
    this.fillNamespaces(all);
    this.layOut();
    this.list.update(this.found.length);
    setText(this.status, this.found.length === all.length ? plural(all.length, 'object') : `${count(this.found.length)} of ${plural(all.length, 'object')}`);
    if (this.rows.size && !this.found.length)
      this.say('No object matches.');
    else if (this.message.textContent === 'No object matches.')
      this.say('');
  }

  fillNamespaces(all) {
    const found = new Set(all.map(row => row.ns).filter(Boolean));
    if (found.size && settings.ns)
      found.add(settings.ns); // what is selected stays selected in the table of another kind
    const names = [...found].sort(), text = names.join('\0');
    if (text === this.names)
      return;
    this.names = text;
    this.namespaces.replaceChildren(h('option', {value: ''}, 'all namespaces'), ...names.map(name => h('option', {value: name}, name)));
    this.namespaces.value = settings.ns;
    this.namespaces.hidden = !names.length;
  }

  titles() {
    return [...this.spaced ? ['Namespace'] : [], ...this.shown.map(c => c.name)];
  }

  /* Of the columns that are shown, in characters. */
  widths() {
    const sample = this.found.slice(0, WIDTH_ROWS).map(row => this.cellsOf(row));
    return this.titles().map((title, i) => Math.min(60, Math.max(title.length + 1, ...sample.map(cells => (cells[i] || '').length)) + 2));
  }

  /* Which columns, and their widths. Columns of priority 1 are those of kubectl's -o wide: they are shown if there is room. */
  layOut() {
    const width = this.width() / parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.laidOut = this.width();
    this.narrow = width <= NARROW_REM;
    this.spaced = !this.narrow && this.found.some(row => row.ns);
    this.shown = this.columns.filter((c, i) => !this.narrow || i < NARROW_COLUMNS || c.name === 'Age');
    let widths = this.widths();
    if (this.narrow || widths.reduce((sum, w) => sum + w, 0) * REM_PER_CH > width) {
      this.shown = this.shown.filter(c => !c.priority);
      widths = this.widths();
    }
    const titles = this.titles(), main = titles.indexOf('Name'), own = this.narrow ? widths.slice(1) : widths;
    const template = own.map((w, i) => i === own.length - 1 ? 'minmax(4ch, 1fr)' : `minmax(${Math.min(w, i === main ? 14 : 7)}ch, ${w}ch)`).join(' ');
    for (const element of [this.list.element, this.head])
      element.classList.toggle('narrow', this.narrow);
    this.list.element.style.setProperty('--columns', template);
    this.head.style.setProperty('--columns', template);
    if (this.head.textContent !== titles.join(''))
      this.head.replaceChildren(...titles.map(title => h('span', {}, title)));
  }

  cellsOf(row) {
    const cells = this.shown.map(c => c.name === 'Age' ? age(Date.now() - row.created) :
      c.name === 'Name' && this.narrow && row.ns ? `${row.ns}/${row.name}` : String(row.cells[c.index] ?? ''));
    return this.spaced ? [row.ns, ...cells] : cells;
  }

  fillRow(element, row) {
    const cells = this.cellsOf(row);
    while (element.children.length > cells.length)
      element.lastChild.remove();
    while (element.children.length < cells.length)
      element.append(h('span'));
    cells.forEach((text, i) => setText(element.children[i], text));
  }

  /* ---- the object ---- */

  go(row) {
    if (row)
      location.hash = pageLink(row.resource, row.ns, row.name);
  }

  closePane() {
    this.paneElement.hidden = true;
    this.pane.uid = null;
    this.dirty = true;
    history.replaceState(null, '', this.resource ? pageLink(this.resource) : `#/objects/_/${ALL}`);
    this.list.element.focus();
  }

  onKey(event) {
    return viewKey(event, {'/': () => this.search.focus()}, this.paneElement, () => this.closePane(), this.list);
  }
}

export const objects = makeView(ObjectsView, {
  name: 'objects',
  title: 'Objects',
});
