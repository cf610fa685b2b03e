/*
 * json_text.h - what spelled JSON means: strings without their escapes, other values as they are.
 *
 * Works on text in place, like json.h, and like it checks bounds, not grammar: what looks like an
 * escape and is none stands for itself. In objects there is no such thing, since yyjson has read
 * them.
 */
#ifndef CORE_JSON_TEXT_H
#define CORE_JSON_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    JSON_CHAR_MAX = 4, /* bytes of one character in UTF-8 */
};

/*
 * What comes next in a string spelled from *@at to @end (not empty, without quotes): the character
 * that an escape means, else one byte as it is. Writes it to @ret_bytes, moves *@at behind it and
 * returns how many bytes it has; 0, moving nothing, for an escape that JSON doesn't know or half of
 * a surrogate pair.
 */
size_t json_text_next(const char **at, const char *end, char ret_bytes[JSON_CHAR_MAX]);

/* Whether a string, spelled without its quotes, means @text. */
bool json_text_is(struct str spelled, struct str text);

/* Whether a value as spelled means @text: a string by what is in it, anything else by its spelling.
 */
bool json_value_is(struct str value, struct str text);

/* Adds to @out what a value means, in the same sense. Never more bytes than the spelling has. */
void json_value_put(struct buf *out, struct str value);

/* The value of the first member of @object whose key means @name; false: there is none, or it is no
 * object. */
bool json_member_get(struct str object, struct str name, struct str *ret_value);

#endif
