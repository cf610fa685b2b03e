/*
 * syntax_error.c - formats the message: a part of the text, the column, the reason.
 *
 * Both parts have a limit, so that the reason is never truncated by a long text.
 */
#include "base/text/syntax_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"

enum {
    SHOWN_MAX = 120,  /* bytes of the text */
    REASON_MAX = 320, /* bytes of the reason */
};

/* Whether @c is the second, third or fourth byte of a UTF-8 character. */
static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

int syntax_error(struct inf_error *err, const char *what, struct str text, const char *at,
                 const char *fmt, ...)
{
    char reason[REASON_MAX];
    size_t shown = text.len <= SHOWN_MAX ? text.len : SHOWN_MAX, column = 1;
    va_list args;
    while (shown && shown < text.len && is_continuation(text.at[shown]))
        shown--;
    for (const char *c = text.at; c < at; c++)
        column += !is_continuation(*c);
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return err_set(err, INF_EINVAL, "%s '%.*s%s': column %zu: %s", what, (int)shown, text.at,
                   shown < text.len ? "..." : "", column, reason);
}
