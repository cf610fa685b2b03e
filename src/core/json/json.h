/*
 * json.h - walks JSON text in place, without building anything from it.
 *
 * It finds where members begin and end, so that the server's own spelling can be copied. It checks
 * bounds, not grammar: on text that is not JSON it stops early or skips too much, but never reads
 * outside. What matters is read by yyjson before or afterwards.
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
    struct str key;   /* as spelled, without its quotes */
    struct str value; /* from its first byte to its last */
};

/* Begins at @object, the text of an object from brace to brace; white space around it is fine. */
void json_walk_start(struct json_walk *walk, struct str object);

/* The next member, in the server's order; false at the end. */
bool json_walk_next(struct json_walk *walk, struct json_member *ret_member);

/*
 * The same in two halves, for who goes into a value instead of passing over it, so that its end need
 * not be looked for: behind json_walk_key() the walk stands on the value, which json_walk_value()
 * passes over, and json_walk_pass() goes into, by its bracket, and out of.
 */
bool json_walk_key(struct json_walk *walk, struct str *ret_key);
struct str json_walk_value(struct json_walk *walk);

/* Passes over @sign and the white space before it, if it is what comes next. */
bool json_walk_pass(struct json_walk *walk, char sign);

/* Whether the walk, having come to its end, stands on the closing brace and nothing but white space
 * is behind it. */
bool json_walk_complete(const struct json_walk *walk);

/* The same for the items of @array, from bracket to bracket. False, and an empty walk, if it is
 * none. */
bool json_items_start(struct json_walk *walk, struct str array);
bool json_items_next(struct json_walk *walk, struct str *ret_item);

/* Whether a key, as spelled, means @name. Escapes don't hide it. (Inline, since the length of most
 * names is known to the compiler: it is asked of every key of every object.) */
static inline bool json_key_is(struct str spelled, const char *name)
{
    struct str text = str_of(name);
    return spelled.len >= text.len && json_text_is(spelled, text);
}

/* Whether @value has no white space between tokens. Servers send none, but for people who ask for
 * it. */
bool json_is_compact(struct str value);

/* Adds @value to @out without the white space between tokens. */
void json_compact(struct buf *out, struct str value);

#endif
