/*
 * jsonpath_fields.c - translates the steps of a JSONPath to the text of a field path, which the library
 * then parses.
 */
#include "daemon/format/jsonpath_fields.h"

#include <ctype.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/err.h"
#include "base/text/json_string.h"
#include "daemon/format/jsonpath_internal.h"

static bool is_plain(struct str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (!isalnum((unsigned char)key.at[i]) && key.at[i] != '-' && key.at[i] != '_')
            return false;
    return key.len > 0;
}

static void put_key(struct buf *out, struct str key)
{
    if (is_plain(key)) {
        buf_printf(out, "%s%.*s", out->len ? "." : "", STR_FMT(key));
    } else {
        buf_putc(out, '[');
        json_put_string(out, key);
        buf_putc(out, ']');
    }
}

/* [?(@.field=="value")] */
static bool put_filter(struct buf *out, const struct jsonpath_step *filter)
{
    const struct jsonpath_step *field = filter->first, *value = filter->second;
    struct buf text = {0};
    if (filter->op != OPERATOR_EQUAL || !field || field->type != STEP_FIELD || field->next ||
        !is_plain(field->name) || !value || value->type != STEP_LITERAL || value->next)
        return false;
    if (value->literal->type == JSON_STRING)
        json_put_decoded(&text, value->literal->text);
    else
        buf_put(&text, value->literal->text.at, value->literal->text.len);
    buf_printf(out, "[%.*s=", STR_FMT(field->name));
    json_put_string(out, (struct str){text.bytes, text.len});
    buf_putc(out, ']');
    buf_free(&text);
    return true;
}

/* Returns false if a field path cannot express it. */
static bool put_step(struct buf *out, const struct jsonpath_step *step)
{
    switch (step->type) {
    case STEP_FIELD: put_key(out, step->name); return true;
    case STEP_WILDCARD: buf_puts(out, "[*]"); return true;
    case STEP_SLICE:
        if (step->is_index && step->from.value >= 0)
            buf_printf(out, "[%ld]", step->from.value);
        else if (!step->from.given && !step->to.given && !step->stride.given)
            buf_puts(out, "[*]");
        else
            return false;
        return true;
    case STEP_FILTER: return put_filter(out, step);
    case STEP_LITERAL:
    case STEP_UNION:
    case STEP_RECURSIVE: return false;
    }
    return false;
}

int jsonpath_fields_parse(struct str text, struct inf_path **ret, struct inf_error *err)
{
    struct jsonpath *parsed = NULL;
    struct inf_path *path = NULL;
    struct buf out = {0};
    int rc = jsonpath_parse(text, &parsed, err);
    if (rc < 0)
        return rc;
    for (const struct jsonpath_step *step = parsed->parts->steps; rc == 0 && step;
         step = step->next)
        if (!put_step(&out, step))
            rc = err_set(err, INF_EINVAL,
                         "JSONPath '%.*s' is not supported here; supported: .field ['key'] [*] [0] "
                         "[?(@.field==\"value\")]",
                         text.len < 200 ? (int)text.len : 200, text.at);
    if (rc == 0 && out.len) {
        buf_putc(&out, '\0');
        path = inf_path_parse(out.bytes, err);
        rc = path ? 0 : -INF_EINVAL;
    }
    if (rc == 0)
        *ret = path;
    buf_free(&out);
    jsonpath_free(parsed);
    return rc;
}

void jsonpath_fields_each(const struct inf_path *path, const struct inf_object *object,
                          inf_path_value_fn *each, void *ctx)
{
    size_t len = 0;
    const char *json = inf_object_json(object, &len);
    if (path)
        inf_path_each(path, object, each, ctx);
    else
        each(ctx, json, len);
}
