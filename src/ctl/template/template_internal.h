/*
 * template_internal.h - shared by the parts of the template evaluator.
 *
 *     template_lex.c        text to tokens
 *     template_parse.c      tokens to nodes: pipelines
 *     template_action.c     tokens to nodes: actions and blocks
 *     template_literal.c    numbers, strings and characters
 *     template_node.c       nodes as text, for messages
 *     template_eval.c       evaluates nodes
 *     template_call.c       calls functions: arguments and their types
 *     template_functions.c  the functions that work on values
 *     template_compare.c    eq, ne, lt, le, gt, ge
 *     template_text.c       the functions that make text
 *     template_printf.c     printf
 *     template_value.c      values: truth, type names, printing
 */
#ifndef CTL_TEMPLATE_INTERNAL_H
#define CTL_TEMPLATE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl/template/template.h"

enum {
    TEMPLATE_DEPTH_MAX = 100, /* LIMIT: nested blocks and parentheses */
    TEMPLATE_WALK_MAX = 2000, /* LIMIT: nested blocks and {{template}} while evaluating */
    TEMPLATE_ARGS_MAX = 64,   /* LIMIT: arguments of a function */
};

/* ---- tokens ---- */

enum token_type {
    TOKEN_ERROR,
    TOKEN_BOOL,
    TOKEN_CHAR, /* a printable character without a meaning of its own, for example a comma */
    TOKEN_CHAR_CONSTANT,
    TOKEN_ASSIGN,
    TOKEN_DECLARE,
    TOKEN_EOF,
    TOKEN_FIELD,
    TOKEN_IDENTIFIER,
    TOKEN_LEFT_DELIM,
    TOKEN_LEFT_PAREN,
    TOKEN_NUMBER,
    TOKEN_PIPE,
    TOKEN_RAW_STRING,
    TOKEN_RIGHT_DELIM,
    TOKEN_RIGHT_PAREN,
    TOKEN_SPACE,
    TOKEN_STRING,
    TOKEN_TEXT,
    TOKEN_VARIABLE,
    TOKEN_KEYWORD, /* only separates the keywords */
    TOKEN_BLOCK,
    TOKEN_BREAK,
    TOKEN_CONTINUE,
    TOKEN_DOT,
    TOKEN_DEFINE,
    TOKEN_ELSE,
    TOKEN_END,
    TOKEN_IF,
    TOKEN_NIL,
    TOKEN_RANGE,
    TOKEN_TEMPLATE,
    TOKEN_WITH,
};

struct token {
    enum token_type type;
    size_t pos;
    struct str text; /* of TOKEN_ERROR: the message */
    size_t line;
};

struct lexer {
    struct arena *arena; /* of messages */
    struct str input;
    size_t pos;
    size_t start; /* of the token */
    size_t line;
    size_t start_line;
    int parens;
    bool in_action;
    bool failed; /* after an error there is only TOKEN_EOF */
};

struct token lexer_next(struct lexer *l);

/* ---- nodes ---- */

enum node_type {
    NODE_LIST,
    NODE_TEXT,
    NODE_ACTION,
    NODE_IF,
    NODE_WITH,
    NODE_RANGE,
    NODE_TEMPLATE,
    NODE_BREAK,
    NODE_CONTINUE,
    NODE_PIPE,
    NODE_COMMAND,
    NODE_IDENTIFIER,
    NODE_VARIABLE,
    NODE_FIELD,
    NODE_CHAIN,
    NODE_DOT,
    NODE_NIL,
    NODE_BOOL,
    NODE_NUMBER,
    NODE_STRING,
    NODE_END,  /* only while parsing */
    NODE_ELSE, /* only while parsing */
};

struct template_number {
    bool is_int;
    bool is_float;
    bool looks_float; /* its text has a fraction or an exponent */
    int64_t i;
    double f;
};

struct template_node {
    enum node_type type;
    size_t pos;
    struct template_node *next; /* sibling */
    struct template_node
        *first; /* of a list, pipe (commands), command (arguments), chain (its base) */
    struct template_node *variables; /* of a pipe: that it sets */
    struct template_node *pipe;
    struct template_node *list;
    struct template_node *else_list;
    struct template_node
        *fields; /* of a field, variable or chain: in order; their `text` is the name */
    bool is_assign;
    bool is_true;
    struct str text;  /* as spelled */
    struct str value; /* decoded */
    struct template_number number;
    const struct template_function *function;
};

struct template_tree {
    struct template_tree *next;
    struct str name;
    struct template_node *root;
};

struct template
{
    struct arena arena;
    struct str text;
    struct template_tree *trees; /* the one of the text itself is called "output" */
};

void template_put_node(struct buf *out, const struct template_node *node);

/* Decodes a string in quotes or back quotes. Returns false if its syntax is wrong. */
bool template_unquote(struct arena *arena, struct str quoted, struct str *ret);

/* Decodes a number or a character. Returns false with a message. */
bool template_read_number(struct arena *arena, const struct token *token,
                          struct template_number *ret, struct str *ret_error);

/* ---- values ---- */

enum value_kind {
    VALUE_INVALID, /* no value: a missing field */
    VALUE_NIL,     /* null in a list or an object */
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_STRING,
    VALUE_MAP,
    VALUE_LIST,
};

enum int_type {
    INT_INT,
    INT_INT64, /* of JSON */
    INT_UINT8, /* of a string */
};

struct value {
    enum value_kind kind;
    enum int_type int_type;
    bool boxed; /* its static type is interface{}: an item or a member */
    bool truth;
    int64_t i;
    double f;
    struct str text;
    const struct json_node *node; /* of a map; of a list: its first item */
    size_t len; /* of a list, and how many items follow its first one in the array */
    size_t cap;
};

/* Values and strings live in the arena of the evaluation. */
struct value value_of_node(struct arena *arena, const struct json_node *node);
struct value value_of_bool(bool truth);
struct value value_of_int(int64_t i);
struct value value_of_text(struct str text);

bool value_truth(const struct value *v);
const char *value_type_name(const struct value *v); /* "interface {}" if it is boxed */
const char *value_inner_type_name(const struct value *v);

/* The member @key; VALUE_INVALID if it is missing. */
struct value value_member(struct arena *arena, const struct value *map, struct str key);
struct value value_item(struct arena *arena, const struct value *list, size_t index);
size_t value_map_len(const struct value *map);

/* Go's %v. An invalid value is "<nil>". */
void value_put(struct buf *out, const struct value *v);
void value_put_string(struct buf *out, const struct value *v); /* Go's %s */
void value_put_float(struct buf *out, double f, char format, int precision);

/* ---- evaluation ---- */

struct variable {
    struct str name;
    struct value value;
};

struct eval {
    const struct template *template;
    struct arena arena;
    struct buf *out;
    struct buf *error;
    size_t steps_left;
    size_t limit;                      /* of the output, and of all strings */
    size_t strings;                    /* bytes of those that were made */
    size_t depth;                      /* nested blocks and {{template}} */
    const struct template_tree *tree;  /* for messages */
    const struct template_node *at;    /* for messages */
    struct variable *variables;        /* a stack */
    size_t n_variables, variables_cap; /* of the stack */
    size_t variables_base;             /* of the {{template}}: variables below are not visible */
};

/* Append the message of an error at e->at. Return -INF_EINVAL. */
__attribute__((format(printf, 2, 3))) int eval_fail(struct eval *e, const char *format, ...);

/* A new string of the evaluation; frees @text. */
struct value eval_text(struct eval *e, struct buf *text);

int eval_argument(struct eval *e, const struct value *dot, struct template_node *node,
                  struct value *ret);
int eval_pipeline(struct eval *e, const struct value *dot, struct template_node *pipe,
                  struct value *ret);

/* ---- functions ---- */

struct call {
    struct eval *eval;
    struct value args[TEMPLATE_ARGS_MAX];
    size_t n;
    const struct template_node *callee; /* the first argument; NULL: it comes from a pipe */
    struct buf reason;                  /* why it failed */
};

struct template_function {
    const char *name;
    size_t min, max; /* arguments; max 0: any number */
    bool needs_text; /* its first argument is a string */

    /* Returns 0, or -1 with call->reason. NULL: `and`, `or`. */
    int (*run)(struct call *call, struct value *ret);
};

const struct template_function *template_find_function(struct str name);

/* Calls the function of @node, the first of @args (NULL: it has no arguments), with @final as last argument,
 * if it is not NULL. @at is the place of errors. */
int eval_function(struct eval *e, const struct value *dot, struct template_node *node,
                  const struct template_node *at, struct template_node *args,
                  const struct value *final, struct value *ret);

__attribute__((format(printf, 2, 3))) int call_fail(struct call *call, const char *format, ...);

int template_run_index(struct call *call, struct value *ret);
int template_run_slice(struct call *call, struct value *ret);
int template_run_len(struct call *call, struct value *ret);
int template_run_not(struct call *call, struct value *ret);
int template_run_call(struct call *call, struct value *ret);
int template_run_exists(struct call *call, struct value *ret);
int template_run_base64decode(struct call *call, struct value *ret);
int template_run_eq(struct call *call, struct value *ret);
int template_run_ne(struct call *call, struct value *ret);
int template_run_lt(struct call *call, struct value *ret);
int template_run_le(struct call *call, struct value *ret);
int template_run_gt(struct call *call, struct value *ret);
int template_run_ge(struct call *call, struct value *ret);
int template_run_print(struct call *call, struct value *ret);
int template_run_println(struct call *call, struct value *ret);
int template_run_printf(struct call *call, struct value *ret);
int template_run_html(struct call *call, struct value *ret);
int template_run_js(struct call *call, struct value *ret);
int template_run_urlquery(struct call *call, struct value *ret);

#endif
