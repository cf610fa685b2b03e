/*
 * str.h - a string with a length that does not own its characters.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *at;
    size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_FMT(s)   (int)(s).len, (s).at /* for "%.*s" */

static inline struct str str_of(const char *text)
{
    return (struct str){text, text ? strlen(text) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Compares bytes; a prefix comes before the longer string. The API server lists in this order. */
static inline int str_cmp(struct str a, struct str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int diff = common ? memcmp(a.at, b.at, common) : 0;
    return diff ? diff : (a.len > b.len) - (a.len < b.len);
}

/* Whether two NUL-terminated strings are equal, or both NULL. */
static inline bool cstr_eq(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline bool str_has_control(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.at[i] < 0x20 || s.at[i] == 0x7f)
            return true;
    return false;
}

/* Whether it can be sent in a header as one token: it has no white space and no control characters.
 * The usual mistake is a trailing line end. */
static inline bool str_is_token(struct str s)
{
    return !str_has_control(s) && (!s.len || !memchr(s.at, ' ', s.len));
}

#endif
