/*
 * record_fields.c - parses the paths of configured fields once, and copies their values from the text
 * of an object to a record. Only record_fields_make() can fail.
 */
#include "daemon/record/record_fields.h"

#include <stdlib.h>

#include "informer/path.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/text/json_string.h"

struct record_field {
    char *name;
    struct inf_path *path;
    bool single; /* the path names at most one value */
};

struct record_fields {
    struct record_field *items;
    size_t count;
};

void record_fields_free(struct record_fields *fields)
{
    if (!fields)
        return;
    for (size_t i = 0; i < fields->count; i++) {
        free(fields->items[i].name);
        inf_path_free(fields->items[i].path);
    }
    free(fields->items);
    free(fields);
}

struct record_fields *record_fields_make(const struct inf_index *fields, size_t n,
                                         struct inf_error *err)
{
    struct record_fields *made = NEW(struct record_fields);
    made->items = xcalloc(n ? n : 1, sizeof(*made->items));
    for (size_t i = 0; i < n; i++) {
        struct inf_path *path = inf_path_parse(fields[i].path, err);
        if (!path) {
            if (err)
                err_wrap(err, "fields: %s", fields[i].name);
            record_fields_free(made);
            return NULL;
        }
        made->items[made->count++] =
            (struct record_field){xstrdup(fields[i].name), path, inf_path_is_single(path)};
    }
    return made;
}

struct value_list {
    struct buf *out;
    const char *comma;
};

static bool put_value(void *ctx, const char *json, size_t len)
{
    struct value_list *list = ctx;
    buf_puts(list->out, list->comma);
    json_put_json(list->out, (struct str){json, len});
    list->comma = ",";
    return true;
}

/* Returns false, with @out unchanged, if there is no value or it is too long. */
static bool put_field(struct buf *out, const struct record_field *field,
                      const struct inf_object *object, size_t max)
{
    struct value_list list = {out, ""};
    size_t start = out->len, value;
    json_put_string(out, str_of(field->name));
    buf_putc(out, ':');
    value = out->len;
    if (!field->single)
        buf_putc(out, '[');
    if (inf_path_each(field->path, object, put_value, &list) && out->len - value <= max) {
        if (!field->single)
            buf_putc(out, ']');
        return true;
    }
    out->len = start;
    return false;
}

void record_fields_put(struct buf *out, const struct record_fields *fields,
                       const struct inf_object *object, size_t max)
{
    size_t start = out->len, written = 0;
    if (!fields)
        return;
    buf_puts(out, ",\"fields\":{");
    for (size_t i = 0; i < fields->count; i++) {
        size_t before = out->len;
        if (written)
            buf_putc(out, ',');
        if (put_field(out, &fields->items[i], object, max))
            written++;
        else
            out->len = before;
    }
    if (written)
        buf_putc(out, '}');
    else
        out->len = start;
}
