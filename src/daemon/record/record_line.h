/*
 * record_line.h - reads a record that was written as a line of JSON (jsonl_format.c).
 *
 * Values are kept as written: compare strings with json_value_is(), decode them with json_value_copy().
 * A line of a file may be anything. One that is not a record is refused, and nothing is read out of
 * bounds.
 */
#ifndef DAEMON_RECORD_RECORD_LINE_H
#define DAEMON_RECORD_RECORD_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/informer.h"

#include "base/str.h"

struct record_line {
    struct str text; /* the whole line, without its newline */
    int64_t time_us;
    uint64_t seq;
    struct str log;
    struct str type;

    /* Only of record_line_read(); empty: the record does not have it. */
    struct str cluster;
    struct str watch;
    struct str group;
    struct str resource;
    struct str kind;
    struct str ns;
    struct str name;
    struct str uid;
    struct str rv;
    struct str final; /* true or false */
    struct str level;
    struct str msg;
    struct str labels;   /* an object */
    struct str changed;  /* an array of paths */
    struct str involved; /* an object: what an Event is about */
};

/* Reads the members at the beginning of @line, which may be cut after them. */
bool record_line_read_head(struct str line, struct record_line *ret);

/* Reads the whole line. */
bool record_line_read(struct str line, struct record_line *ret);

/* Whether it is about a change of an object: *@ret_verb. Otherwise it is one of the daemon. */
bool record_line_is_change(const struct record_line *record, enum inf_verb *ret_verb);

#endif
