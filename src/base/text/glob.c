/*
 * glob.c - matches patterns in linear space without recursion.
 *
 * Each star first matches nothing. When the text after it does not match, the last star takes one more
 * character. Earlier stars need no second try: the last one can take whatever they could.
 */
#include "base/text/glob.h"

#include <string.h>

bool glob_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *taken = text;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            taken = text;
        } else if (*pattern && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++taken;
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}

bool glob_any(const char *const *patterns, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (glob_matches(patterns[i], text))
            return true;
    return false;
}

bool glob_is_plain(const char *pattern)
{
    return !strpbrk(pattern, "*?");
}
