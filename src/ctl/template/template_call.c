/*
 * template_call.c - the functions of templates as a table, and how they are called: the arguments are
 * evaluated, counted and checked; the value in front of a pipe sign is the last one. `and` and `or` evaluate
 * no more arguments than they need.
 */
#include <stdarg.h>

#include "informer/error.h"

#include "base/base.h"
#include "ctl/template/template_internal.h"

static const struct template_function functions[] = {
    {"and", 1, 0, .run = NULL},
    {"or", 1, 0, .run = NULL},
    {"not", 1, 1, .run = template_run_not},
    {"len", 1, 1, .run = template_run_len},
    {"index", 1, 0, .run = template_run_index},
    {"slice", 1, 0, .run = template_run_slice},
    {"call", 1, 0, .run = template_run_call},
    {"eq", 1, 0, .run = template_run_eq},
    {"ne", 2, 2, .run = template_run_ne},
    {"lt", 2, 2, .run = template_run_lt},
    {"le", 2, 2, .run = template_run_le},
    {"gt", 2, 2, .run = template_run_gt},
    {"ge", 2, 2, .run = template_run_ge},
    {"print", 0, 0, .run = template_run_print},
    {"println", 0, 0, .run = template_run_println},
    {"printf", 1, 0, .needs_text = true, .run = template_run_printf},
    {"html", 0, 0, .run = template_run_html},
    {"js", 0, 0, .run = template_run_js},
    {"urlquery", 0, 0, .run = template_run_urlquery},
    {"exists", 1, 0, .run = template_run_exists},
    {"base64decode", 1, 1, .needs_text = true, .run = template_run_base64decode},
};

const struct template_function *template_find_function(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (str_eq(name, str_of(functions[i].name)))
            return &functions[i];
    return NULL;
}

int call_fail(struct call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(&call->reason, format, args);
    va_end(args);
    return -1;
}

static size_t count_nodes(const struct template_node *node)
{
    size_t n = 0;
    for (; node; node = node->next)
        n++;
    return n;
}

static int check_count(struct eval *e, const struct template_function *f, size_t nodes, size_t all)
{
    if (!f->max && all < f->min)
        return eval_fail(e, "wrong number of args for %s: want at least %zu got %zu", f->name,
                         f->min, nodes);
    if (f->max && all != f->max)
        return eval_fail(e, "wrong number of args for %s: want %zu got %zu", f->name, f->max, all);
    if (all > TEMPLATE_ARGS_MAX)
        return eval_fail(e, "%s has more than %d arguments", f->name, TEMPLATE_ARGS_MAX);
    return 0;
}

/* The first argument of a function that needs a string. @node: where it comes from; NULL: a pipe. */
static int check_text(struct eval *e, const struct template_node *node, const struct value *v)
{
    struct buf text = {0};
    int rc = 0;
    if (v->kind == VALUE_STRING)
        return 0;
    if (node && node->type == NODE_NIL)
        return eval_fail(e, "cannot assign nil to string");
    if (v->kind == VALUE_INVALID)
        return eval_fail(e, "invalid value; expected string");
    if (node && (node->type == NODE_NUMBER || node->type == NODE_BOOL)) {
        template_put_node(&text, node);
        rc = eval_fail(e, "expected string; found %.*s", (int)text.len, text.bytes);
    } else {
        rc = eval_fail(e, "wrong type for value; expected string; got %s",
                       v->kind == VALUE_NIL ? "interface {}" : value_inner_type_name(v));
    }
    buf_free(&text);
    return rc;
}

static int eval_logic(struct eval *e, const struct value *dot, struct template_node *node,
                      struct template_node *args, const struct value *final, struct value *ret)
{
    bool is_or = str_eq(node->text, STR("or"));
    for (struct template_node *a = args; a; a = a->next) {
        int rc = eval_argument(e, dot, a, ret);
        if (rc < 0 || value_truth(ret) == is_or)
            return rc;
    }
    if (final)
        *ret = *final;
    return 0;
}

/* What a function makes of strings is not much longer than they are: this bounds the memory of a call. */
static int check_length(const struct call *call)
{
    struct eval *e = call->eval;
    size_t len = 0;
    for (size_t i = 0; i < call->n; i++)
        len += call->args[i].kind == VALUE_STRING ? call->args[i].text.len : 0;
    return len > e->limit ? eval_fail(e, "the strings exceed %zu bytes", e->limit) : 0;
}

static int run(struct call *call, const struct template_node *node, const struct template_node *at,
               struct value *ret)
{
    struct eval *e = call->eval;
    int rc = node->function->run(call, ret);
    if (rc < 0) {
        e->at = at;
        rc = eval_fail(e, "error calling %s: %.*s", node->function->name, (int)call->reason.len,
                       call->reason.bytes);
    }
    buf_free(&call->reason);
    return rc;
}

int eval_function(struct eval *e, const struct value *dot, struct template_node *node,
                  const struct template_node *at, struct template_node *args,
                  const struct value *final, struct value *ret)
{
    const struct template_function *f = node->function;
    struct call call = {.eval = e, .callee = args};
    size_t n = count_nodes(args);
    int rc = check_count(e, f, n, n + (final != NULL));
    if (rc == 0 && !f->run)
        return eval_logic(e, dot, node, args, final, ret);
    for (struct template_node *a = args; rc == 0 && a; a = a->next) {
        rc = eval_argument(e, dot, a, &call.args[call.n]);
        if (rc == 0 && f->needs_text && call.n == 0)
            rc = check_text(e, a, &call.args[0]);
        call.n++;
    }
    if (rc == 0 && final) {
        call.args[call.n++] = *final;
        if (f->needs_text && call.n == 1)
            rc = check_text(e, NULL, final);
    }
    rc = rc < 0 ? rc : check_length(&call);
    return rc < 0 ? rc : run(&call, node, at, ret);
}
