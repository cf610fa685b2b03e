// yaml.js - a JSON value as lines of YAML, as kubectl prints them; each line has the path of its field.

const PLAIN = /^[A-Za-z_./][\w./ -]*$/;
const SPECIAL = /^(?:true|false|yes|no|on|off|null|y|n|~)$/i;

/* A string as YAML. Everything that could be read as another type or as syntax has quotes. */
function quote(text) {
  return PLAIN.test(text) && !SPECIAL.test(text) && !text.endsWith(' ') ? text : JSON.stringify(text);
}

function scalar(value) {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

/* The part of a path for an element of a list: by its name or type, as in the records of changes. */
function elementPath(path, element, index) {
  if (element && typeof element === 'object')
    for (const key of ['name', 'type', 'uid', 'key', 'ip', 'containerPort', 'port'])
      if (element[key] !== undefined && typeof element[key] !== 'object')
        return `${path}[${key}=${element[key]}]`;
  return `${path}[${index}]`;
}

function isBlock(value) {
  return value !== null && typeof value === 'object' && Object.keys(value).length > 0;
}

function empty(value) {
  return Array.isArray(value) ? '[]' : value !== null && typeof value === 'object' ? '{}' : scalar(value);
}

function put(lines, value, indent, path, first) {
  const pad = '  '.repeat(indent);
  if (Array.isArray(value)) {
    value.forEach((element, i) => {
      const own = elementPath(path, element, i);
      if (isBlock(element))
        put(lines, element, indent + 1, own, `${pad}- `);
      else
        lines.push({text: `${pad}- ${empty(element)}`, path: own});
    });
    return;
  }
  Object.entries(value).forEach(([key, child], i) => {
    const own = path ? `${path}.${key}` : key, lead = i === 0 && first ? first : pad;
    if (typeof child === 'string' && child.includes('\n')) {
      lines.push({text: `${lead}${quote(key)}: |${child.endsWith('\n') ? '' : '-'}`, path: own});
      for (const line of child.replace(/\n$/, '').split('\n'))
        lines.push({text: `${'  '.repeat(indent + 1)}${line}`, path: own});
    } else if (isBlock(child)) {
      lines.push({text: `${lead}${quote(key)}:`, path: own});
      put(lines, child, Array.isArray(child) ? indent : indent + 1, own, '');
    } else {
      lines.push({text: `${lead}${quote(key)}: ${empty(child)}`, path: own});
    }
  });
}

/* [{text, path}] */
export function yamlLines(value) {
  const lines = [];
  if (isBlock(value))
    put(lines, value, 0, '', '');
  else
    lines.push({text: empty(value), path: ''});
  return lines;
}
