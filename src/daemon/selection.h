/*
 * selection.h - which objects a watch is about, and why one that it tells as deleted has gone.
 *
 * Who watches with selectors hears DELETED also when an object is changed so that it is not selected
 * any more. The server sends the last state that was selected in both cases, so mostly nobody can
 * tell. What can be told:
 *
 *     deleted   its deletion was under way (metadata.deletionTimestamp), and only labels could have
 *               made it leave, which nobody changes at that time
 *     left      the state that was sent is not selected: some servers send the one after the change
 *
 * Of a watch that selects namespaces by their labels (follower.h) that is known for sure: when a
 * namespace leaves, so do its objects.
 */
#ifndef DAEMON_SELECTION_H
#define DAEMON_SELECTION_H

#include <stdbool.h>

#include "informer/object.h"
#include "informer/path.h"
#include "informer/selector.h"

#include "daemon/conf.h"

#define SELECTION_NS_LEFT "namespace left the selection"

/* Zeroed: all objects, and nobody asks why one has gone. */
struct selection {
    bool selects;                /* some objects only */
    struct inf_selector *labels; /* NULL: whatever they are, or they can't be seen */
    bool by_fields;              /* which may change */
    struct inf_path *deletion;   /* where an object says that it is being deleted */
};

/* Of a watch that was checked. */
void selection_init(struct selection *selection, const struct conf_watch *watch);
void selection_done(struct selection *selection);

/* Whether the deletion of @object is under way; also of one that is not the watch's own, as the
 * namespaces of follower.h. */
bool selection_being_deleted(const struct selection *selection, const struct inf_object *object);

/* "deleted", "left", or NULL: that can't be told. @last is the last state known of the object. */
const char *selection_why(const struct selection *selection, const struct inf_object *last);

#endif
