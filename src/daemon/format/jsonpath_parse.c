/*
 * jsonpath_parse.c - parses JSONPath templates and paths. The grammar is that of kubectl
 * (k8s.io/client-go/util/jsonpath). An error gives the column.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/json_string.h"
#include "base/text/syntax_error.h"
#include "daemon/format/jsonpath_internal.h"

enum {
    TEXT_MAX = 64 * 1024, /* LIMIT: bytes of a template */
    FILTER_DEPTH_MAX = 8, /* LIMIT: filters within filters */
};

struct parser {
    struct jsonpath *path;
    const char *what; /* "JSONPath" or "JSONPath template", for messages */
    struct str whole;
    const char *at;
    unsigned depth;
    struct inf_error *err;
};

static int parse_error(struct parser *p, const char *at, const char *message)
{
    return syntax_error(p->err, p->what, p->whole, at, "%s", message);
}

static void *parser_new(struct parser *p, size_t size)
{
    return memset(arena_alloc(&p->path->arena, size), 0, size);
}

static struct jsonpath_step *step_new(struct parser *p, enum jsonpath_step_type type)
{
    struct jsonpath_step *step = parser_new(p, sizeof(*step));
    step->type = type;
    return step;
}

/* ---- literals ---- */

/* A string as a node of a tree, which has it as spelled in JSON. */
static struct jsonpath_step *text_step(struct parser *p, struct str text)
{
    struct jsonpath_step *step = step_new(p, STEP_LITERAL);
    struct json_node *node = parser_new(p, sizeof(*node));
    struct buf spelled = {0};
    json_put_string(&spelled, text);
    *node = (struct json_node){
        .type = JSON_STRING,
        .text = arena_copy(&p->path->arena, (struct str){spelled.bytes + 1, spelled.len - 2}),
    };
    buf_free(&spelled);
    step->literal = node;
    return step;
}

static struct jsonpath_step *scalar_step(struct parser *p, struct str text)
{
    struct jsonpath_step *step = step_new(p, STEP_LITERAL);
    struct json_node *node = parser_new(p, sizeof(*node));
    *node = (struct json_node){.type = JSON_LITERAL, .text = arena_copy(&p->path->arena, text)};
    step->literal = node;
    return step;
}

/* The closing quote of the text that starts at @at, or NULL. */
static const char *find_quote(const char *at, const char *end, char quote)
{
    for (; at < end && *at != quote; at++)
        at += *at == '\\' && end - at > 1;
    return at < end ? at : NULL;
}

/* Quoted text with the escapes of JSON, and \' */
static int parse_quoted(struct parser *p, const char *end, struct buf *out)
{
    const char *close = find_quote(p->at + 1, end, *p->at);
    struct buf spelled = {0};
    if (!close)
        return parse_error(p, p->at, "the closing quote is missing");
    for (const char *c = p->at + 1; c < close; c++) {
        c += *c == '\\' && c[1] == '\'';
        buf_putc(&spelled, *c);
    }
    json_put_decoded(out, (struct str){spelled.bytes, spelled.len});
    buf_free(&spelled);
    p->at = close + 1;
    return 0;
}

static int parse_quote(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    struct buf text = {0};
    int rc = parse_quoted(p, end, &text);
    if (rc == 0)
        *ret = text_step(p, (struct str){text.bytes, text.len});
    buf_free(&text);
    return rc;
}

static int parse_number(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    const char *from = p->at++;
    char *text, *rest;
    while (p->at < end && (isdigit((unsigned char)*p->at) || *p->at == '.'))
        p->at++;
    text = xstrndup(from, (size_t)(p->at - from));
    (void)strtod(text, &rest);
    if (*rest || rest == text) {
        free(text);
        return parse_error(p, from, "this is not a number");
    }
    *ret = scalar_step(p, str_of(text + (text[0] == '+')));
    free(text);
    return 0;
}

/* ---- fields ---- */

static bool ends_name(char c)
{
    return strchr(" \t\r\n.,[]$@{}", c) != NULL;
}

static struct jsonpath_step *field_step(struct parser *p, struct str name)
{
    struct jsonpath_step *step = step_new(p, STEP_FIELD);
    step->name = arena_copy(&p->path->arena, name);
    return step;
}

/* A name; "\." is a dot of the name. */
static int parse_name(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    struct buf name = {0};
    const char *from = p->at;
    for (; p->at < end && !ends_name(*p->at); p->at++) {
        p->at += *p->at == '\\' && end - p->at > 1;
        buf_putc(&name, *p->at);
    }
    if (!name.len)
        return parse_error(p, from, "a field name is missing");
    if (name.len == 1 && name.bytes[0] == '*')
        *ret = step_new(p, STEP_WILDCARD);
    else
        *ret = field_step(p, (struct str){name.bytes, name.len});
    buf_free(&name);
    return 0;
}

/* ---- brackets ---- */

/* "", "2" or "-1", before a colon or the end. */
static int parse_bound(struct parser *p, const char *end, struct jsonpath_bound *ret)
{
    const char *from = p->at;
    char digits[16] = "";
    size_t len;
    p->at += p->at < end && *p->at == '-';
    while (p->at < end && isdigit((unsigned char)*p->at))
        p->at++;
    len = (size_t)(p->at - from);
    if (len >= sizeof(digits) - 4 || (len == 1 && *from == '-'))
        return parse_error(p, from, "this index is not a number that a list can have");
    memcpy(digits, from, len);
    *ret = (struct jsonpath_bound){len > 0, strtol(digits, NULL, 10)};
    return 0;
}

/* "0", "-1", "1:3", "::2" or "*" up to @end. */
static int parse_slice(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    struct jsonpath_step *step = step_new(p, STEP_SLICE);
    struct jsonpath_bound *bounds[] = {&step->from, &step->to, &step->stride};
    const char *from = p->at;
    int rc = 0;
    *ret = step;
    if (end - p->at == 1 && *p->at == '*') {
        p->at++;
        return 0;
    }
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(bounds); i++) {
        rc = parse_bound(p, end, bounds[i]);
        if (rc == 0 && (p->at == end || *p->at != ':')) {
            step->is_index = i == 0;
            break;
        }
        p->at += i + 1 < ARRAY_LEN(bounds);
    }
    if (rc == 0 && (p->at != end || (step->is_index && !step->from.given)))
        rc = parse_error(p, from, "write an index, a slice, a quoted key or a filter here");
    if (rc == 0 && step->stride.given && step->stride.value <= 0)
        rc = parse_error(p, from, "the step of a slice must be positive");
    return rc;
}

/* One of the things that commas separate in brackets. */
static int parse_selector(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    struct buf key = {0};
    int rc;
    while (p->at < end && *p->at == ' ')
        p->at++;
    while (end > p->at && end[-1] == ' ')
        end--;
    if (p->at == end || (*p->at != '\'' && *p->at != '"'))
        return parse_slice(p, end, ret);
    rc = parse_quoted(p, end, &key);
    if (rc == 0 && p->at != end)
        rc = parse_error(p, p->at, "unexpected text after the key");
    if (rc == 0) {
        size_t kept = 0;
        for (size_t i = 0; i < key.len; i++) /* kubectl needs "\." here; both are accepted */
            if (key.bytes[i] != '\\')
                key.bytes[kept++] = key.bytes[i];
        *ret = field_step(p, (struct str){key.bytes ? key.bytes : "", kept});
    }
    buf_free(&key);
    return rc;
}

/* The next comma or bracket outside of quotes, or @end. */
static const char *find_separator(const char *at, const char *end)
{
    for (; at < end && *at != ',' && *at != ']'; at++)
        if (*at == '\'' || *at == '"') {
            const char *close = find_quote(at + 1, end, *at);
            at = close ? close : at;
        }
    return at;
}

/* After "[". */
static int parse_brackets(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    struct jsonpath_step *parts = NULL, **last = &parts;
    const char *from = p->at, *close;
    int rc;
    do {
        close = find_separator(p->at, end);
        if (close == end)
            return parse_error(p, from, "']' is missing");
        rc = parse_selector(p, close, last);
        if (rc < 0)
            return rc;
        last = &(*last)->next;
        p->at = close + 1;
    } while (*close == ',');
    if (!parts->next) {
        *ret = parts;
    } else {
        *ret = step_new(p, STEP_UNION);
        (*ret)->first = parts;
    }
    return 0;
}

/* ---- filters ---- */

static int parse_steps(struct parser *p, const char *end, struct jsonpath_step **ret);

/* The ")]" of a filter, outside of quotes. */
static const char *find_filter_end(const char *at, const char *end)
{
    size_t depth = 0;
    for (; at < end; at++) {
        if (*at == '\'' || *at == '"') {
            const char *close = find_quote(at + 1, end, *at);
            at = close ? close : at;
        } else if (*at == '(') {
            depth++;
        } else if (*at == ')' && !depth--) {
            return end - at > 1 && at[1] == ']' ? at : NULL;
        }
    }
    return NULL;
}

static int parse_operator(struct parser *p, const char *end, enum jsonpath_operator *ret)
{
    static const struct {
        const char *text;
        enum jsonpath_operator op;
    } operators[] = {
        {"==", OPERATOR_EQUAL},         {"!=", OPERATOR_NOT_EQUAL}, {"<=", OPERATOR_LESS_EQUAL},
        {">=", OPERATOR_GREATER_EQUAL}, {"<", OPERATOR_LESS},       {">", OPERATOR_GREATER},
    };
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        size_t len = strlen(operators[i].text);
        if ((size_t)(end - p->at) > len && memcmp(p->at, operators[i].text, len) == 0) {
            *ret = operators[i].op;
            p->at += len;
            return 0;
        }
    }
    return parse_error(p, p->at, "use ==, !=, <, <=, > or >= and a value here");
}

/* After "[?(": a path, or two with an operator between them. */
static int parse_filter(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    struct jsonpath_step *step = step_new(p, STEP_FILTER);
    const char *close = find_filter_end(p->at, end), *sign = p->at;
    int rc;
    if (!close)
        return parse_error(p, p->at, "')]' is missing");
    if (++p->depth > FILTER_DEPTH_MAX)
        return parse_error(p, p->at, "too many filters within filters");
    while (sign < close && !strchr("!<>=", *sign))
        sign++;
    rc = parse_steps(p, sign, &step->first);
    if (rc == 0 && sign < close) {
        rc = parse_operator(p, close, &step->op);
        if (rc == 0)
            rc = parse_steps(p, close, &step->second);
    }
    p->depth--;
    p->at = close + 2;
    *ret = step;
    return rc;
}

/* ---- paths ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* true, false, or the first field without a dot. */
static int parse_word(struct parser *p, const char *end, bool first, struct jsonpath_step **ret)
{
    const char *from = p->at;
    int rc = parse_name(p, end, ret);
    struct str word = {from, (size_t)(p->at - from)};
    if (rc == 0 && (str_eq(word, STR("true")) || str_eq(word, STR("false"))))
        *ret = scalar_step(p, word);
    else if (rc == 0 && !first)
        rc = parse_error(p, from, "unexpected word");
    return rc;
}

static int parse_recursive(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    *ret = step_new(p, STEP_RECURSIVE);
    if (p->at < end && *p->at == '.')
        return parse_error(p, p->at, "unexpected '.' after '..'");
    if (p->at < end && (is_word(*p->at) || *p->at == '*'))
        return parse_name(p, end, &(*ret)->next);
    return 0;
}

static bool pass(struct parser *p, const char *end, const char *sign)
{
    size_t len = strlen(sign);
    if ((size_t)(end - p->at) < len || memcmp(p->at, sign, len) != 0)
        return false;
    p->at += len;
    return true;
}

static int parse_step(struct parser *p, const char *end, bool first, struct jsonpath_step **ret)
{
    if (pass(p, end, "[?("))
        return parse_filter(p, end, ret);
    if (pass(p, end, ".."))
        return parse_recursive(p, end, ret);
    if (pass(p, end, "["))
        return parse_brackets(p, end, ret);
    if (pass(p, end, ".")) {
        if (p->at == end && first)
            return 0; /* the whole object */
        return p->at < end && *p->at == '[' ? 0 : parse_name(p, end, ret);
    }
    if (*p->at == '"' || *p->at == '\'')
        return parse_quote(p, end, ret);
    if (isdigit((unsigned char)*p->at) || *p->at == '+' || *p->at == '-')
        return parse_number(p, end, ret);
    if (is_word(*p->at))
        return parse_word(p, end, first, ret);
    return parse_error(p, p->at, "unexpected character");
}

/* Parses from p->at up to @end. */
static int parse_steps(struct parser *p, const char *end, struct jsonpath_step **ret)
{
    struct jsonpath_step **last = ret;
    int rc = 0;
    while (rc == 0 && p->at < end) {
        if (*p->at == ' ' || *p->at == '@' || *p->at == '$') {
            p->at++;
            continue;
        }
        rc = parse_step(p, end, last == ret, last);
        while (*last)
            last = &(*last)->next;
    }
    return rc;
}

/* ---- templates ---- */

/* The brace that closes the expression at @at; one in quotes does not. NULL: there is none. */
static const char *find_brace(const char *at, const char *end)
{
    for (; at < end && *at != '}'; at++)
        if (*at == '"' || *at == '\'') {
            at = find_quote(at + 1, end, *at);
            if (!at)
                return NULL;
        }
    return at < end ? at : NULL;
}

static bool pass_word(struct parser *p, const char *end, const char *word)
{
    const char *from = p->at;
    if (pass(p, end, word) && (p->at == end || !is_word(*p->at)))
        return true;
    p->at = from;
    return false;
}

/* What is between two braces. */
static int parse_expression(struct parser *p, const char *end, struct jsonpath_part *part)
{
    const char *from;
    while (p->at < end && *p->at == ' ')
        p->at++;
    from = p->at;
    if (pass_word(p, end, "end")) {
        part->type = PART_END;
        return p->at == end ? 0 : parse_error(p, p->at, "unexpected text after end");
    }
    if (pass_word(p, end, "range"))
        part->type = PART_RANGE;
    if (p->at == end)
        return parse_error(p, from, "the path is empty");
    return parse_steps(p, end, &part->steps);
}

/* Sets the end of each range. While a range is open, its `end` is the range around it. */
static int match_ranges(struct parser *p, struct jsonpath_part *parts)
{
    struct jsonpath_part *open = NULL;
    for (struct jsonpath_part *part = parts; part; part = part->next) {
        struct jsonpath_part *outer = open ? open->end : NULL;
        if (part->type == PART_END && !open)
            return err_set(p->err, INF_EINVAL, "%s: {end} needs {range ...} before it", p->what);
        if (part->type == PART_END) {
            open->end = part;
            open = outer;
        } else if (part->type == PART_RANGE) {
            part->end = open;
            open = part;
        }
    }
    return open ? err_set(p->err, INF_EINVAL, "%s: {range ...} needs {end}", p->what) : 0;
}

static int parse_template(struct parser *p)
{
    const char *end = p->whole.at + p->whole.len;
    struct jsonpath_part **last = &p->path->parts;
    bool has_path = false;
    while (p->at < end) {
        struct jsonpath_part *part = parser_new(p, sizeof(*part));
        const char *open = memchr(p->at, '{', (size_t)(end - p->at)), *close;
        *last = part;
        last = &part->next;
        open = open ? open : end;
        if (open > p->at) {
            part->steps = text_step(p, (struct str){p->at, (size_t)(open - p->at)});
            p->at = open;
            continue;
        }
        close = find_brace(++p->at, end);
        if (!close)
            return parse_error(p, end, "'}' is missing");
        if (parse_expression(p, close, part) < 0)
            return -INF_EINVAL;
        has_path = has_path || !part->steps || part->steps->type != STEP_LITERAL;
        p->at = close + 1;
    }
    if (!has_path)
        return err_set(p->err, INF_EINVAL,
                       "the JSONPath template has no field; write it like {.metadata.name}");
    return match_ranges(p, p->path->parts);
}

static int parse_path(struct parser *p)
{
    const char *end = p->whole.at + p->whole.len;
    struct jsonpath_part *part = parser_new(p, sizeof(*part));
    p->path->parts = part;
    if (p->at < end && *p->at == '{' && end[-1] == '}') {
        p->at++;
        end--;
    }
    return p->at == end ? parse_error(p, p->at, "the path is empty")
                        : parse_steps(p, end, &part->steps);
}

static int jsonpath_new(struct parser *p, int (*parse)(struct parser *p), struct jsonpath **ret)
{
    int rc;
    if (p->whole.len > TEXT_MAX)
        return err_set(p->err, INF_EINVAL, "%s: more than %d bytes", p->what, TEXT_MAX);
    p->at = p->whole.at;
    p->path = NEW(struct jsonpath);
    rc = parse(p);
    if (rc == 0)
        *ret = p->path;
    else
        jsonpath_free(p->path);
    return rc;
}

int jsonpath_parse_template(struct str text, struct jsonpath **ret, struct inf_error *err)
{
    struct parser p = {.what = "JSONPath template", .whole = text, .err = err};
    return jsonpath_new(&p, parse_template, ret);
}

int jsonpath_parse(struct str text, struct jsonpath **ret, struct inf_error *err)
{
    struct parser p = {.what = "JSONPath", .whole = text, .err = err};
    return jsonpath_new(&p, parse_path, ret);
}

void jsonpath_free(struct jsonpath *path)
{
    if (!path)
        return;
    arena_free(&path->arena);
    free(path);
}
