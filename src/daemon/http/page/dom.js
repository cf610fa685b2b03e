// dom.js - builds elements, and formats numbers and times. Text is only ever set as text.

/* h('a.link', {href: '#/x', onclick: f}, 'text', child): an element with classes, properties and children. */
export function h(name, properties, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag || 'div');
  if (classes.length)
    element.className = classes.join(' ');
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false)
      continue;
    if (key.startsWith('on'))
      element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== 'string')
      element[key] = value;
    else
      element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

/* Sets the text only if it differs, so that a selection and a screen reader are not disturbed. */
export function setText(element, text) {
  if (element.textContent !== text)
    element.textContent = text;
}

const SVG = 'http://www.w3.org/2000/svg';

/* A small line chart of the last values. chart.update(values) draws it again. */
export function sparkline(points) {
  const svg = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'polyline');
  svg.setAttribute('class', 'spark');
  svg.setAttribute('viewBox', `0 0 ${points - 1} 20`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  line.setAttribute('vector-effect', 'non-scaling-stroke');
  svg.append(line);
  svg.update = values => {
    const top = Math.max(1, ...values), start = points - values.length;
    line.setAttribute('points', values.map((v, i) => `${start + i},${(19 - 18 * v / top).toFixed(1)}`).join(' '));
  };
  return svg;
}

const UNITS = [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]];

/* "3s", "12m", "5h", "2d", as kubectl prints ages. */
export function age(ms) {
  if (ms === null || ms === undefined)
    return '–';
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 120)
    return `${s}s`;
  if (s < 7200)
    return `${Math.floor(s / 60)}m`;
  return s < 172800 ? `${Math.floor(s / 3600)}h` : `${Math.floor(s / 86400)}d`;
}

/* "2d 3h", "5m 10s": two units. */
export function duration(ms) {
  let s = Math.max(0, Math.floor(ms / 1000));
  const parts = [];
  for (const [unit, size] of UNITS) {
    if (s >= size || (unit === 's' && !parts.length)) {
      parts.push(`${Math.floor(s / size)}${unit}`);
      s %= size;
    }
  }
  return parts.slice(0, 2).join(' ');
}

export function bytes(n) {
  if (n === null || n === undefined)
    return '–';
  if (n < 1000)
    return `${n} B`;
  for (const [unit, size] of [['kB', 1e3], ['MB', 1e6], ['GB', 1e9]])
    if (n < size * 1000 || unit === 'GB')
      return `${(n / size).toFixed(n < size * 10 ? 1 : 0)} ${unit}`;
}

const INTEGER = new Intl.NumberFormat('en');

export function count(n) {
  return n === null || n === undefined ? '–' : INTEGER.format(n);
}

export function rate(n) {
  return n === null ? '–' : n >= 10 || n === 0 ? count(Math.round(n)) : n.toFixed(1);
}

export function plural(n, word) {
  return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}

/* The local time of day of an RFC 3339 time, with milliseconds. */
export function clock(time) {
  const date = new Date(time);
  const two = n => String(n).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.` +
    String(date.getMilliseconds()).padStart(3, '0');
}
