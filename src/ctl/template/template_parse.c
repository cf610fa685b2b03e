/*
 * template_parse.c - the nodes of pipelines, from their tokens; a recursive descent as text/template's, so
 * that messages are the same.
 *
 * The first error is appended to the message and sets `failed`; from then on all tokens are the end of the
 * text, so that every loop ends, and the nodes are not used.
 */
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/template/template_parser.h"

/* ---- tokens and errors ---- */

void parser_fail(struct parser *p, const char *format, ...)
{
    va_list args;
    if (p->failed)
        return;
    p->failed = true;
    buf_printf(p->error, "template: output:%zu: ", p->line);
    va_start(args, format);
    buf_vprintf(p->error, format, args);
    va_end(args);
}

struct token parser_next(struct parser *p)
{
    if (p->failed)
        return (struct token){.type = TOKEN_EOF, .text = STR("EOF")};
    if (p->peeked)
        return p->tokens[--p->peeked];
    p->tokens[0] = lexer_next(&p->lexer);
    p->line = p->tokens[0].line;
    return p->tokens[0];
}

void parser_put_back(struct parser *p, struct token t)
{
    if (!p->failed)
        p->tokens[p->peeked++] = t;
}

struct token parser_peek(struct parser *p)
{
    struct token t = parser_next(p);
    parser_put_back(p, t);
    return t;
}

struct token parser_next_word(struct parser *p)
{
    struct token t = parser_next(p);
    while (t.type == TOKEN_SPACE)
        t = parser_next(p);
    return t;
}

struct token parser_peek_word(struct parser *p)
{
    struct token t = parser_next_word(p);
    parser_put_back(p, t);
    return t;
}

static void put_token(struct buf *out, const struct token *t)
{
    if (t->type == TOKEN_EOF) {
        buf_puts(out, "EOF");
    } else if (t->type > TOKEN_KEYWORD) {
        buf_printf(out, "<%.*s>", (int)t->text.len, t->text.at);
    } else {
        size_t len = 0, chars = 0; /* the first ten characters */
        while (len < t->text.len && chars < 10) {
            for (len++; len < t->text.len && ((unsigned char)t->text.at[len] & 0xc0) == 0x80;)
                len++;
            chars++;
        }
        template_put_quoted(out, t->text.len > 10 ? (struct str){t->text.at, len} : t->text);
        if (t->text.len > 10)
            buf_puts(out, "...");
    }
}

void parser_unexpected(struct parser *p, struct token t, const char *context)
{
    struct buf text = {0};
    if (t.type != TOKEN_ERROR) {
        put_token(&text, &t);
        parser_fail(p, "unexpected %.*s in %s", (int)text.len, text.bytes, context);
    } else if (p->action_line && p->action_line != t.line) {
        bool action = t.text.len > 7 && memcmp(t.text.at + t.text.len - 7, " action", 7) == 0;
        parser_fail(p, "%.*s%s started at output:%zu", (int)t.text.len, t.text.at,
                    action ? "" : " in action", p->action_line);
    } else {
        parser_fail(p, "%.*s", (int)t.text.len, t.text.at);
    }
    buf_free(&text);
}

struct template_node *parser_new_node(struct parser *p, enum node_type type, size_t pos)
{
    struct template_node *node = arena_alloc(&p->template->arena, sizeof(*node));
    *node = (struct template_node){.type = type, .pos = pos};
    return node;
}

/* Adds @node to a list that ends at *@last. */
struct template_node **parser_append(struct template_node **last, struct template_node *node)
{
    *last = node;
    return &node->next;
}

/* ---- variables ---- */

void parser_declare(struct parser *p, struct str name)
{
    if (p->n_names == p->names_cap) {
        p->names_cap = p->names_cap ? 2 * p->names_cap : 8;
        p->names = xrealloc(p->names, p->names_cap * sizeof(*p->names));
    }
    p->names[p->n_names++] = name;
}

struct template_node *parser_new_name(struct parser *p, enum node_type type, size_t pos,
                                      struct str text)
{
    struct template_node *node = parser_new_node(p, type, pos);
    node->text = text;
    return node;
}

static void use_variable(struct parser *p, struct str name)
{
    for (size_t i = 0; i < p->n_names; i++)
        if (str_eq(p->names[i], name))
            return;
    parser_fail(p, "undefined variable \"%.*s\"", (int)name.len, name.at);
}

/* ---- terms ---- */

static struct template_node *parse_number(struct parser *p, const struct token *t)
{
    struct template_node *node = parser_new_name(p, NODE_NUMBER, t->pos, t->text);
    struct str error;
    if (!template_read_number(&p->template->arena, t, &node->number, &error))
        parser_fail(p, "%.*s", (int)error.len, error.at);
    return node;
}

struct template_node *parser_string(struct parser *p, const struct token *t)
{
    struct template_node *node = parser_new_name(p, NODE_STRING, t->pos, t->text);
    if (!template_unquote(&p->template->arena, t->text, &node->value))
        parser_fail(p, "invalid syntax");
    return node;
}

static struct template_node *parse_identifier(struct parser *p, const struct token *t)
{
    struct template_node *node = parser_new_name(p, NODE_IDENTIFIER, t->pos, t->text);
    node->function = template_find_function(t->text);
    if (!node->function)
        parser_fail(p, "function \"%.*s\" not defined", (int)t->text.len, t->text.at);
    return node;
}

static struct template_node *parse_parentheses(struct parser *p)
{
    struct template_node *pipe;
    if (p->depth >= TEMPLATE_DEPTH_MAX) {
        parser_fail(p, "max expression depth exceeded");
        return NULL;
    }
    p->depth++;
    pipe = parser_pipeline(p, "parenthesized pipeline", TOKEN_RIGHT_PAREN);
    p->depth--;
    return pipe;
}

static struct template_node *parse_field(struct parser *p, const struct token *t)
{
    struct template_node *node = parser_new_node(p, NODE_FIELD, t->pos);
    node->fields =
        parser_new_name(p, NODE_FIELD, t->pos, (struct str){t->text.at + 1, t->text.len - 1});
    return node;
}

/* NULL: the next token starts no term. */
static struct template_node *parse_term(struct parser *p)
{
    struct token t = parser_next_word(p);
    struct template_node *node;
    switch ((int)t.type) {
    case TOKEN_IDENTIFIER: return parse_identifier(p, &t);
    case TOKEN_DOT: return parser_new_node(p, NODE_DOT, t.pos);
    case TOKEN_NIL: return parser_new_node(p, NODE_NIL, t.pos);
    case TOKEN_VARIABLE:
        use_variable(p, t.text);
        return parser_new_name(p, NODE_VARIABLE, t.pos, t.text);
    case TOKEN_FIELD: return parse_field(p, &t);
    case TOKEN_BOOL:
        node = parser_new_name(p, NODE_BOOL, t.pos, t.text);
        node->is_true = str_eq(t.text, STR("true"));
        return node;
    case TOKEN_CHAR_CONSTANT:
    case TOKEN_NUMBER: return parse_number(p, &t);
    case TOKEN_LEFT_PAREN: return parse_parentheses(p);
    case TOKEN_STRING:
    case TOKEN_RAW_STRING: return parser_string(p, &t);
    default: parser_put_back(p, t); return NULL;
    }
}

/* A term and the fields after it: (index .items 0).metadata.name */
static struct template_node *parse_operand(struct parser *p)
{
    struct template_node *term = parse_term(p), *node = term, **last;
    if (!term || parser_peek(p).type != TOKEN_FIELD)
        return term;
    if (term->type == NODE_BOOL || term->type == NODE_STRING || term->type == NODE_NUMBER ||
        term->type == NODE_NIL || term->type == NODE_DOT) {
        struct buf text = {0}, quoted = {0};
        while (parser_peek(p).type == TOKEN_FIELD)
            parser_next(p);
        template_put_node(&text, term);
        template_put_quoted(&quoted, (struct str){text.bytes, text.len});
        parser_fail(p, "unexpected . after term %.*s", (int)quoted.len, quoted.bytes);
        buf_free(&text);
        buf_free(&quoted);
        return NULL;
    }
    if (term->type != NODE_FIELD && term->type != NODE_VARIABLE) {
        node = parser_new_node(p, NODE_CHAIN, 0);
        node->first = term;
    }
    node->pos = parser_peek(p).pos;
    for (last = &node->fields; *last;)
        last = &(*last)->next;
    while (parser_peek(p).type == TOKEN_FIELD) {
        struct token t = parser_next(p);
        struct str name = {t.text.at + 1, t.text.len - 1};
        last = parser_append(last, parser_new_name(p, NODE_FIELD, t.pos, name));
    }
    return node;
}

/* ---- commands and pipelines ---- */

static struct template_node *parse_command(struct parser *p)
{
    struct template_node *command = parser_new_node(p, NODE_COMMAND, parser_peek_word(p).pos);
    struct template_node **last = &command->first;
    struct token t;
    do {
        struct template_node *operand;
        parser_peek_word(p);
        operand = parse_operand(p);
        if (operand)
            last = parser_append(last, operand);
        t = parser_next(p);
    } while (t.type == TOKEN_SPACE);
    if (t.type == TOKEN_RIGHT_DELIM || t.type == TOKEN_RIGHT_PAREN)
        parser_put_back(p, t);
    else if (t.type != TOKEN_PIPE)
        parser_unexpected(p, t, "operand");
    if (!command->first)
        parser_fail(p, "empty command");
    return command;
}

static void check_pipeline(struct parser *p, const struct template_node *pipe, const char *context)
{
    size_t stage = 2;
    if (!pipe->first) {
        parser_fail(p, "missing value for %s", context);
        return;
    }
    for (const struct template_node *c = pipe->first->next; c && !p->failed; c = c->next, stage++)
        switch ((int)c->first->type) {
        case NODE_BOOL:
        case NODE_DOT:
        case NODE_NIL:
        case NODE_NUMBER:
        case NODE_STRING:
            parser_fail(p, "non executable command in pipeline stage %zu", stage);
            break;
        default: break;
        }
}

static void add_variable(struct parser *p, struct template_node *pipe, const struct token *t)
{
    struct template_node **last = &pipe->variables;
    while (*last)
        last = &(*last)->next;
    parser_append(last, parser_new_name(p, NODE_VARIABLE, t->pos, t->text));
    parser_declare(p, t->text);
}

/* "$i, $v :=" or "$v =" in front of a pipeline. */
static void parse_variables(struct parser *p, struct template_node *pipe, const char *context)
{
    while (parser_peek_word(p).type == TOKEN_VARIABLE) {
        struct token variable = parser_next_word(p), after = parser_next(p), next = after;
        while (next.type == TOKEN_SPACE)
            next = parser_next(p);
        if (next.type == TOKEN_ASSIGN || next.type == TOKEN_DECLARE) {
            pipe->is_assign = next.type == TOKEN_ASSIGN;
            add_variable(p, pipe, &variable);
            return;
        }
        if (next.type != TOKEN_CHAR || !str_eq(next.text, STR(","))) {
            parser_put_back(p, next);
            if (after.type == TOKEN_SPACE)
                parser_put_back(p, after);
            parser_put_back(p, variable);
            return;
        }
        add_variable(p, pipe, &variable);
        if (strcmp(context, "range") != 0 || pipe->variables->next) {
            parser_fail(p, "too many declarations in %s", context);
            return;
        }
        next = parser_peek_word(p);
        if (next.type != TOKEN_VARIABLE && next.type != TOKEN_RIGHT_DELIM &&
            next.type != TOKEN_RIGHT_PAREN)
            parser_fail(p, "range can only initialize variables");
    }
}

struct template_node *parser_pipeline(struct parser *p, const char *context, enum token_type end)
{
    struct template_node *pipe = parser_new_node(p, NODE_PIPE, parser_peek_word(p).pos),
                         **last = &pipe->first;
    parse_variables(p, pipe, context);
    for (;;) {
        struct token t = parser_next_word(p);
        if (t.type == end) {
            check_pipeline(p, pipe, context);
            return pipe;
        }
        switch ((int)t.type) {
        case TOKEN_BOOL:
        case TOKEN_CHAR_CONSTANT:
        case TOKEN_DOT:
        case TOKEN_FIELD:
        case TOKEN_IDENTIFIER:
        case TOKEN_NUMBER:
        case TOKEN_NIL:
        case TOKEN_RAW_STRING:
        case TOKEN_STRING:
        case TOKEN_VARIABLE:
        case TOKEN_LEFT_PAREN:
            parser_put_back(p, t);
            last = parser_append(last, parse_command(p));
            break;
        default: parser_unexpected(p, t, context); return pipe;
        }
    }
}
