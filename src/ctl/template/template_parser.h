/*
 * template_parser.h - shared by the two halves of the parser: template_parse.c and template_action.c.
 */
#ifndef CTL_TEMPLATE_PARSER_H
#define CTL_TEMPLATE_PARSER_H

#include "ctl/template/template_internal.h"

struct parser {
    struct template *template;
    struct lexer lexer;
    struct token tokens[3]; /* those that were put back; the next one is the last */
    size_t peeked;
    size_t line; /* of the newest token */
    size_t action_line;
    size_t ranges; /* nested */
    size_t depth;
    struct str *names; /* variables that are declared */
    size_t n_names, names_cap;
    struct buf *error;
    bool failed;
};

/* Appends the message of the first error. */
__attribute__((format(printf, 2, 3))) void parser_fail(struct parser *p, const char *format, ...);
void parser_unexpected(struct parser *p, struct token t, const char *context);

/* The next token; _word: that is not white space. */
struct token parser_next(struct parser *p);
struct token parser_next_word(struct parser *p);
struct token parser_peek(struct parser *p);
struct token parser_peek_word(struct parser *p);
void parser_put_back(struct parser *p, struct token t);

struct template_node *parser_new_node(struct parser *p, enum node_type type, size_t pos);
struct template_node *parser_new_name(struct parser *p, enum node_type type, size_t pos,
                                      struct str text);

/* Adds @node to a list that ends at *@last. Returns its new end. */
struct template_node **parser_append(struct template_node **last, struct template_node *node);

void parser_declare(struct parser *p, struct str name);
struct template_node *parser_string(struct parser *p, const struct token *t);

/* A pipeline to the token @end. @context is its name in messages. */
struct template_node *parser_pipeline(struct parser *p, const char *context, enum token_type end);

#endif
