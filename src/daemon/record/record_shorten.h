/*
 * record_shorten.h - makes a record that was written as a line of JSON fit into a message of another system.
 *
 * jsonl_format.c writes records that fit into `max_line`. This is for a record that waits already when a smaller limit
 * becomes known.
 */
#ifndef DAEMON_RECORD_RECORD_SHORTEN_H
#define DAEMON_RECORD_RECORD_SHORTEN_H

#include "base/buf.h"
#include "base/str.h"

/* Appends @line, a record without its newline, with "truncated":true and without the object; if that is more than @limit
 * bytes, also without the values that changed; and at last with only the identity of the object. */
void record_shorten(struct buf *out, struct str line, size_t limit);

#endif
