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
#include "core/object/object_packer.h"
#include "core/store/generation.h"
#include "core/store/index_path.h"
#include "core/store/store.h"

enum {
    SORT_FRACTION = 8,  /* results of up to 1/8 of all objects are collected and sorted */
    BUCKET_EACH = 1024, /* objects of a bucket that are compared for each slice of a walk over it */
    SKIPPED_PER_UNIT = 8 /* objects outside of the bucket count as one that is examined */
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
    return e ? store_lend(store, e->object) : NULL;
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
    const struct inf_object *object;
    if (!next_entry(store, ns, cursor))
        return NULL;
    object = store_unpack(store, cursor->last);
    inf_object_unref(cursor->last);
    return cursor->last = object; /* valid until the next step */
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

/* ---- without an index ---- */

/* Calls @each with the ordinary form of @held. */
static bool call_each(const struct inf_store *store, inf_object_fn *each, void *ctx,
                      const struct inf_object *held)
{
    const struct inf_object *object = store_unpack(store, held);
    bool more = each(ctx, object);
    inf_object_unref(object);
    return more;
}

void store_each(const struct inf_store *store, const char *ns, inf_object_fn *each, void *ctx)
{
    struct entry_range range = generation_range(store_current(store), ns);
    struct entry *e;
    while ((e = entry_range_next(&range)) && call_each(store, each, ctx, e->object))
        continue;
}

/* The next walk from @cursor continues after @last; NULL: after the same object as this one. */
static void remember_last(const struct inf_store *store, struct inf_cursor *cursor,
                          const struct entry *last)
{
    if (!last)
        return;
    inf_object_unref(cursor->last);
    *cursor =
        (struct inf_cursor){inf_object_ref(last->object), &last->in_order, store_version(store)};
}

/* Calls @each with the ordinary form of @held if that matches. */
static bool call_if_matches(const struct inf_store *store, const struct object_query *query,
                            const struct inf_object *held, inf_object_fn *each, void *ctx)
{
    const struct inf_object *object;
    bool more;
    if (!query->may_match(query->selector, held))
        return true;
    object = store_unpack(store, held);
    more = !query->matches(query->selector, object) || each(ctx, object);
    inf_object_unref(object);
    return more;
}

bool store_by_query(const struct inf_store *store, const struct object_query *query,
                    struct inf_cursor *cursor, size_t *budget, inf_object_fn *each, void *ctx)
{
    struct entry_range range = generation_range_after(store_current(store), query->ns, cursor);
    struct entry *e, *last = NULL;
    bool more = true;
    for (; more && *budget && (e = entry_range_next(&range)); --*budget) {
        more = call_if_matches(store, query, e->object, each, ctx);
        last = e;
    }
    remember_last(store, cursor, last);
    return more && *budget > 0;
}

/* ---- by index ---- */

/* Calls @each for the objects in @ns ("": all), in order. Frees the array. */
static void each_sorted(const struct inf_store *store, const struct inf_object **objects, size_t n,
                        const char *ns, inf_object_fn *each, void *ctx)
{
    bool more = true;
    index_sort(objects, n);
    for (size_t i = 0; i < n && more; i++)
        if (!*ns || strcmp(inf_object_namespace(objects[i]), ns) == 0)
            more = call_each(store, each, ctx, objects[i]);
    free(objects);
}

/* Whether it is cheaper to sort @n objects than to walk over all, which are in order. */
static bool are_few(const struct inf_store *store, size_t n)
{
    return n <= inf_store_count(store) / SORT_FRACTION;
}

/* Writes the first @max objects of @bucket in @ns ("": all) after the cursor to @out, which has room for
 * the whole bucket or for twice @max, in key order. Returns their number. */
static size_t collect_after(const struct index_bucket *bucket, const char *ns,
                            const struct inf_cursor *cursor, size_t max,
                            const struct inf_object **out)
{
    const struct inf_object *bound = NULL; /* there are @max before it */
    size_t n = 0;
    list_for_each(node, &bucket->members) {
        const struct inf_object *object =
            container_of(node, struct member, in_bucket)->entry->object;
        struct str key = object_key(object);
        if ((*ns && strcmp(inf_object_namespace(object), ns) != 0) ||
            (cursor->last && str_cmp(key, object_key(cursor->last)) <= 0) ||
            (bound && str_cmp(key, object_key(bound)) > 0))
            continue;
        out[n++] = object;
        if (n / 2 >= max) {
            index_sort(out, n);
            n = max;
            bound = out[n - 1];
        }
    }
    index_sort(out, n);
    return n < max ? n : max;
}

/* Takes the next objects from the bucket itself, which has no order. */
static bool collect_bucket(const struct inf_store *store, const struct index_bucket *bucket,
                           const struct object_query *query, struct inf_cursor *cursor,
                           size_t *budget, inf_object_fn *each, void *ctx)
{
    size_t room = *budget < bucket->count / 2 ? 2 * *budget : bucket->count, n, i = 0;
    const struct inf_object **objects = xcalloc(room, sizeof(*objects)), *last = NULL;
    bool more = true;
    n = collect_after(bucket, query->ns, cursor, *budget, objects);
    for (; more && i < n; i++, --*budget) {
        last = objects[i];
        more = call_if_matches(store, query, last, each, ctx);
    }
    if (last) {
        inf_object_unref(cursor->last);
        *cursor = (struct inf_cursor){inf_object_ref(last), NULL, 0};
    }
    free(objects);
    return more && *budget > 0;
}

/* Walks over all objects, which are in order, and skips those outside of the bucket. */
static bool walk_bucket(const struct inf_store *store, const struct index_bucket *bucket,
                        const struct object_query *query, struct inf_cursor *cursor, size_t *budget,
                        inf_object_fn *each, void *ctx)
{
    const struct index_set *set = &store_current(store)->indexes;
    struct entry_range range = generation_range_after(store_current(store), query->ns, cursor);
    struct entry *e, *last = NULL;
    size_t skipped = 0;
    bool more = true;
    while (more && *budget && (e = entry_range_next(&range))) {
        bool is_in = index_is_in(set, e, bucket);
        last = e;
        if (is_in)
            more = call_if_matches(store, query, e->object, each, ctx);
        if (is_in || ++skipped % SKIPPED_PER_UNIT == 0)
            --*budget;
    }
    remember_last(store, cursor, last);
    return more && *budget > 0;
}

/* Collecting is for buckets that are much smaller than the store. Each slice compares the whole bucket:
 * it must be small, or be read in one slice. */
static bool each_in_bucket(const struct inf_store *store, const struct index_bucket *bucket,
                           const struct object_query *query, struct inf_cursor *cursor,
                           size_t *budget, inf_object_fn *each, void *ctx)
{
    bool small = bucket->count <= BUCKET_EACH || bucket->count <= *budget;
    if (!*budget)
        return false;
    if (small && are_few(store, bucket->count))
        return collect_bucket(store, bucket, query, cursor, budget, each, ctx);
    return walk_bucket(store, bucket, query, cursor, budget, each, ctx);
}

/* Objects without a namespace are no range: there may be others between them. */
static void each_without_namespace(const struct inf_store *store, inf_object_fn *each, void *ctx)
{
    struct entry_range range = generation_range(store_current(store), "");
    struct entry *e;
    bool more = true;
    while (more && (e = entry_range_next(&range)))
        more = *inf_object_namespace(e->object) || call_each(store, each, ctx, e->object);
}

static bool matches_any(const void *selector, const struct inf_object *object)
{
    (void)selector;
    (void)object;
    return true;
}

int inf_store_by_index(const struct inf_store *store, const char *index, const char *value,
                       inf_object_fn *each, void *ctx)
{
    static const struct object_query all = {"", matches_any, matches_any, NULL};
    const struct index_set *set = &store_current(store)->indexes;
    const struct tree *buckets = index_named(set, index);
    const struct index_bucket *bucket = buckets ? index_bucket(buckets, str_of(value)) : NULL;
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t budget = SIZE_MAX;
    if (!buckets)
        return -INF_EINVAL;
    if (!bucket)
        return 0;
    if (buckets != &set->namespaces)
        each_in_bucket(store, bucket, &all, &cursor, &budget, each, ctx);
    else if (*value)
        store_each(store, value, each, ctx);
    else
        each_without_namespace(store, each, ctx);
    inf_cursor_end(&cursor);
    return 0;
}

/* The buckets of a complete index by @path; NULL if there is none. */
static const struct tree *index_of_path(const struct index_set *set, const struct inf_path *path)
{
    for (size_t i = 0; i < set->n_defs && !set->incomplete; i++)
        if (index_is_by_path(&set->defs[i], path))
            return &set->trees[INDEX_DEFS + i];
    return NULL;
}

bool store_has_indexed_path(const struct inf_store *store, const struct inf_path *path)
{
    return index_of_path(&store_current(store)->indexes, path) != NULL;
}

bool store_by_indexed_path(const struct inf_store *store, const struct inf_path *path,
                           struct str value, const struct object_query *query,
                           struct inf_cursor *cursor, size_t *budget, inf_object_fn *each,
                           void *ctx)
{
    const struct tree *buckets = index_of_path(&store_current(store)->indexes, path);
    const struct index_bucket *bucket = index_bucket(buckets, value);
    return !bucket || each_in_bucket(store, bucket, query, cursor, budget, each, ctx);
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
    struct entry_range range = generation_range_after(store_current(store), query->ns, cursor);
    uint64_t query_id = ++store_current(store)->indexes.queries;
    bool unlabelled = query->matches(query->selector, STR("{}")), more = true;
    struct entry *e, *last = NULL;
    for (; more && *budget && (e = entry_range_next(&range)); --*budget) {
        struct index_bucket *labels = e->members[INDEX_LABELS].bucket;
        last = e;
        if (labels ? bucket_matches(labels, query_id, query) : unlabelled)
            more = call_each(store, each, ctx, e->object);
    }
    remember_last(store, cursor, last);
    return more && *budget > 0;
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
    each_sorted(store, objects, n, query->ns, each, ctx);
    return true;
}
