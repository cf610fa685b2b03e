// link.js - the state of the connection, in the bar of the page.

import {setText} from '/page/dom.js';

/* 'live', 'lost' or 'wait', and its text. */
export function setLink(state, text) {
  const link = document.getElementById('link');
  link.dataset.state = state;
  setText(link, text);
}
