/*
 * selection.h - which objects a watch selects, and why an object that it reports as deleted is
 * gone.
 *
 * A watch with selectors also receives DELETED when an object changes so that it is no longer
 * selected. The server sends the last selected state in both cases, so usually the two can't be
 * distinguished. They can if:
 *
 *     deleted   its deletion was in progress (metadata.deletionTimestamp), and only labels could
 *               have made it leave, which are not expected to change during a deletion
 *     left      the state that was sent is not selected (some servers send the one after the
 *               change), or a cache of all objects (another watch's: watch_stream.c) still has
 *               the object, without the labels, at the version of the deletion or a later one
 *
 * For a watch that selects namespaces by label (namespace_tracker.h) the reason is always known:
 * when a namespace leaves, its objects leave with it.
 */
#ifndef DAEMON_WATCH_SELECTION_H
#define DAEMON_WATCH_SELECTION_H

#include <stdbool.h>

#include "informer/event.h"
#include "informer/object.h"
#include "informer/path.h"
#include "informer/selector.h"

#include "daemon/conf/conf.h"

#define SELECTION_LEFT    "left"
#define SELECTION_NS_LEFT "namespace left the selection"

/* A zeroed struct selects all objects. */
struct selection {
    bool selects;                /* not all objects */
    struct inf_selector *labels; /* NULL: any labels, or the labels are dropped or hashed */
    bool by_fields;              /* selects by fields that can change */
    struct inf_path *deletion;   /* metadata.deletionTimestamp */
};

/* @watch was validated before. */
void selection_init(struct selection *selection, const struct conf_watch *watch);
void selection_done(struct selection *selection);

/* Whether the deletion of @object is in progress. @object may also be one that is not of the
 * watch, such as the namespaces of namespace_tracker.h. */
bool selection_being_deleted(const struct selection *selection, const struct inf_object *object);

/* Whether @watch keeps all labels: none is dropped or hashed. */
bool selection_keeps_labels(const struct conf_watch *watch);

/*
 * Whether the object of @gone, a DELETED event, certainly exists and has only left the selection.
 * The watch's own cache is at @version; a cache without selectors is at @now_version and has @now
 * under the same name (NULL: no object).
 */
bool selection_was_left(const struct selection *selection, const struct inf_event *gone,
                        const char *version, const struct inf_object *now, const char *now_version);

/* Returns "deleted", "left", or NULL if that is unknown. @last is the last known state of the
 * object. */
const char *selection_why(const struct selection *selection, const struct inf_object *last);

#endif
