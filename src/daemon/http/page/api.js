// api.js - requests to the local API of informerd, and the session.
//
// The token is in this module's memory only: not in the address, in a cookie or in any storage of the browser. A reload
// of the page therefore ends the session.

let token = null;
const listeners = new Set();

/* An answer that is not a success. status 0: informerd is not reachable. */
export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function hasSession() {
  return token !== null;
}

/* Calls back with whether there is a session, whenever that changes. */
export function onSession(listener) {
  listeners.add(listener);
}

function setToken(value) {
  token = value;
  for (const listener of listeners)
    listener(token !== null);
}

async function failure(response) {
  let message = `${response.status} ${response.statusText}`;
  try {
    message = (await response.json()).message || message;
  } catch { /* not a Status object */ }
  return new Failure(response.status, message);
}

async function send(target, options) {
  try {
    return await fetch(target, {cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer', ...options});
  } catch (error) {
    if (error.name === 'AbortError')
      throw error;
    throw new Failure(0, 'informerd is not reachable');
  }
}

/* Exchanges the code of `informerctl page` for a session. */
export async function login(code) {
  const response = await send('/informerd/v1/session', {method: 'POST', body: code});
  if (!response.ok)
    throw await failure(response);
  setToken((await response.json()).token);
}

async function request(target, {accept = 'application/json', signal} = {}) {
  if (token === null)
    throw new Failure(401, 'no session');
  const used = token;
  const response = await send(target, {headers: {Authorization: `Bearer ${used}`, Accept: accept}, signal});
  if (response.status === 401 && token === used)
    setToken(null);
  if (!response.ok)
    throw await failure(response);
  return response;
}

export async function getJson(target, options) {
  return (await request(target, options)).json();
}

/* Calls on.line(text) for each line of a response without end. Returns when it ends; throws Failure or AbortError. */
export async function followLines(target, on, options) {
  const response = await request(target, options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  on.open?.(response);
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === 'AbortError')
        throw error;
      throw new Failure(0, 'the connection was lost');
    }
    if (piece.done)
      return;
    const lines = (rest + piece.value).split('\n');
    rest = lines.pop();
    for (const line of lines)
      if (line)
        on.line(line);
    await on.pause?.();
  }
}
