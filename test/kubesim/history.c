/*
 * The recent changes of one resource: a ring of changes that each watch reads at its own position.
 * The state at an earlier version is computed by undoing changes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "store.h"

void history_init(struct history *h, size_t cap, uint64_t floor)
{
    h->ring = xcalloc(cap, sizeof(*h->ring));
    h->cap = cap;
    h->floor = floor;
}

static void drop_oldest(struct history *h)
{
    struct event *e = history_at(h, h->first);
    h->floor = e->rv;
    object_unref(e->now);
    object_unref(e->before);
    h->first++;
}

void history_free(struct history *h)
{
    while (h->first < h->next)
        drop_oldest(h);
    free(h->ring);
    *h = (struct history){0};
}

struct event *history_at(struct history *h, uint64_t number)
{
    assert(number >= h->first && number < h->next);
    return &h->ring[number % h->cap];
}

void history_add(struct history *h, struct event event)
{
    if (h->next - h->first == h->cap)
        drop_oldest(h);
    h->ring[h->next++ % h->cap] = event;
}

uint64_t history_after(struct history *h, uint64_t rv)
{
    uint64_t low = h->first, high = h->next;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (history_at(h, mid)->rv > rv)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void history_compact(struct history *h, uint64_t rv)
{
    while (h->first < h->next && history_at(h, h->first)->rv <= rv)
        drop_oldest(h);
    if (h->floor < rv)
        h->floor = rv;
}

void history_resize(struct history *h, size_t cap)
{
    struct event *ring = xcalloc(cap, sizeof(*ring));
    while (h->next - h->first > cap)
        drop_oldest(h);
    for (uint64_t n = h->first; n < h->next; n++)
        ring[n % cap] = *history_at(h, n);
    free(h->ring);
    h->ring = ring;
    h->cap = cap;
}

/* A key that changed after the given version, and its object at that version. */
struct undo {
    const char *key;
    uint64_t number;
    struct object *was; /* NULL: it did not exist */
};

static int by_key_then_age(const void *a, const void *b)
{
    const struct undo *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* The oldest change after @rv of each key: its object before that change is the one at @rv. */
static size_t collect_undo(struct resource *r, uint64_t rv, struct undo **ret)
{
    struct history *h = &r->history;
    uint64_t first = history_after(h, rv);
    size_t count = (size_t)(h->next - first), kept = 0;
    struct undo *undo = xcalloc(count + 1, sizeof(*undo));
    for (size_t i = 0; i < count; i++) {
        struct event *e = history_at(h, first + i);
        undo[i] = (struct undo){(e->now ? e->now : e->before)->key, i, e->before};
    }
    qsort(undo, count, sizeof(*undo), by_key_then_age);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(undo[kept - 1].key, undo[i].key) != 0)
            undo[kept++] = undo[i];
    }
    *ret = undo;
    return kept;
}

static void snapshot_push(struct snapshot *s, struct object *o)
{
    if (o)
        s->objects[s->count++] = object_ref(o);
}

void snapshot_take(struct snapshot *s, struct resource *r, uint64_t rv)
{
    struct undo *undo;
    size_t undos = collect_undo(r, rv, &undo), u = 0;
    struct tree_node *n = tree_first(&r->objects);
    *s = (struct snapshot){.rv = rv};
    s->objects = xcalloc(r->count + undos + 1, sizeof(struct object *));
    while (n ||
           u < undos) { /* merges two sorted lists; where both have a key, the past one is used */
        struct object *o = n ? container_of(n, struct object, node) : NULL;
        int order = !o ? 1 : u == undos ? -1 : strcmp(o->key, undo[u].key);
        snapshot_push(s, order < 0 ? o : undo[u].was);
        if (order >= 0)
            u++;
        if (order <= 0)
            n = tree_next(n);
    }
    free(undo);
}

void snapshot_free(struct snapshot *s)
{
    for (size_t i = 0; i < s->count; i++)
        object_unref(s->objects[i]);
    free(s->objects);
    *s = (struct snapshot){0};
}

/* Replaces the current objects by those of @s. */
static void replace_objects(struct resource *r, struct snapshot *s)
{
    struct tree_node *n;
    while ((n = tree_first(&r->objects))) {
        tree_remove(&r->objects, n);
        object_unref(container_of(n, struct object, node));
    }
    for (size_t i = 0; i < s->count; i++)
        tree_add(&r->objects, &object_ref(s->objects[i])->node);
    r->count = s->count;
}

static void forget_after(struct history *h, uint64_t rv)
{
    while (h->next > h->first && history_at(h, h->next - 1)->rv > rv) {
        struct event *e = history_at(h, h->next - 1);
        h->next--;
        object_unref(e->now);
        object_unref(e->before);
    }
}

void store_rewind(struct store *store, uint64_t rv)
{
    list_for_each(n, &store->resources) {
        struct resource *r = container_of(n, struct resource, node);
        struct snapshot s;
        snapshot_take(&s, r, rv);
        replace_objects(r, &s);
        snapshot_free(&s);
        forget_after(&r->history, rv);
    }
    store->rv = rv;
}
