#include "base/glob.h"

#include <string.h>

/* Each star first stands for nothing; when what follows does not fit, the last one takes a character
 * more. Earlier ones need never be tried again: the last one can take all that they could. */
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
