/*
 * path_parse.c - parses a path (see informer/path.h).
 *
 *     path    := step {step}
 *     step    := ["."] NAME                     the first one without the dot
 *              | "[" ( "*" | NUMBER | QUOTED | key "=" value ) "]"
 *     key     := NAME | QUOTED                  value := BARE | QUOTED
 *
 * An error names the column. Mistakes that users of JSONPath make have messages of their own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json/json_text.h"
#include "base/text/syntax_error.h"
#include "core/object/path.h"

struct path_parser {
    const char *what;
    struct str whole;
    const char *at;
    const char *end;
    struct inf_path *path;
    size_t names_len;
    struct inf_error *err;
};

#define PARSE_ERROR(p, at, ...) syntax_error((p)->err, (p)->what, (p)->whole, (at), __VA_ARGS__)

static char peek(const struct path_parser *p)
{
    if (p->at == p->end)
        return '\0';
    return *p->at;
}

/* ---- tokens ---- */

static bool consists_of_digits(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
    return s.len > 0;
}

/* Takes the run of characters that @is accepts; it may be empty. */
static struct str take_run(struct path_parser *p, bool (*is)(char))
{
    const char *from = p->at;
    while (p->at < p->end && is(*p->at))
        p->at++;
    return (struct str){from, (size_t)(p->at - from)};
}

/* Copies to the memory of the path, which has room for as many bytes as the text. */
static struct str copy_name(struct path_parser *p, struct str s)
{
    char *to = p->path->names + p->names_len;
    if (s.len)
        memcpy(to, s.at, s.len);
    p->names_len += s.len;
    return (struct str){to, s.len};
}

/* Quoted names have the escapes of JSON. */
static int take_quoted(struct path_parser *p, struct str *ret)
{
    const char *open = p->at++;
    char *to = p->path->names + p->names_len;
    size_t len = 0;
    while (p->at < p->end && *p->at != '"') {
        size_t n;
        if (path_is_control(*p->at))
            return PARSE_ERROR(
                p, p->at, "write a control character as an escape, for example \\n or \\u001b");
        n = json_text_next(&p->at, p->end, to + len);
        if (!n)
            return PARSE_ERROR(p, p->at, "invalid escape; write a backslash as \\\\");
        len += n;
    }
    if (p->at == p->end)
        return PARSE_ERROR(p, open, "missing closing '\"'");
    p->at++;
    *ret = (struct str){to, len};
    p->names_len += len;
    return 0;
}

/* ---- [...] ---- */

static int expect_close(struct path_parser *p)
{
    if (peek(p) != ']')
        return PARSE_ERROR(p, p->at, "expected ']'");
    p->at++;
    return 0;
}

static int parse_value(struct path_parser *p, struct path_step *step)
{
    struct str bare;
    if (peek(p) == '=')
        return PARSE_ERROR(p, p->at, "use a single '='");
    if (peek(p) == '"')
        return take_quoted(p, &step->value);
    bare = take_run(p, path_is_bare);
    if (!bare.len && peek(p) == ']')
        return PARSE_ERROR(p, p->at, "missing value; write an empty value as [key=\"\"]");
    if (peek(p) && peek(p) != ']')
        return PARSE_ERROR(p, p->at, "quote a value that contains this character: [key=\"...\"]");
    step->value = copy_name(p, bare);
    return 0;
}

static int parse_where(struct path_parser *p, struct path_step *step)
{
    int rc;
    p->at++;
    step->kind = PATH_WHERE;
    rc = parse_value(p, step);
    return rc < 0 ? rc : expect_close(p);
}

static int parse_index(struct path_parser *p, struct path_step *step, struct str digits)
{
    step->kind = PATH_INDEX;
    for (size_t i = 0; i < digits.len; i++) {
        step->index = step->index * 10 + (size_t)(digits.at[i] - '0');
        if (step->index > PATH_INDEX_MAX)
            return PARSE_ERROR(p, digits.at, "an index is at most %d", PATH_INDEX_MAX);
    }
    return expect_close(p);
}

/* The text does not start like anything that is allowed in brackets. */
static int explain_bracket(struct path_parser *p)
{
    switch (peek(p)) {
    case '?': return PARSE_ERROR(p, p->at, "write a filter as [type=Ready]");
    case '\'': return PARSE_ERROR(p, p->at, "write a quoted key as [\"a.b/c\"]");
    default:
        return PARSE_ERROR(p, p->at, "expected *, a number, a key in double quotes, or key=value");
    }
}

static int parse_name_in_bracket(struct path_parser *p, struct path_step *step)
{
    struct str name = take_run(p, path_is_name);
    if (name.len && peek(p) == '=') {
        step->key = copy_name(p, name);
        return parse_where(p, step);
    }
    if (consists_of_digits(name))
        return parse_index(p, step, name);
    if (peek(p) == ']' && name.len && *name.at == '-')
        return PARSE_ERROR(p, name.at, "negative indexes are not supported; [0] is the first item");
    if (peek(p) == ']' && name.len)
        return PARSE_ERROR(p, name.at, "quote the key: [\"%.*s\"]", STR_FMT(name));
    return explain_bracket(p);
}

static int parse_bracket(struct path_parser *p, struct path_step *step)
{
    int rc;
    p->at++;
    switch (peek(p)) {
    case '"':
        if ((rc = take_quoted(p, &step->key)) < 0)
            return rc;
        if (peek(p) == '=')
            return parse_where(p, step);
        step->kind = PATH_KEY;
        return expect_close(p);
    case '*':
        p->at++;
        step->kind = PATH_ALL;
        return expect_close(p);
    default: return parse_name_in_bracket(p, step);
    }
}

/* ---- names ---- */

static int explain_missing_name(struct path_parser *p)
{
    switch (peek(p)) {
    case '\0':
        if (p->at == p->end)
            return PARSE_ERROR(p, p->at, "missing name after the last '.'");
        break;
    case '.': return PARSE_ERROR(p, p->at, "missing name between two dots; '..' is not supported");
    case '*': return PARSE_ERROR(p, p->at, "write [*] for every item, without a dot");
    case '[': return PARSE_ERROR(p, p->at, "remove the '.' before '['");
    default: break;
    }
    return PARSE_ERROR(p, p->at,
                       "quote a key that contains this character: [\"a.b/c\"], without a dot");
}

static int parse_step(struct path_parser *p)
{
    struct path_step *step = &p->path->steps[p->path->count];
    struct str name;
    if (p->path->count == PATH_STEPS_MAX)
        return PARSE_ERROR(p, p->at, "a path has at most %d steps", PATH_STEPS_MAX);
    p->path->count++;
    if (peek(p) == '[')
        return parse_bracket(p, step);
    if (p->path->count > 1 && peek(p) != '.')
        return PARSE_ERROR(p, p->at, "quote a key that contains this character: [\"a.b/c\"]");
    if (p->path->count > 1)
        p->at++;
    name = take_run(p, path_is_name);
    if (!name.len)
        return explain_missing_name(p);
    step->kind = PATH_KEY;
    step->key = copy_name(p, name);
    return 0;
}

static int parse_steps(struct path_parser *p)
{
    int rc = 0;
    switch (peek(p)) {
    case '\0':
        if (p->at == p->end)
            return PARSE_ERROR(p, p->at, "empty path; name a field, for example spec.nodeName");
        break;
    /* Users of JSONPath start like this. */
    case '.': return PARSE_ERROR(p, p->at, "remove the leading '.': write spec.nodeName");
    case '$': return PARSE_ERROR(p, p->at, "remove the leading '$': write spec.nodeName");
    case '{': return PARSE_ERROR(p, p->at, "remove the braces: write spec.nodeName");
    default: break;
    }
    while (rc == 0 && p->at < p->end)
        rc = parse_step(p);
    return rc;
}

struct inf_path *path_parse(const char *what, struct str whole, struct str part,
                            struct inf_error *err)
{
    struct path_parser p = {
        .what = what, .whole = whole, .at = part.at, .end = part.at + part.len, .err = err};
    if (part.len > PATH_TEXT_MAX) {
        syntax_error(err, what, whole, part.at, "a path has at most %d bytes", PATH_TEXT_MAX);
        return NULL;
    }
    p.path = NEW(struct inf_path);
    p.path->names = xmalloc(part.len + JSON_CHAR_MAX);
    if (parse_steps(&p) < 0) {
        inf_path_free(p.path);
        return NULL;
    }
    p.path->text = path_format(p.path);
    return p.path;
}
