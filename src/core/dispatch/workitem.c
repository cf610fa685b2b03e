/*
 * workitem.c - the items of a work queue: hash table, one list per state, delays. See workitem.h.
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

static bool item_has_key(const void *key, const struct hash_node *node)
{
    const struct item *item = container_of(node, struct item, by_key);
    return str_eq(*(const struct str *)key, (struct str){item->key, item->key_len});
}

struct item *item_find(const struct workitems *items, const char *key)
{
    struct str text = str_of(key);
    uint64_t hash = siphash13(&items->hash_key, text.at, text.len);
    struct hash_node *node = hashmap_find(&items->by_key, hash, item_has_key, &text);
    return node ? container_of(node, struct item, by_key) : NULL;
}

static void item_on_delay_end(struct timer *timer)
{
    struct item *item = container_of(timer, struct item, delay);
    item->items->delayed--;
    item->items->on_delay_end(item->items, item);
}

struct item *item_new(struct workitems *items, const char *key)
{
    size_t len = strlen(key);
    struct item *item = xcalloc(1, sizeof(*item) + len + 1);
    item->items = items;
    item->delay.fire = item_on_delay_end;
    item->key_len = len;
    memcpy(item->key, key, len + 1);
    list_init(&item->node);
    item_move(item, RESTING);
    hashmap_add(&items->by_key, &item->by_key, siphash13(&items->hash_key, key, len));
    return item;
}

static void item_free_deferred(struct deferred_free *deferred_free)
{
    free(container_of(deferred_free, struct item, deferred_free));
}

void item_end_delay(struct item *item)
{
    if (!item->delay.running)
        return;
    timer_stop(item->items->clock, &item->delay);
    item->items->delayed--;
}

static void item_drop(struct item *item)
{
    struct workitems *items = item->items;
    item_end_delay(item);
    hashmap_remove(&items->by_key, &item->by_key);
    list_remove(&item->node);
    clock_free_later(items->clock, &item->deferred_free, item_free_deferred);
}

void item_drop_if_idle(struct item *item)
{
    if (item->state == RESTING && !item->delay.running)
        item_drop(item);
}

/* ---- states ---- */

static struct list *list_for(struct workitems *items, enum item_state state)
{
    switch (state) {
    case RESTING: return &items->resting;
    case ITEM_QUEUED: return &items->queued;
    case WORKING:
    case WORKING_STALE: break;
    }
    return &items->working;
}

void item_move(struct item *item, enum item_state state)
{
    item->state = state;
    item->since_ms = clock_now_ms(item->items->clock);
    list_remove(&item->node);
    list_push(list_for(item->items, state), &item->node);
}

/* ---- delays ---- */

bool item_delay_ends_within(const struct item *item, uint64_t delay_ms)
{
    uint64_t now_ms = clock_now_ms(item->items->clock);
    return item->delay.running && item->delay.due_ms <= now_ms + delay_ms;
}

void item_delay(struct item *item, uint64_t delay_ms)
{
    delay_ms = delay_ms < DELAY_MAX_MS ? delay_ms : DELAY_MAX_MS;
    if (item_delay_ends_within(item, delay_ms))
        return;
    item->items->delayed += !item->delay.running;
    timer_start(item->items->clock, &item->delay, delay_ms);
}

/* ---- all of them ---- */

static bool drop_some(struct list *list, size_t n)
{
    while (n-- && !list_empty(list))
        item_drop(container_of(list->next, struct item, node));
    return !list_empty(list);
}

bool items_drop_resting(struct workitems *items, size_t n)
{
    return drop_some(&items->resting, n);
}

bool items_drop(struct workitems *items, size_t n)
{
    return drop_some(&items->resting, n) || drop_some(&items->queued, n) ||
           drop_some(&items->working, n);
}

void items_init(struct workitems *items, struct clock *clock, const struct siphash_key *hash_key,
                void (*on_delay_end)(struct workitems *items, struct item *item))
{
    *items =
        (struct workitems){.clock = clock, .hash_key = *hash_key, .on_delay_end = on_delay_end};
    list_init(&items->resting);
    list_init(&items->queued);
    list_init(&items->working);
}

void items_free(struct workitems *items)
{
    hashmap_free(&items->by_key);
}
