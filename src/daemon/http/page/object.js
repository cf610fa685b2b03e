// object.js - one object in full: owners and what they own, events, the last changes, and YAML with these changes marked.

import {Failure, followLines, getJson} from '/page/api.js';
import {changes} from '/page/changes.js';
import {findKind, historyLink, listPath, METADATA, METADATA_LIST, objectPath, pageLink, resources} from '/page/discovery.js';
import {age, clock, h} from '/page/dom.js';
import {labelChips} from '/page/record.js';
import {yamlLines} from '/page/yaml.js';

const RECENT = 20; // changes that are marked
const TREE_MAX = 200; // elements of an owner tree
const RELOAD_MS = 300;

/* The last changes of an object: from an event log, or what this page has received. */
export async function recentChanges(uid) {
  const found = [];
  try {
    await followLines(`/informerd/v1/history?uid=${encodeURIComponent(uid)}&limit=${RECENT}&notes=false`,
      {line: line => found.push(JSON.parse(line))});
  } catch (error) {
    if (error.status !== 404 && error.status !== 400)
      throw error;
    found.push(...changes.entries.filter(e => e.uid === uid).slice(-RECENT).map(e => JSON.parse(e.raw)));
  }
  return found.filter(r => r.uid === uid).reverse();
}

/* ---- owners ---- */

/* All objects of a namespace with their owners, without Events. */
async function namespaceObjects(cluster, ns) {
  const kinds = (await resources()).filter(r => r.cluster === cluster && r.namespaced && r.kind !== 'Event');
  const lists = await Promise.all(kinds.map(async r => {
    try {
      return (await getJson(listPath(r, ns), {accept: METADATA_LIST})).items.map(o => ({resource: r, ...o.metadata}));
    } catch (error) {
      if (!(error instanceof Failure) || error.status === 401)
        throw error;
      return []; // not readable
    }
  }));
  return lists.flat();
}

function controllerOf(o) {
  const owners = o.ownerReferences || [];
  return owners.find(owner => owner.controller) || owners[0];
}

function treeNode(o, children, current, budget) {
  const own = children.get(o.uid) || [], label = `${o.resource.kind} ${o.name}`;
  const shown = own.slice(0, Math.max(0, budget.left));
  budget.left -= shown.length;
  return h('li', {},
    o.uid === current ? h('strong', {'aria-current': 'true'}, label) : h('a', {href: pageLink(o.resource, o.namespace, o.name)}, label),
    own.length ? h('ul', {}, shown.map(child => treeNode(child, children, current, budget)),
      shown.length < own.length ? h('li.muted', {}, `${own.length - shown.length} more`) : null) : null);
}

/* From the topmost known owner down. Null: the object has neither owners nor children. */
export async function ownerTree(resource, metadata) {
  if (!metadata.namespace)
    return null;
  const all = await namespaceObjects(resource.cluster, metadata.namespace), byUid = new Map(all.map(o => [o.uid, o])), children = new Map();
  for (const o of all)
    for (const owner of o.ownerReferences || [])
      children.set(owner.uid, [...children.get(owner.uid) || [], o]);
  let top = {resource, ...metadata}, unknown = null;
  for (const seen = new Set(); !seen.has(top.uid);) {
    const owner = controllerOf(top);
    seen.add(top.uid);
    if (!owner)
      break;
    if (!byUid.has(owner.uid)) {
      unknown = `${owner.kind} ${owner.name}`;
      break;
    }
    top = byUid.get(owner.uid);
  }
  if (top.uid === metadata.uid && !children.has(top.uid) && !unknown)
    return null;
  const tree = treeNode(top, children, metadata.uid, {left: TREE_MAX});
  return h('ul.tree', {}, unknown ? h('li', {}, h('span.muted', {}, `${unknown} (not watched)`), h('ul', {}, tree)) : tree);
}

/* ---- events ---- */

function eventTime(e) {
  return e.series?.lastObservedTime || e.lastTimestamp || e.eventTime || e.metadata.creationTimestamp;
}

async function eventsOf(resource, metadata) {
  const events = await findKind(resource.cluster, 'v1', 'Event');
  if (!events)
    return null;
  const list = await getJson(`${listPath(events, metadata.namespace || 'default')}?fieldSelector=${
    encodeURIComponent(`involvedObject.uid=${metadata.uid}`)}`);
  return list.items.sort((a, b) => eventTime(b).localeCompare(eventTime(a)));
}

function eventList(events) {
  return h('ul.changes', {tabindex: '0', 'aria-label': 'Events'}, events.slice(0, 100).map(e => h('li', {'data-type': e.type},
    h('time', {}, age(Date.now() - Date.parse(eventTime(e)))), ' ', e.type === 'Warning' ? h('b', {}, 'Warning ') : null,
    h('b', {}, `${e.reason || ''}${e.count > 1 ? ` ×${e.count}` : ''}`), ` ${e.message || ''}`)));
}

/* ---- YAML ---- */

/* path -> the newest change of it */
function markedPaths(records) {
  const marks = new Map();
  for (const r of records)
    for (const path of r.type === 'MODIFIED' ? r.changed || [] : [])
      if (!marks.has(path))
        marks.set(path, r);
  return marks;
}

function yamlView(object, records) {
  const marks = markedPaths(records);
  return h('pre.yaml', {tabindex: '0', 'aria-label': 'YAML'}, yamlLines(object, marks).map(({text, mark: r}) => {
    return r ? h('mark', {title: `changed ${clock(r.time)}${r.manager ? ` by ${r.manager}` : ''}`}, h('span.ago', {}, age(Date.now() - Date.parse(r.time))), text) :
      h('span', {}, text);
  }));
}

function changeList(records) {
  return h('ul.changes', {tabindex: '0', 'aria-label': 'Last changes'}, records.map(r => h('li', {},
    h('time', {}, clock(r.time)), ' ', h('span.verb', {'data-verb': r.type}, r.type), ' ',
    (r.changed || []).slice(0, 3).join(', '), (r.changed || []).length > 3 ? `, ${r.changed.length - 3} more` : '',
    r.manager ? h('span.muted', {}, ` by ${r.manager}`) : null)));
}

/* ---- the pane ---- */

async function load(resource, ns, name) {
  const path = objectPath(resource, ns, name);
  try {
    return {object: await getJson(path)};
  } catch (error) {
    if (error.status !== 403)
      throw error;
    return {object: await getJson(path, {accept: METADATA}), partial: error.message};
  }
}

export class ObjectPane {
  constructor(element, onClose) {
    this.element = element;
    this.onClose = onClose;
    this.stop = changes.listen(entries => this.onChanges(entries));
    this.turn = 0;
    this.parts = null; // what is shown besides the object; null: nothing yet
  }

  close() {
    this.stop();
    clearTimeout(this.timer);
    this.turn++;
  }

  onChanges(entries) {
    if (this.uid && !this.timer && entries.some(e => e.uid === this.uid))
      this.timer = setTimeout(() => {
        this.timer = null;
        this.show(...this.shown);
      }, RELOAD_MS);
  }

  /* Loads and shows an object; what arrives later is added. */
  async show(resource, ns, name) {
    const turn = ++this.turn, again = this.parts && this.shown[0] === resource && this.shown[1] === ns && this.shown[2] === name;
    this.shown = [resource, ns, name];
    this.element.hidden = false;
    if (!again) {
      this.uid = this.parts = null;
      this.fill(h('p.message', {}, 'Loading …'));
    }
    try {
      const {object, partial} = await load(resource, ns, name), {metadata} = object;
      if (turn !== this.turn)
        return;
      if (!again)
        this.parts = {records: undefined, tree: undefined, events: undefined};
      const parts = this.parts, update = () => turn === this.turn && this.fillAll(resource, object, partial, parts);
      update();
      await Promise.all(Object.entries({records: recentChanges(metadata.uid), tree: ownerTree(resource, metadata),
        events: eventsOf(resource, metadata)}).map(async ([part, loading]) => {
        parts[part] = await loading;
        update();
      }));
    } catch (error) {
      if (turn === this.turn && error instanceof Failure)
        this.fill(h('header', {}, h('h2', {}, `${resource.kind} ${ns ? `${ns}/` : ''}${name}`)),
          h('p.message', {}, error.status === 404 ? 'The object does not exist, or no longer.' : error.message));
      else if (!(error instanceof Failure))
        throw error;
    }
  }

  /* Parts that are undefined are being loaded. */
  fillAll(resource, object, partial, {records, tree, events}) {
    const m = object.metadata, scroll = this.element.scrollTop;
    this.uid = m.uid;
    this.fill(
      h('header', {}, h('h2', {}, `${resource.kind} ${m.namespace ? `${m.namespace}/` : ''}${m.name}`),
        h('a', {href: historyLink(resource, m.namespace, m.name)}, 'History')),
      h('dl.pairs', {}, h('dt', {}, 'Age'), h('dd', {}, age(Date.now() - Date.parse(m.creationTimestamp)),
        m.deletionTimestamp ? `, being deleted: the grace period ends at ${clock(m.deletionTimestamp).slice(0, 8)}` : ''),
      Object.keys(m.labels || {}).length ? [h('dt', {}, 'Labels'), h('dd', {}, labelChips(m.labels))] : []),
      tree ? [h('h3', {}, 'Owners'), tree] : null,
      events ? [h('h3', {}, 'Events'), events.length ? eventList(events) : h('p.muted', {}, 'No events.')] : null,
      h('h3', {}, 'Last changes'),
      !records ? h('p.muted', {}, 'Loading …') : records.length ? changeList(records) : h('p.muted', {}, 'No recorded changes.'),
      h('h3', {}, 'YAML'),
      partial ? h('p.muted', {}, `Only the metadata: ${partial}`) : null,
      yamlView(object, records || []));
    this.element.scrollTop = scroll;
  }

  fill(...children) {
    this.element.replaceChildren(h('button.close', {type: 'button', 'aria-label': 'Close', onclick: this.onClose}, '✕'),
      ...children.flat(3).filter(Boolean));
  }
}
