// changes.js - the changes as they come, in a buffer of limited size.
//
// Reads /informerd/v1/events for as long as there is a session. When the stream ends, it connects again and continues after
// the last record, from an event log; a note in the list says what was missed, and whether it could be sent.
//
// Pausing loses nothing: a view that is paused holds the buffer. While it is held and full, nothing more is read, informerd
// waits or ends the stream, and after the pause the rest is requested by its number.

import {followLines, getJson, hasSession, onSession} from '/page/api.js';
import {duration, plural} from '/page/dom.js';
import {setLink} from '/page/link.js';

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
    this.running = false;
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
      try {
        await this.follow(() => { attempt = 0; });
        this.lost('informerd has closed the stream');
      } catch (error) {
        if (error.status === 401)
          break;
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

  /* Continues after the last record, if informerd can send what was missed. */
  async follow(onOpen) {
    const note = this.lostAt ? await this.missed() : null;
    try {
      await this.read(this.lastSeq ? `?from=${this.lastSeq + 1}` : '', onOpen, note && `${note}, which follow`);
    } catch (error) {
      if (!this.lastSeq || error.status < 400 || error.status === 401)
        throw error;
      await this.read('', onOpen, note && `${note}, which informerd can't send: ${error.message}`);
    }
  }

  /* What happened without us, as text. */
  async missed() {
    let text = `connected again after ${duration(Date.now() - this.lostAt)}`;
    try {
      const {seq} = await getJson('/informerd/v1/status'), n = seq - 1 - this.lastSeq;
      if (n > 0)
        text += `; missed ${plural(n, 'record')} (#${this.lastSeq + 1} to #${seq - 1})`;
      else
        return [text, '; nothing was missed'].join('');
    } catch (error) {
      if (error.status !== 403) // a limited reader does not know the numbers
        throw error;
    }
    return text;
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
        this.lostAt = 0;
        setLink('live', 'live');
        if (note)
          this.add([noteOf(note.replace('nothing was missed, which follow', 'nothing was missed'), 'warn')]);
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
    });
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
