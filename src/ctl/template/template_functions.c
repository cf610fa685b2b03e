/*
 * template_functions.c - the functions of templates that work on values: not, len, index, slice, call, and
 * kubectl's exists and base64decode.
 */
#include <stdlib.h>

#include "base/text/base64.h"
#include "ctl/template/template_internal.h"

int template_run_not(struct call *call, struct value *ret)
{
    *ret = value_of_bool(!value_truth(&call->args[0]));
    return 0;
}

int template_run_len(struct call *call, struct value *ret)
{
    const struct value *v = &call->args[0];
    switch ((int)v->kind) {
    case VALUE_INVALID: return call_fail(call, "reflect: call of reflect.Value.Type on zero Value");
    case VALUE_NIL: return call_fail(call, "len of nil pointer");
    case VALUE_STRING: *ret = value_of_int((int64_t)v->text.len); return 0;
    case VALUE_LIST: *ret = value_of_int((int64_t)v->len); return 0;
    case VALUE_MAP: *ret = value_of_int((int64_t)value_map_len(v)); return 0;
    default: return call_fail(call, "len of type %s", value_inner_type_name(v));
    }
}

/* ---- index, slice ---- */

static int read_index(struct call *call, const struct value *index, size_t len, size_t *ret)
{
    if (index->kind == VALUE_INVALID || index->kind == VALUE_NIL)
        return call_fail(call, "cannot index slice/array with nil");
    if (index->kind != VALUE_INT)
        return call_fail(call, "cannot index slice/array with type %s",
                         value_inner_type_name(index));
    if (index->i < 0 || (uint64_t)index->i > len)
        return call_fail(call, "index out of range: %lld", (long long)index->i);
    *ret = (size_t)index->i;
    return 0;
}

static int index_member(struct call *call, const struct value *index, struct value *item)
{
    if (index->kind == VALUE_INVALID || index->kind == VALUE_NIL)
        return call_fail(call, "value is nil; should be of type string");
    if (index->kind != VALUE_STRING)
        return call_fail(call, "value has type %s; should be string", value_inner_type_name(index));
    *item = value_member(&call->eval->arena, item, index->text);
    if (item->kind == VALUE_INVALID)
        *item = (struct value){.kind = VALUE_NIL, .boxed = true};
    return 0;
}

static struct value byte_of(struct str text, size_t at)
{
    return (struct value){
        .kind = VALUE_INT, .int_type = INT_UINT8, .i = (unsigned char)text.at[at]};
}

static int index_item(struct call *call, const struct value *index, struct value *item)
{
    bool is_list = item->kind == VALUE_LIST;
    size_t at, len = is_list ? item->len : item->text.len;
    if (read_index(call, index, len, &at) < 0)
        return -1;
    if (at == len)
        return call_fail(call, "reflect: %s index out of range", is_list ? "slice" : "string");
    *item = is_list ? value_item(&call->eval->arena, item, at) : byte_of(item->text, at);
    return 0;
}

int template_run_index(struct call *call, struct value *ret)
{
    struct value item = call->args[0];
    int rc = 0;
    if (item.kind == VALUE_INVALID || item.kind == VALUE_NIL)
        return call_fail(call, "index of untyped nil");
    for (size_t i = 1; rc == 0 && i < call->n; i++) {
        if (item.kind == VALUE_NIL)
            return call_fail(call, "index of nil pointer");
        if (item.kind == VALUE_MAP)
            rc = index_member(call, &call->args[i], &item);
        else if (item.kind == VALUE_LIST || item.kind == VALUE_STRING)
            rc = index_item(call, &call->args[i], &item);
        else
            return call_fail(call, "can't index item of type %s", value_inner_type_name(&item));
    }
    *ret = item;
    return rc;
}

static int check_slice(struct call *call, const struct value *item)
{
    if (item->kind == VALUE_INVALID || item->kind == VALUE_NIL)
        return call_fail(call, "slice of untyped nil");
    if (call->n > 4)
        return call_fail(call, "too many slice indexes: %zu", call->n - 1);
    if (item->kind == VALUE_STRING && call->n == 4)
        return call_fail(call, "cannot 3-index slice a string");
    if (item->kind != VALUE_STRING && item->kind != VALUE_LIST)
        return call_fail(call, "can't slice item of type %s", value_inner_type_name(item));
    return 0;
}

int template_run_slice(struct call *call, struct value *ret)
{
    struct value item = call->args[0];
    size_t len = item.kind == VALUE_LIST ? item.len : item.text.len, bounds[3] = {0, len, len};
    if (check_slice(call, &item) < 0)
        return -1;
    for (size_t i = 1; i < call->n; i++)
        if (read_index(call, &call->args[i], len, &bounds[i - 1]) < 0)
            return -1;
    for (size_t i = 0; i < 2; i++)
        if (bounds[i] > bounds[i + 1])
            return call_fail(call, "invalid slice index: %zu > %zu", bounds[i], bounds[i + 1]);
    if (item.kind == VALUE_STRING) {
        item.text = (struct str){item.text.at + bounds[0], bounds[1] - bounds[0]};
    } else {
        for (size_t i = 0; i < bounds[0] && item.node; i++)
            item.node = item.node->next;
        item.len = bounds[1] - bounds[0];
    }
    item.boxed = false;
    *ret = item;
    return 0;
}

/* ---- call, exists, base64decode ---- */

/* JSON values contain no functions. */
int template_run_call(struct call *call, struct value *ret)
{
    const struct value *v = &call->args[0];
    (void)ret;
    if (v->kind == VALUE_INVALID || v->kind == VALUE_NIL)
        return call_fail(call, "call of nil");
    call_fail(call, "non-function ");
    if (call->callee)
        template_put_node(&call->reason, call->callee);
    else
        value_put(&call->reason, v);
    return call_fail(call, " of type %s", value_inner_type_name(v));
}

/* One step of `exists`. Returns false if there is nothing. */
static bool enter(struct call *call, const struct value *index, struct value *item)
{
    if (item->kind == VALUE_MAP) {
        struct str key = index->kind == VALUE_STRING ? index->text : STR("");
        if (index->kind != VALUE_STRING && index->kind != VALUE_INVALID && index->kind != VALUE_NIL)
            return false;
        *item = value_member(&call->eval->arena, item, key);
        item->kind = item->kind == VALUE_INVALID ? VALUE_NIL : item->kind;
        return true;
    }
    if ((item->kind != VALUE_LIST && item->kind != VALUE_STRING) || index->kind != VALUE_INT ||
        index->i < 0)
        return false;
    if ((size_t)index->i >= (item->kind == VALUE_LIST ? item->len : item->text.len))
        return false;
    *item = item->kind == VALUE_LIST ? value_item(&call->eval->arena, item, (size_t)index->i)
                                     : byte_of(item->text, (size_t)index->i);
    return true;
}

/* A missing first argument "exists": kubectl answers the same. */
int template_run_exists(struct call *call, struct value *ret)
{
    struct value item = call->args[0];
    bool found = true;
    item.kind = item.kind == VALUE_NIL ? VALUE_INVALID : item.kind;
    for (size_t i = 1; found && i < call->n; i++)
        found = enter(call, &call->args[i], &item);
    *ret = value_of_bool(found && item.kind != VALUE_NIL);
    return 0;
}

static bool is_base64(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

/* Where Go's decoder finds the error: at the first character that does not fit, or at the end. */
static size_t bad_position(struct str text)
{
    size_t at = 0, digits = 0;
    for (; at < text.len && (is_base64(text.at[at]) || text.at[at] == '\n' || text.at[at] == '\r');
         at++)
        digits += is_base64(text.at[at]);
    return at == text.len ? at - digits % 4 : at;
}

int template_run_base64decode(struct call *call, struct value *ret)
{
    struct str text = call->args[0].text;
    char *bytes = NULL;
    size_t len;
    if (base64_decode(text.at ? text.at : "", text.len, &bytes, &len) < 0)
        return call_fail(call, "base64 decode failed: illegal base64 data at input byte %zu",
                         bad_position(text));
    *ret = value_of_text(arena_copy(&call->eval->arena, (struct str){bytes, len}));
    free(bytes);
    return 0;
}
