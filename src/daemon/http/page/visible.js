// visible.js - streams are open only while the tab is visible: a browser has at most six connections to a server, for all of
// its tabs together, and each stream takes one.

/* Resolves when the tab is visible. */
export function whenVisible() {
  return new Promise(resolve => {
    const check = () => {
      if (document.hidden)
        return;
      document.removeEventListener('visibilitychange', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    check();
  });
}

/* A signal that aborts when the tab gets hidden. @more: another signal that does. */
export function untilHidden(more) {
  const controller = new AbortController(), abort = () => controller.abort();
  document.addEventListener('visibilitychange', () => document.hidden && abort(), {signal: controller.signal});
  more?.addEventListener('abort', abort, {signal: controller.signal});
  if (document.hidden || more?.aborted)
    abort();
  return controller.signal;
}
