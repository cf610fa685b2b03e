/*
 * json_decode.h - decodes values of JSON text: strings lose their quotes and escapes, other values stay
 * as written.
 *
 * Works on text in place and checks bounds, not grammar: an invalid escape is taken
 * literally. Objects have none, because yyjson validated them.
 */
#ifndef BASE_TEXT_JSON_DECODE_H
#define BASE_TEXT_JSON_DECODE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    JSON_CHAR_MAX = 4, /* bytes of one character in UTF-8 */
};

/*
 * Decodes the next character of a string, from *@at to @end (not empty, without quotes): an escape,
 * or one literal byte. Writes it to @ret_bytes, moves *@at after it and returns its number of bytes.
 * Returns 0 and moves nothing if the escape is invalid or half of a surrogate pair.
 */
size_t json_text_next(const char **at, const char *end, char ret_bytes[JSON_CHAR_MAX]);

/* Whether a string, as written but without its quotes, decodes to @text. */
bool json_text_is_decoded(struct str spelled, struct str text);

/* Escaped text is never shorter than decoded text. Inline: most keys that are compared differ in length
 * or in their first byte. */
static inline bool json_text_is(struct str spelled, struct str text)
{
    if (spelled.len < text.len || (spelled.len == text.len && !str_eq(spelled, text)))
        return false;
    if (text.len && spelled.at[0] != text.at[0] && spelled.at[0] != '\\')
        return false;
    return json_text_is_decoded(spelled, text);
}

/* Whether a value, as written, decodes to @text. */
bool json_value_is(struct str value, struct str text);

/* Appends the decoded value: never more bytes than it has as written. */
void json_value_put(struct buf *out, struct str value);

/*
 * Decodes @value into @buf, which gets a NUL at its end unless @size is 0. Text that does not fit is
 * truncated between two characters. Returns the length of the whole text. An empty @value gives "".
 */
size_t json_value_copy(struct str value, char *buf, size_t size);

#endif
