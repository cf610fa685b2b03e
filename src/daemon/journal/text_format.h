/*
 * text_format.h - a change as one human-readable line:
 *
 *     12:04:31 MODIFIED pod shop/web-0                   status.phase Pending -> Running  (kubelet)
 *
 * Control characters are made visible. The only escape sequences are colours, if enabled.
 */
#ifndef DAEMON_JOURNAL_TEXT_FORMAT_H
#define DAEMON_JOURNAL_TEXT_FORMAT_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/journal/change.h"
#include "daemon/journal/note.h"

struct text_format_options {
    bool colour;
    unsigned width; /* characters of a line; longer ones are cut with an ellipsis; 0: no limit */
};

/* Adds the line of @change, newline included. Times are local. */
void text_format_put_change(struct buf *out, const struct change *change,
                            const struct text_format_options *options);

/* The same for a note; @watch may be NULL. */
void text_format_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                          const struct watch_id *watch, const struct text_format_options *options);

#endif
