// yaml.js - a JSON value as lines of YAML, as kubectl prints them. Fields that are given by their paths are marked.

const PLAIN = /^[A-Za-z_./][\w./@+-]*(?:[: ][\w./@+-]+)*$/;
const SPECIAL = /^(?:true|false|yes|no|on|off|null|y|n|~)$/i;

/* A string as YAML. Everything that could be read as another type or as syntax has quotes. */
function quote(text) {
  return PLAIN.test(text) && !SPECIAL.test(text) ? text : JSON.stringify(text);
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

/* The path of a member, as in the records of changes. */
function memberPath(path, key) {
  if (!/^[\w-]+$/.test(key))
    return `${path}[${JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}

/* Where the lines go, and the marks by path. A mark holds for everything below its path. */
class Writer {
  constructor(marks) {
    this.lines = [];
    this.marks = marks;
  }

  markOf(path, inherited) {
    return this.marks.get(path) || inherited;
  }

  putList(list, indent, path, inherited) {
    const pad = '  '.repeat(indent);
    list.forEach((element, i) => {
      const own = elementPath(path, element, i), mark = this.markOf(own, inherited);
      if (Array.isArray(element) && element.length) {
        this.lines.push({text: `${pad}-`, mark});
        this.putList(element, indent + 1, own, mark);
      } else if (isBlock(element))
        this.putObject(element, indent + 1, own, mark, `${pad}- `);
      else
        this.lines.push({text: `${pad}- ${empty(element)}`, mark});
    });
  }

  /* @first replaces the indentation of the first line. */
  putObject(object, indent, path, inherited, first) {
    Object.entries(object).forEach(([key, value], i) => {
      const own = memberPath(path, key), mark = this.markOf(own, inherited);
      this.putMember(`${i === 0 && first ? first : '  '.repeat(indent)}${quote(key)}:`, value, indent, own, mark);
    });
  }

  putMember(lead, value, indent, path, mark) {
    if (typeof value === 'string' && value.includes('\n')) {
      this.lines.push({text: `${lead} |${value.endsWith('\n') ? '' : '-'}`, mark});
      for (const line of value.replace(/\n$/, '').split('\n'))
        this.lines.push({text: `${'  '.repeat(indent + 1)}${line}`, mark});
    } else if (isBlock(value)) {
      this.lines.push({text: lead, mark});
      if (Array.isArray(value))
        this.putList(value, indent, path, mark);
      else
        this.putObject(value, indent + 1, path, mark, '');
    } else {
      this.lines.push({text: `${lead} ${empty(value)}`, mark});
    }
  }
}

/* [{text, mark}]: the lines, each with the mark of its field or of one above it. @marks: path -> mark. */
export function yamlLines(value, marks = new Map()) {
  const writer = new Writer(marks);
  if (!isBlock(value))
    return [{text: empty(value)}];
  if (Array.isArray(value))
    writer.putList(value, 0, '', undefined);
  else
    writer.putObject(value, 0, '', undefined, '');
  return writer.lines;
}
