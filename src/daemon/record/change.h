/*
 * change.h - a change as event logs write it: the event with everything that is computed once for all
 * of them, and the text of `msg`.
 */
#ifndef DAEMON_RECORD_CHANGE_H
#define DAEMON_RECORD_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/diff.h"
#include "informer/event.h"
#include "informer/informer.h"

#include "base/buf.h"
#include "base/str.h"
#include "daemon/record/context.h"
#include "daemon/record/core_event.h"
#include "daemon/record/line_diff.h"
#include "daemon/watch/selection.h"
#include "daemon/watch/watch_id.h"

/* Identifies a record: `seq` is unique within `log`. */
struct stamp {
    int64_t time_us;
    uint64_t seq;
    const char *log;
};

struct change {
    struct stamp stamp;
    const struct watch_id *watch;
    const struct inf_event *event;
    const char *stream;              /* see struct watch_info; NULL: unknown */
    const char *cache_version;       /* likewise */
    const struct inf_object *object; /* inf_event_object() */
    const char *old_rv;    /* INF_MODIFIED: the version of the object's last record; else NULL */
    bool old_unknown;      /* the state of that version was lost: `diff` is NULL */
    uint64_t ignored;      /* updates since then that were not reported; not part of `diff` */
    struct inf_diff *diff; /* INF_MODIFIED: what changed; else NULL */
    const struct line_diffs *lines; /* of the texts in `diff` that are compared by lines; or NULL */
    const char *kind;
    struct str group;
    struct str version;
    bool has_writer;
    struct inf_writer writer;
    bool selected;   /* INF_DELETED with selectors: the object may only have left the selection */
    const char *why; /* "deleted", "left" or SELECTION_NS_LEFT, if `selected` and it is known;
                        else NULL */
    enum inf_log_level level; /* info, unless level_rules_apply() finds a rule */
    const char *rule;         /* the name of that rule; NULL: none, or it has no name */
    bool is_core_event;       /* the object is an Event, with these contents */
    struct core_event core_event;
    struct context context; /* the parts that the reader has */
};

/* What reading changes needs, prepared once. */
struct change_reader {
    struct core_event_reader core_events;
    struct context_reader context;
    unsigned context_parts; /* bits of enum context_part that an event log writes; 0 at first */
};

void change_reader_init(struct change_reader *reader);
void change_reader_done(struct change_reader *reader);

/* Everything is borrowed: @ret is valid as long as the arguments are, except @reader. */
void change_init(struct change *ret, const struct change_reader *reader,
                 const struct watch_id *watch, const struct inf_event *event,
                 struct inf_diff *diff);

/* Sets why the object is reported as deleted, if that is known better than from the object. Does
 * nothing for other changes. */
void change_set_reason(struct change *change, const char *reason);

/*
 * Adds the text of `msg`: "Pod shop/web-0 changed: status.phase Pending -> Running by kubelet", of
 * at most about @max bytes. It is not escaped and may contain any character. Without @values it has
 * only the paths.
 */
void change_put_sentence(struct buf *out, const struct change *change, bool values, size_t max);

/* Adds the reason, message and count of an Event: "BackOff: Back-off restarting failed container
 * (x12)", up to about @max bytes in @out. */
void change_put_core_event(struct buf *out, const struct change *change, size_t max);

/* The time to show: an Event's own time, or else when the change was received. */
int64_t change_time_us(const struct change *change);

/* Adds "shop/web-0", or the name alone if there is no namespace. */
void change_put_name(struct buf *out, const struct change *change);

#endif
