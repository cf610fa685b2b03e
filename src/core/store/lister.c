/*
 * lister.c - reading the store: informer/store.h.
 *
 * All results are in key order. A callback may query the store again: the only state that a query
 * changes is the cached result in a bucket, which carries the number of its query.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/object/object.h"
#include "core/store/generation.h"
#include "core/store/store.h"

enum {
    SORT_FRACTION = 8, /* results of up to 1/8 of all objects are collected and sorted */
};

const struct inf_object *inf_store_get(const struct inf_store *store, const char *ns,
                                       const char *name)
{
    char key[2 * (OBJECT_NAME_MAX + 1)];
    size_t ns_len = strlen(ns), name_len = strlen(name), len = 0;
    struct entry *e;
    if (ns_len > OBJECT_NAME_MAX || name_len > OBJECT_NAME_MAX)
        return NULL;
    if (ns_len) {
        memcpy(key, ns, ns_len);
        key[ns_len] = '/';
        len = ns_len + 1;
    }
    memcpy(key + len, name, name_len);
    e = generation_find(store_current(store), (struct str){key, len + name_len});
    return e ? e->object : NULL;
}

size_t inf_store_count(const struct inf_store *store)
{
    return generation_count(store_current(store));
}

size_t inf_store_bytes(const struct inf_store *store)
{
    return store_current(store)->bytes;
}

/* ---- walks ---- */

static struct entry *next_entry(const struct inf_store *store, const char *ns,
                                struct inf_cursor *cursor)
{
    return generation_next(store_current(store), store_version(store), ns, cursor);
}

const struct inf_object *inf_store_next_in(const struct inf_store *store, const char *ns,
                                           struct inf_cursor *cursor)
{
    struct entry *e = next_entry(store, ns, cursor);
    return e ? e->object : NULL;
}

const struct inf_object *inf_store_next(const struct inf_store *store, struct inf_cursor *cursor)
{
    return inf_store_next_in(store, "", cursor);
}

void inf_cursor_end(struct inf_cursor *cursor)
{
    inf_object_unref(cursor->last);
    *cursor = (struct inf_cursor)INF_CURSOR_START;
}

/* ---- by index ---- */

/* Calls @each for the objects in @ns ("": all), in order. Frees the array. */
static void each_sorted(const struct inf_object **objects, size_t n, const char *ns,
                        inf_object_fn *each, void *ctx)
{
    bool more = true;
    index_sort(objects, n);
    for (size_t i = 0; i < n && more; i++)
        if (!*ns || strcmp(inf_object_namespace(objects[i]), ns) == 0)
            more = each(ctx, objects[i]);
    free(objects);
}

/* Whether it is cheaper to sort @n objects than to walk over all, which are in order. */
static bool are_few(const struct inf_store *store, size_t n)
{
    return n <= inf_store_count(store) / SORT_FRACTION;
}

static void each_in_bucket(const struct inf_store *store, const struct index_bucket *bucket,
                           inf_object_fn *each, void *ctx)
{
    const struct index_set *set = &store_current(store)->indexes;
    struct inf_cursor cursor = INF_CURSOR_START;
    struct entry *e;
    bool more = true;
    if (are_few(store, bucket->count)) {
        const struct inf_object **objects = xcalloc(bucket->count, sizeof(*objects));
        each_sorted(objects, index_collect(bucket, objects), "", each, ctx);
        return;
    }
    while (more && (e = next_entry(store, "", &cursor)))
        more = !index_is_in(set, e, bucket) || each(ctx, e->object);
    inf_cursor_end(&cursor);
}

int inf_store_by_index(const struct inf_store *store, const char *index, const char *value,
                       inf_object_fn *each, void *ctx)
{
    const struct index_set *set = &store_current(store)->indexes;
    const struct tree *buckets = index_named(set, index);
    const struct index_bucket *bucket = buckets ? index_bucket(buckets, str_of(value)) : NULL;
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    bool more = true;
    if (!buckets)
        return -INF_EINVAL;
    if (bucket && buckets != &set->namespaces)
        each_in_bucket(store, bucket, each, ctx);
    else if (bucket) /* it has only a count; "" selects objects without a namespace */
        while (more && (object = inf_store_next_in(store, value, &cursor)))
            more = strcmp(inf_object_namespace(object), value) != 0 || each(ctx, object);
    inf_cursor_end(&cursor);
    return 0;
}

int inf_store_index_values(const struct inf_store *store, const char *index,
                           inf_index_value_fn *each, void *ctx)
{
    const struct tree *buckets = index_named(&store_current(store)->indexes, index);
    struct tree_node *node = buckets ? tree_first(buckets) : NULL;
    if (!buckets)
        return -INF_EINVAL;
    for (; node; node = tree_next(node)) {
        const struct index_bucket *bucket = container_of(node, struct index_bucket, in_index);
        if (!each(ctx, bucket->value, bucket->count))
            break;
    }
    return 0;
}

size_t inf_store_index_count(const struct inf_store *store, const char *index)
{
    const struct tree *buckets = index_named(&store_current(store)->indexes, index);
    return buckets ? buckets->count : 0;
}

/* ---- by labels ---- */

/* Evaluates the selector once per bucket and query: the result is cached in the bucket. */
static bool bucket_matches(struct index_bucket *bucket, uint64_t query_id,
                           const struct label_query *query)
{
    if (bucket->query_id != query_id) {
        bucket->matches = query->matches(query->selector, (struct str){bucket->value, bucket->len});
        bucket->query_id = query_id;
    }
    return bucket->matches;
}

bool store_by_labels(const struct inf_store *store, const struct label_query *query,
                     struct inf_cursor *cursor, size_t *budget, inf_object_fn *each, void *ctx)
{
    uint64_t query_id = ++store_current(store)->indexes.queries;
    bool unlabelled = query->matches(query->selector, STR("{}"));
    struct entry *e;
    for (; *budget && (e = next_entry(store, query->ns, cursor)); --*budget) {
        struct index_bucket *labels = e->members[INDEX_LABELS].bucket;
        if (labels ? bucket_matches(labels, query_id, query) : unlabelled)
            if (!each(ctx, e->object))
                return false;
    }
    return *budget > 0;
}

/* Counts the objects in the buckets that match @query, and writes them to @out unless it is NULL. */
static size_t collect_by_labels(struct index_set *set, const struct label_query *query,
                                uint64_t query_id, const struct inf_object **out)
{
    size_t n = 0;
    for (struct tree_node *node = tree_first(&set->trees[INDEX_LABELS]); node;
         node = tree_next(node)) {
        struct index_bucket *bucket = container_of(node, struct index_bucket, in_index);
        if (bucket_matches(bucket, query_id, query))
            n += out ? index_collect(bucket, out + n) : bucket->count;
    }
    return n;
}

bool store_few_by_labels(const struct inf_store *store, const struct label_query *query,
                         inf_object_fn *each, void *ctx)
{
    struct index_set *set = &store_current(store)->indexes;
    uint64_t query_id = ++set->queries;
    const struct inf_object **objects;
    size_t n;
    if (query->matches(query->selector, STR("{}"))) /* those without labels are in no bucket */
        return false;
    n = collect_by_labels(set, query, query_id, NULL);
    if (!are_few(store, n))
        return false;
    objects = xcalloc(n + 1, sizeof(*objects));
    collect_by_labels(set, query, query_id, objects);
    each_sorted(objects, n, query->ns, each, ctx);
    return true;
}
