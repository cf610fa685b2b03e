/*
 * template_compare.c - eq, ne, lt, le, gt and ge. Values of the same basic kind are compared; integers of
 * all types with each other, but not with floats, as in Go.
 */
#include "ctl/template/template_internal.h"

static bool is_nil(const struct value *v)
{
    return v->kind == VALUE_INVALID || v->kind == VALUE_NIL;
}

static bool is_basic(const struct value *v)
{
    return !is_nil(v) && v->kind != VALUE_MAP && v->kind != VALUE_LIST;
}

static int incompatible(struct call *call, const struct value *a, const struct value *b)
{
    return call_fail(call, "incompatible types for comparison: %s and %s", value_inner_type_name(a),
                     value_inner_type_name(b));
}

/* Maps and lists, and what has no value: only comparable with nil. */
static int equal_others(struct call *call, const struct value *a, const struct value *b, bool *ret)
{
    if (is_nil(a) || is_nil(b)) {
        *ret = is_nil(a) == is_nil(b);
        return 0;
    }
    if (a->kind != b->kind) {
        call_fail(call, "non-comparable types ");
        value_put_string(&call->reason, a);
        call_fail(call, ": %s, %s: ", value_inner_type_name(a), value_inner_type_name(b));
        value_put(&call->reason, b);
        return -1;
    }
    call_fail(call, "non-comparable type ");
    value_put_string(&call->reason, b);
    return call_fail(call, ": %s", value_inner_type_name(b));
}

static int equal(struct call *call, const struct value *a, const struct value *b, bool *ret)
{
    *ret = false;
    if (!is_basic(a) && !is_basic(b))
        return equal_others(call, a, b, ret);
    if (a->kind != b->kind)
        return is_nil(a) || is_nil(b) ? 0 : incompatible(call, a, b);
    switch ((int)a->kind) {
    case VALUE_BOOL: *ret = a->truth == b->truth; break;
    case VALUE_INT: *ret = a->i == b->i; break;
    case VALUE_FLOAT: *ret = !(a->f < b->f) && !(a->f > b->f); break;
    default: *ret = str_eq(a->text, b->text); break;
    }
    return 0;
}

static int less(struct call *call, const struct value *a, const struct value *b, bool *ret)
{
    if (!is_basic(a) || !is_basic(b) || (a->kind == VALUE_BOOL && b->kind == VALUE_BOOL))
        return call_fail(call, "invalid type for comparison");
    if (a->kind != b->kind)
        return incompatible(call, a, b);
    *ret = a->kind == VALUE_INT     ? a->i < b->i
           : a->kind == VALUE_FLOAT ? a->f < b->f
                                    : str_cmp(a->text, b->text) < 0;
    return 0;
}

/* Whether the first argument equals any of the others. */
int template_run_eq(struct call *call, struct value *ret)
{
    bool same = false;
    if (call->n < 2)
        return call_fail(call, "missing argument for comparison");
    for (size_t i = 1; !same && i < call->n; i++)
        if (equal(call, &call->args[0], &call->args[i], &same) < 0)
            return -1;
    *ret = value_of_bool(same);
    return 0;
}

int template_run_ne(struct call *call, struct value *ret)
{
    int rc = template_run_eq(call, ret);
    ret->truth = !ret->truth;
    return rc;
}

int template_run_lt(struct call *call, struct value *ret)
{
    bool is_less = false;
    int rc = less(call, &call->args[0], &call->args[1], &is_less);
    *ret = value_of_bool(is_less);
    return rc;
}

int template_run_le(struct call *call, struct value *ret)
{
    int rc = template_run_lt(call, ret);
    return rc < 0 || ret->truth ? rc : template_run_eq(call, ret);
}

int template_run_gt(struct call *call, struct value *ret)
{
    int rc = template_run_le(call, ret);
    ret->truth = !ret->truth;
    return rc;
}

int template_run_ge(struct call *call, struct value *ret)
{
    int rc = template_run_lt(call, ret);
    ret->truth = !ret->truth;
    return rc;
}
