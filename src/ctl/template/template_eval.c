/*
 * template_eval.c - evaluates a template: walks the nodes, keeps the variables, and looks up fields.
 *
 * Functions return 0, or -INF_EINVAL after eval_fail(), which appended Go's message with the place. Output
 * before the error stays.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "informer/error.h"

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/template/template_internal.h"

/* What a walk returns besides 0 and errors: {{break}} and {{continue}} on their way to {{range}}. */
enum {
    WALK_BREAK = 1,
    WALK_CONTINUE = 2,
};

static int walk(struct eval *e, const struct value *dot, struct template_node *node);

/* ---- errors and limits ---- */

static void put_place(struct eval *e)
{
    struct str text = e->template->text;
    size_t pos = e->at->pos, line = 1, line_start = 0;
    for (size_t i = 0; i < pos && i < text.len; i++)
        if (text.at[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    buf_printf(e->error, "template: output:%zu:%zu: executing ", line, pos - line_start);
    template_put_quoted(e->error, e->tree->name);
    buf_puts(e->error, " at <");
    template_put_node(e->error, e->at);
    buf_puts(e->error, ">: ");
}

int eval_fail(struct eval *e, const char *format, ...)
{
    va_list args;
    put_place(e);
    va_start(args, format);
    buf_vprintf(e->error, format, args);
    va_end(args);
    return -INF_EINVAL;
}

static int take_step(struct eval *e)
{
    if (e->steps_left == 0)
        return eval_fail(e, "the template needs too many steps");
    e->steps_left--;
    if (e->strings > e->limit)
        return eval_fail(e, "the strings exceed %zu bytes", e->limit);
    return e->out->len > e->limit ? eval_fail(e, "the output exceeds %zu bytes", e->limit) : 0;
}

struct value eval_text(struct eval *e, struct buf *text)
{
    struct value v = value_of_text(arena_copy(&e->arena, (struct str){text->bytes, text->len}));
    e->strings += text->len;
    buf_free(text);
    return v;
}

/* ---- variables ---- */

static void push_variable(struct eval *e, struct str name, const struct value *v)
{
    if (e->n_variables == e->variables_cap) {
        e->variables_cap = e->variables_cap ? 2 * e->variables_cap : 16;
        e->variables = xrealloc(e->variables, e->variables_cap * sizeof(*e->variables));
    }
    e->variables[e->n_variables++] = (struct variable){name, *v};
}

/* The newest variable @name. The parser has checked that it exists in the text; a loop that ends early may
 * not have declared it. */
static struct variable *find_variable(struct eval *e, struct str name)
{
    for (size_t i = e->n_variables; i > e->variables_base; i--)
        if (str_eq(e->variables[i - 1].name, name))
            return &e->variables[i - 1];
    return NULL;
}

static int set_variable(struct eval *e, struct str name, const struct value *v)
{
    struct variable *variable = find_variable(e, name);
    if (!variable)
        return eval_fail(e, "undefined variable: %.*s", (int)name.len, name.at);
    variable->value = *v;
    return 0;
}

/* ---- fields ---- */

static int eval_field(struct eval *e, struct str name, bool has_arguments, struct value *receiver)
{
    if (receiver->kind == VALUE_INVALID)
        return 0;
    if (receiver->kind == VALUE_NIL)
        return eval_fail(e, "nil pointer evaluating interface {}.%.*s", (int)name.len, name.at);
    if (receiver->kind != VALUE_MAP)
        return eval_fail(e, "can't evaluate field %.*s in type %s", (int)name.len, name.at,
                         value_type_name(receiver));
    if (has_arguments)
        return eval_fail(e, "%.*s is not a method but has arguments", (int)name.len, name.at);
    *receiver = value_member(&e->arena, receiver, name);
    return 0;
}

static int eval_fields(struct eval *e, const struct template_node *fields, bool has_arguments,
                       struct value *receiver)
{
    int rc = 0;
    for (const struct template_node *f = fields; rc == 0 && f; f = f->next)
        rc = eval_field(e, f->text, has_arguments && !f->next, receiver);
    return rc;
}

static int refuse_arguments(struct eval *e, const struct template_node *node)
{
    struct buf text = {0};
    int rc;
    template_put_node(&text, node);
    rc = eval_fail(e, "can't give argument to non-function %.*s", (int)text.len, text.bytes);
    buf_free(&text);
    return rc;
}

static int eval_variable(struct eval *e, const struct template_node *node, bool has_arguments,
                         struct value *ret)
{
    struct variable *variable = find_variable(e, node->text);
    if (!variable)
        return eval_fail(e, "undefined variable: %.*s", (int)node->text.len, node->text.at);
    *ret = variable->value;
    if (!node->fields && has_arguments)
        return refuse_arguments(e, node);
    return eval_fields(e, node->fields, has_arguments, ret);
}

static int eval_chain(struct eval *e, const struct value *dot, const struct template_node *node,
                      bool has_arguments, struct value *ret)
{
    int rc = eval_argument(e, dot, node->first, ret);
    return rc < 0 ? rc : eval_fields(e, node->fields, has_arguments, ret);
}

static struct value value_of_constant(const struct template_number *n)
{
    return n->looks_float || !n->is_int ? (struct value){.kind = VALUE_FLOAT, .f = n->f}
                                        : value_of_int(n->i);
}

/* ---- commands and pipelines ---- */

/* The value of a term. @args: the nodes of its command, beginning with @node; NULL: it is an argument.
 * @final: the value of the command in front of it in the pipeline; NULL: none. */
static int eval_term(struct eval *e, const struct value *dot, struct template_node *node,
                     const struct template_node *command, const struct value *final,
                     struct value *ret)
{
    bool has_arguments = final || (command && node->next);
    int rc = take_step(e);
    if (rc < 0)
        return rc;
    if (node->type != NODE_PIPE)
        e->at = node;
    switch ((int)node->type) {
    case NODE_FIELD: *ret = *dot; return eval_fields(e, node->fields, has_arguments, ret);
    case NODE_CHAIN: return eval_chain(e, dot, node, has_arguments, ret);
    case NODE_VARIABLE: return eval_variable(e, node, has_arguments, ret);
    case NODE_IDENTIFIER:
        return eval_function(e, dot, node, command ? command : node, command ? node->next : NULL,
                             final, ret);
    default: break;
    }
    if (has_arguments)
        return refuse_arguments(e, node);
    switch ((int)node->type) {
    case NODE_PIPE: return eval_pipeline(e, dot, node, ret);
    case NODE_BOOL: *ret = value_of_bool(node->is_true); break;
    case NODE_DOT: *ret = *dot; break;
    case NODE_NUMBER: *ret = value_of_constant(&node->number); break;
    case NODE_STRING: *ret = value_of_text(node->value); break;
    default: /* NODE_NIL */
        if (command)
            return eval_fail(e, "nil is not a command");
        *ret = (struct value){0};
        break;
    }
    return 0;
}

int eval_argument(struct eval *e, const struct value *dot, struct template_node *node,
                  struct value *ret)
{
    e->at = node;
    return eval_term(e, dot, node, NULL, NULL, ret);
}

int eval_pipeline(struct eval *e, const struct value *dot, struct template_node *pipe,
                  struct value *ret)
{
    struct value v = {0}, final;
    int rc = 0;
    e->at = pipe;
    for (struct template_node *c = pipe->first; rc == 0 && c; c = c->next) {
        final = v;
        rc = eval_term(e, dot, c->first, c, c == pipe->first ? NULL : &final, &v);
        v.kind = v.kind == VALUE_NIL ? VALUE_INVALID : v.kind;
        v.boxed = false;
    }
    for (struct template_node *d = pipe->variables; rc == 0 && d; d = d->next) {
        if (pipe->is_assign)
            rc = set_variable(e, d->text, &v);
        else
            push_variable(e, d->text, &v);
    }
    *ret = v;
    return rc;
}

/* ---- actions ---- */

static int walk_action(struct eval *e, const struct value *dot, struct template_node *node)
{
    struct value v;
    int rc = eval_pipeline(e, dot, node->pipe, &v);
    if (rc < 0 || node->pipe->variables)
        return rc;
    if (v.kind == VALUE_INVALID)
        buf_puts(e->out, "<no value>");
    else
        value_put(e->out, &v);
    return 0;
}

static int walk_if_or_with(struct eval *e, const struct value *dot, struct template_node *node)
{
    size_t mark = e->n_variables;
    struct value v;
    int rc = eval_pipeline(e, dot, node->pipe, &v);
    if (rc == 0 && value_truth(&v))
        rc = walk(e, node->type == NODE_WITH ? &v : dot, node->list);
    else if (rc == 0 && node->else_list)
        rc = walk(e, dot, node->else_list);
    e->n_variables = mark;
    return rc;
}

/* One round of {{range}} with @item; @key is its index or key. */
static int walk_round(struct eval *e, struct template_node *node, const struct value *key,
                      const struct value *item)
{
    const struct template_node *first = node->pipe->variables;
    const struct template_node *second = first ? first->next : NULL;
    size_t mark = e->n_variables;
    int rc = 0;
    if (first && node->pipe->is_assign) {
        rc = set_variable(e, first->text, second ? key : item);
        if (rc == 0 && second)
            rc = set_variable(e, second->text, item);
    } else if (first) {
        e->variables[mark - 1].value = *item;
        if (second)
            e->variables[mark - 2].value = *key;
    }
    rc = rc < 0 ? rc : walk(e, item, node->list);
    e->n_variables = mark;
    return rc == WALK_CONTINUE ? 0 : rc;
}

static int walk_map(struct eval *e, struct template_node *node, const struct value *map)
{
    int rc = 0;
    for (const struct json_node *m = map->node->first; rc == 0 && m; m = m->next) {
        struct buf name = {0};
        struct value key, item = value_of_node(&e->arena, m);
        json_put_decoded(&name, m->key);
        key = eval_text(e, &name);
        rc = walk_round(e, node, &key, &item);
    }
    return rc;
}

static int walk_items(struct eval *e, struct template_node *node, const struct value *list)
{
    const struct json_node *n = list->node;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < list->len; i++, n = n->next) {
        struct value key = value_of_int((int64_t)i), item = value_of_node(&e->arena, n);
        rc = walk_round(e, node, &key, &item);
    }
    return rc;
}

static int walk_numbers(struct eval *e, struct template_node *node, const struct value *count)
{
    const struct template_node *variables = node->pipe->variables;
    int rc = 0;
    if (variables && variables->next)
        return eval_fail(e, "can't use %lld to iterate over more than one variable",
                         (long long)count->i);
    for (int64_t i = 0; rc == 0 && i < count->i; i++) {
        struct value key = {0}, item = *count;
        item.i = i;
        rc = walk_round(e, node, &key, &item);
    }
    return rc;
}

static int refuse_range(struct eval *e, const struct value *v)
{
    struct buf text = {0};
    int rc;
    value_put(&text, v);
    rc = eval_fail(e, "range can't iterate over %.*s", (int)text.len, text.bytes);
    buf_free(&text);
    return rc;
}

static int walk_range(struct eval *e, const struct value *dot, struct template_node *node)
{
    size_t mark = e->n_variables;
    struct value v;
    int rc = eval_pipeline(e, dot, node->pipe, &v);
    if (rc < 0)
        return rc;
    if (v.kind == VALUE_BOOL || v.kind == VALUE_FLOAT || v.kind == VALUE_STRING)
        return refuse_range(e, &v);
    if (v.kind == VALUE_INT && node->pipe->variables && node->pipe->variables->next)
        return walk_numbers(e, node, &v);
    if (!value_truth(&v) || (v.kind == VALUE_INT && v.i < 0))
        rc = node->else_list ? walk(e, dot, node->else_list) : 0;
    else if (v.kind == VALUE_MAP)
        rc = walk_map(e, node, &v);
    else if (v.kind == VALUE_LIST)
        rc = walk_items(e, node, &v);
    else
        rc = walk_numbers(e, node, &v);
    e->n_variables = mark;
    return rc == WALK_BREAK ? 0 : rc;
}

static int walk_template(struct eval *e, const struct value *dot, struct template_node *node)
{
    struct template_tree *tree = e->template->trees;
    struct eval outer = *e;
    struct value v = {0};
    int rc = 0;
    while (tree && !str_eq(tree->name, node->value))
        tree = tree->next;
    if (!tree)
        return eval_fail(e, "template \"%.*s\" not defined", (int)node->value.len, node->value.at);
    if (e->depth > TEMPLATE_WALK_MAX)
        return eval_fail(e, "exceeded maximum template depth (%d)", TEMPLATE_WALK_MAX);
    if (node->pipe)
        rc = eval_pipeline(e, dot, node->pipe, &v);
    if (rc < 0)
        return rc;
    outer.n_variables = e->n_variables; /* those of the pipeline remain */
    e->variables_base = e->n_variables;
    push_variable(e, STR("$"), &v);
    e->tree = tree;
    rc = walk(e, &v, tree->root);
    e->tree = outer.tree;
    e->n_variables = outer.n_variables;
    e->variables_base = outer.variables_base;
    return rc;
}

static int walk(struct eval *e, const struct value *dot, struct template_node *node)
{
    int rc;
    e->at = node;
    rc = take_step(e);
    if (rc < 0)
        return rc;
    switch ((int)node->type) {
    case NODE_LIST:
        e->depth++;
        for (struct template_node *n = node->first; rc == 0 && n; n = n->next)
            rc = walk(e, dot, n);
        e->depth--;
        return rc;
    case NODE_TEXT: buf_put(e->out, node->text.at, node->text.len); return 0;
    case NODE_ACTION: return walk_action(e, dot, node);
    case NODE_IF:
    case NODE_WITH: return walk_if_or_with(e, dot, node);
    case NODE_RANGE: return walk_range(e, dot, node);
    case NODE_TEMPLATE: return walk_template(e, dot, node);
    case NODE_BREAK: return WALK_BREAK;
    case NODE_CONTINUE: return WALK_CONTINUE;
    default: return 0; /* the parser makes no others here */
    }
}

int template_put(const struct template *t, const struct json_node *root, size_t steps, size_t limit,
                 struct buf *out, struct buf *error)
{
    struct eval e = {
        .template = t, .out = out, .error = error, .steps_left = steps, .limit = limit};
    struct value dot = value_of_node(&e.arena, root);
    int rc;
    dot.boxed = false;
    e.tree = t->trees;
    while (!str_eq(e.tree->name, STR("output")))
        e.tree = e.tree->next;
    push_variable(&e, STR("$"), &dot);
    rc = walk(&e, &dot, e.tree->root);
    free(e.variables);
    arena_free(&e.arena);
    return rc;
}
