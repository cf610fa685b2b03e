/*
 * template_lex.c - the tokens of a template: text outside of {{ }}, and inside of it words, numbers,
 * strings and signs. "{{- " and " -}}" remove the white space of the text next to them; comments vanish.
 *
 * An error is a token with the message; after it the input ends.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/text/utf8.h"
#include "ctl/template/template_internal.h"

#define END_OF_INPUT 0xffffffffu

static bool is_space(uint32_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_word(uint32_t c)
{
    return c == '_' || (c < 0x80 ? isalnum((int)c) != 0 : c != END_OF_INPUT && c != 0xfffd);
}

static struct str rest(const struct lexer *l)
{
    return (struct str){l->input.at + l->pos, l->input.len - l->pos};
}

static bool starts_with(struct str s, const char *prefix)
{
    return s.len >= strlen(prefix) && memcmp(s.at, prefix, strlen(prefix)) == 0;
}

/* The next character and its size; bytes that are not UTF-8 are U+FFFD. */
static uint32_t peek_char(const struct lexer *l, size_t *ret_size)
{
    struct str left = rest(l);
    uint32_t c = 0;
    *ret_size = 0;
    if (!left.len)
        return END_OF_INPUT;
    *ret_size = utf8_next(left, &c);
    if (!*ret_size) {
        *ret_size = 1;
        return 0xfffd;
    }
    return c;
}

static uint32_t take_char(struct lexer *l)
{
    size_t size;
    uint32_t c = peek_char(l, &size);
    l->pos += size;
    l->line += c == '\n';
    return c;
}

static struct token take_token(struct lexer *l, enum token_type type)
{
    struct token t = {type, l->start, {l->input.at + l->start, l->pos - l->start}, l->start_line};
    l->start = l->pos;
    l->start_line = l->line;
    return t;
}

/* Skips to @pos, whose line ends were not counted. */
static void skip_to(struct lexer *l, size_t pos)
{
    for (; l->pos < pos; l->pos++)
        l->line += l->input.at[l->pos] == '\n';
    l->start = l->pos;
    l->start_line = l->line;
}

static struct token lex_error(struct lexer *l, const char *message)
{
    struct token t = {TOKEN_ERROR, l->start, arena_copy(l->arena, str_of(message)), l->start_line};
    l->failed = true;
    return t;
}

static struct token lex_bad_char(struct lexer *l, const char *what, uint32_t c)
{
    struct buf message = {0};
    struct token t;
    buf_printf(&message, "%s U+%04X", what, c == END_OF_INPUT ? 0xfffd : c);
    if (c != END_OF_INPUT && !utf8_is_unsafe(c)) {
        size_t size;
        size_t pos = l->pos;
        for (l->pos = l->start; l->pos <= pos && peek_char(l, &size) != c; l->pos += size)
            ;
        buf_printf(&message, " '%.*s'", (int)size, l->input.at + l->pos);
    }
    buf_putc(&message, '\0');
    t = lex_error(l, message.bytes);
    buf_free(&message);
    return t;
}

static struct token lex_bad_number(struct lexer *l)
{
    struct buf message = {0};
    struct token t;
    buf_puts(&message, "bad number syntax: ");
    template_put_quoted(&message, (struct str){l->input.at + l->start, l->pos - l->start});
    buf_putc(&message, '\0');
    t = lex_error(l, message.bytes);
    buf_free(&message);
    return t;
}

/* ---- delimiters and text ---- */

static bool has_left_marker(struct str s)
{
    return s.len >= 2 && s.at[0] == '-' && is_space((unsigned char)s.at[1]);
}

/* Whether a right delimiter is next. @ret_trims: with a marker in front. */
static bool at_right_delim(struct str s, bool *ret_trims)
{
    *ret_trims = s.len >= 4 && is_space((unsigned char)s.at[0]) &&
                 starts_with((struct str){s.at + 1, s.len - 1}, "-}}");
    return *ret_trims || starts_with(s, "}}");
}

static void skip_spaces(struct lexer *l)
{
    size_t pos = l->pos;
    while (pos < l->input.len && is_space((unsigned char)l->input.at[pos]))
        pos++;
    skip_to(l, pos);
}

/* Skips a comment with its delimiter. Returns false on an error, with its token. */
static bool skip_comment(struct lexer *l, struct token *ret)
{
    struct str left = rest(l);
    const char *end = memmem(left.at + 2, left.len - 2, "*/", 2);
    bool trims;
    if (!end) {
        *ret = lex_error(l, "unclosed comment");
        return false;
    }
    skip_to(l, (size_t)(end + 2 - l->input.at));
    if (!at_right_delim(rest(l), &trims)) {
        *ret = lex_error(l, "comment ends before closing delimiter");
        return false;
    }
    skip_to(l, l->pos + (trims ? 4 : 2));
    if (trims)
        skip_spaces(l);
    return true;
}

/* The left delimiter is next. Returns false if it was that of a comment, which is skipped, or of one with an
 * error. */
static bool lex_left_delim(struct lexer *l, struct token *ret)
{
    struct str after = {rest(l).at + 2, rest(l).len - 2};
    size_t marker = has_left_marker(after) ? 2 : 0;
    if (starts_with((struct str){after.at + marker, after.len - marker}, "/*")) {
        skip_to(l, l->pos + 2 + marker);
        return !skip_comment(l, ret);
    }
    l->pos += 2;
    *ret = take_token(l, TOKEN_LEFT_DELIM);
    l->in_action = true;
    l->parens = 0;
    skip_to(l, l->pos + marker);
    return true;
}

static struct token lex_text(struct lexer *l)
{
    struct token t;
    for (;;) {
        struct str left = rest(l);
        const char *delim = left.len ? memmem(left.at, left.len, "{{", 2) : NULL;
        size_t end = delim ? (size_t)(delim - l->input.at) : l->input.len, cut = end;
        if (delim && has_left_marker((struct str){delim + 2, l->input.len - end - 2}))
            while (cut > l->pos && is_space((unsigned char)l->input.at[cut - 1]))
                cut--;
        if (cut > l->pos) {
            for (; l->pos < cut; l->pos++)
                l->line += l->input.at[l->pos] == '\n';
            t = take_token(l, TOKEN_TEXT);
            skip_to(l, end);
            return t;
        }
        skip_to(l, end);
        if (!delim)
            return take_token(l, TOKEN_EOF);
        if (lex_left_delim(l, &t))
            return t;
    }
}

static struct token lex_right_delim(struct lexer *l, bool trims)
{
    struct token t;
    if (trims)
        skip_to(l, l->pos + 2);
    l->pos += 2;
    t = take_token(l, TOKEN_RIGHT_DELIM);
    l->in_action = false;
    if (trims)
        skip_spaces(l);
    return t;
}

/* ---- inside of an action ---- */

static bool at_terminator(const struct lexer *l)
{
    size_t size;
    uint32_t c = peek_char(l, &size);
    return c == END_OF_INPUT || is_space(c) || (c < 0x80 && strchr(".,|:)(", (int)c) && c) ||
           starts_with(rest(l), "}}");
}

/* A run of white space; the last one may belong to the right delimiter. */
static struct token lex_space(struct lexer *l)
{
    bool trims = false;
    size_t size;
    while (is_space(peek_char(l, &size))) {
        if (at_right_delim(rest(l), &trims))
            break;
        take_char(l);
    }
    return trims && l->pos == l->start ? lex_right_delim(l, true) : take_token(l, TOKEN_SPACE);
}

static enum token_type keyword_of(struct str word)
{
    static const struct {
        const char *word;
        enum token_type type;
    } keywords[] = {
        {"block", TOKEN_BLOCK},   {"break", TOKEN_BREAK},       {"continue", TOKEN_CONTINUE},
        {"define", TOKEN_DEFINE}, {"else", TOKEN_ELSE},         {"end", TOKEN_END},
        {"if", TOKEN_IF},         {"range", TOKEN_RANGE},       {"nil", TOKEN_NIL},
        {"with", TOKEN_WITH},     {"template", TOKEN_TEMPLATE}, {"true", TOKEN_BOOL},
        {"false", TOKEN_BOOL},
    };
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (str_eq(word, str_of(keywords[i].word)))
            return keywords[i].type;
    return TOKEN_IDENTIFIER;
}

/* A word, or the name of a field or variable, whose sign was taken. */
static struct token lex_word(struct lexer *l, enum token_type type)
{
    size_t size;
    uint32_t c;
    while (is_word(c = peek_char(l, &size)))
        l->pos += size;
    if (!at_terminator(l)) {
        return lex_bad_char(l, "bad character", c);
    }
    if (type == TOKEN_IDENTIFIER)
        type = keyword_of((struct str){l->input.at + l->start, l->pos - l->start});
    return take_token(l, type);
}

static struct token lex_variable(struct lexer *l)
{
    return at_terminator(l) ? take_token(l, TOKEN_VARIABLE) : lex_word(l, TOKEN_VARIABLE);
}

static struct token lex_field(struct lexer *l)
{
    return at_terminator(l) ? take_token(l, TOKEN_DOT) : lex_word(l, TOKEN_FIELD);
}

/* To the closing @quote, with escapes unless it is a raw string. */
static struct token lex_quoted(struct lexer *l, char quote, enum token_type type, const char *error)
{
    for (;;) {
        uint32_t c = take_char(l);
        if (c == (uint32_t)quote)
            return take_token(l, type);
        if (c == '\\' && quote != '`')
            c = take_char(l) == '\n' ? '\n' : l->pos < l->input.len ? ' ' : END_OF_INPUT;
        if (c == END_OF_INPUT || (c == '\n' && quote != '`'))
            return lex_error(l, error);
    }
}

static bool accept(struct lexer *l, const char *set)
{
    bool found = l->pos < l->input.len && l->input.at[l->pos] && strchr(set, l->input.at[l->pos]);
    l->pos += found;
    return found;
}

static struct token lex_number(struct lexer *l)
{
    const char *digits = "0123456789_";
    size_t size;
    accept(l, "+-");
    if (accept(l, "0"))
        digits = accept(l, "xX")   ? "0123456789abcdefABCDEF_"
                 : accept(l, "oO") ? "01234567_"
                 : accept(l, "bB") ? "01_"
                                   : digits;
    while (accept(l, digits))
        ;
    if (accept(l, "."))
        while (accept(l, digits))
            ;
    if ((strlen(digits) == 11 && accept(l, "eE")) || (strlen(digits) == 23 && accept(l, "pP"))) {
        accept(l, "+-");
        while (accept(l, "0123456789_"))
            ;
    }
    if (is_word(peek_char(l, &size))) {
        l->pos += size;
        return lex_bad_number(l);
    }
    return accept(l, "+-") ? lex_bad_number(l) : take_token(l, TOKEN_NUMBER);
}

static struct token lex_sign(struct lexer *l, uint32_t c)
{
    switch (c) {
    case '=': return take_token(l, TOKEN_ASSIGN);
    case ':':
        return take_char(l) == '=' ? take_token(l, TOKEN_DECLARE) : lex_error(l, "expected :=");
    case '|': return take_token(l, TOKEN_PIPE);
    case '"': return lex_quoted(l, '"', TOKEN_STRING, "unterminated quoted string");
    case '`': return lex_quoted(l, '`', TOKEN_RAW_STRING, "unterminated raw quoted string");
    case '\'': return lex_quoted(l, '\'', TOKEN_CHAR_CONSTANT, "unterminated character constant");
    case '$': return lex_variable(l);
    case '(': l->parens++; return take_token(l, TOKEN_LEFT_PAREN);
    case ')':
        if (--l->parens < 0)
            return lex_error(l, "unexpected right paren");
        return take_token(l, TOKEN_RIGHT_PAREN);
    default:
        if (c < 0x80 && isprint((int)c))
            return take_token(l, TOKEN_CHAR);
        return lex_bad_char(l, "unrecognized character in action:", c);
    }
}

static struct token lex_action(struct lexer *l)
{
    bool trims, digit;
    size_t size;
    uint32_t c = peek_char(l, &size);
    if (at_right_delim(rest(l), &trims))
        return l->parens ? lex_error(l, "unclosed left paren") : lex_right_delim(l, trims);
    if (c == END_OF_INPUT)
        return lex_error(l, "unclosed action");
    if (is_space(c))
        return lex_space(l);
    digit = l->pos + 1 < l->input.len && isdigit((unsigned char)l->input.at[l->pos + 1]);
    if ((c < 0x80 && isdigit((int)c)) || c == '+' || c == '-' || (c == '.' && digit))
        return lex_number(l);
    if (is_word(c))
        return lex_word(l, TOKEN_IDENTIFIER);
    take_char(l);
    return c == '.' ? lex_field(l) : lex_sign(l, c);
}

struct token lexer_next(struct lexer *l)
{
    if (l->failed)
        return (struct token){TOKEN_EOF, 0, STR("EOF"), l->start_line};
    return l->in_action ? lex_action(l) : lex_text(l);
}
