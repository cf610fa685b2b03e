/*
 * workitem.c - the items of a work queue: hash table, one list per state, delays. See workitem.h.
 * Nothing here fails; the queue limits the number and the length of keys.
 */
#include "core/dispatch/workitem.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"

/* LIMIT: longest delay, about 8900 years, so that now + delay can't overflow. */
#define DELAY_MAX_MS (UINT64_C(1) << 48)

/* ---- lookup, creation, removal ---- */

static bool workitem_has_key(const void *key, const struct hash_node *node)
{
    const struct workitem *item = container_of(node, struct workitem, by_key);
    return str_eq(*(const struct str *)key, (struct str){item->key, item->key_len});
}

struct workitem *workitem_find(const struct workitems *items, const char *key)
{
    struct str text = str_of(key);
    uint64_t hash = siphash13(&items->hash_key, text.at, text.len);
    struct hash_node *node = hashmap_find(&items->by_key, hash, workitem_has_key, &text);
    return node ? container_of(node, struct workitem, by_key) : NULL;
}

static void workitem_on_delay_end(struct timer *timer)
{
    struct workitem *item = container_of(timer, struct workitem, delay);
    item->items->delayed--;
    item->items->on_delay_end(item->items, item);
}

struct workitem *workitem_new(struct workitems *items, const char *key)
{
    size_t len = strlen(key);
    struct workitem *item = xcalloc(1, sizeof(*item) + len + 1);
    item->items = items;
    item->delay.fire = workitem_on_delay_end;
    item->key_len = len;
    memcpy(item->key, key, len + 1);
    list_init(&item->node);
    workitem_move(item, ITEM_RESTING);
    hashmap_add(&items->by_key, &item->by_key, siphash13(&items->hash_key, key, len));
    return item;
}

static void workitem_free_deferred(struct deferred_free *deferred_free)
{
    free(container_of(deferred_free, struct workitem, deferred_free));
}

void workitem_end_delay(struct workitem *item)
{
    if (!item->delay.running)
        return;
    timer_stop(item->items->clock, &item->delay);
    item->items->delayed--;
}

static void workitem_drop(struct workitem *item)
{
    struct workitems *items = item->items;
    workitem_end_delay(item);
    hashmap_remove(&items->by_key, &item->by_key);
    list_remove(&item->node);
    clock_free_later(items->clock, &item->deferred_free, workitem_free_deferred);
}

void workitem_drop_if_idle(struct workitem *item)
{
    if (item->state == ITEM_RESTING && !item->delay.running)
        workitem_drop(item);
}

/* ---- states ---- */

void workitem_move(struct workitem *item, enum workitem_state state)
{
    struct list *list = state == ITEM_RESTING  ? &item->items->resting
                        : state == ITEM_QUEUED ? &item->items->queued
                                               : &item->items->working;
    item->state = state;
    item->since_ms = clock_now_ms(item->items->clock);
    list_remove(&item->node);
    list_push(list, &item->node);
}

/* ---- delays ---- */

bool workitem_delay_ends_within(const struct workitem *item, uint64_t delay_ms)
{
    uint64_t now_ms = clock_now_ms(item->items->clock);
    return item->delay.running && item->delay.due_ms <= now_ms + delay_ms;
}

void workitem_delay(struct workitem *item, uint64_t delay_ms)
{
    delay_ms = delay_ms < DELAY_MAX_MS ? delay_ms : DELAY_MAX_MS;
    if (workitem_delay_ends_within(item, delay_ms))
        return;
    item->items->delayed += !item->delay.running;
    timer_start(item->items->clock, &item->delay, delay_ms);
}

/* ---- all of them ---- */

static bool drop_some(struct list *list, size_t n)
{
    while (n-- && !list_empty(list))
        workitem_drop(container_of(list->next, struct workitem, node));
    return !list_empty(list);
}

bool workitems_drop_resting(struct workitems *items, size_t n)
{
    return drop_some(&items->resting, n);
}

bool workitems_drop(struct workitems *items, size_t n)
{
    return drop_some(&items->resting, n) || drop_some(&items->queued, n) ||
           drop_some(&items->working, n);
}

void workitems_init(struct workitems *items, struct clock *clock,
                    const struct siphash_key *hash_key,
                    void (*on_delay_end)(struct workitems *items, struct workitem *item))
{
    *items =
        (struct workitems){.clock = clock, .hash_key = *hash_key, .on_delay_end = on_delay_end};
    list_init(&items->resting);
    list_init(&items->queued);
    list_init(&items->working);
}

void workitems_free(struct workitems *items)
{
    hashmap_free(&items->by_key);
}
