/*
 * condition_parse.c - parses conditions (condition.h). An error names the column and what is expected
 * there; errors in a path are those of the path, with the column in the condition.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/json_decode.h"
#include "base/text/syntax_error.h"
#include "daemon/rule/condition_internal.h"

struct condition_parser {
    struct str whole;
    const char *at;
    const char *end;
    struct condition_term *term;
    struct inf_error *err;
};

#define PARSE_ERROR(p, at, ...) syntax_error((p)->err, "condition", (p)->whole, (at), __VA_ARGS__)

/* The longer ones first. */
static const struct {
    struct str text;
    enum condition_operator op;
    bool orders; /* needs a number */
} operators[] = {
    {{"!=", 2}, CONDITION_NOT, false},    {{">=", 2}, CONDITION_AT_LEAST, true},
    {{"<=", 2}, CONDITION_AT_MOST, true}, {{"=", 1}, CONDITION_IN, false},
    {{">", 1}, CONDITION_GREATER, true},  {{"~", 1}, CONDITION_CONTAINS, false},
    {{"<", 1}, CONDITION_LESS, true},
};

/* ---- characters ---- */

static char peek(const struct condition_parser *p)
{
    return p->at < p->end ? *p->at : '\0';
}

static void skip_blanks(struct condition_parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t')
        p->at++;
}

static bool take_text(struct condition_parser *p, struct str text)
{
    if ((size_t)(p->end - p->at) < text.len || memcmp(p->at, text.at, text.len) != 0)
        return false;
    p->at += text.len;
    return true;
}

static bool is_bare(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("-_./:+@%", c));
}

/* The grammar of JSON. strtod() accepts more: "inf", "0x10". */
bool condition_read_number(struct str text, double *ret)
{
    char copy[64];
    size_t i = text.len && text.at[0] == '-', digits;
    if (!text.len || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    digits = strspn(copy + i, "0123456789");
    if (!digits)
        return false;
    i += digits;
    if (copy[i] == '.') {
        digits = strspn(copy + i + 1, "0123456789");
        i += digits ? digits + 1 : 0;
    }
    if (copy[i] == 'e' || copy[i] == 'E') {
        size_t sign = copy[i + 1] == '-' || copy[i + 1] == '+';
        digits = strspn(copy + i + 1 + sign, "0123456789");
        i += digits ? digits + 1 + sign : 0;
    }
    *ret = strtod(copy, NULL);
    return i == text.len;
}

/* ---- paths ---- */

/* The end of the path at p->at: an operator, a blank or a comma outside of brackets. */
static const char *path_end(const struct condition_parser *p)
{
    bool bracket = false, quoted = false;
    const char *c = p->at;
    for (; c < p->end; c++) {
        if (quoted && *c == '\\' && c + 1 < p->end)
            c++;
        else if (*c == '"')
            quoted = bracket && !quoted;
        else if (!quoted && (*c == '[' || *c == ']'))
            bracket = *c == '[';
        else if (!bracket && strchr("=!<>~ \t,()", *c))
            break;
    }
    return c;
}

/* Repeats the error of the path @text, which is at p->at, with the column in the condition. */
static int path_error(struct condition_parser *p, const char *text, const struct inf_error *why)
{
    static const char lead[] = "path '", mark[] = "': column ";
    size_t len = strlen(text);
    size_t shown = sizeof(lead) - 1 + (len <= 120 ? len : 116); /* syntax_error() shows 120 bytes */
    const char *column = strlen(why->text) > shown ? strstr(why->text + shown, mark) : NULL;
    const char *at = p->at;
    char *reason;
    unsigned long chars;
    if (!column) /* UNTESTED: the library has changed its message */
        return PARSE_ERROR(p, at, "%s", why->text);
    chars = strtoul(column + sizeof(mark) - 1, &reason, 10);
    while (chars > 1 && at < p->end) {
        at++;
        if (((unsigned char)*at & 0xc0) != 0x80)
            chars--;
    }
    return PARSE_ERROR(p, at, "%s", reason + strspn(reason, ": "));
}

static int parse_path(struct condition_parser *p)
{
    struct inf_error why = {0};
    const char *end = path_end(p);
    char *text;
    int rc = 0;
    if (end == p->at)
        return PARSE_ERROR(p, p->at, "expected a field path, for example status.phase=Failed");
    text = xstrndup(p->at, (size_t)(end - p->at));
    p->term->path = item_path_parse(text, &why);
    if (!p->term->path)
        rc = path_error(p, text, &why);
    free(text);
    p->at = end;
    return rc;
}

/* ---- values ---- */

static int take_quoted(struct condition_parser *p, struct buf *text)
{
    const char *open = p->at++;
    char bytes[JSON_CHAR_MAX];
    while (p->at < p->end && *p->at != '"') {
        size_t len = json_text_next(&p->at, p->end, bytes);
        if (!len)
            return PARSE_ERROR(p, p->at, "invalid escape; write a backslash as \\\\");
        buf_put(text, bytes, len);
    }
    if (p->at == p->end)
        return PARSE_ERROR(p, open, "missing closing '\"'");
    p->at++;
    return 0;
}

static int take_bare(struct condition_parser *p, struct buf *text)
{
    const char *from = p->at;
    if (peek(p) == '=')
        return PARSE_ERROR(p, p->at, "use a single '='");
    while (is_bare(peek(p)))
        p->at++;
    if (p->at < p->end && !strchr(" \t,)", *p->at))
        return PARSE_ERROR(p, p->at, "quote a value that contains this character: \"...\"");
    if (p->at == from)
        return PARSE_ERROR(p, p->at, "missing value; write an empty value as \"\"");
    buf_put(text, from, (size_t)(p->at - from));
    return 0;
}

static int parse_value(struct condition_parser *p, bool must_be_number)
{
    struct condition_value value = {0};
    struct condition_term *term = p->term;
    struct buf text = {0};
    const char *from;
    int rc;
    skip_blanks(p);
    from = p->at;
    if (term->n_values == CONDITION_VALUES_MAX)
        return PARSE_ERROR(p, p->at, "a list has at most %d values", CONDITION_VALUES_MAX);
    rc = *from == '"' ? take_quoted(p, &text) : take_bare(p, &text);
    value.is_number =
        *from != '"' && condition_read_number((struct str){text.bytes, text.len}, &value.number);
    if (rc == 0 && must_be_number && !value.is_number)
        rc = PARSE_ERROR(p, from, "expected a number: only =, != and ~ compare other values");
    if (rc == 0) {
        value.len = text.len;
        value.is_plain = !memchr(from, '\\', (size_t)(p->at - from));
        value.text = xstrndup(text.bytes ? text.bytes : "", text.len);
        term->values = xrealloc(term->values, (term->n_values + 1) * sizeof(*term->values));
        term->values[term->n_values++] = value;
    }
    buf_free(&text);
    skip_blanks(p);
    return rc;
}

/* After "in". */
static int parse_list(struct condition_parser *p)
{
    int rc;
    skip_blanks(p);
    if (!take_text(p, STR("(")))
        return PARSE_ERROR(p, p->at, "expected values in parentheses: in (a, b)");
    do {
        if ((rc = parse_value(p, false)) < 0)
            return rc;
    } while (take_text(p, STR(",")));
    if (!take_text(p, STR(")")))
        return PARSE_ERROR(p, p->at, "expected ',' or ')'");
    skip_blanks(p);
    return 0;
}

/* ---- terms ---- */

static int parse_comparison(struct condition_parser *p)
{
    const char *from = p->at;
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (take_text(p, operators[i].text)) {
            p->term->op = operators[i].op;
            return parse_value(p, operators[i].orders);
        }
    if (take_text(p, STR("in")) && (peek(p) == '(' || peek(p) == ' '))
        return parse_list(p);
    return PARSE_ERROR(p, from, "expected an operator: =, !=, >, >=, <, <=, ~ or in (a, b)");
}

static int parse_term(struct condition_parser *p)
{
    int rc;
    skip_blanks(p);
    rc = parse_path(p);
    skip_blanks(p);
    if (rc == 0)
        rc = parse_comparison(p);
    if (rc == 0 && p->at < p->end && *p->at != ',')
        rc = PARSE_ERROR(p, p->at,
                         "expected ',' or the end; quote a value that contains blanks: \"...\"");
    return rc;
}

struct condition *condition_parse(const char *text, struct inf_error *err)
{
    struct condition_parser p = {.whole = str_of(text), .at = text, .err = err};
    struct condition *condition;
    int rc = 0;
    p.end = text + p.whole.len;
    if (p.whole.len > CONDITION_TEXT_MAX) {
        PARSE_ERROR(&p, text, "a condition has at most %d bytes", CONDITION_TEXT_MAX);
        return NULL;
    }
    condition = NEW(struct condition);
    condition->text = xstrdup(text);
    condition->terms = xcalloc(CONDITION_TERMS_MAX, sizeof(*condition->terms));
    do {
        if (condition->n_terms == CONDITION_TERMS_MAX) {
            rc = PARSE_ERROR(&p, p.at, "a condition has at most %d terms", CONDITION_TERMS_MAX);
            break;
        }
        p.term = &condition->terms[condition->n_terms++];
        rc = parse_term(&p);
    } while (rc == 0 && take_text(&p, STR(",")));
    if (rc < 0) {
        condition_free(condition);
        return NULL;
    }
    return condition;
}
