/*
 * generation.c - entries of one generation: lookup, replacement, ordered walk, freeing in slices.
 *
 * A walk continues after the last returned object, even if that one was removed. Nothing here fails.
 */
#include "core/store/generation.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/object/object.h"

enum {
    MEMBERS_PER_ENTRY = 16, /* so many index values cost about as much to free as an entry */
};

static struct entry *entry_at(struct tree_node *node)
{
    return node ? container_of(node, struct entry, in_order) : NULL;
}

static int by_entry_key(const struct tree_node *a, const struct tree_node *b)
{
    return str_cmp(entry_key(container_of(a, struct entry, in_order)),
                   entry_key(container_of(b, struct entry, in_order)));
}

static int key_to_entry(const void *key, const struct tree_node *node)
{
    const struct str *k = key;
    return str_cmp(*k, entry_key(container_of(node, struct entry, in_order)));
}

static bool entry_has_key(const void *key, const struct hash_node *node)
{
    const struct str *k = key;
    return str_eq(*k, entry_key(container_of(node, struct entry, by_key)));
}

/* ---- entries ---- */

uint64_t generation_hash(const struct generation *g, struct str key)
{
    return siphash13(&g->key, key.at, key.len);
}

struct entry *generation_find_hashed(const struct generation *g, struct str key, uint64_t hash)
{
    struct hash_node *node = hashmap_find(&g->by_key, hash, entry_has_key, &key);
    return node ? container_of(node, struct entry, by_key) : NULL;
}

struct entry *generation_find(const struct generation *g, struct str key)
{
    return generation_find_hashed(g, key, generation_hash(g, key));
}

bool generation_is_before(const struct generation *g, struct str key)
{
    return !g->in_order.last || key_to_entry(&key, g->in_order.last) > 0;
}

static void count_entry(struct generation *g, struct entry *e, uint64_t hash)
{
    hashmap_add(&g->by_key, &e->by_key, hash);
    g->bytes += inf_object_size(e->object);
}

static void add_entry(struct generation *g, struct entry *e, uint64_t hash)
{
    count_entry(g, e, hash);
    tree_add(&g->in_order, &e->in_order);
}

void generation_add(struct generation *g, const struct inf_object *held,
                    const struct inf_object *object, uint64_t hash)
{
    add_entry(g, index_entry_new(&g->indexes, held, object), hash);
}

void generation_add_labelled(struct generation *g, const struct inf_object *held, struct str labels,
                             uint64_t hash)
{
    add_entry(g, index_entry_new_labelled(&g->indexes, held, labels), hash);
}

void generation_append_labelled(struct generation *g, const struct inf_object *held,
                                struct str labels, uint64_t hash)
{
    struct entry *e = index_entry_new_labelled(&g->indexes, held, labels);
    count_entry(g, e, hash);
    tree_add_before(&g->in_order, NULL, &e->in_order);
}

const struct inf_object *generation_swap(struct generation *g, struct entry *e,
                                         const struct inf_object *held,
                                         const struct inf_object *object)
{
    const struct inf_object *old = e->object;
    g->bytes += inf_object_size(held) - inf_object_size(old);
    e->object = held;
    if (held != old)
        index_update(&g->indexes, e, object);
    return old;
}

const struct inf_object *generation_swap_labelled(struct generation *g, struct entry *e,
                                                  const struct inf_object *held, struct str labels)
{
    const struct inf_object *old = e->object;
    g->bytes += inf_object_size(held) - inf_object_size(old);
    e->object = held;
    index_update_labelled(&g->indexes, e, labels);
    return old;
}

void generation_replace_form(struct generation *g, struct entry *e, const struct inf_object *held)
{
    g->bytes += inf_object_size(held) - inf_object_size(e->object);
    inf_object_unref(e->object);
    e->object = held;
}

static void detach(struct generation *g, struct entry *e)
{
    hashmap_remove(&g->by_key, &e->by_key);
    tree_remove(&g->in_order, &e->in_order);
    g->bytes -= inf_object_size(e->object);
}

const struct inf_object *generation_remove(struct generation *g, struct entry *e)
{
    const struct inf_object *old = e->object;
    detach(g, e);
    index_entry_free(&g->indexes, e);
    return old;
}

struct entry *generation_detach_first(struct generation *g)
{
    struct entry *e = entry_at(tree_first(&g->in_order));
    detach(g, e);
    return e;
}

/* ---- walks ---- */

/* The first entry whose key is not before @ns followed by @next. */
static struct tree_node *first_at(const struct generation *g, const char *ns, char next)
{
    char bytes[OBJECT_NAME_MAX + 1];
    struct str key = {bytes, strlen(ns)};
    if (key.len > OBJECT_NAME_MAX)
        return NULL;
    memcpy(bytes, ns, key.len);
    bytes[key.len++] = next;
    return tree_at_least(&g->in_order, key_to_entry, &key);
}

static struct tree_node *first_in_namespace(const struct generation *g, const char *ns)
{
    return *ns ? first_at(g, ns, '/') : tree_first(&g->in_order);
}

struct entry_range generation_range(const struct generation *g, const char *ns)
{
    return (struct entry_range){first_in_namespace(g, ns), *ns ? first_at(g, ns, '/' + 1) : NULL};
}

struct entry_range generation_range_after(const struct generation *g, const char *ns,
                                          const struct inf_cursor *cursor)
{
    struct entry_range range = generation_range(g, ns);
    if (cursor->last) {
        struct str key = object_key(cursor->last);
        range.next = tree_after(&g->in_order, key_to_entry, &key);
    }
    return range;
}

struct entry *entry_range_next(struct entry_range *range)
{
    struct entry *e = range->next != range->end ? entry_at(range->next) : NULL;
    if (e)
        range->next = tree_next(range->next);
    return e;
}

struct entry *generation_next(const struct generation *g, uint64_t version, const char *ns,
                              struct inf_cursor *cursor)
{
    struct tree_node *node;
    struct entry *e;
    if (!cursor->last) {
        node = first_in_namespace(g, ns);
    } else if (cursor->place && cursor->version == version) {
        node = tree_next(cursor->place);
    } else { /* the entry at the cursor may be gone */
        struct str key = object_key(cursor->last);
        node = tree_after(&g->in_order, key_to_entry, &key);
    }
    e = entry_at(node);
    if (e && *ns && strcmp(inf_object_namespace(e->object), ns) != 0)
        e = NULL;
    if (e) {
        inf_object_unref(cursor->last);
        cursor->last = inf_object_ref(e->object);
    }
    cursor->place = e ? &e->in_order : NULL;
    cursor->version = version;
    return e;
}

/* ---- life ---- */

void generation_init(struct generation *g, struct inf_store *store, const struct siphash_key *key,
                     const struct index_def *defs, size_t n_defs)
{
    *g = (struct generation){.store = store, .key = *key};
    list_init(&g->node);
    tree_init(&g->in_order, by_entry_key);
    index_set_init(&g->indexes, defs, n_defs);
}

void generation_forget_kept(struct generation *g)
{
    for (size_t i = 0; i < g->n_kept; i++)
        inf_object_unref(g->kept[i]);
    free(g->kept);
    g->kept = NULL;
    g->n_kept = g->kept_capacity = 0;
}

/* The hash table is freed as a whole: no lookup follows, and shrinking it step by step would block
 * the loop. */
bool generation_free_some(struct generation *g, size_t *budget)
{
    struct entry *e;
    if (!g)
        return true;
    while ((e = entry_at(tree_first(&g->in_order)))) {
        const struct inf_object *object = e->object;
        size_t cost;
        if (!*budget)
            return false;
        tree_remove(&g->in_order, &e->in_order);
        cost = 1 + index_entry_free(&g->indexes, e) / MEMBERS_PER_ENTRY;
        inf_object_unref(object);
        *budget -= cost < *budget ? cost : *budget;
    }
    hashmap_free(&g->by_key);
    index_set_free(&g->indexes);
    generation_forget_kept(g);
    free(g);
    return true;
}
