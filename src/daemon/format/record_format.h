/*
 * record_format.h - how a change, or a note of the daemon, becomes text of an event log.
 *
 *     jsonl           one JSON object per line, for programs: jsonl_format.c
 *     short           one line of text, for terminals: text_format.c
 *     wide            the same with more columns: wide_format.c
 *     diff            several lines, with the old and new values: diff_format.c
 *     json, yaml      the whole object of each change: json_format.c, yaml_format.c
 *     name            its name: name_format.c
 *     jsonpath        a template filled in with its fields: jsonpath_format.c
 *     custom-columns  a table of its fields: columns_format.c
 *
 * A new format is one file with a struct record_format, and one row of RECORD_FORMATS. The conf file
 * and `informerd watch -o` accept it by its name; one with an argument as NAME=ARGUMENT.
 */
#ifndef DAEMON_FORMAT_RECORD_FORMAT_H
#define DAEMON_FORMAT_RECORD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/buf.h"
#include "daemon/record/change.h"
#include "daemon/record/note.h"
#include "daemon/record/record_fields.h"

enum {
    RECORD_LINE_MIN = 4096, /* smallest max_line: the identity of an object fits */
    RECORD_LINE_DEFAULT = 16 * 1024,
};

enum record_object {
    RECORD_NONE, /* only the paths that changed; no values, except the contents of an Event */
    RECORD_DIFF, /* also the old and new values */
};

#define RECORD_ALL_VERBS (1u << INF_ADDED | 1u << INF_MODIFIED | 1u << INF_DELETED)

/* What the reader of a text can show. */
enum record_charset {
    RECORD_UTF8,     /* a file or pipe */
    RECORD_TERMINAL, /* a terminal with a UTF-8 locale: a → instead of -> */
    RECORD_ASCII,    /* a terminal with another locale */
};

/* A format ignores the options that do not apply to it. */
struct record_options {
    enum record_object object; /* jsonl */
    unsigned object_verbs; /* jsonl: a mask of 1 << INF_ADDED ...; these records have the current
                              object, or the last state of a deleted one */
    unsigned context;      /* jsonl: bits of enum context_part */
    const struct record_fields *fields; /* jsonl: borrowed; NULL: none */
    size_t max_line;             /* jsonl. LIMIT: bytes of a line including its newline; at least
                        RECORD_LINE_MIN */
    bool colour;                 /* short, wide, diff */
    enum record_charset charset; /* short, wide, diff */
    unsigned width; /* short, diff: columns of a line; longer ones are cut with an ellipsis; 0: no
                       limit */
    void *state;    /* what prepare() of the format returned; NULL if it has none */
};

/* A format that is not for people has no put_note: its output is only what it promises. */
struct record_format {
    bool has_context;   /* its records contain the context of the object */
    bool orders_events; /* initial Events are written in the order of their own times */

    /* The name of its argument in messages; NULL: it takes none. And what makes the state of one log;
     * NULL: it needs none. prepare() returns NULL and sets @err if the argument is wrong. */
    const char *argument;
    void *(*prepare)(const char *argument, struct inf_error *err);
    void (*release)(void *state);

    /* Each adds whole lines, newlines included, to @out. */
    void (*put_change)(struct buf *out, const struct change *change,
                       const struct record_options *options);
    /* @watch NULL: the note is about the daemon. */
    void (*put_note)(struct buf *out, const struct note *note, const struct stamp *stamp,
                     const struct watch_id *watch, const struct record_options *options);
};

/* All formats: the variable and the name. The first one is the default of the conf file. */
enum {
    RECORD_WORK_MAX =
        256 * 1024, /* LIMIT: of a template or of columns, for one object: jsonpath_budget */
};

#define RECORD_TOO_MUCH "<the template does too much work for this object>"

#define RECORD_FORMATS(ROW)          \
    ROW(jsonl_format, "jsonl")       \
    ROW(text_format, "short")        \
    ROW(wide_format, "wide")         \
    ROW(diff_format, "diff")         \
    ROW(json_format, "json")         \
    ROW(yaml_format, "yaml")         \
    ROW(name_format, "name")         \
    ROW(jsonpath_format, "jsonpath") \
    ROW(columns_format, "custom-columns")

#define RECORD_FORMAT_DECLARE(format, name) extern const struct record_format format;
RECORD_FORMATS(RECORD_FORMAT_DECLARE)
#undef RECORD_FORMAT_DECLARE

/* Finds the format of @text, which is "NAME" or "NAME=ARGUMENT". *@ret_argument is its argument in
 * @text, or NULL. Returns 0; -INF_EINVAL if there is no such format, an argument is missing, or it has
 * one that it does not take. The argument itself is checked by record_format_prepare(). */
int record_format_find(const char *text, const struct record_format **ret,
                       const char **ret_argument, struct inf_error *err);

/* Makes the state of one log: NULL if the format has none. Returns 0, or -INF_EINVAL. The caller frees
 * it with record_format_release(). */
int record_format_prepare(const struct record_format *format, const char *argument,
                          void **ret_state, struct inf_error *err);
void record_format_release(const struct record_format *format, void *state);

/* Whether @text is a format with a valid argument. Returns 0 or -INF_EINVAL. */
int record_format_check(const char *text, struct inf_error *err);

/* Adds "jsonl, short, ..., jsonpath=TEMPLATE". */
void record_format_put_names(struct buf *out);

#endif
