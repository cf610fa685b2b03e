// problems.js - what is wrong, and the remedy, from the status of the daemon. The worst comes first.

import {age, bytes, plural} from '/page/dom.js';

/* state of a watch -> what to do. A reason of the server is shown with it. */
const WATCH_REMEDIES = {
  forbidden: 'Grant the permission: informerd rbac -c CONFIG | kubectl apply -f -',
  unauthorized: 'Check the credentials of the cluster in its kubeconfig; informerd reads changed files by itself.',
  'not found': 'Install the resource (a CRD) or correct its name in the configuration. informerd goes on trying.',
  stale: 'informerd reconnects by itself. If it stays: check the network and proxies between it and the server.',
  held: 'An output is full: see the event logs and handlers below. The watch goes on when there is room.',
  failing: 'Check that the server is reachable from this machine. informerd goes on trying.',
  restored: 'It has the objects of the last run, and connects to the server.',
  waiting: 'The watch is optional and starts when the resource is installed. Nothing needs to be done.',
};
const REASONS_MAX = 5; // of a group

function reasonOf(w) {
  return w.error || (w.state === 'waiting' ? 'the resource does not exist in the cluster' : `no data for ${age(w.heard_age_ms)}`);
}

/* Watches of a cluster with the same problem are one item. */
function ofWatches(watches) {
  const groups = new Map();
  for (const w of watches)
    if (w.state !== 'live' && (w.state !== 'syncing' || w.error)) {
      const key = `${w.cluster}\0${w.state}`;
      groups.set(key, [...groups.get(key) || [], w]);
    }
  return [...groups.values()].map(ofGroup);
}

function ofGroup(group) {
  const [w] = group, several = w.streams > 1 ? ` (${w.live} of ${w.streams} namespaces are live)` : '';
  const reasons = group.slice(0, REASONS_MAX).map(one => `${one.watch}: ${reasonOf(one)}`);
  if (group.length > REASONS_MAX)
    reasons.push(`and ${group.slice(REASONS_MAX).map(one => one.watch).join(', ')}`);
  return {level: ['stale', 'waiting', 'syncing', 'restored'].includes(w.state) ? 'warn' : 'error',
    title: group.length > 1 ? `${w.cluster}: ${group.length} watches: ${w.state}` : `${w.cluster}/${w.watch}: ${w.state}${several}`,
    reasons: group.length > 1 ? reasons : [reasonOf(w)],
    remedy: WATCH_REMEDIES[w.state]};
}

function ofLog(log) {
  if (log.state === 'writable' || log.state === 'waiting')
    return null;
  return {level: 'error', title: `event log ${log.path}: ${log.state}`,
    reasons: [`${log.error || 'it does not take lines'}; ${bytes(log.unwritten_bytes)} are not written`],
    remedy: 'Make room on the disk or correct the permissions. Nothing is lost meanwhile; watches are held when the buffer is full.'};
}

function ofHandler(item) {
  const fails = item.error && item.state !== 'running' && item.state !== 'idle', remedies = [];
  if (!fails && !item.parked)
    return null;
  if (item.records)
    remedies.push(`${plural(item.records, 'record')} ${item.records === 1 ? 'waits' : 'wait'}: ${item.kind === 'client' ?
      'start the program that takes them, such as informerd-kafka.' : 'informerd tries again by itself.'}`);
  if (item.parked)
    remedies.push(`informerctl handler parked ${item.name} lists the parked records, informerctl handler retry ${item.name} delivers them again.`);
  return {level: 'warn',
    title: `handler ${item.name}: ${[fails && item.state, item.parked && plural(item.parked, 'parked record')].filter(Boolean).join(', ')}`,
    reasons: [item.error || 'They failed as often as retry.max allows.'], remedy: remedies.join(' ')};
}

function ofDaemon(s) {
  const found = [];
  if (s.state && !s.state.saved)
    found.push({level: 'warn', title: 'The state is not saved', reasons: [s.state.reason || 'the disk does not answer'],
      remedy: 'Make room in state_dir. Until then a restart reports changes only since the last saved state.'});
  if (s.backlog_held_streams)
    found.push({level: 'error', title: 'The backlog is full',
      reasons: [`${bytes(s.backlog_bytes)} of ${bytes(s.backlog_limit_bytes)} are used; ${plural(s.backlog_held_streams, 'stream')} held`],
      remedy: 'An output is too slow. Correct it, or raise memory.backlog.'});
  return found;
}

/* [{level, title, reasons, remedy}] */
export function problemsOf(status) {
  const found = [...ofDaemon(status), ...ofWatches(status.watches), ...status.event_logs.map(ofLog),
    ...status.handlers.map(ofHandler)].filter(Boolean);
  return found.sort((a, b) => (a.level === 'error' ? 0 : 1) - (b.level === 'error' ? 0 : 1));
}
