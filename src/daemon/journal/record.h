/*
 * record.h - a change, or a note of the daemon, as one line of JSON: the record of the event log.
 *
 * A line is UTF-8 without control characters, ends in its only newline, and has at most max_line
 * bytes with it. Where it would be longer it says less, and `"truncated":true`: first without the
 * object, then values are told by their sizes, then changes are left out. Which object it is about
 * (namespace, name, uid, resource version, and its type) always stays whole, as long as these are not
 * longer than Kubernetes allows. If a server sends longer ones the type is cut first, then the name; the
 * uid of Kubernetes still fits.
 */
#ifndef DAEMON_JOURNAL_RECORD_H
#define DAEMON_JOURNAL_RECORD_H

#include <stddef.h>

#include "base/buf.h"
#include "daemon/journal/change.h"
#include "daemon/journal/note.h"

enum {
    RECORD_LINE_MIN =
        4096, /* the smallest max_line there may be: all that identifies an object fits */
    RECORD_LINE_DEFAULT = 16 * 1024,
};

enum record_object {
    RECORD_NONE, /* which paths changed; no value of the object but what a core Event tells */
    RECORD_DIFF, /* and from what to what */
    RECORD_FULL, /* and the whole object as it is now; of a deleted one, as it was last */
};

struct record_options {
    enum record_object object;
    size_t max_line; /* LIMIT: bytes of a line with its newline; at least RECORD_LINE_MIN */
};

/* Adds the line of @change. */
void record_put_change(struct buf *out, const struct change *change,
                       const struct record_options *options);

/* Adds the line of @note; @watch is NULL if it is about all of them. */
void record_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                     const struct watch_id *watch, const struct record_options *options);

#endif
