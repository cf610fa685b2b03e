// list.js - a list of any length with few elements: only the rows that are visible exist, and they are reused.
//
// All rows have the same height (--row in style.css). The owner has the items; the list asks for item(index) when it draws.
// Drawing happens at most once per frame.

import {h} from '/page/dom.js';

const OVERSCAN = 6;
let lists = 0;

export class VirtualList {
  /*
   * label: for screen readers. item(index): the item, or undefined. makeRow(): a row element. fillRow(row, item): shows an
   * item in it. onSelect(index): the selection has changed. onOpen(index): Enter, or a click.
   */
  constructor({label, item, makeRow, fillRow, onSelect, onOpen}) {
    Object.assign(this, {item, makeRow, fillRow, onSelect, onOpen});
    this.id = `list-${++lists}`;
    this.count = 0;
    this.selected = -1;
    this.rows = [];
    this.frame = 0;
    this.space = h('.space', {role: 'presentation'});
    this.element = h('.list', {role: 'listbox', tabindex: '0', 'aria-label': label,
      onscroll: () => this.draw(), onclick: event => this.onClick(event)}, this.space);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  rowHeight() {
    const style = getComputedStyle(this.element);
    return Math.round(parseFloat(style.getPropertyValue('--row')) * parseFloat(getComputedStyle(document.documentElement).fontSize));
  }

  /* The number of items has changed. `added` of them are new at the top: what the user looks at stays in place. */
  update(count, added = 0) {
    if (added && this.selected >= 0)
      this.selected += added;
    if (this.selected >= count)
      this.selected = -1;
    if (added && this.element.scrollTop > 0)
      this.pending = (this.pending || 0) + added;
    this.count = count;
    this.drawNow(); // at once: a click must find the item that the row shows
  }

  draw() {
    if (!this.frame)
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.drawNow();
      });
  }

  drawNow() {
    const height = this.rowHeight(), list = this.element;
    this.space.style.height = `${this.count * height}px`;
    if (this.pending) {
      list.scrollTop += this.pending * height;
      this.pending = 0;
    }
    const first = Math.max(0, Math.floor(list.scrollTop / height) - OVERSCAN);
    const last = Math.min(this.count, Math.ceil((list.scrollTop + list.clientHeight) / height) + OVERSCAN);
    for (let i = first; i < last; i++)
      this.drawRow(this.rowFor(i - first), i, height);
    for (let i = last - first; i < this.rows.length; i++)
      this.rows[i].hidden = true;
    if (this.selected >= first && this.selected < last)
      list.setAttribute('aria-activedescendant', `${this.id}-${this.selected}`);
    else
      list.removeAttribute('aria-activedescendant');
  }

  rowFor(n) {
    if (!this.rows[n]) {
      const row = this.rows[n] = this.makeRow();
      row.setAttribute('role', 'option');
      this.space.append(row);
    }
    return this.rows[n];
  }

  drawRow(row, index, height) {
    const item = this.item(index);
    row.hidden = item === undefined;
    if (row.hidden)
      return;
    row.index = index;
    row.id = `${this.id}-${index}`;
    row.style.transform = `translateY(${index * height}px)`;
    row.setAttribute('aria-setsize', this.count);
    row.setAttribute('aria-posinset', index + 1);
    row.setAttribute('aria-selected', String(index === this.selected));
    this.fillRow(row, item);
  }

  onClick(event) {
    const row = event.target.closest('[role=option]');
    if (row && !event.target.closest('a, button')) {
      this.select(row.index);
      this.onOpen(row.index);
    }
  }

  select(index) {
    if (!this.count)
      return;
    this.selected = Math.max(0, Math.min(this.count - 1, index));
    this.show(this.selected);
    this.onSelect?.(this.selected);
    this.draw();
  }

  show(index) {
    const height = this.rowHeight(), list = this.element;
    if (index * height < list.scrollTop)
      list.scrollTop = index * height;
    else if ((index + 1) * height > list.scrollTop + list.clientHeight)
      list.scrollTop = (index + 1) * height - list.clientHeight;
  }

  /* The keys of a list. Returns whether it was one. */
  onKey(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight()) - 1);
    const steps = {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page, g: -Infinity, Home: -Infinity,
      G: Infinity, End: Infinity};
    if (event.key in steps)
      this.select(this.selected < 0 && Math.abs(steps[event.key]) === 1 ? 0 : this.selected + steps[event.key]);
    else if (event.key === 'Enter' && this.selected >= 0 && !event.target.closest?.('a, button'))
      this.onOpen(this.selected);
    else
      return false;
    return true;
  }
}

/* The keys of a view with a list and a pane beside it: those in `actions`, Escape to close the pane, and those of the list. */
export function viewKey(event, actions, pane, close, list) {
  const action = actions[event.key] ?? (event.key === 'Escape' && !pane.hidden ? close : null);
  if (!action)
    return list.onKey(event);
  action();
  return true;
}

/* A view (see app.js) that exists while it is shown: an object of the class View with close(), onKey(event) and, if the address
 * selects something in it, route(parameters). */
export function makeView(View, description) {
  let view = null;
  return {
    ...description,
    mount(main, parameters) {
      view ||= new View(main);
      view.route?.(parameters);
    },
    unmount() {
      view.close();
      view = null;
    },
    onKey: event => view.onKey(event),
  };
}
