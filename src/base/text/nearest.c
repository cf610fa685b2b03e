/*
 * nearest.c - the optimal string alignment distance (edits and swaps of neighbours), row by row.
 */
#include "base/text/nearest.h"

#include <stddef.h>
#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The number of edits that turn @a into @b. Each row is for the first i letters of @a and all prefixes of
 * @b; it is computed from the rows for one and two letters less. */
static unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned rows[3][NEAREST_MAX + 1];
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        const unsigned *two_less = rows[(i + 1) % 3], *one_less = rows[(i + 2) % 3];
        unsigned *row = rows[i % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            row[j] = least(one_less[j - 1] + (x != y), least(one_less[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                row[j] = least(row[j], two_less[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

void nearest_try(struct nearest *nearest, const char *text, const char *word)
{
    size_t text_len = strlen(text), word_len = strlen(word);
    unsigned steps, most;
    if (text_len > NEAREST_MAX || word_len > NEAREST_MAX)
        return;
    steps = edit_distance(text, text_len, word, word_len);
    most = (unsigned)(text_len > word_len ? text_len : word_len) / 3;
    if (steps > most || (nearest->word && steps >= nearest->steps))
        return;
    nearest->word = word;
    nearest->steps = steps;
}
