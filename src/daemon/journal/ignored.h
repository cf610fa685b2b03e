/*
 * ignored.h - counts the updates of each object that were not reported since its last record.
 *
 * The next record of such an object has the resourceVersion of the last one (old_rv) and the number
 * of updates in between that were not reported (ignored). Only objects with such updates have an
 * entry; it is removed with the next record or the deletion of the object.
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
    uint64_t count; /* updates that were not reported */
    const char *ns, *name;
    const char *rv; /* of the last record */
    char texts[];   /* storage of the three strings */
};

void ignored_free(struct ignored *ignored);

/* Counts @event, an INF_MODIFIED that is not reported. */
void ignored_note(struct ignored *ignored, const struct inf_event *event);

/* Removes and returns the entry of @object; the caller frees it with free(). NULL: there is
 * none. */
struct ignored_entry *ignored_take(struct ignored *ignored, const struct inf_object *object);

#endif
