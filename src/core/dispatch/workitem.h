/*
 * workitem.h - the keys that a work queue knows, each once, as an item in one of these states:
 *
 *                add                     handed out               done
 *      RESTING ───────────────> ITEM_QUEUED ─────────────> WORKING ──────────────> RESTING
 *                                  ^                     │ add
 *                                  └─────── done ─── WORKING_STALE
 *
 * A delay is apart from that: it may run in any state, and its end is an add. A resting item
 * without one has nothing to come, and goes, with its count of retries. (In client-go's words:
 * ITEM_QUEUED and WORKING_STALE are dirty, WORKING and WORKING_STALE are processing.)
 */
#ifndef CORE_DISPATCH_WORKITEM_H
#define CORE_DISPATCH_WORKITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/siphash.h"
#include "seam/clock.h"

enum item_state {
    RESTING,
    ITEM_QUEUED,
    WORKING,
    WORKING_STALE, /* and added meanwhile: the run under way may not have seen why */
};

struct item {
    struct hash_node by_key;
    struct list node; /* in the list for its state */
    struct timer delay;
    struct deferred_free deferred_free;
    struct workitems *items;
    enum item_state state;
    uint32_t retries;
    uint64_t since_ms; /* when it came into its list */
    size_t key_len;
    char key[];
};

struct workitems {
    struct clock *clock;
    struct siphash_key hash_key;
    struct hashmap by_key;
    struct list resting; /* each item is in one of these three */
    struct list queued;  /* in the order of their turns */
    struct list working; /* both kinds, in the order in which they began */
    size_t delayed;      /* how many have a delay that runs */
    void (*on_delay_end)(struct workitems *items, struct item *item);
};

void items_init(struct workitems *items, struct clock *clock, const struct siphash_key *hash_key,
                void (*on_delay_end)(struct workitems *items, struct item *item));

/* When none is left. */
void items_free(struct workitems *items);

struct item *item_find(const struct workitems *items, const char *key); /* NULL: there is none */

/* A resting one; the caller knows that its key is not there yet. */
struct item *item_new(struct workitems *items, const char *key);

/* Drops it if it is resting and no delay runs. The memory waits for the reap phase: somebody may
 * still be reading the key that he was lent. */
void item_drop_if_idle(struct item *item);

/* To the end of the list for @state. */
void item_move(struct item *item, enum item_state state);

/* Has on_delay_end() called in @delay_ms, unless that happens earlier already. */
void item_delay(struct item *item, uint64_t delay_ms);
bool item_delay_ends_within(const struct item *item, uint64_t delay_ms);

/* Ends the delay, if one runs, without a word. */
void item_end_delay(struct item *item);

/* Drop up to so many at a time, for there may be a million: of those that only wait for the end of
 * their delay, or of all. True: there are more. The items are gone after the next reap phase. */
bool items_drop_resting(struct workitems *items, size_t n);
bool items_drop(struct workitems *items, size_t n);

#endif
