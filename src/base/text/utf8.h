/*
 * utf8.h - characters in bytes from an untrusted source.
 */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* utf8_next() for all characters, also those of several bytes. */
size_t utf8_decode(struct str text, uint32_t *ret_char);

/* Decodes the character at the front of @text, which is not empty. Returns its length in bytes, or 0 if
 * it is not valid UTF-8 (surrogates and overlong forms are invalid). Inline: most characters are ASCII. */
static inline size_t utf8_next(struct str text, uint32_t *ret_char)
{
    unsigned char first = (unsigned char)text.at[0];
    if (first >= 0x80)
        return utf8_decode(text, ret_char);
    *ret_char = first;
    return 1;
}

/* Whether @c could control a terminal or mislead a reader: C0, DEL, C1, line separators, characters
 * that change the text direction, and invisible characters without width. */
bool utf8_is_unsafe(uint32_t c);

/* The longest prefix of @text that has at most @max bytes and does not split a character. */
struct str utf8_cut(struct str text, size_t max);

/* Appends @text for display: unsafe characters are escaped (\n, \u001b), invalid UTF-8 becomes
 * U+FFFD. */
void utf8_put_visible(struct buf *out, struct str text);

/* The same for terminals that show only ASCII: all other characters are escaped (\u00fc,
 * \U0001f600), and invalid UTF-8 becomes '?'. */
void utf8_put_ascii(struct buf *out, struct str text);

#endif
