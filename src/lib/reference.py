#!/usr/bin/env python3
"""reference.py man|html VERSION HEADER...: writes the API reference, libinformer(3) or one HTML page, from the headers.

A header is a title comment and blocks that are separated by blank lines. A block is a comment and the declarations that
it describes. In comments, @name is a parameter, `text` is literal, and lines indented by four spaces are an example.
Fields named reserved are left out. A declaration that this script does not understand ends it with an error.
"""
import html
import re
import sys
from pathlib import Path

COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)


# ---- reading ----

def comment_text(comment):
    """The lines of a comment without its decoration."""
    lines = comment.removeprefix('/*').removeprefix('*').removesuffix('*/').split('\n')
    return '\n'.join(re.sub(r'^ *\* ?', '', line) if i else line.strip() for i, line in enumerate(lines)).strip('\n ')


def paragraphs(text):
    """(is_example, text) of each paragraph; in other paragraphs line breaks have no meaning."""
    for part in re.split(r'\n{2,}', text):
        for example, lines in groups(part.split('\n')):
            if example:
                yield True, '\n'.join(line[4:] for line in lines)
            elif lines:
                yield False, ' '.join(line.strip() for line in lines)


def groups(lines):
    found = []
    for line in lines:
        example = line.startswith('    ')
        if found and found[-1][0] == example:
            found[-1][1].append(line)
        elif line.strip():
            found.append((example, [line]))
    return found


def blocks(text):
    """The parts of a header between blank lines outside of comments and braces."""
    text = re.sub(r'#ifdef __cplusplus\n.*?#endif\n', '\n', text, flags=re.DOTALL)
    masked = text
    for opaque in COMMENT, re.compile(r'\{[^{}]*\}'):
        masked = opaque.sub(lambda match: '*' * len(match[0]), masked)
    at = 0
    for gap in re.finditer(r'\n\s*\n|\s*\Z', masked):
        if text[at:gap.start()].strip():
            yield text[at:gap.start()].strip()
        at = gap.end()


def squeeze(code):
    return re.sub(r'\s+', ' ', code).strip()


class Entry:
    """A field or an enumerator with its description; or, without code, text about those that follow."""
    def __init__(self, code, text):
        self.code, self.text = code, text


def members(body, end):
    """The entries between the braces of a struct or an enum, whose members end with @end."""
    entries = []
    for part in re.finditer(rf'(/\*.*?\*/)|(\n[ \t]*\n)|[^\s/][^{end}/]*(?:{end}|$)', body, re.DOTALL):
        comment, blank = part.groups()
        behind_code = body[body.rfind('\n', 0, part.start()) + 1:part.start()].strip()
        if comment and behind_code:
            entries[-1].text = comment_text(comment)
        else:
            entries.append(Entry('' if comment or blank else squeeze(part[0]).rstrip(end),
                                 comment_text(comment) if comment else ''))
    # A comment describes the member below it, unless that has its own or more members without one follow.
    for above, member, after in zip(entries, entries[1:], entries[2:] + [Entry('', '')]):
        if not above.code and member.code and not member.text and (after.text or not after.code or is_reserved(after)):
            above.text, member.text = '', above.text
    return [entry for entry in entries if (entry.code or entry.text) and not is_reserved(entry)]


def is_reserved(entry):
    return re.search(r'\breserved', entry.code) is not None


class Item:
    """One block: declarations and what they have in common."""
    def __init__(self, kind, names, code, text, entries=()):
        self.kind, self.names, self.code, self.text, self.entries = kind, names, code, text, entries

    def anchors(self):
        """A type and a function may have the same name."""
        return [f'{self.kind}.{name}' if self.kind in ('struct', 'enum') else name for name in self.names]


def signature(code):
    """A function as one line for each parameter if it is long."""
    code = squeeze(code.replace('INF_API ', '').replace('static inline ', '')).rstrip(';')
    if len(code) <= 70:
        return code
    head, parameters = code.split('(', 1)
    return head + '(\n    ' + parameters.rstrip(')').replace(', ', ',\n    ') + ')'


def item(block, errors):
    """What a block declares; None: nothing for users."""
    comment = re.match(r'/\*.*?\*/\s*', block, re.DOTALL)
    text = comment_text(comment[0].strip()) if comment else ''
    code = block[comment.end():] if comment else block
    section = re.fullmatch(r'-+ (.*?) -+', text)
    if section and not code:
        return Item('section', [], section[1], '')
    if not code:
        return Item('text', [], '', text)
    if code.startswith('#define INF_ERROR_MAP'):
        errors += [Entry(name, f'{meaning} ({value})') for name, value, meaning in
                   re.findall(r'X\((\w+), (\d+), "(.*?)"\)', code)]
        return None
    if code.startswith('#define'):
        lines = [squeeze(line) for line in code.split('\n') if line.startswith('#define') and not line.endswith('\\')]
        names = re.findall(r'#define (\w+)', code)
        return Item('macro', names, '\n'.join(lines) or f'#define {names[0]} ...', text)
    if code.startswith('#'):
        return None
    if re.fullmatch(r'(struct \w+;\s*)+', code):
        return Item('struct', re.findall(r'struct (\w+)', code), squeeze(code).rstrip(';'), text) if text else None
    aggregate = re.match(r'(struct|enum) ?(\w*) \{(.*)\};$', code, re.DOTALL)
    if aggregate:
        kind, name, body = aggregate.groups()
        entries = errors if 'INF_ERROR_MAP' in body else members(body, ';' if kind == 'struct' else ',')
        return Item(kind, [name] if name else [], f'{kind} {name}'.strip(), text, entries)
    code = re.sub(r'\n\{.*?\n\}', ';', code, flags=re.DOTALL)
    declarations = [squeeze(d) for d in COMMENT.sub('', code).split(';') if d.strip()]
    names = [re.search(r'\b(inf_\w+)\(', d) for d in declarations]
    if not all(names):
        sys.exit(f'reference.py: this is not a declaration that it understands:\n{block}')
    return Item('function', [name[1] for name in names], '\n'.join(signature(d) for d in declarations), text)


class Header:
    def __init__(self, path):
        text = path.read_text()
        intro = COMMENT.match(text)
        self.name = path.name
        self.title, _, self.text = comment_text(intro[0]).removeprefix(f'{path.name} - ').partition('\n\n')
        self.title = squeeze(self.title).rstrip('.')
        errors = []
        found = [item(block, errors) for block in blocks(text[intro.end():])]
        self.items = [i for i in found if i]


# ---- libinformer(3) ----

def man_escape(text):
    text = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq').replace('^', '\\(ha')
    text = text.replace('~', '\\(ti').replace('`', '\\(ga')
    return re.sub(r'^\.', r'\\&.', text, flags=re.MULTILINE)


def man_words(text):
    def mark(match):
        parameter, literal, function = match.groups()
        if parameter:
            return f'\\fI{man_escape(parameter)}\\fP'
        return f'\\fB{man_escape(literal)}\\fP' if literal else f'\\fB{function}\\fP()'
    marked, at = '', 0
    for match in re.finditer(r'@(\w+)|`([^`]+)`|\b(inf_\w+)\(\)', text):
        marked += man_escape(text[at:match.start()]) + mark(match)
        at = match.end()
    marked += man_escape(text[at:])
    return re.sub(r'^\.', r'\\&.', marked)


def man_text(text, first='.PP'):
    out = []
    for example, part in paragraphs(text):
        out += ['.PP\n.RS 4\n.EX\n' + man_escape(part) + '\n.EE\n.RE'] if example else [first, man_words(part)]
        first = '.PP'
    return [line for line in out if line]


def man_item(entry):
    if entry.kind == 'section':
        return [f'.SS "{man_escape(entry.code.capitalize())}"']
    if entry.kind == 'text':
        return man_text(entry.text)
    out = ['.PP', '.nf', *(f'\\fB{man_escape(line)}\\fP' for line in entry.code.split('\n')), '.fi', '.RS 4']
    out += man_text(entry.text, '')
    for member in entry.entries:
        if not member.code:
            out += man_text(member.text)
        else:
            out += ['.TP', f'\\fB{man_escape(member.code)}\\fP', *(man_text(member.text, '') or ['\\&'])]
    return out + ['.RE']


def man(version, headers):
    main = headers[0]
    out = [f'.\\" Generated from the headers by reference.py: edit those.\n.TH LIBINFORMER 3 "" "informerd {version}"\n.nr HY 0\n.ad l',
           '.SH NAME', 'libinformer \\- ' + man_escape(main.title), '.SH SYNOPSIS', '.nf',
           *(f'\\fB#include <informer/{header.name}>\\fP' for header in headers), '',
           'cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs informer)', '.fi', '.SH DESCRIPTION',
           man_escape(main.title[:1].upper() + main.title[1:]) + '.', *man_text(main.text)]
    for header in headers:
        out += [f'.SH informer/{header.name}']
        if header is not main:
            out += [man_escape(header.title[:1].upper() + header.title[1:]) + '.', *man_text(header.text)]
        for entry in header.items:
            out += man_item(entry)
    return '\n'.join(out + ['.SH SEE ALSO', '.BR informerd (8)', ''])


# ---- HTML ----

STYLE = '''body { max-width: 50em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.4 }
pre, code { font-family: monospace; background: #f4f4f4 } pre { padding: .5em; overflow-x: auto }
h2 { margin-top: 2.5em; border-bottom: 1px solid #ccc } .item { margin-top: 1.5em } .about, dl { margin-left: 1.5em }
dt { font-family: monospace } dd { margin: 0 0 .4em 2em } dd p { margin: 0 } a { text-decoration: none } .index { columns: 3 14em }'''


def html_words(text, known):
    def link(match):
        parameter, literal, kind, name = match.groups()
        if parameter:
            return f'<var>{parameter}</var>'
        if literal:
            return f'<code>{literal}</code>'
        anchor = f'{kind}.{name}' if kind else name
        return f'<a href="#{anchor}">{match[0]}</a>' if anchor in known else match[0]
    return re.sub(r'@(\w+)|`([^`]+)`|\b(?:(struct|enum) )?(inf_\w+)\b', link, html.escape(text, quote=False))


def html_text(text, known):
    return [f'<pre>{html.escape(part)}</pre>' if example else f'<p>{html_words(part, known)}</p>'
            for example, part in paragraphs(text)]


def html_item(entry, known):
    if entry.kind == 'section':
        return [f'<h3>{html.escape(entry.code.capitalize())}</h3>']
    if entry.kind == 'text':
        return html_text(entry.text, known)
    anchors = ''.join(f'<a id="{anchor}"></a>' for anchor in entry.anchors())
    out = [f'<div class="item">{anchors}<pre>{html.escape(entry.code)}</pre><div class="about">',
           *html_text(entry.text, known)]
    for member in entry.entries:
        if not member.code:
            out += html_text(member.text, known)
        else:
            out += [f'<dl><dt>{html_words(member.code, known)}</dt><dd>', *html_text(member.text, known), '</dd></dl>']
    return out + ['</div></div>']


def page(version, headers):
    known = {anchor for header in headers for entry in header.items for anchor in entry.anchors()}
    functions = sorted(name for header in headers for entry in header.items if entry.kind == 'function'
                       for name in entry.names)
    out = ['<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8">', f'<title>libinformer {version}</title>',
           f'<style>{STYLE}</style></head><body>', f'<h1>libinformer {version}</h1>', '<ul>',
           *(f'<li><a href="#{h.name}">informer/{h.name}</a>: {html_words(h.title, known)}</li>' for h in headers),
           '</ul>', '<div class="index">', *(f'<a href="#{name}">{name}</a><br>' for name in functions), '</div>']
    for header in headers:
        out += [f'<h2 id="{header.name}">informer/{header.name}</h2>',
                f'<p>{html_words(header.title[:1].upper() + header.title[1:], known)}.</p>',
                *html_text(header.text, known)]
        for entry in header.items:
            out += html_item(entry, known)
    return '\n'.join(out + ['</body></html>', ''])


form, version, *paths = sys.argv[1:]
print({'man': man, 'html': page}[form](version, [Header(Path(path)) for path in paths]), end='')
