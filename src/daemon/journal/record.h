/*
 * record.h - a change, or a note of the daemon, as one line of JSON: a record of the event log.
 *
 * A line is UTF-8 without control characters, ends with its only newline, and has at most max_line
 * bytes including it. A record that would be longer is shortened and has `"truncated":true`: first
 * the object is omitted, then values are replaced by their sizes, then changes are omitted. The
 * identity of the object (namespace, name, uid, resource version and type) is always complete, as
 * long as it is not longer than Kubernetes allows. If a server sends longer ones, the type is cut
 * first, then the name; a uid as Kubernetes makes them still fits.
 */
#ifndef DAEMON_JOURNAL_RECORD_H
#define DAEMON_JOURNAL_RECORD_H

#include <stddef.h>

#include "base/buf.h"
#include "daemon/journal/change.h"
#include "daemon/journal/note.h"

enum {
    RECORD_LINE_MIN = 4096, /* smallest max_line: the identity of an object fits */
    RECORD_LINE_DEFAULT = 16 * 1024,
};

enum record_object {
    RECORD_NONE, /* only the paths that changed; no values, except the contents of an Event */
    RECORD_DIFF, /* also the old and new values */
    RECORD_FULL, /* also the current object; for a deleted one its last state */
};

struct record_options {
    enum record_object object;
    size_t max_line; /* LIMIT: bytes of a line including its newline; at least RECORD_LINE_MIN */
};

/* Adds the line of @change. */
void record_put_change(struct buf *out, const struct change *change,
                       const struct record_options *options);

/* Adds the line of @note; @watch NULL: the note is about the daemon. */
void record_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                     const struct watch_id *watch, const struct record_options *options);

#endif
