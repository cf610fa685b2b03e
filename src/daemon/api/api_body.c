/*
 * api_body.c - writes objects, lists and watch events. See api_body.h.
 */
#include "daemon/api/api_body.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/builtin_resource.h"
#include "base/text/json_string.h"

#define METADATA_HEAD \
    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":"

void api_type_init(struct api_type *type, const struct inf_resource *r)
{
    *type = (struct api_type){
        .kind = xstrdup(r->kind),
        .api_version = *r->group ? xasprintf("%s/%s", r->group, r->version) : xstrdup(r->version),
        .builtin = builtin_resource_find(r->group, r->name) != NULL,
        .printer = table_printer_find(r->group, r->name),
        .metadata = inf_path_parse("metadata", NULL),
        .version = inf_path_parse("metadata.resourceVersion", NULL),
    };
}

void api_type_free(struct api_type *type)
{
    free(type->kind);
    free(type->api_version);
    inf_path_free(type->metadata);
    inf_path_free(type->version);
    *type = (struct api_type){.kind = NULL};
}

/* ---- objects ---- */

static bool note_value(void *ctx, const char *json, size_t len)
{
    *(struct str *)ctx = (struct str){json, len};
    return false;
}

static struct str value_at(const struct inf_path *path, const struct inf_object *object)
{
    struct str value = {NULL, 0};
    inf_path_each(path, object, note_value, &value);
    return value;
}

/* Appends @text, a part of the object's text, with another resource version if @version is set. */
static void put_with_version(struct buf *out, const struct api_type *type,
                             const struct inf_object *object, struct str text, const char *version)
{
    struct str own = version ? value_at(type->version, object) : (struct str){NULL, 0};
    if (!own.at) {
        buf_put(out, text.at, text.len);
        return;
    }
    buf_put(out, text.at, (size_t)(own.at - text.at));
    buf_printf(out, "\"%s\"", version);
    buf_put(out, own.at + own.len, (size_t)(text.at + text.len - own.at) - own.len);
}

static void put_metadata(struct buf *out, const struct api_type *type,
                         const struct inf_object *object, const char *version)
{
    struct str metadata = value_at(type->metadata, object);
    buf_puts(out, METADATA_HEAD);
    if (metadata.at)
        put_with_version(out, type, object, metadata, version);
    else
        buf_puts(out, "{}");
    buf_putc(out, '}');
}

static enum table_object table_object_of(enum api_form form)
{
    return form == API_TABLE_NONE       ? TABLE_OBJECT_NONE
           : form == API_TABLE_METADATA ? TABLE_OBJECT_METADATA
                                        : TABLE_OBJECT_FULL;
}

static void put_table_head(struct buf *out, const struct api_type *type, const char *version,
                           bool columns)
{
    buf_printf(out,
               "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
               "\"resourceVersion\":\"%s\"},\"columnDefinitions\":",
               version);
    if (columns)
        table_put_columns(type->printer, out);
    else
        buf_puts(out, "null");
    buf_puts(out, ",\"rows\":[");
}

static void put_table(struct buf *out, const struct api_type *type, enum api_form form,
                      const struct inf_object *object, const char *version, bool columns,
                      int64_t now_us)
{
    put_table_head(out, type, version ? version : inf_object_resource_version(object), columns);
    table_put_row(type->printer, object, now_us, table_object_of(form), out);
    buf_puts(out, "]}");
}

static void put_one(struct buf *out, const struct api_type *type, enum api_form form,
                    const struct inf_object *object, const char *version, bool columns,
                    int64_t now_us)
{
    struct str text;
    text.at = inf_object_json(object, &text.len);
    if (form == API_FULL)
        put_with_version(out, type, object, text, version);
    else if (form == API_METADATA)
        put_metadata(out, type, object, version);
    else
        put_table(out, type, form, object, version, columns, now_us);
}

void api_put_object(struct buf *out, const struct api_type *type, enum api_form form,
                    const struct inf_object *object, const char *version, int64_t now_us)
{
    put_one(out, type, form, object, version, /* columns= */ true, now_us);
}

/* ---- lists ---- */

void api_put_list_head(struct buf *out, const struct api_type *type, enum api_form form,
                       const char *version)
{
    if (api_form_is_table(form)) {
        put_table_head(out, type, version, /* columns= */ true);
        return;
    }
    buf_puts(out, "{\"kind\":");
    if (form == API_METADATA) {
        buf_puts(out, "\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\"");
    } else {
        buf_printf(out, "\"%sList\",\"apiVersion\":", type->kind);
        json_put_string(out, str_of(type->api_version));
    }
    buf_printf(out, ",\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[", version);
}

/* The canonical text begins with kind and apiVersion, in this order. */
static void put_without_type(struct buf *out, struct str text)
{
    const char *at = memchr(text.at, ',', text.len);
    const char *second = at ? memchr(at + 1, ',', text.len - (size_t)(at + 1 - text.at)) : NULL;
    if (!second || strncmp(at + 1, "\"apiVersion\":", 13) != 0) {
        buf_put(out, text.at, text.len);
        return;
    }
    buf_putc(out, '{');
    buf_put(out, second + 1, text.len - (size_t)(second + 1 - text.at));
}

void api_put_item(struct buf *out, const struct api_type *type, enum api_form form,
                  const struct inf_object *object, bool first, int64_t now_us)
{
    if (!first)
        buf_putc(out, ',');
    if (form == API_FULL && type->builtin) {
        struct str text;
        text.at = inf_object_json(object, &text.len);
        put_without_type(out, text);
    } else if (api_form_is_table(form)) {
        table_put_row(type->printer, object, now_us, table_object_of(form), out);
    } else {
        put_one(out, type, form, object, NULL, /* columns= */ false, now_us);
    }
}

void api_put_list_end(struct buf *out)
{
    buf_puts(out, "]}\n");
}

/* ---- watches ---- */

void api_put_event(struct buf *out, const struct api_type *type, enum api_form form,
                   const char *event, const struct inf_object *object, const char *version,
                   bool columns, int64_t now_us)
{
    buf_printf(out, "{\"type\":\"%s\",\"object\":", event);
    put_one(out, type, form, object, version, columns, now_us);
    buf_puts(out, "}\n");
}

void api_put_bookmark(struct buf *out, const struct api_type *type, enum api_form form,
                      const char *version, bool initial_end)
{
    buf_puts(out, "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":");
    json_put_string(out, str_of(form == API_FULL       ? type->kind
                                : form == API_METADATA ? "PartialObjectMetadata"
                                                       : "Table"));
    buf_puts(out, ",\"apiVersion\":");
    json_put_string(out, str_of(form == API_FULL ? type->api_version : "meta.k8s.io/v1"));
    buf_printf(out, ",\"metadata\":{\"resourceVersion\":\"%s\"", version);
    if (initial_end)
        buf_puts(out, ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}");
    buf_puts(out, "}");
    if (api_form_is_table(form))
        buf_puts(out, ",\"columnDefinitions\":null,\"rows\":[]");
    buf_puts(out, "}}\n");
}
