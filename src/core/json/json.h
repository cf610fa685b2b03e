/*
 * json.h - walks JSON text in place, without building anything from it.
 *
 * It finds where members start and end, so that the server's own text can be copied. It checks
 * bounds, not grammar: on text that is not JSON it stops early or skips too much, but never reads
 * out of bounds. yyjson validates the text before or afterwards where that matters.
 */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "core/json/json_text.h"

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

/* Whether @value has no white space between tokens. Servers send none unless requested (pretty). */
bool json_is_compact(struct str value);

/* Adds @value to @out without the white space between tokens. */
void json_compact(struct buf *out, struct str value);

#endif
