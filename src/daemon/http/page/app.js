// app.js - starts the page: the session, the views, and the keys that work everywhere.
//
// A view is an object {name, title, mount(main, parameters), unmount()} and a row of VIEWS. The part of the address after
// '#/' selects it. The one-time code of `informerctl page` also comes after '#'; it is removed from the address before
// anything else happens.

import {hasSession, login, onSession} from '/page/api.js';
import {h, setText} from '/page/dom.js';
import {historyView} from '/page/history.js';
import {live} from '/page/live.js';
import {objects} from '/page/objects.js';
import {overview} from '/page/overview.js';

const VIEWS = [overview, live, objects, historyView];
const KEYS = [
  [`1 to ${VIEWS.length}`, 'select a view'],
  ['?', 'this list'],
];

const main = document.getElementById('main');
const link = document.getElementById('link');
const help = document.getElementById('help');
let current = null;

/* ---- login ---- */

function takeCode() {
  const code = location.hash.startsWith('#code=') ? location.hash.slice('#code='.length) : null;
  if (code !== null)
    history.replaceState(null, '', '/');
  return code;
}

async function tryLogin(code, why) {
  try {
    await login(code);
  } catch (error) {
    setText(why, error.message);
  }
}

/* The address or only the code, as the user pasted it. */
function codeOf(text) {
  return text.trim().replace(/^.*#code=/, '');
}

function showLogin(message) {
  const why = h('p.why', {role: 'alert'}, message || '');
  const input = h('input', {type: 'password', id: 'code', autocomplete: 'off', spellcheck: 'false'});
  leave();
  document.title = 'Log in – informerd';
  main.replaceChildren(h('form.login', {onsubmit: event => {
    event.preventDefault();
    tryLogin(codeOf(input.value), why);
    input.value = '';
  }},
  h('h1', {}, 'Open a session'),
  h('p', {}, 'Run this on the machine of informerd, as a user that may read:'),
  h('pre', {tabindex: '0'}, 'informerctl page'),
  h('label', {for: 'code'}, 'Open the address that it prints, or paste it here:'),
  h('span.field', {}, input, h('button', {type: 'submit'}, 'Open')),
  why,
  h('p.muted', {}, 'The code in it is valid once, for 60 seconds. The session ends when this tab is closed or reloaded.')));
}

/* ---- views ---- */

function leave() {
  current?.unmount?.();
  current = null;
}

function route() {
  const [name, ...parameters] = location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  const view = VIEWS.find(v => v.name === name) || VIEWS[0];
  if (!hasSession())
    return;
  if (view !== current) {
    leave();
    current = view;
    main.replaceChildren();
    document.title = `${view.title} – informerd`;
  }
  for (const a of document.querySelectorAll('nav a'))
    if (a.dataset.view === view.name)
      a.setAttribute('aria-current', 'page');
    else
      a.removeAttribute('aria-current');
  view.mount(main, parameters);
}


/* ---- keys ---- */

function isTyping(target) {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open)
    return;
  if (isTyping(event.target)) {
    if (event.key === 'Escape')
      event.target.blur();
    return;
  }
  const number = Number(event.key);
  if (event.key === '?')
    help.showModal();
  else if (number >= 1 && number <= VIEWS.length)
    location.hash = `#/${VIEWS[number - 1].name}`;
  else if (!current?.onKey?.(event))
    return;
  event.preventDefault();
}

function makeHelp() {
  const keys = [...KEYS, ...VIEWS.flatMap(v => v.keys || [])];
  help.append(
    h('h2', {id: 'help-title'}, 'Keyboard shortcuts'),
    h('dl', {}, keys.map(([key, text]) => h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)))),
    h('form', {method: 'dialog'}, h('button', {}, 'Close')));
  document.getElementById('help-open').addEventListener('click', () => help.showModal());
}

/* ---- start ---- */

document.getElementById('nav').append(...VIEWS.map((view, i) =>
  h('a', {href: `#/${view.name}`, 'data-view': view.name, title: `${view.title} (${i + 1})`}, view.title)));
makeHelp();
addEventListener('hashchange', () => {
  const code = takeCode();
  if (code !== null)
    tryLogin(codeOf(code), link);
  else
    route();
});
addEventListener('keydown', onKey);
onSession(open => {
  document.body.classList.toggle('open', open);
  if (open)
    route();
  else
    showLogin('The session has ended. Open another one.');
});

const code = takeCode();
if (code === null) {
  showLogin();
} else {
  try {
    await login(code);
  } catch (error) {
    showLogin(error.message);
  }
}
