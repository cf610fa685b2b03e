/*
 * display.h - how many columns of a terminal a text takes, and texts shortened to columns.
 *
 * Wide characters take two columns and combining marks none, as wcwidth(3) knows in a UTF-8 locale
 * (setlocale LC_CTYPE). In other locales, and for characters that the C library does not know, each
 * character takes one column. Texts are valid UTF-8 without control characters: see
 * utf8_put_visible().
 */
#ifndef BASE_TEXT_DISPLAY_H
#define BASE_TEXT_DISPLAY_H

#include <stddef.h>

#include "base/str.h"

#define DISPLAY_ELLIPSIS "\xe2\x80\xa6"

/* Columns of @text. */
size_t display_width(struct str text);

/* The longest prefix of at most @columns columns, with the combining marks of its last character. */
struct str display_head(struct str text, size_t columns);

/* The longest suffix of at most @columns columns. It does not start with a combining mark. */
struct str display_tail(struct str text, size_t columns);

#endif
