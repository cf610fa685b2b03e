// record.js - one change in full: the object, the author of the change, and a coloured diff.

import {bytes, clock, h} from '/page/dom.js';
import {yamlLines} from '/page/yaml.js';

export const VERBS = {ADDED: '+', MODIFIED: '~', DELETED: '−', NOTE: '!'};

/* The address of an object in this page. */
export function objectLink(r) {
  const group = r.group ? `${r.resource}.${r.group}/${r.version}` : r.resource;
  return `#/objects/${[r.cluster, group, r.namespace || '_', r.name].map(encodeURIComponent).join('/')}`;
}

export function verbBadge(type) {
  return h('span.verb', {'data-verb': type}, `${VERBS[type] || '·'} ${type}`);
}

function lines(sign, value) {
  return yamlLines(value).map(line => h(sign === '+' ? 'ins' : 'del', {}, `${sign} ${line.text}`));
}

/* The lines of a unified diff, of a text of several lines. */
function hunkLines(change) {
  const omitted = change.hunks_omitted ? `${change.hunks_omitted} more parts without their lines` : null;
  return [...change.hunks.flatMap(hunk => hunk.split('\n')), ...omitted ? [omitted] : []].map(line =>
    h(line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span.muted', {}, line));
}

/* The value is not in the record: hunks, or only the sizes. */
function withoutValues(change) {
  if (change.hunks)
    return hunkLines(change);
  const sizes = ['old_size', 'new_size'].filter(key => key in change).map(key => bytes(change[key])).join(' → ');
  return h('span.muted', {}, `${change.op}${sizes ? `, ${sizes}` : ''}; the value is not in the record`);
}

/* The changed fields: path, then old and new value. Signs and colours say the same. */
export function diffOf(r) {
  if (!r.diff?.length)
    return r.type === 'MODIFIED' ? h('p.muted', {}, r.truncated ? 'The record is too long to contain the values.' : 'No field that is shown has changed.') : null;
  return h('.diff', {role: 'group', 'aria-label': 'Changed fields'}, r.diff.map(change => h('div', {},
    h('h3', {}, change.path || '(whole object)'),
    h('pre', {tabindex: '0'},
      'old' in change ? lines('-', change.old) : null,
      'new' in change ? lines('+', change.new) : null,
      'old' in change || 'new' in change ? null : withoutValues(change)))));
}

function fact(title, ...value) {
  return value.some(Boolean) ? [h('dt', {}, title), h('dd', {}, ...value)] : [];
}

export function labelChips(labels) {
  return Object.entries(labels || {}).map(([key, value]) => h('span.chip', {}, `${key}=${value}`));
}

function who(r) {
  return [r.manager || null, r.subresource ? ` (${r.subresource})` : null, r.changed_at ? ` at ${r.changed_at}` : null].filter(Boolean).join('');
}

/* The facts of a record as a definition list. */
function factsOf(r) {
  return h('dl.pairs', {},
    fact('Changed by', who(r)),
    fact('Received', `${clock(r.time)}, record #${r.seq}${r.origin && r.origin !== 'live' ? `, ${r.origin}` : ''}`),
    fact('Why', r.why),
    fact('Level', r.level !== 'info' ? r.level : null, r.level !== 'info' && r.rule ? ` by the rule ${r.rule}` : null),
    fact('Owner', r.owner ? `${r.owner.kind} ${r.owner.name}` : null, r.workload ? ` of ${r.workload.kind} ${r.workload.name}` : null),
    fact('Node', r.node),
    fact('Event', r.reason && r.involved ? `${r.reason}${r.count > 1 ? ` ×${r.count}` : ''}: ${r.message || ''}` : null),
    fact('About', r.involved ? `${r.involved.kind} ${r.involved.namespace ? r.involved.namespace + '/' : ''}${r.involved.name}` : null),
    fact('Labels', ...labelChips(r.labels)),
    fact('Version', r.rv ? `${r.old_rv ? r.old_rv + ' → ' : ''}${r.rv}` : null),
    fact('Ignored', r.ignored ? `${r.ignored} updates without a visible change before this one` : null));
}

/* The whole record, for the pane beside a list. @extra is shown before the diff. */
export function recordView(r, extra) {
  const title = `${r.kind || r.type} ${r.namespace ? r.namespace + '/' : ''}${r.name || ''}`;
  return [
    h('header', {}, verbBadge(r.type), h('h2', {}, r.name ? h('a', {href: objectLink(r), title: 'Show the object'}, title) : r.msg),
      r.name ? h('a', {href: objectLink(r).replace('#/objects/', '#/history/')}, 'History') : null),
    factsOf(r),
    extra,
    diffOf(r),
    r.object ? h('details', {open: r.type === 'DELETED'}, h('summary', {}, 'Object'),
      h('pre.yaml', {tabindex: '0'}, yamlLines(r.object).map(l => l.text).join('\n'))) : null,
  ];
}
