/*
 * selection.h - which objects a watch is about, and why one that it tells as deleted has gone.
 *
 * Who watches with selectors hears DELETED also when an object is changed so that it is not selected
 * any more. The server sends the last state that was selected in both cases, so mostly nobody can
 * tell. What can be told:
 *
 *     deleted   its deletion was under way (metadata.deletionTimestamp), and only labels could have
 *               made it leave, which nobody changes at that time
 *     left      the state that was sent is not selected: some servers send the one after the change;
 *               or a copy of all objects (another watch's: left.h) still has the object, without the
 *               labels, at the version of the deletion or a later one
 *
 * Of a watch that selects namespaces by their labels (tracker.h) that is known for sure: when a
 * namespace leaves, so do its objects.
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
 * namespaces of tracker.h. */
bool selection_being_deleted(const struct selection *selection, const struct inf_object *object);

/* Whether objects of @watch show all their labels. */
bool selection_keeps_labels(const struct conf_watch *watch);

/*
 * Whether the object of @gone, a DELETED event, certainly exists and has only left the selection. The
 * watch's own copy is at @version; another one, that is not selected, is at @now_version and has @now
 * under the same name (NULL: nothing).
 */
bool selection_was_left(const struct selection *selection, const struct inf_event *gone,
                        const char *version, const struct inf_object *now, const char *now_version);

/* "deleted", "left", or NULL: that can't be told. @last is the last state known of the object. */
const char *selection_why(const struct selection *selection, const struct inf_object *last);

#endif
