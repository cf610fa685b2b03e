/*
 * utf8.h - characters in bytes that somebody else wrote.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* How many bytes the character at the front of @text has, and which one it is; 0 if what is there is
 * no UTF-8 (surrogates and overlong forms are not). @text is not empty. */
size_t utf8_next(struct str text, uint32_t *ret_char);

/* Whether a terminal or a reader could be misled by @c: C0, DEL, C1, line separators, the
 * characters that change the direction of others, and those of no width that join nothing. */
bool utf8_is_unsafe(uint32_t c);

/* The longest part at the front of @text that has at most @max bytes and cuts no character. */
struct str utf8_cut(struct str text, size_t max);

/* Adds @text for people: unsafe characters are spelled out (\n, \u001b), what is not UTF-8 becomes
 * U+FFFD. */
void utf8_put_visible(struct buf *out, struct str text);

#endif
