/*
 * label_selector.c - reads a label selector as k8s.io/apimachinery's labels.Parse does.
 *
 *     selector := [term {"," term}]               a comma at the end is a mistake
 *     term     := "!" KEY | KEY | KEY ("=" | "==" | "!=" | ">" | "<") [VALUE]
 *               | KEY ("in" | "notin") "(" [VALUE] {"," [VALUE]} ")"
 *
 * A word is everything up to a blank or one of = ! ( ) , > <, so `in` and `notin` are keywords only
 * in the place of an operator, and keys or values elsewhere. label_name.h checks keys and values. An
 * error names the column.
 */
#include "base/base.h"
#include "base/text/syntax_error.h"
#include "core/select/label_name.h"
#include "core/select/selector.h"

enum token {
    END,
    WORD,
    COMMA,
    BANG,
    OPEN,
    CLOSE,
    EQUAL,
    DOUBLE_EQUAL,
    NOT_EQUAL,
    GREATER,
    LESS,
};

struct label_parser {
    struct str text;
    const char *end;
    enum token token; /* the current one */
    struct str word;  /* its text; empty at the end */
    struct inf_selector *selector;
    struct inf_error *err;
};

#define PARSE_ERROR(p, at, ...) \
    syntax_error((p)->err, "label selector", (p)->text, (at), __VA_ARGS__)

/* ---- words and signs ---- */

static const struct {
    const char *spelled;
    enum token token;
} signs[] = {
    {"==", DOUBLE_EQUAL}, {"!=", NOT_EQUAL}, {"=", EQUAL}, {"!", BANG}, /* longer ones first */
    {"(", OPEN},          {")", CLOSE},      {",", COMMA}, {">", GREATER}, {"<", LESS},
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_sign(char c)
{
    return c && strchr("=!(),><", c);
}

/* Moves to the next token. */
static void advance(struct label_parser *p)
{
    const char *at = p->word.at + p->word.len;
    while (at < p->end && is_blank(*at))
        at++;
    p->word = (struct str){at, 0};
    p->token = at < p->end ? WORD : END;
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        size_t len = strlen(signs[i].spelled);
        if (len <= (size_t)(p->end - at) && !memcmp(at, signs[i].spelled, len)) {
            p->token = signs[i].token;
            p->word.len = len;
            return;
        }
    }
    while (at < p->end && !is_blank(*at) && !is_sign(*at))
        at++;
    p->word.len = (size_t)(at - p->word.at);
}

static int expected_error(struct label_parser *p, const char *expected)
{
    if (p->token == END)
        return PARSE_ERROR(p, p->word.at, "expected %s, found the end", expected);
    return PARSE_ERROR(p, p->word.at, "expected %s, found '%.*s'", expected, STR_FMT(p->word));
}

/* ---- values ---- */

/* Takes a word as a value; if there is none, the empty one. */
static int take_value(struct label_parser *p, struct selector_term *term)
{
    struct str value = {p->word.at, p->token == WORD ? p->word.len : 0};
    const char *wrong, *problem = label_value_problem(value, &wrong);
    if (problem)
        return PARSE_ERROR(p, wrong, "%s", problem);
    if (!selector_term_add(term, value))
        return PARSE_ERROR(p, value.at, "a set has at most %d values", SELECTOR_VALUES_MAX);
    if (p->token == WORD)
        advance(p);
    return 0;
}

static int parse_set(struct label_parser *p, struct selector_term *term)
{
    int rc;
    if (p->token != OPEN)
        return expected_error(p, "'('");
    do {
        advance(p);
        if ((rc = take_value(p, term)) < 0)
            return rc;
    } while (p->token == COMMA);
    if (p->token != CLOSE)
        return expected_error(p, "',' or ')'");
    advance(p);
    return 0;
}

static int parse_one(struct label_parser *p, struct selector_term *term)
{
    if (p->token != WORD && p->token != COMMA && p->token != END)
        return expected_error(p, "a value");
    return take_value(p, term);
}

/* ---- terms ---- */

static bool find_op(const struct label_parser *p, enum selector_op *ret)
{
    switch (p->token) {
    case EQUAL: *ret = SELECT_EQUAL; return true;
    case DOUBLE_EQUAL: *ret = SELECT_DOUBLE_EQUAL; return true;
    case NOT_EQUAL: *ret = SELECT_NOT_EQUAL; return true;
    case GREATER: *ret = SELECT_GREATER; return true;
    case LESS: *ret = SELECT_LESS; return true;
    case WORD:
        *ret = str_eq(p->word, STR("in")) ? SELECT_IN : SELECT_NOT_IN;
        return *ret == SELECT_IN || str_eq(p->word, STR("notin"));
    case END:
    case COMMA:
    case BANG:
    case OPEN:
    case CLOSE: break;
    }
    return false;
}

static int parse_values(struct label_parser *p, struct selector_term *term)
{
    const char *from = p->word.at;
    int rc;
    switch (term->op) {
    case SELECT_IN:
    case SELECT_NOT_IN: return parse_set(p, term);
    case SELECT_GREATER:
    case SELECT_LESS:
        if ((rc = parse_one(p, term)) < 0)
            return rc;
        if (!selector_number(term->values[0], &term->bound))
            return PARSE_ERROR(p, from, "'>' and '<' require a whole number, for example weight>3");
        return 0;
    case SELECT_EQUAL:
    case SELECT_DOUBLE_EQUAL:
    case SELECT_NOT_EQUAL: return parse_one(p, term);
    case SELECT_EXISTS:
    case SELECT_ABSENT: break;
    }
    return 0;
}

static int parse_term(struct label_parser *p, struct selector_term *term)
{
    bool absent = p->token == BANG;
    const char *wrong, *problem;
    if (absent)
        advance(p);
    if (p->token != WORD)
        return expected_error(p, "a label key");
    problem = label_key_problem(p->word, &wrong);
    if (problem)
        return PARSE_ERROR(p, wrong, "%s", problem);
    term->key = p->word;
    advance(p);
    term->op = absent ? SELECT_ABSENT : SELECT_EXISTS;
    if (p->token == END || p->token == COMMA)
        return 0;
    if (absent)
        return expected_error(p, "',' or the end after '!key'");
    if (!find_op(p, &term->op))
        return expected_error(p, "one of = == != in notin > < or ','");
    advance(p);
    return parse_values(p, term);
}

static int parse_terms(struct label_parser *p)
{
    int rc;
    do {
        struct selector_term *term = selector_add(p->selector);
        if (!term)
            return PARSE_ERROR(p, p->word.at, "a selector has at most %d requirements",
                               SELECTOR_TERMS_MAX);
        if ((rc = parse_term(p, term)) < 0)
            return rc;
        if (p->token == END)
            return 0;
        if (p->token != COMMA)
            return expected_error(p, "',' or the end");
        advance(p);
    } while (true);
}

int label_selector_parse(struct inf_selector *selector, struct str text, struct inf_error *err)
{
    struct label_parser p = {.text = text,
                             .end = text.at + text.len,
                             .word = {text.at, 0},
                             .selector = selector,
                             .err = err};
    advance(&p);
    return p.token == END ? 0 : parse_terms(&p);
}
