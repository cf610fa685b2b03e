/*
 * record_format.h - how a change, or a note of the daemon, becomes a line of an event log.
 *
 *     jsonl   one JSON object per line, for programs: jsonl_format.c
 *     short   one line of text, for terminals: text_format.c
 *
 * A new format is one file with a struct record_format, and one row of RECORD_FORMATS. The conf file
 * and `informerd watch -o` accept it by its name.
 */
#ifndef DAEMON_JOURNAL_RECORD_FORMAT_H
#define DAEMON_JOURNAL_RECORD_FORMAT_H

#include <stdbool.h>
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

/* A format ignores the options that do not apply to it. */
struct record_options {
    enum record_object object; /* jsonl */
    size_t max_line;           /* jsonl. LIMIT: bytes of a line including its newline; at least
                                  RECORD_LINE_MIN */
    bool colour;               /* short */
    unsigned width; /* short: characters of a line; longer ones are cut with an ellipsis; 0: no
                       limit */
};

/* Each function adds one line, newline included, to @out. */
struct record_format {
    void (*put_change)(struct buf *out, const struct change *change,
                       const struct record_options *options);
    /* @watch NULL: the note is about the daemon. */
    void (*put_note)(struct buf *out, const struct note *note, const struct stamp *stamp,
                     const struct watch_id *watch, const struct record_options *options);
};

/* All formats: the variable and the name. The first one is the default of the conf file. */
#define RECORD_FORMATS(ROW)    \
    ROW(jsonl_format, "jsonl") \
    ROW(text_format, "short")

#define RECORD_FORMAT_DECLARE(format, name) extern const struct record_format format;
RECORD_FORMATS(RECORD_FORMAT_DECLARE)
#undef RECORD_FORMAT_DECLARE

/* Both in the order of the rows; the names end with NULL. */
extern const struct record_format *const record_formats[];
extern const char *const record_format_names[];

#endif
