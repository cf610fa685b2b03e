/*
 * coalescer.c - one entry per object name, in the order of the first change. See coalescer.h.
 */
#include "core/dispatch/coalescer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/dispatch/event.h"
#include "core/mutant.h"
#include "core/object/object.h"

struct coalesced {
    struct hash_node by_key;
    struct list in_order;
    const struct inf_object *known; /* the state delivered last; NULL: none */
    struct inf_event last;          /* the newest event of this key; holds references */
};

void coalescer_init(struct coalescer *c, const struct siphash_key *key)
{
    *c = (struct coalescer){.key = *key};
    list_init(&c->order);
}

size_t coalescer_count(const struct coalescer *c)
{
    return c->by_key.count;
}

static bool coalesced_has_key(const void *key, const struct hash_node *node)
{
    const struct coalesced *e = container_of(node, struct coalesced, by_key);
    return str_eq(*(const struct str *)key, object_key(inf_event_object(&e->last)));
}

static void coalescer_drop_entry(struct coalescer *c, struct coalesced *e)
{
    hashmap_remove(&c->by_key, &e->by_key);
    list_remove(&e->in_order);
    inf_object_unref(e->known);
    event_done(&e->last);
    free(e);
}

void coalescer_free(struct coalescer *c)
{
    struct list *node;
    while (!list_empty(&c->order)) {
        node = c->order.next;
        coalescer_drop_entry(c, container_of(node, struct coalesced, in_order));
    }
    hashmap_free(&c->by_key);
}

void coalescer_put(struct coalescer *c, const struct inf_event *event)
{
    struct str key = object_key(inf_event_object(event));
    uint64_t hash = siphash13(&c->key, key.at, key.len);
    struct hash_node *node = hashmap_find(&c->by_key, hash, coalesced_has_key, &key);
    struct coalesced *e = node ? container_of(node, struct coalesced, by_key) : NULL;
    event_ref_objects(event);
    if (!e) {
        e = NEW(struct coalesced);
        e->last = *event;
        if (event->verb != INF_ADDED && !MUTANT("coalesce-forgets-known"))
            e->known = inf_object_ref(event->old_object);
        hashmap_add(&c->by_key, &e->by_key, hash);
        list_push(&c->order, &e->in_order);
        return;
    }
    event_done(&e->last);
    e->last = *event;
    if ((!e->known || MUTANT("coalesce-drops-delete")) && event->verb == INF_DELETED)
        coalescer_drop_entry(c, e);
}

static struct inf_event as_added(const struct inf_event *last)
{
    struct inf_event event = *last;
    event.verb = INF_ADDED;
    event.old_object = NULL;
    event.final = true;
    return event;
}

/* Applies the table in coalescer.h. Returns the number of events. */
static size_t as_events(const struct coalesced *e, struct inf_event ret[2])
{
    bool gone = e->last.verb == INF_DELETED;
    ret[0] = e->last;
    if (!e->known) {
        ret[0] = as_added(&e->last);
        return 1;
    }
    if (strcmp(inf_object_uid(e->known), inf_object_uid(inf_event_object(&e->last))) != 0) {
        ret[0].verb = INF_DELETED;
        ret[0].old_object = e->known;
        ret[0].new_object = NULL;
        ret[0].final = false;
        ret[1] = as_added(&e->last);
        return gone ? 1 : 2;
    }
    if (gone)
        return 1;
    ret[0].verb = INF_MODIFIED;
    ret[0].old_object = e->known;
    return object_equal(e->known, e->last.new_object) ? 0 : 1;
}

size_t coalescer_take(struct coalescer *c, struct inf_event ret_events[2])
{
    while (!list_empty(&c->order)) {
        struct coalesced *e = container_of(c->order.next, struct coalesced, in_order);
        size_t n = as_events(e, ret_events);
        for (size_t i = 0; i < n; i++)
            event_ref_objects(&ret_events[i]);
        coalescer_drop_entry(c, e);
        if (n)
            return n;
    }
    return 0;
}
