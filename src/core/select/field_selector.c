/*
 * field_selector.c - reads a field selector as k8s.io/apimachinery's fields.ParseSelector does.
 *
 *     selector := [term] {"," [term]}             empty terms are skipped
 *     term     := PATH ("=" | "==" | "!=") VALUE
 *
 * One extension: the path may have brackets (informer/path.h). Operators and commas in brackets are
 * part of the path. An error names the column.
 */
#include "base/base.h"
#include "base/text/syntax_error.h"
#include "core/select/selector.h"

struct field_parser {
    struct str text;
    const char *at;
    const char *end;
    char *memory; /* where the next value goes, without its escapes */
    struct inf_selector *selector;
    struct inf_error *err;
};

#define PARSE_ERROR(p, at, ...) \
    syntax_error((p)->err, "field selector", (p)->text, (at), __VA_ARGS__)

static bool begins(const struct field_parser *p, const char *at, struct str with)
{
    return (size_t)(p->end - at) >= with.len && memcmp(at, with.at, with.len) == 0;
}

/* @at is a quote. Returns the position after the closing one, or the end. */
static const char *skip_quoted(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && end - at > 1)
            at++;
    return at < end ? at + 1 : end;
}

/* Where the path that begins at p->at ends: at an operator, a comma or the end. */
static const char *find_path_end(const struct field_parser *p)
{
    const char *at = p->at;
    while (at < p->end && *at != '=' && *at != ',' && !begins(p, at, STR("!="))) {
        if (*at++ != '[')
            continue;
        while (at < p->end && *at != ']')
            at = *at == '"' ? skip_quoted(at, p->end) : at + 1;
        at += at < p->end;
    }
    return at;
}

static int parse_value(struct field_parser *p, struct selector_term *term)
{
    struct str value = {p->memory, 0};
    for (; p->at < p->end && *p->at != ','; p->at++) {
        if (*p->at == '=')
            return PARSE_ERROR(p, p->at, "write '=' in a value as \\=");
        if (*p->at == '\\') {
            if (p->end - p->at < 2 || !strchr("\\,=", p->at[1]))
                return PARSE_ERROR(p, p->at,
                                   "invalid escape; only \\\\ \\, and \\= are valid in a value");
            p->at++;
        }
        *p->memory++ = *p->at;
        value.len++;
    }
    selector_term_add(term, value);
    return 0;
}

static int parse_term(struct field_parser *p)
{
    static const struct {
        struct str spelled;
        enum selector_op op;
    } ops[] = {{{"!=", 2}, SELECT_NOT_EQUAL}, {{"==", 2}, SELECT_EQUAL}, {{"=", 1}, SELECT_EQUAL}};
    struct selector_term *term = selector_add(p->selector);
    const char *from = p->at;
    if (!term)
        return PARSE_ERROR(p, p->at, "a selector has at most %d terms", SELECTOR_TERMS_MAX);
    p->at = find_path_end(p);
    term->path =
        path_parse("field selector", p->text, (struct str){from, (size_t)(p->at - from)}, p->err);
    if (!term->path)
        return -INF_EINVAL;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (begins(p, p->at, ops[i].spelled)) {
            term->op = ops[i].op;
            p->at += ops[i].spelled.len;
            return parse_value(p, term);
        }
    return PARSE_ERROR(p, p->at, "expected '=' or '!=' and a value");
}

int field_selector_parse(struct inf_selector *selector, struct str text, struct inf_error *err)
{
    struct field_parser p = {.text = text,
                             .at = text.at,
                             .end = text.at + text.len,
                             .memory = selector->memory,
                             .selector = selector,
                             .err = err};
    int rc = 0;
    while (rc == 0 && p.at < p.end)
        if (*p.at == ',')
            p.at++;
        else
            rc = parse_term(&p);
    return rc;
}
