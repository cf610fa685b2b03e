/*
 * glob.h - patterns: `*` matches any text, also the empty one, and `?` one character.
 */
#ifndef BASE_TEXT_GLOB_H
#define BASE_TEXT_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether @pattern matches all of @text. Takes at most the product of both lengths in steps. */
bool glob_matches(const char *pattern, const char *text);

/* Whether one of the patterns matches. */
bool glob_any(const char *const *patterns, size_t n, const char *text);

/* Whether @pattern has no wildcard. */
bool glob_is_plain(const char *pattern);

#endif
