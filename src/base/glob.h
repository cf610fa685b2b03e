/*
 * glob.h - names with gaps in them: `*` stands for any text, also none, and `?` for one character.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all of @text is as @pattern says. Takes no longer than the product of both lengths. */
bool glob_matches(const char *pattern, const char *text);

/* Whether it is as one of the patterns says. */
bool glob_any(const char *const *patterns, size_t n, const char *text);

/* Whether @pattern can be nothing but itself. */
bool glob_is_plain(const char *pattern);

#endif
