// changes.js - the changes as they come, in a buffer of limited size.
//
// Reads /informerd/v1/events for as long as there is a session. When the stream ends, it connects again and continues after
// the last record, from an event log; a note in the list says what was missed, and whether it could be sent. While the tab is
// hidden there is no stream (visible.js); then it continues in the same way, without a note if nothing is missing.
//
// Pausing loses nothing: a view that is paused holds the buffer. While it is held and full, nothing more is read, informerd
// waits or ends the stream, and after the pause the rest is requested by its number.

import {Failure, followLines, getJson, hasSession, onSession} from '/page/api.js';
import {duration, plural} from '/page/dom.js';
import {setLink} from '/page/link.js';
import {untilHidden, whenVisible} from '/page/visible.js';

export const LIMIT = 20000; // records
const LIMIT_BYTES = 48 * 1024 * 1024;
const RETRY_MS = [250, 500, 1000, 2000, 4000];

/* The object that a row shows: that of an Event is the one that it is about. */
function titleOf(r) {
  const o = r.involved || r;
  return `${o.namespace ? `${o.namespace}/` : ''}${o.name || ''}`;
}

/* "Pod shop/web changed: spec.replicas 1 -> 2 by x" without what other columns show. */
function summaryOf(r) {
  if (r.involved)
    return `${r.reason}: ${r.message || ''}`;
  const colon = r.msg.indexOf(' changed: ');
  const by = r.manager ? ` by ${r.manager}` : '';
  if (colon > 0)
    return by && r.msg.endsWith(by) ? r.msg.slice(colon + 10, -by.length) : r.msg.slice(colon + 10);
  return r.type === 'ADDED' || r.type === 'DELETED' ? r.why || '' : r.msg;
}

/* What lists show of a record. */
export function entryOf(raw) {
  const r = JSON.parse(raw);
  return {
    seq: r.seq, log: r.log, time: r.time, type: r.type, isNote: !r.uid, cluster: r.cluster || '', watch: r.watch || '', kind: r.kind || '', ns: r.namespace || '',
    name: r.name || '', title: titleOf(r), uid: r.uid || '', level: r.level, summary: summaryOf(r), manager: r.manager || '', origin: r.origin,
    paths: r.changed ? r.changed.join('\n') : '', labels: r.labels || null, raw,
  };
}

let notes = 0;

function noteOf(text, level) {
  return {seq: `note-${++notes}`, time: new Date().toISOString(), type: 'NOTE', isNote: true, cluster: '', watch: '', kind: '', ns: '', name: '', title: '',
    uid: '', level, summary: text, manager: '', paths: '', labels: null, raw: ''};
}

class Changes {
  constructor() {
    this.entries = [];
    this.bytes = 0;
    this.dropped = 0; // from the beginning of `entries`, in total
    this.received = 0;
    this.lastSeq = 0;
    this.log = null; // the identity of the sequence
    this.held = false;
    this.listeners = new Set();
    this.lostAt = 0;
    this.hiddenAt = 0;
    this.running = false;
    this.started = false; // a stream was open
    this.resume = null;
    onSession(open => open && this.run());
  }

  /* Calls back after records were added; with the entries. */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  hold(held) {
    this.held = held;
    if (!held) {
      this.trim();
      this.resume?.();
      this.resume = null;
    }
  }

  isFull() {
    return this.entries.length >= LIMIT || this.bytes >= LIMIT_BYTES;
  }

  trim() {
    let n = 0;
    while (n < this.entries.length && (this.entries.length - n > LIMIT || this.bytes > LIMIT_BYTES))
      this.bytes -= this.entries[n++].raw.length;
    if (n) {
      this.entries.splice(0, n);
      this.dropped += n;
    }
  }

  add(entries) {
    for (const entry of entries) {
      this.entries.push(entry);
      this.bytes += entry.raw.length;
      this.received++;
    }
    if (!this.held)
      this.trim();
    for (const listener of this.listeners)
      listener(entries);
  }

  clear() {
    this.dropped += this.entries.length;
    this.entries = [];
    this.bytes = 0;
  }

  /* ---- the stream ---- */

  async run() {
    if (this.running)
      return;
    this.running = true;
    for (let attempt = 0; hasSession(); attempt++) {
      await whenVisible();
      try {
        await this.follow(() => { attempt = 0; });
        this.lost('informerd has closed the stream');
      } catch (error) {
        if (error.status === 401)
          break;
        if (error.name === 'AbortError') { // the tab is hidden
          this.hiddenAt ||= Date.now();
          continue;
        }
        this.lost(error.message);
      }
      await new Promise(resolve => setTimeout(resolve, RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]));
    }
    this.running = false;
  }

  lost(message) {
    this.lostAt ||= Date.now();
    setLink('lost', `${message}; connecting again`);
  }

  /* Continues after the last record, if informerd can send what was missed; the first time from now on. */
  async follow(onOpen) {
    const newest = await this.newest(), missed = newest === null ? null : newest - this.lastSeq;
    if (!this.started) {
      this.lastSeq = newest || 0;
      await this.read('', onOpen, null);
      return;
    }
    const skipped = missed > LIMIT && !this.held ? missed - LIMIT : 0; // the buffer has no room for them
    const rest = skipped ? `; the newest ${plural(LIMIT, 'record')} follow, the others are in the history` : ', which follow';
    try {
      if (missed < 0)
        throw new Failure(404, 'the numbers have started again');
      await this.read(`?from=${this.lastSeq + 1 + skipped}`, onOpen, this.lostAt || skipped ? this.missedText(missed, rest) : null);
    } catch (error) {
      if (!(error.status >= 400) || error.status === 401)
        throw error;
      const note = missed > 0 ? this.missedText(missed, `, which informerd can't send: ${error.message}`) :
        `${this.absence()}; changes of that time cannot be sent: ${error.message}`;
      this.lastSeq = newest || this.lastSeq;
      await this.read('', onOpen, note);
    }
  }

  /* The number of the last record. Null: a limited reader does not know it. */
  async newest() {
    try {
      return (await getJson('/informerd/v1/status')).seq - 1;
    } catch (error) {
      if (error.status !== 403)
        throw error;
      return null;
    }
  }

  absence() {
    return this.lostAt ? `connected again after ${duration(Date.now() - this.lostAt)}` :
      `this tab was hidden for ${duration(Date.now() - this.hiddenAt)}`;
  }

  /* What happened while there was no stream. */
  missedText(missed, rest) {
    if (missed === null)
      return this.absence();
    return missed === 0 ? `${this.absence()}; nothing was missed` :
      `${this.absence()}; missed ${plural(missed, 'record')} (#${this.lastSeq + 1} to #${this.lastSeq + missed})${rest}`;
  }

  async read(query, onOpen, note) {
    let batch = [];
    const flush = () => {
      if (batch.length)
        this.add(batch);
      batch = [];
    };
    await followLines(`/informerd/v1/events${query}`, {
      open: () => {
        onOpen();
        this.started = true;
        this.lostAt = this.hiddenAt = 0;
        setLink('live', 'live');
        if (note)
          this.add([noteOf(note, 'warn')]);
      },
      line: line => {
        const entry = entryOf(line);
        this.take(entry, batch);
      },
      pause: async () => {
        flush();
        if (this.held && this.isFull())
          await new Promise(resolve => { this.resume = resolve; });
      },
    }, {signal: untilHidden()});
    flush();
  }

  /* Records that were received before the connection was lost are not taken again. */
  take(entry, batch) {
    if (entry.log === this.log && entry.seq <= this.lastSeq)
      return;
    this.log = entry.log;
    this.lastSeq = entry.seq;
    batch.push(entry);
  }
}

export const changes = new Changes();
