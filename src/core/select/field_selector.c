/*
 * field_selector.c - reads a field selector as k8s.io/apimachinery's fields.ParseSelector does.
 *
 *     selector := [term] {"," [term]}             empty terms are skipped
 *     term     := PATH ("=" | "==" | "!=") VALUE
 *
 * One thing is ours: the path may have brackets (informer/path.h), and what is in them is neither
 * operator nor comma.
 */
#include "base/base.h"
#include "base/syntax_error.h"
#include "core/select/selector.h"

struct parser {
    struct str text;
    const char *at;
    const char *end;
    char *memory; /* where the next value goes, without its escapes */
    struct inf_selector *selector;
    struct inf_error *err;
};

#define COMPLAIN(p, at, ...) syntax_error((p)->err, "field selector", (p)->text, (at), __VA_ARGS__)

static bool begins(const struct parser *p, const char *at, struct str with)
{
    return (size_t)(p->end - at) >= with.len && memcmp(at, with.at, with.len) == 0;
}

/* @at is a quote; returns the place behind its partner. */
static const char *behind_quoted(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && end - at > 1)
            at++;
    return at < end ? at + 1 : end;
}

/* @at is '['; returns the place behind its ']', or the end. */
static const char *behind_bracket(const char *at, const char *end)
{
    while (at < end && *at != ']')
        at = *at == '"' ? behind_quoted(at, end) : at + 1;
    return at < end ? at + 1 : end;
}

/* Where the path that begins at p->at ends: at an operator, a comma or the end. */
static const char *path_end(const struct parser *p)
{
    const char *at = p->at;
    while (at < p->end && *at != '=' && *at != ',' && !begins(p, at, STR("!=")))
        at = *at == '[' ? behind_bracket(at, p->end) : at + 1;
    return at;
}

static int take_op(struct parser *p, struct selector_term *term)
{
    static const struct {
        struct str spelled;
        enum selector_op op;
    } ops[] = {{{"!=", 2}, SELECT_NOT_EQUAL}, {{"==", 2}, SELECT_EQUAL}, {{"=", 1}, SELECT_EQUAL}};
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (begins(p, p->at, ops[i].spelled)) {
            term->op = ops[i].op;
            p->at += ops[i].spelled.len;
            return 0;
        }
    return COMPLAIN(p, p->at, "expected '=' or '!=' and a value");
}

static int take_value(struct parser *p, struct selector_term *term)
{
    struct str value = {p->memory, 0};
    for (; p->at < p->end && *p->at != ','; p->at++) {
        if (*p->at == '=')
            return COMPLAIN(p, p->at, "write '=' in a value as \\=");
        if (*p->at == '\\') {
            if (p->end - p->at < 2 || !strchr("\\,=", p->at[1]))
                return COMPLAIN(p, p->at,
                                "invalid escape; only \\\\ \\, and \\= are valid in a value");
            p->at++;
        }
        *p->memory++ = *p->at;
        value.len++;
    }
    selector_term_add(term, value);
    return 0;
}

static int parse_term(struct parser *p)
{
    struct selector_term *term = selector_add(p->selector);
    const char *from = p->at;
    int rc;
    if (!term)
        return COMPLAIN(p, p->at, "a selector has at most %d terms", SELECTOR_TERMS_MAX);
    p->at = path_end(p);
    term->path =
        path_parse("field selector", p->text, (struct str){from, (size_t)(p->at - from)}, p->err);
    if (!term->path)
        return -INF_EINVAL;
    rc = take_op(p, term);
    return rc < 0 ? rc : take_value(p, term);
}

int field_selector_parse(struct inf_selector *selector, struct str text, struct inf_error *err)
{
    struct parser p = {.text = text,
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
