// filter.js - which changes the view of changes shows.

const LEVELS = {info: 0, warn: 1, error: 2};

/* 'app=web,tier!=db,zone,!old' -> functions of the labels, all of which must hold. */
export function labelTests(text) {
  return text.split(',').map(part => part.trim()).filter(Boolean).map(part => {
    const [, key, not, value] = /^([^=!]*?)\s*(!?)==?\s*(.*)$/.exec(part) || [];
    if (key !== undefined)
      return labels => (labels[key] === value) !== Boolean(not);
    return part.startsWith('!') ? labels => !(part.slice(1) in labels) : labels => part in labels;
  });
}

/* A function that says whether an entry of changes.js matches. Notes, of the page and of the daemon, always do. */
export function filterOf({text, watch, ns, label, path, level, verbs}) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean), tests = labelTests(label), minimum = LEVELS[level] || 0;
  const wanted = path.trim();
  return e => {
    if (e.isNote)
      return true;
    if ((watch && e.watch !== watch) || (ns && e.ns !== ns) || (verbs.size && !verbs.has(e.type)) || (LEVELS[e.level] || 0) < minimum)
      return false;
    if (wanted && !e.paths.includes(wanted))
      return false;
    if (tests.length && !tests.every(test => test(e.labels || {})))
      return false;
    if (words.length) {
      const hay = `${e.kind} ${e.title} ${e.name} ${e.summary} ${e.manager} ${e.watch}`.toLowerCase();
      return words.every(word => hay.includes(word));
    }
    return true;
  };
}
