/*
 * object.c - builds and writes the text of objects: as in a list, as in an event, or only the
 * metadata.
 */
#include "object.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "store.h"

static size_t digits(uint64_t n)
{
    char text[24];
    return (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
}

struct object *object_make(const struct resource *r, const char *ns, const char *name,
                           const struct stamp *stamp, struct buf *head, size_t rv_at,
                           struct tail *tail)
{
    struct object *o = NEW(struct object);
    o->refs = 1;
    o->resource = r;
    o->ns = xstrdup(ns);
    o->key = ns[0] ? xasprintf("%s/%s", ns, name) : xstrdup(name);
    o->name = o->key + (ns[0] ? strlen(ns) + 1 : 0);
    o->uid = xstrdup(stamp->uid);
    o->created = xstrdup(stamp->created);
    o->rv = stamp->rv;
    o->rv_at = rv_at;
    o->rv_len = digits(stamp->rv);
    o->len = head->len;
    o->head = xrealloc(head->bytes, head->len);
    *head = (struct buf){0}; /* now owned by the object */
    o->tail = tail;
    if (tail)
        tail->refs++;
    return o;
}

struct object *object_ref(struct object *o)
{
    if (o)
        o->refs++;
    return o;
}

void object_unref(struct object *o)
{
    if (!o || --o->refs > 0)
        return;
    tail_unref(o->tail);
    free(o->key);
    free(o->ns);
    free(o->uid);
    free(o->created);
    free(o->head);
    free(o);
}

struct tail *tail_make(const char *bytes, size_t len)
{
    struct tail *tail = xmalloc(sizeof(*tail) + len);
    tail->refs = 1;
    tail->len = len;
    memcpy(tail->bytes, bytes, len);
    return tail;
}

void tail_unref(struct tail *tail)
{
    if (tail && --tail->refs == 0)
        free(tail);
}

static void put_whole(struct buf *out, const struct object *o, bool kind, uint64_t rv)
{
    const struct resource *r = o->resource;
    size_t rest = o->rv_at + o->rv_len;
    buf_putc(out, '{');
    if (kind && !r->custom)
        buf_printf(out, "\"kind\":\"%s\",\"apiVersion\":\"%s\",", r->kind, r->api_version);
    buf_put(out, o->head, o->rv_at);
    buf_printf(out, "%llu", (unsigned long long)(rv ? rv : o->rv));
    buf_put(out, o->head + rest, o->len - rest);
    if (o->tail)
        buf_put(out, o->tail->bytes, o->tail->len);
}

static void put_metadata(struct buf *out, const struct object *o, uint64_t rv)
{
    struct buf whole = {0};
    yyjson_doc *doc;
    size_t len;
    char *text;
    put_whole(&whole, o, false, rv);
    doc = yyjson_read(whole.bytes, whole.len, YYJSON_READ_NUMBER_AS_RAW);
    assert(doc);
    text = yyjson_val_write(yyjson_obj_get(yyjson_doc_get_root(doc), "metadata"), 0, &len);
    buf_puts(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                  "\"metadata\":");
    buf_put(out, text, len);
    buf_putc(out, '}');
    free(text);
    yyjson_doc_free(doc);
    buf_free(&whole);
}

void object_put(struct buf *out, const struct object *o, enum form form, uint64_t rv)
{
    if (form == FORM_METADATA)
        put_metadata(out, o, rv);
    else
        put_whole(out, o, form == FORM_WHOLE, rv);
}

size_t object_size(const struct object *o)
{
    return o->len + (o->tail ? o->tail->len : 0);
}

int object_order(const struct tree_node *a, const struct tree_node *b)
{
    const struct object *x = container_of(a, struct object, node);
    const struct object *y = container_of(b, struct object, node);
    return strcmp(x->key, y->key);
}

void json_put_pretty(struct buf *out, const char *json, size_t len)
{
    yyjson_doc *doc = yyjson_read(json, len, YYJSON_READ_NUMBER_AS_RAW);
    size_t size = 0;
    char *text = doc ? yyjson_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, &size) : NULL;
    if (text)
        buf_put(out, text, size);
    else
        buf_put(out, json, len);
    free(text);
    yyjson_doc_free(doc);
}
