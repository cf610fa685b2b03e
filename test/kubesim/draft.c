/*
 * Converts a received object into the form in which the API server stores and sends it: metadata in
 * the order of its Go struct for built-in types, all keys sorted for custom resources.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/json_string.h"
#include "object.h"
#include "store.h"

/* the members of metadata, in the order of built-in types */
static const char *const metadata_order[] = {
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
};

static bool refuse(struct status *ret, const char *why)
{
    status_set(ret, 400, "BadRequest", "%s", why);
    return false;
}

/* The member if it is a valid name; "" if it is absent; NULL if it is anything else. */
static const char *member_text(yyjson_mut_val *object, const char *key)
{
    yyjson_mut_val *v = yyjson_mut_obj_get(object, key);
    const char *text = yyjson_mut_get_str(v);
    if (!v || yyjson_mut_is_null(v))
        return "";
    return text && !strpbrk(text, "/%") ? text : NULL;
}

/* Sets metadata.@key to @expected if it is missing, and returns its value in @ret. False if it is not a
 * valid name, or is not the expected one. */
static bool complete_field(struct draft *d, yyjson_mut_val *metadata, const char *key,
                           const char *expected, const char **ret)
{
    const char *given = member_text(metadata, key);
    if (!given || (given[0] && expected && strcmp(given, expected) != 0))
        return false;
    *ret = given[0] || !expected ? given : expected;
    if (!given[0] && expected && expected[0])
        yyjson_mut_obj_add_strcpy(d->doc, metadata, key, expected);
    return true;
}

static bool read_names(struct draft *d, const char *ns, const char *name, struct status *ret)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(d->doc);
    yyjson_mut_val *metadata = yyjson_mut_obj_get(root, "metadata");
    const char *kind = member_text(root, "kind");
    if (!yyjson_mut_is_obj(metadata))
        return refuse(ret, "the object has no metadata");
    if (!kind || (kind[0] && strcmp(kind, d->resource->kind) != 0))
        return refuse(ret, "the kind of the object is not the one of the resource");
    if (!complete_field(d, metadata, "namespace", ns, &d->ns))
        return refuse(ret, "the namespace of the object does not match the one of the request");
    if (!complete_field(d, metadata, "name", name, &d->name) || !d->name[0])
        return refuse(ret,
                      "the name of the object is missing or does not match the one of the request");
    if (d->resource->namespaced != (d->ns[0] != '\0'))
        return refuse(
            ret,
            "a namespaced resource requires a namespace, a cluster-scoped one must not have any");
    d->rv = member_text(metadata, "resourceVersion");
    return d->rv || refuse(ret, "the resource version is not a string");
}

bool draft_read(struct draft *d, const struct resource *r, const char *ns, const char *name,
                const char *json, size_t len, struct status *ret)
{
    yyjson_doc *doc = yyjson_read(json, len, YYJSON_READ_NUMBER_AS_RAW); /* 1e2 stays 1e2 */
    *d = (struct draft){.resource = r};
    if (!doc || !yyjson_is_obj(yyjson_doc_get_root(doc))) {
        yyjson_doc_free(doc);
        return refuse(ret, "the body of the request is not a JSON object");
    }
    d->doc = yyjson_doc_mut_copy(doc, NULL);
    yyjson_doc_free(doc);
    if (read_names(d, ns, name, ret))
        return true;
    draft_free(d);
    return false;
}

void draft_free(struct draft *d)
{
    yyjson_mut_doc_free(d->doc);
    d->doc = NULL;
}

struct pair {
    yyjson_mut_val *key;
    yyjson_mut_val *value;
};

static int by_key(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return strcmp(yyjson_mut_get_str(x->key), yyjson_mut_get_str(y->key));
}

static size_t metadata_place(const struct pair *p)
{
    const char *key = yyjson_mut_get_str(p->key);
    size_t i = 0;
    while (i < ARRAY_LEN(metadata_order) && strcmp(metadata_order[i], key) != 0)
        i++;
    return i;
}

static int by_place(const void *a, const void *b)
{
    size_t x = metadata_place(a), y = metadata_place(b);
    return x == y ? by_key(a, b) : x < y ? -1 : 1;
}

static void order_members(yyjson_mut_val *object, int (*order)(const void *, const void *))
{
    size_t count = yyjson_mut_obj_size(object), i, max;
    struct pair *pairs = xcalloc(count + 1, sizeof(*pairs));
    yyjson_mut_val *key, *value;
    yyjson_mut_obj_foreach(object, i, max, key, value) pairs[i] = (struct pair){key, value};
    qsort(pairs, count, sizeof(*pairs), order);
    yyjson_mut_obj_clear(object);
    for (i = 0; i < count; i++)
        yyjson_mut_obj_add(object, pairs[i].key, pairs[i].value);
    free(pairs);
}

/* Recursive, because yyjson does not limit the depth. LIMIT: deeper values are not sorted. */
static void sort_keys(yyjson_mut_val *v, int depth)
{
    size_t i, max;
    yyjson_mut_val *key, *value;
    if (depth == 0)
        return;
    if (yyjson_mut_is_obj(v)) {
        yyjson_mut_obj_foreach(v, i, max, key, value) sort_keys(value, depth - 1);
        order_members(v, by_key);
    }
    if (yyjson_mut_is_arr(v)) {
        yyjson_mut_arr_foreach(v, i, max, value) sort_keys(value, depth - 1);
    }
}

static void set_text(struct draft *d, yyjson_mut_val *object, const char *key, const char *text)
{
    yyjson_mut_obj_put(object, yyjson_mut_strcpy(d->doc, key), yyjson_mut_strcpy(d->doc, text));
}

static void set_metadata(struct draft *d, const struct stamp *stamp)
{
    yyjson_mut_val *m = yyjson_mut_obj_get(yyjson_mut_doc_get_root(d->doc), "metadata");
    char rv[24];
    snprintf(rv, sizeof(rv), "%llu", (unsigned long long)stamp->rv);
    set_text(d, m, "uid", stamp->uid);
    set_text(d, m, "resourceVersion", rv);
    set_text(d, m, "creationTimestamp", stamp->created);
}

static void put_value(struct buf *out, const char *key, yyjson_mut_val *value)
{
    size_t len;
    char *text = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, &len);
    assert(text);
    if (out->len)
        buf_putc(out, ',');
    json_put_string(out, str_of(key));
    buf_putc(out, ':');
    buf_put(out, text, len);
    free(text);
}

/* Adds the members after `{` and remembers the position of the version. A string that contains
 * the same text can't be mistaken for it: its quotes would be escaped. */
static size_t put_members(struct buf *out, yyjson_mut_val *root)
{
    static const char mark[] = "\"resourceVersion\":\"";
    size_t i, max, rv_at = 0;
    yyjson_mut_val *key, *value;
    yyjson_mut_obj_foreach(root, i, max, key, value)
    {
        size_t start = out->len;
        put_value(out, yyjson_mut_get_str(key), value);
        if (strcmp(yyjson_mut_get_str(key), "metadata") == 0) {
            const char *at = memmem(out->bytes + start, out->len - start, mark, sizeof(mark) - 1);
            assert(at);
            rv_at = (size_t)(at - out->bytes) + sizeof(mark) - 1;
        }
    }
    buf_putc(out, '}');
    return rv_at;
}

static void spell_builtin(struct draft *d, yyjson_mut_val *root)
{
    yyjson_mut_val *metadata = yyjson_mut_obj_remove_key(root, "metadata");
    yyjson_mut_obj_remove_key(root, "kind");
    yyjson_mut_obj_remove_key(root, "apiVersion");
    order_members(metadata, by_place);
    yyjson_mut_obj_insert(root, yyjson_mut_str(d->doc, "metadata"), metadata, 0);
}

struct object *draft_finish(struct draft *d, const struct stamp *stamp)
{
    enum {
        DEPTH_MAX = 100
    };
    yyjson_mut_val *root = yyjson_mut_doc_get_root(d->doc);
    struct buf head = {0};
    struct object *o;
    size_t rv_at;
    set_metadata(d, stamp);
    if (d->resource->custom) {
        set_text(d, root, "apiVersion", d->resource->api_version);
        set_text(d, root, "kind", d->resource->kind);
        sort_keys(root, DEPTH_MAX);
    } else {
        spell_builtin(d, root);
    }
    rv_at = put_members(&head, root);
    o = object_make(d->resource, d->ns, d->name, stamp, &head, rv_at, NULL);
    draft_free(d);
    return o;
}
