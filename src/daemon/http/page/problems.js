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
  waiting: 'Waiting for the server. informerd goes on trying.',
};

function ofWatch(w) {
  if (w.state === 'live' || (w.state === 'syncing' && !w.error))
    return null;
  const several = w.streams > 1 ? ` (${w.live} of ${w.streams} namespaces are live)` : '';
  return {level: w.state === 'stale' || w.state === 'waiting' || w.state === 'syncing' ? 'warn' : 'error',
    title: `${w.cluster}/${w.watch}: ${w.state}${several}`,
    reason: w.error || `no data for ${age(w.heard_age_ms)}`,
    remedy: WATCH_REMEDIES[w.state]};
}

function ofLog(log) {
  if (log.state === 'writable' || log.state === 'waiting')
    return null;
  return {level: 'error', title: `event log ${log.path}: ${log.state}`,
    reason: `${log.error || 'it does not take lines'}; ${bytes(log.unwritten_bytes)} are not written`,
    remedy: 'Make room on the disk or correct the permissions. Nothing is lost meanwhile; watches are held when the buffer is full.'};
}

function ofHandler(item) {
  if (item.error && item.state !== 'running' && item.state !== 'idle')
    return {level: 'warn', title: `handler ${item.name}: ${item.state}`, reason: item.error,
      remedy: `${plural(item.records, 'record')} wait and are tried again.`};
  if (item.parked)
    return {level: 'warn', title: `handler ${item.name}: ${plural(item.parked, 'parked record')}`,
      reason: item.error || 'They failed as often as retry.max allows.',
      remedy: 'Correct the program, then: informerctl reload. Parked records are delivered again.'};
  return null;
}

function ofDaemon(s) {
  const found = [];
  if (s.state && !s.state.saved)
    found.push({level: 'warn', title: 'The state is not saved', reason: s.state.reason || 'the disk does not answer',
      remedy: 'Make room in state_dir. Until then a restart reports changes only since the last saved state.'});
  if (s.backlog_held_streams)
    found.push({level: 'error', title: 'The backlog is full',
      reason: `${bytes(s.backlog_bytes)} of ${bytes(s.backlog_limit_bytes)} are used; ${plural(s.backlog_held_streams, 'stream')} held`,
      remedy: 'An output is too slow. Correct it, or raise memory.backlog.'});
  return found;
}

/* [{level, title, reason, remedy}] */
export function problemsOf(status) {
  const found = [...ofDaemon(status), ...status.watches.map(ofWatch), ...status.event_logs.map(ofLog),
    ...status.handlers.map(ofHandler)].filter(Boolean);
  return found.sort((a, b) => (a.level === 'error' ? 0 : 1) - (b.level === 'error' ? 0 : 1));
}
