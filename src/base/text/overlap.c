/*
 * overlap.c - looks for one text in another, also for its beginning at the end, by the failure function
 * of Knuth, Morris and Pratt.
 *
 * borders[i] is the length of the longest proper beginning of next[0..i] that is also its end. While
 * @text is read, `matched` is the longest beginning of @next that ends at the current byte.
 */
#include "base/text/overlap.h"

#include <stdlib.h>

#include "base/alloc.h"

/* The longest beginning of @next that ends with @byte, if the one before it had @matched bytes. */
static size_t extend(struct str next, const size_t *borders, size_t matched, char byte)
{
    while (matched && next.at[matched] != byte)
        matched = borders[matched - 1];
    return next.at[matched] == byte ? matched + 1 : matched;
}

size_t text_overlap(struct str text, struct str next)
{
    size_t *borders, matched = 0;
    if (!text.len || !next.len)
        return 0;
    borders = xcalloc(next.len, sizeof(*borders));
    for (size_t i = 1; i < next.len; i++)
        borders[i] = matched = extend(next, borders, matched, next.at[i]);
    matched = 0;
    for (size_t i = 0; i < text.len && matched < next.len; i++)
        matched = extend(next, borders, matched, text.at[i]);
    free(borders);
    return matched;
}
