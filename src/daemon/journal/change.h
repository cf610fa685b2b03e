/*
 * change.h - a change as outputs tell it: the event with all that is worked out once for all of
 * them, and the sentence about it.
 */
#ifndef DAEMON_JOURNAL_CHANGE_H
#define DAEMON_JOURNAL_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/diff.h"
#include "informer/event.h"

#include "base/buf.h"
#include "base/str.h"
#include "daemon/journal/core_event.h"
#include "daemon/watch/selection.h"

/* Which watch a record is of. What is NULL is not known: group, version and kind are then taken
 * from the object, the others are left out. */
struct watch_id {
    const char *cluster;
    const char *name;
    const char *group; /* "" is the core group */
    const char *version;
    const char *resource;
    const char *kind;
    const struct selection *selection; /* NULL: all objects */
    const char *ns;  /* of the stream that a note is about; NULL: it is of the whole watch */
    const char *why; /* of all that is told as deleted now: why; NULL: each for its own reason */
};

/* What identifies a record: `seq` within `log`. */
struct stamp {
    int64_t time_us;
    uint64_t seq;
    const char *log;
};

struct change {
    struct stamp stamp;
    const struct watch_id *watch;
    const struct inf_event *event;
    const struct inf_object *object; /* inf_event_object() */
    const char *old_rv;    /* INF_MODIFIED: the version of the object's last record; else NULL */
    uint64_t ignored;      /* updates since then that were not reported; `diff` is without them */
    struct inf_diff *diff; /* INF_MODIFIED: what changed; else NULL */
    const char *kind;
    struct str group;
    struct str version;
    bool has_who;
    struct inf_who who;
    bool selected;   /* INF_DELETED, of a watch of some objects: it may only have left them */
    const char *why; /* "deleted", "left" or SELECTION_NS_LEFT, if `selected` and that can be told;
                        else NULL */
    bool tells;      /* the object is an Event: `told` is what it tells */
    struct core_event told;
};

/* Everything is lent: @ret is of use while all of it is. */
void change_init(struct change *ret, const struct watch_id *watch, const struct inf_event *event,
                 struct inf_diff *diff);

/*
 * Adds the sentence: "Pod shop/web-0 changed: status.phase Pending -> Running by kubelet", of about
 * @max bytes at most; it may still hold any character. Without @values only the paths are told.
 */
void change_put_sentence(struct buf *out, const struct change *change, bool values, size_t max);

/* Adds what an Event tells: "BackOff: Back-off restarting failed container (x12)"; to about @max
 * bytes in @out. */
void change_put_told(struct buf *out, const struct change *change, size_t max);

/* Adds "shop/web-0", or the name alone if there is no namespace. */
void change_put_name(struct buf *out, const struct change *change);

#endif
