// timeline.js - a drawing of when records happened: a histogram, and a lane for each of the busiest objects.
//
// Dragging selects a time to zoom into; a click selects the nearest record. Everything can also be done with the buttons and the
// list beside it, so for a screen reader the drawing is one image with a description.

import {h} from '/page/dom.js';

const BARS = 120, LANES = 6;
const COLOURS = {ADDED: '--good', MODIFIED: '--focus', DELETED: '--bad'};
const STEPS_S = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 86400];

function clockOf(ms, step) {
  const d = new Date(ms), two = n => String(n).padStart(2, '0');
  return step >= 86400 ? `${d.getMonth() + 1}/${d.getDate()}` : `${two(d.getHours())}:${two(d.getMinutes())}${step < 60 ? `:${two(d.getSeconds())}` : ''}`;
}

export class Timeline {
  /* onZoom(from, to) in milliseconds; onPick(index): of the entries given to draw(). */
  constructor({onZoom, onPick}) {
    Object.assign(this, {onZoom, onPick});
    this.canvas = h('canvas', {role: 'img', 'aria-label': 'Timeline', onpointerdown: e => this.onDown(e), onpointermove: e => this.onMove(e),
      onpointerup: e => this.onUp(e)});
    this.element = h('.timeline', {}, this.canvas);
    this.entries = [];
    this.observer = new ResizeObserver(() => this.paint());
    this.observer.observe(this.element);
    this.scheme = matchMedia('(prefers-color-scheme: dark)');
    this.repaint = () => this.paint();
    this.scheme.addEventListener('change', this.repaint);
  }

  close() {
    this.observer.disconnect();
    this.scheme.removeEventListener('change', this.repaint);
  }

  /* Shows entries (with `ms`, in order) between two times. */
  draw(entries, from, to, description) {
    Object.assign(this, {entries, from, to});
    this.canvas.setAttribute('aria-label', description);
    this.paint();
  }

  /* ---- painting ---- */

  colour(name) {
    return this.style.getPropertyValue(name);
  }

  x(ms) {
    return this.left + (ms - this.from) / (this.to - this.from) * (this.width - this.left);
  }

  paint() {
    if (!this.to)
      return;
    const scale = devicePixelRatio, context = this.canvas.getContext('2d');
    this.style = getComputedStyle(document.documentElement);
    this.em = parseFloat(this.style.fontSize);
    this.width = this.element.clientWidth;
    const lanes = this.width > 45 * this.em ? this.busiest() : [];
    this.left = lanes.length ? 15 * this.em : 0;
    this.bars = 4.2 * this.em;
    const height = this.bars + (lanes.length * 1.25 + 1.5) * this.em;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = this.width * scale;
    this.canvas.height = height * scale;
    context.scale(scale, scale);
    context.font = `${this.em * 0.82}px ${this.style.getPropertyValue('--sans')}`;
    this.paintBars(context);
    lanes.forEach((lane, i) => this.paintLane(context, lane, this.bars + (i + 0.9) * 1.25 * this.em));
    this.paintAxis(context, height);
    this.paintDrag(context, height);
  }

  busiest() {
    const counts = new Map();
    for (const e of this.entries)
      if (!e.isNote)
        counts.set(e.title, [...counts.get(e.title) || [], e]);
    return [...counts].sort((a, b) => b[1].length - a[1].length).slice(0, LANES);
  }

  paintBars(context) {
    const bars = Array.from({length: BARS}, () => ({ADDED: 0, MODIFIED: 0, DELETED: 0, all: 0}));
    for (const e of this.entries) {
      const bar = bars[Math.min(BARS - 1, Math.floor((e.ms - this.from) / (this.to - this.from) * BARS))];
      if (bar && e.type in bar) {
        bar[e.type]++;
        bar.all++;
      }
    }
    const top = Math.max(1, ...bars.map(b => b.all)), width = (this.width - this.left) / BARS;
    bars.forEach((bar, i) => {
      let y = this.bars;
      for (const [type, name] of Object.entries(COLOURS)) {
        const size = bar[type] / top * (this.bars - 6);
        context.fillStyle = this.colour(name);
        context.fillRect(this.left + i * width + 0.5, y - size, Math.max(1, width - 1), size);
        y -= size;
      }
    });
    if (this.left) {
      context.fillStyle = this.colour('--muted');
      context.fillText(`at most ${top} in ${Math.round((this.to - this.from) / BARS / 100) / 10} s`, this.em * 0.9, this.em * 1.4);
    }
  }

  paintLane(context, [title, own], y) {
    context.fillStyle = this.colour('--text');
    context.save();
    context.beginPath();
    context.rect(0, y - this.em, this.left - 0.5 * this.em, 1.5 * this.em);
    context.clip();
    context.fillText(title, this.em * 0.9, y);
    context.restore();
    context.fillStyle = this.colour('--line');
    context.fillRect(this.left, y - 0.3 * this.em, this.width - this.left, 1);
    for (const e of own) {
      context.fillStyle = this.colour(COLOURS[e.type] || '--warn');
      context.fillRect(this.x(e.ms) - 1, y - 0.75 * this.em, 2.5, 0.9 * this.em);
    }
  }

  paintAxis(context, height) {
    const seconds = (this.to - this.from) / 1000, wanted = (this.width - this.left) / (7 * this.em);
    const step = STEPS_S.find(s => seconds / s <= wanted) || Math.ceil(seconds / wanted / 86400) * 86400;
    context.fillStyle = this.colour('--muted');
    for (let t = Math.ceil(this.from / 1000 / step) * step; t * 1000 <= this.to; t += step) {
      const x = this.x(t * 1000);
      context.fillRect(x, height - 1.5 * this.em, 1, 0.3 * this.em);
      if (x < this.width - 3 * this.em)
        context.fillText(clockOf(t * 1000, step), x + 3, height - 0.4 * this.em);
    }
  }

  paintDrag(context, height) {
    if (!this.drag)
      return;
    context.globalAlpha = 0.25;
    context.fillStyle = this.colour('--focus');
    context.fillRect(Math.min(this.drag.from, this.drag.to), 0, Math.abs(this.drag.to - this.drag.from), height);
  }

  /* ---- pointer ---- */

  timeAt(x) {
    return this.from + Math.max(0, Math.min(1, (x - this.left) / (this.width - this.left))) * (this.to - this.from);
  }

  onDown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = {from: event.offsetX, to: event.offsetX};
  }

  onMove(event) {
    if (!this.drag)
      return;
    this.drag.to = event.offsetX;
    this.paint();
  }

  onUp() {
    const {from, to} = this.drag || {};
    this.drag = null;
    if (from === undefined)
      return;
    if (Math.abs(to - from) > 5) {
      this.onZoom(this.timeAt(Math.min(from, to)), this.timeAt(Math.max(from, to)));
    } else if (this.entries.length) {
      const ms = this.timeAt(to);
      this.onPick(this.entries.reduce((best, e, i) => Math.abs(e.ms - ms) < Math.abs(this.entries[best].ms - ms) ? i : best, 0));
      this.paint();
    }
  }
}
