/*
 * jsonpath.c - evaluates JSONPath on JSON trees, step by step on lists of values.
 *
 * The rules are those of kubectl (k8s.io/client-go/util/jsonpath), except that integers and fractions can
 * be compared, and that members have the order of their keys.
 */
#include "daemon/format/jsonpath.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/json_decode.h"
#include "base/text/utf8.h"
#include "daemon/format/jsonpath_internal.h"

enum {
    VALUES_MAX = 64 * 1024 * 1024, /* LIMIT: values of an expression; several ".." multiply them */
    COST_BYTES = 16,               /* bytes of a value that cost as much as a value */
};

struct values {
    const struct json_node **items;
    size_t n, cap;
    bool full;                      /* there were more, or the budget is used up */
    struct jsonpath_budget *budget; /* NULL: unlimited */
};

static void spend(struct values *values, size_t cost)
{
    struct jsonpath_budget *budget = values->budget;
    if (!budget)
        return;
    values->full |= budget->left < cost;
    budget->left -= budget->left < cost ? budget->left : cost;
}

static void values_add(struct values *values, const struct json_node *node)
{
    spend(values, 1);
    values->full |= values->n == VALUES_MAX;
    if (values->full)
        return;
    if (values->n == values->cap) {
        values->cap = values->cap ? 2 * values->cap : 16;
        values->items = xrealloc(values->items, values->cap * sizeof(*values->items));
    }
    values->items[values->n++] = node;
}

static bool is_null(const struct json_node *node)
{
    return node->type == JSON_LITERAL && str_eq(node->text, STR("null"));
}

static bool is_bool(const struct json_node *node)
{
    return node->type == JSON_LITERAL &&
           (str_eq(node->text, STR("true")) || str_eq(node->text, STR("false")));
}

/* For a caller that ignores errors, it is not one. */
#define evaluate_error(err, ...) ((err) ? err_set((err), INF_EINVAL, __VA_ARGS__) : 0)

/* ---- steps ---- */

static void add_field(const struct json_node *node, struct str name, struct values *out)
{
    for (const struct json_node *m = node->type == JSON_OBJECT ? node->first : NULL; m;
         m = m->next) {
        spend(out, 1);
        if (json_text_is(m->key, name)) {
            values_add(out, m);
            return;
        }
    }
}

static void add_children(const struct json_node *node, struct values *out)
{
    for (const struct json_node *child = node->first; child; child = child->next)
        values_add(out, child);
}

/* Everything in @node that is not empty, in the order of the text. */
static void add_recursive(const struct json_node *node, struct values *out)
{
    if (out->full || (!node->first && !(node->type == JSON_STRING && node->text.len)))
        return;
    values_add(out, node);
    for (const struct json_node *child = node->first; child; child = child->next)
        add_recursive(child, out);
}

static long count_items(const struct json_node *array)
{
    long n = 0;
    for (const struct json_node *item = array->first; item; item = item->next)
        n++;
    return n;
}

static int add_slice(const struct json_node *node, const struct jsonpath_step *step,
                     struct values *out, struct inf_error *err)
{
    const struct json_node *item = node->first;
    long n, from, to, stride = step->stride.given ? step->stride.value : 1;
    if (is_null(node))
        return 0;
    if (node->type != JSON_ARRAY)
        return evaluate_error(err, "an index needs a list, and %s is not one",
                              node->type == JSON_OBJECT ? "a map" : "a scalar value");
    n = count_items(node);
    spend(out, (size_t)n);
    from = step->from.given ? step->from.value : 0;
    from += from < 0 ? n : 0;
    to = step->is_index ? from + 1 : step->to.given ? step->to.value : n;
    to += to < 0 ? n : 0;
    if (from == to)
        return 0;
    if (from < 0 || from >= n)
        return evaluate_error(err, "array index out of bounds: index %ld, length %ld", from, n);
    if (to < 0 || to > n)
        return evaluate_error(err, "array index out of bounds: index %ld, length %ld", to - 1, n);
    if (from > to)
        return evaluate_error(err, "starting index %ld is greater than ending index %ld", from, to);
    for (long i = 0; i < to; i++, item = item->next)
        if (i >= from && (i - from) % stride == 0)
            values_add(out, item);
    return 0;
}

/* ---- comparisons ---- */

/* Decodes @node, a scalar, to a string that the caller frees. */
static char *scalar_text(const struct json_node *node)
{
    struct buf text = {0};
    if (node->type == JSON_STRING)
        json_put_decoded(&text, node->text);
    else
        buf_put(&text, node->text.at, node->text.len);
    buf_putc(&text, '\0');
    return text.bytes;
}

/* Sets *@ret to the order of two scalars of the same type. Returns false if they have no order or are
 * not comparable; booleans are only equal or not. */
static bool compare(const struct json_node *a, const struct json_node *b, enum jsonpath_operator op,
                    int *ret)
{
    bool strings = a->type == JSON_STRING && b->type == JSON_STRING, comparable = true;
    char *x, *y;
    if (!strings && (a->type != JSON_LITERAL || b->type != JSON_LITERAL || is_null(a) ||
                     is_null(b) || is_bool(a) != is_bool(b)))
        return false;
    x = scalar_text(a);
    y = scalar_text(b);
    if (strings || is_bool(a)) {
        *ret = strcmp(x, y);
        comparable = strings || op == OPERATOR_EQUAL || op == OPERATOR_NOT_EQUAL;
    } else {
        double left = strtod(x, NULL), right = strtod(y, NULL);
        *ret = (left > right) - (left < right);
    }
    free(x);
    free(y);
    return comparable;
}

static bool holds(enum jsonpath_operator op, int order)
{
    switch (op) {
    case OPERATOR_EXISTS: return true;
    case OPERATOR_EQUAL: return order == 0;
    case OPERATOR_NOT_EQUAL: return order != 0;
    case OPERATOR_LESS: return order < 0;
    case OPERATOR_LESS_EQUAL: return order <= 0;
    case OPERATOR_GREATER: return order > 0;
    case OPERATOR_GREATER_EQUAL: return order >= 0;
    }
    return false;
}

static int evaluate(const struct jsonpath_step *steps, const struct json_node *node,
                    struct values *out, struct inf_error *err);

/* Returns 1 if the filter holds for @item, 0 if not, or an error. */
static int filter_holds(const struct jsonpath_step *filter, const struct json_node *item,
                        struct jsonpath_budget *budget, struct inf_error *err)
{
    bool exists = filter->op == OPERATOR_EXISTS;
    struct values left = {.budget = budget}, right = {.budget = budget};
    int rc = evaluate(filter->first, item, &left, exists ? NULL : err), order = 0;
    if (rc == 0 && exists) {
        rc = left.n > 0;
    } else if (rc == 0) {
        rc = evaluate(filter->second, item, &right, err);
        if (rc < 0 || !left.n || !right.n)
            ;
        else if (left.n > 1 || right.n > 1)
            rc = evaluate_error(err, "can only compare one element at a time");
        else if (!compare(left.items[0], right.items[0], filter->op, &order))
            rc = evaluate_error(err, "incompatible types for comparison");
        else
            rc = holds(filter->op, order);
    }
    free(left.items);
    free(right.items);
    return rc;
}

static int add_filtered(const struct json_node *node, const struct jsonpath_step *filter,
                        struct values *out, struct inf_error *err)
{
    if (node->type != JSON_ARRAY)
        return evaluate_error(err, "a filter needs a list, and %s is not one",
                              node->type == JSON_OBJECT ? "a map" : "a scalar value");
    for (const struct json_node *item = node->first; item; item = item->next) {
        int rc = filter_holds(filter, item, out->budget, err);
        if (rc < 0)
            return rc;
        if (rc)
            values_add(out, item);
    }
    return 0;
}

/* ---- paths ---- */

static int apply_step(const struct jsonpath_step *step, const struct json_node *node,
                      struct values *out, struct inf_error *err)
{
    switch (step->type) {
    case STEP_LITERAL: values_add(out, step->literal); return 0;
    case STEP_FIELD: add_field(node, step->name, out); return 0;
    case STEP_WILDCARD: add_children(node, out); return 0;
    case STEP_RECURSIVE: add_recursive(node, out); return 0;
    case STEP_SLICE: return add_slice(node, step, out, err);
    case STEP_FILTER: return add_filtered(node, step, out, err);
    case STEP_UNION: break; /* evaluate() */
    }
    return 0;
}

/* Applies @step to all of @in; a union applies each of its steps to all of it. */
static int apply_to_all(const struct jsonpath_step *step, const struct values *in,
                        struct values *out, struct inf_error *err)
{
    int rc = 0;
    if (step->type == STEP_UNION)
        for (const struct jsonpath_step *part = step->first; rc == 0 && part && !out->full;
             part = part->next)
            rc = apply_to_all(part, in, out, err);
    else
        for (size_t i = 0; rc == 0 && i < in->n && !out->full; i++)
            rc = apply_step(step, in->items[i], out, err);
    return rc;
}

static int too_much(const struct values *values, struct inf_error *err)
{
    return values->budget
               ? -INF_ETOOBIG
               : err_set(err, INF_EINVAL, "an expression has more than %d values", VALUES_MAX);
}

/* The values of @steps at @node. */
static int evaluate(const struct jsonpath_step *steps, const struct json_node *node,
                    struct values *out, struct inf_error *err)
{
    struct values in = {.budget = out->budget};
    int rc = 0;
    values_add(out, node);
    for (const struct jsonpath_step *step = steps; rc == 0 && step; step = step->next) {
        struct values swap = in;
        in = *out;
        *out = swap;
        out->n = 0;
        rc = apply_to_all(step, &in, out, err);
        if (rc == 0 && out->full)
            rc = too_much(out, err);
    }
    free(in.items);
    return rc;
}

/* ---- templates ---- */

struct run {
    jsonpath_values_fn *each;
    void *ctx;
    struct inf_error *err;
    struct jsonpath_budget *budget;
};

static int pass_on(const struct run *run, struct values *values)
{
    for (size_t i = 0; i < values->n; i++)
        spend(values, values->items[i]->text.len / COST_BYTES);
    if (values->full)
        return too_much(values, run->err);
    run->each(run->ctx, values->items, values->n);
    return 0;
}

/* The parts from @part up to @end, at @node. */
static int run_parts(const struct run *run, const struct jsonpath_part *part,
                     const struct jsonpath_part *end, const struct json_node *node)
{
    int rc = 0;
    for (; rc == 0 && part != end; part = part->next) {
        struct values values = {.budget = run->budget};
        rc = evaluate(part->steps, node, &values, run->err);
        if (rc == 0 && part->type == PART_RANGE) {
            for (size_t i = 0; rc == 0 && i < values.n; i++)
                rc = run_parts(run, part->next, part->end, values.items[i]);
            part = part->end;
        } else if (rc == 0) {
            rc = pass_on(run, &values);
        }
        free(values.items);
    }
    return rc;
}

int jsonpath_each(const struct jsonpath *path, const struct json_node *root,
                  jsonpath_values_fn *each, void *ctx, struct inf_error *err)
{
    return run_parts(&(struct run){each, ctx, err, NULL}, path->parts, NULL, root);
}

int jsonpath_each_within(const struct jsonpath *path, const struct json_node *root,
                         struct jsonpath_budget *budget, jsonpath_values_fn *each, void *ctx)
{
    return run_parts(&(struct run){each, ctx, NULL, budget}, path->parts, NULL, root);
}

static void put_values(void *ctx, const struct json_node *const *values, size_t n)
{
    struct buf *out = ctx;
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(out, ' ');
        if (values[i]->type == JSON_STRING)
            json_put_decoded(out, values[i]->text);
        else
            json_put_compact(out, values[i]);
    }
}

int jsonpath_put(struct buf *out, const struct jsonpath *path, const struct json_node *root,
                 struct inf_error *err)
{
    return jsonpath_each(path, root, put_values, out, err);
}

int jsonpath_put_within(struct buf *out, const struct jsonpath *path, const struct json_node *root,
                        struct jsonpath_budget *budget)
{
    return jsonpath_each_within(path, root, budget, put_values, out);
}

void jsonpath_put_visible(struct buf *out, struct str text)
{
    while (text.len) {
        size_t len = 0;
        while (len < text.len && text.at[len] != '\n' && text.at[len] != '\t')
            len++;
        utf8_put_visible(out, (struct str){text.at, len});
        if (len < text.len)
            buf_putc(out, text.at[len++]);
        text = (struct str){text.at + len, text.len - len};
    }
}
