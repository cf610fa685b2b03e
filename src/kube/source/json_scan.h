/*
 * json_scan.h - finds where one JSON value ends, in text that comes in pieces.
 *
 * It counts brackets and knows strings; it checks no grammar, since yyjson reads every value that
 * is used. On text that is not JSON it stops too early or too late, and yyjson says so. Each byte
 * is looked at once, and a few words are all it remembers, so neither size nor depth costs memory.
 */
#ifndef KUBE_SOURCE_JSON_SCAN_H
#define KUBE_SOURCE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "core/object/object.h"

enum {
    SCAN_DEPTH_MAX = OBJECT_DEPTH_MAX, /* LIMIT: brackets within brackets in one value */
};

/* A zeroed one is ready for a value. */
struct scan {
    size_t depth;   /* where we are */
    size_t deepest; /* where we were, once that was near the limit; it goes on, however deep */
    bool begun;
    bool scalar; /* a number, true, false or null: nothing of its own says where it ends */
    bool in_string;
    bool escaped; /* the last byte was a backslash that escapes the next one */
};

/*
 * Goes on at the front of @text, where the value begins or goes on. Returns how many bytes of it
 * belong to the value; *@ret_ended says whether it ends there. A number is ended by what stands
 * behind it, and that is not taken.
 */
size_t scan_value(struct scan *scan, struct str text, bool *ret_ended);

#endif
