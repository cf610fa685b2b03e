/*
 * ignored.h - updates that were not reported, for each object since its last record.
 *
 * The next record of such an object names the resourceVersion of the last one (old_rv) and how many updates
 * were left out in between (ignored). Only objects with updates left out have an entry; it ends with the next
 * record or with the object.
 */
#ifndef DAEMON_JOURNAL_IGNORED_H
#define DAEMON_JOURNAL_IGNORED_H

#include <stdint.h>

#include "informer/event.h"

#include "base/tree.h"

/* A zeroed struct is empty. */
struct ignored {
    struct tree by_key;
};

struct ignored_entry {
    struct tree_node node;
    uint64_t count; /* updates that were left out */
    const char *ns, *name;
    const char *rv; /* of the last record */
    char texts[];   /* what the three point to */
};

void ignored_free(struct ignored *ignored);

/* @event, an INF_MODIFIED, is not reported. */
void ignored_note(struct ignored *ignored, const struct inf_event *event);

/* Takes the entry of @object out; the caller frees it with free(). NULL: nothing was left out. */
struct ignored_entry *ignored_take(struct ignored *ignored, const struct inf_object *object);

#endif
