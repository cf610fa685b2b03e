/*
 * overlap.c - looks for one text in another, also for its beginning at the end.
 *
 * Normal path: the first HEAD bytes of @next are found by memmem(), and few places have them: the rest is compared
 * there. That takes 1 ms for 4 MiB of an event log, which a start reads after a crash; the function below takes
 * 8 ms. Shorter overlaps are at the end of @text.
 *
 * If too many places have the beginning, the failure function of Knuth, Morris and Pratt is used: borders[i] is the
 * length of the longest proper beginning of next[0..i] that is also its end. While @text is read, `matched` is the
 * longest beginning of @next that ends at the current byte.
 */
#include "base/text/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    HEAD = 64,
    COMPARED_MAX = 4, /* LIMIT: bytes compared without a match, as a multiple of both texts */
};

/* The longest beginning of @next that ends with @byte, if the one before it had @matched bytes. */
static size_t extend(struct str next, const size_t *borders, size_t matched, char byte)
{
    while (matched && next.at[matched] != byte)
        matched = borders[matched - 1];
    return next.at[matched] == byte ? matched + 1 : matched;
}

static size_t overlap_by_borders(struct str text, struct str next)
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

/* Looks at the places that begin with the head of @next, which has at least HEAD bytes. Returns false if there are
 * too many. Without an overlap of at least HEAD bytes *@ret is 0. */
static bool overlap_by_head(struct str text, struct str next, size_t *ret)
{
    size_t left = COMPARED_MAX * (text.len + next.len);
    const char *end = text.at + text.len, *from = text.at, *at;
    *ret = 0;
    while ((at = memmem(from, (size_t)(end - from), next.at, HEAD))) {
        size_t len = (size_t)(end - at) < next.len ? (size_t)(end - at) : next.len;
        if (memcmp(at, next.at, len) == 0) {
            *ret = len;
            return true;
        }
        if (left < len)
            return false;
        left -= len;
        from = at + 1;
    }
    return true;
}

size_t text_overlap(struct str text, struct str next)
{
    struct str end = text, head = next;
    size_t found;
    if (text.len < HEAD || next.len < HEAD)
        return overlap_by_borders(text, next);
    if (!overlap_by_head(text, next, &found))
        return overlap_by_borders(text, next);
    if (found)
        return found;
    end.at += end.len - (HEAD - 1);
    end.len = head.len = HEAD - 1;
    return overlap_by_borders(end, head);
}
