/*
 * table.c - the form of a Table, for lists, watches and single objects.
 *
 * A list is one Table with a row for each object. In a watch each event has a Table with one row; only
 * the first of them has the column definitions, as in the API server. By default a row contains the
 * metadata of its object, where kubectl reads the namespace.
 */
#include "table.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include <yyjson.h>

#include "base/text/json_string.h"
#include "http.h"
#include "store.h"

bool prefers_table(const struct request *r)
{
    return strstr(r->accept, "as=Table") != NULL;
}

bool table_object_read(const struct request *r, enum table_object *ret_object, struct status *ret)
{
    static const char *const names[] = {
        [TABLE_METADATA] = "Metadata", [TABLE_NONE] = "None", [TABLE_WHOLE] = "Object"};
    const char *name = params_get(&r->query, "includeObject", "");
    *ret_object = TABLE_METADATA;
    if (!name[0])
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(names[i], name) == 0) {
            *ret_object = (enum table_object)i;
            return true;
        }
    }
    status_set(ret, 400, "BadRequest", "unrecognized includeObject value: \"%s\"", name);
    return false;
}

void table_put_columns(struct buf *out, const struct resource *r, bool columns)
{
    const struct table_column *first = table_printer_of(r)->columns;
    buf_puts(out, "\"columnDefinitions\":");
    if (!columns) {
        buf_puts(out, "null,\"rows\":[");
        return;
    }
    for (const struct table_column *c = first; c->name; c++) {
        buf_printf(out, "%c{\"name\":\"%s\",\"type\":\"%s\",\"format\":\"%s\",\"description\":",
                   c == first ? '[' : ',', c->name, c->type, c->format);
        json_put_string(out, str_of(c->description));
        buf_printf(out, ",\"priority\":%d}", c->priority);
    }
    buf_puts(out, "],\"rows\":[");
}

static void put_cells(struct buf *out, const struct resource *r, const char *json, size_t len)
{
    yyjson_doc *doc = yyjson_read(json, len, 0);
    assert(doc);
    buf_puts(out, "{\"cells\":[");
    table_printer_of(r)->put_cells(out, yyjson_doc_get_root(doc), (int64_t)time(NULL));
    out->len--; /* removes the last comma */
    buf_putc(out, ']');
    yyjson_doc_free(doc);
}

void table_put_row(struct buf *out, const struct object *o, enum table_object what, uint64_t rv)
{
    struct buf text = {0};
    object_put(&text, o, FORM_WHOLE, rv);
    put_cells(out, o->resource, text.bytes, text.len);
    if (what != TABLE_NONE)
        buf_puts(out, ",\"object\":");
    if (what == TABLE_WHOLE)
        buf_put(out, text.bytes, text.len);
    else if (what == TABLE_METADATA)
        object_put(out, o, FORM_METADATA, rv);
    buf_putc(out, '}');
    buf_free(&text);
}

static void put_begin(struct buf *out, uint64_t rv)
{
    buf_printf(out,
               "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
               "\"resourceVersion\":\"%llu\"},",
               (unsigned long long)rv);
}

void table_put_one(struct buf *out, const struct object *o, enum table_object what, uint64_t rv,
                   bool columns)
{
    put_begin(out, rv ? rv : o->rv);
    table_put_columns(out, o->resource, columns);
    table_put_row(out, o, what, rv);
    buf_puts(out, "]}");
}

void table_put_bookmark(struct buf *out, const struct resource *r, uint64_t rv,
                        const char *metadata)
{
    put_begin(out, rv);
    table_put_columns(out, r, false);
    put_cells(out, r, "{}", 2);
    buf_printf(out,
               ",\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
               "\"metadata\":{%s}}}]}",
               metadata);
}
