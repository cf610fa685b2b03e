/*
 * workitem.h - the keys that a work queue knows, each once, as an item in one of these states:
 *
 *               add                   pump                  done
 *      resting ─────────> queued ──────────────> working ──────────> resting
 *                            ^                      │ add
 *                            └────── done ─── working, stale
 *
 * A delay is independent of the state: it may run in any state, and its end is an add. A resting
 * item without a delay is freed, with its retry count. (In client-go's terms: queued and "working, stale"
 * are dirty, both working states are processing.)
 */
#ifndef CORE_DISPATCH_WORKITEM_H
#define CORE_DISPATCH_WORKITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/siphash.h"
#include "seam/clock.h"

enum workitem_state {
    ITEM_RESTING,
    ITEM_QUEUED,
    ITEM_WORKING,
    ITEM_WORKING_STALE, /* and added meanwhile: must run again afterwards */
};

struct workitem {
    struct hash_node by_key;
    struct list node; /* in the list for its state */
    struct timer delay;
    struct deferred_free deferred_free;
    struct workitems *items;
    enum workitem_state state;
    uint32_t retries;
    uint64_t since_ms; /* when it entered its list */
    size_t key_len;
    char key[];
};

struct workitems {
    struct clock *clock;
    struct siphash_key hash_key;
    struct hashmap by_key;
    struct list resting; /* each item is in one of these three */
    struct list queued;  /* in the order they will run */
    struct list working; /* both working states, in the order they started */
    size_t delayed;      /* items with a running delay */
    void (*on_delay_end)(struct workitems *items, struct workitem *item);
};

void workitems_init(struct workitems *items, struct clock *clock,
                    const struct siphash_key *hash_key,
                    void (*on_delay_end)(struct workitems *items, struct workitem *item));

/* All items must have been dropped. */
void workitems_free(struct workitems *items);

struct workitem *workitem_find(const struct workitems *items,
                               const char *key); /* NULL: not found */

/* A new resting item. The caller has checked that @key is not in use. */
struct workitem *workitem_new(struct workitems *items, const char *key);

/* Drops the item if it is resting and has no delay. Its memory is freed in the reap phase, because
 * a worker may still read the borrowed key. */
void workitem_drop_if_idle(struct workitem *item);

/* Moves the item to the end of the list for @state. */
void workitem_move(struct workitem *item, enum workitem_state state);

/* Calls on_delay_end() in @delay_ms, unless a running delay ends earlier. */
void workitem_delay(struct workitem *item, uint64_t delay_ms);
bool workitem_delay_ends_within(const struct workitem *item, uint64_t delay_ms);

/* Cancels the delay, if one runs, without calling on_delay_end(). */
void workitem_end_delay(struct workitem *item);

/* Drop up to @n items per list, because there may be a million: those that only wait for the end of
 * their delay, or all. Return true if there are more. Memory is freed in the next reap phase. */
bool workitems_drop_resting(struct workitems *items, size_t n);
bool workitems_drop(struct workitems *items, size_t n);

#endif
