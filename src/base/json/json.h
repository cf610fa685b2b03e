/*
 * json.h - the scanner of JSON text: finds where values, members and items begin and end.
 *
 * It builds nothing, so that the server's own text can be copied. All code that works on JSON text
 * without parsing it is built on it: json_text.h decodes strings, core/object and core/diff walk
 * objects, kube/source cuts values out of a body that arrives in pieces.
 *
 *  - Grammar. The scanner counts brackets and recognizes strings; it checks nothing else, because
 *    yyjson validates every value that is used. On text that is not JSON a value ends too early or
 *    too late, but at the same byte however the text is cut into pieces, and nothing is read out of
 *    bounds.
 *  - Strings. A string ends at the first quote that is not preceded by an odd number of
 *    backslashes. Escapes are skipped, not decoded. A backslash outside of a string escapes nothing.
 *  - Scalars. Numbers, true, false and null end before the next comma, closing bracket or white
 *    space.
 *  - Depth and size. Each byte is read at most twice and the state is a few words, so neither long
 *    nor deep values cost memory. The scanner has no limit of its own: callers compare `deepest`
 *    with JSON_DEPTH_MAX.
 *  - Speed. Inside of containers 64 bytes are classified at once (json_block.h).
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json/json_text.h"
#include "base/str.h"

enum {
    JSON_DEPTH_MAX = 512, /* LIMIT: nested brackets in one value; real objects have about 20 */
};

/* ---- one value, in text that arrives in pieces ---- */

/* The state between two pieces of a value. Zeroed: before the first one. */
struct json_scan {
    size_t depth;   /* open brackets */
    size_t deepest; /* maximum of `depth`; exact near and above JSON_DEPTH_MAX */
    bool begun;
    bool scalar;
    bool in_string;
    bool escaped; /* the piece ended after a backslash that escapes the next byte */
};

/*
 * Scans @text, which starts with the value or with its next piece. Returns how many bytes belong to
 * the value. Sets *@ret_ended if the value ends there; a scalar ends only when a byte follows it.
 */
size_t json_scan_value(struct json_scan *scan, struct str text, bool *ret_ended);

/* ---- members and items of complete text ---- */

/* A walk over the members of an object, or the items of an array. */
struct json_walk {
    const char *at;
    const char *end;
};

struct json_member {
    struct str key;   /* as written, without quotes */
    struct str value; /* from its first byte to its last */
};

/* Starts at @object, the text of an object from brace to brace, perhaps with white space around it.
 * */
void json_walk_start(struct json_walk *walk, struct str object);

/* The next member, in the server's order; false at the end. */
bool json_walk_next(struct json_walk *walk, struct json_member *ret_member);

/*
 * The same in two steps, for callers that enter a value, so that its end need not be searched.
 * After json_walk_key() the walk is at the value. json_walk_value() skips it; json_walk_pass()
 * enters and leaves it by its brackets.
 */
bool json_walk_key(struct json_walk *walk, struct str *ret_key);
struct str json_walk_value(struct json_walk *walk);

/* Skips @sign and the white space before it. Returns false if another character follows. */
bool json_walk_pass(struct json_walk *walk, char sign);

/* Leaves an object or array that was entered, wherever the walk is in it: skips the rest of it. */
void json_walk_leave(struct json_walk *walk);

/* At the end of a walk: whether the closing brace follows, and only white space after it. */
bool json_walk_complete(const struct json_walk *walk);

/* The same for the items of @array, from bracket to bracket. _start() returns false, with an empty
 * walk, if @array is not an array. */
bool json_items_start(struct json_walk *walk, struct str array);
bool json_items_next(struct json_walk *walk, struct str *ret_item);

/* Whether a key, as written, is @name once its escapes are decoded. (Inline, because it is called
 * for every key of every object and the compiler knows the length of most names.) */
static inline bool json_key_is(struct str spelled, const char *name)
{
    struct str text = str_of(name);
    return spelled.len >= text.len && json_text_is(spelled, text);
}

/* Moves to the value of the next member whose key is @name. Returns false if there is none. */
static inline bool json_walk_to(struct json_walk *walk, const char *name)
{
    struct str key;
    while (json_walk_key(walk, &key)) {
        if (json_key_is(key, name))
            return true;
        json_walk_value(walk);
    }
    return false;
}

/* ---- white space ---- */

/* Whether @value has no white space between tokens. Servers send none unless requested (pretty). */
bool json_is_compact(struct str value);

/* Appends @value without the white space between tokens. */
void json_compact(struct buf *out, struct str value);

#endif
