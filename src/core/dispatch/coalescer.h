/*
 * coalescer.h - the backlog of a slow consumer: for each object the last delivered and the newest
 * state.
 *
 * Entries are taken in the order of their first change. What is reported for a name depends only on
 * what was reported before and on what is true now; A and B are objects with different uids:
 *
 *     reported before   now                     reported
 *     nothing           nothing                 nothing
 *     nothing           A                       ADDED A
 *     A                 nothing, A ended last   DELETED A
 *     A                 nothing, B ended last   DELETED A, final: false; B is not mentioned
 *     A                 A, unchanged            nothing
 *     A                 A, changed              MODIFIED A
 *     A                 B                       DELETED A, final: false; ADDED B
 *
 * The FIFO of an informer that coalesces (core/dispatch/fifo.h), followed by the store, reports by
 * the same table.
 */
#ifndef CORE_DISPATCH_COALESCER_H
#define CORE_DISPATCH_COALESCER_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/event.h"

#include "base/hashmap.h"
#include "base/list.h"
#include "base/siphash.h"

struct coalescer {
    struct siphash_key key;
    struct hashmap by_key;
    struct list order; /* of struct coalesced */
};

void coalescer_init(struct coalescer *c, const struct siphash_key *key);
void coalescer_free(struct coalescer *c);
size_t coalescer_count(const struct coalescer *c);

/* Merges @event into the entry of its object. */
void coalescer_put(struct coalescer *c, const struct inf_event *event);

/*
 * Takes the first entry out as one event, or as two: an object that was replaced by another of its
 * name is deleted, then added. The events hold references; the caller releases them with
 * event_done(). Returns the number of events, 0 if empty.
 */
size_t coalescer_take(struct coalescer *c, struct inf_event ret_events[2]);

#endif
