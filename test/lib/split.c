#include "split.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

enum {
    SMALL = 16 * 1024,
    NEAR = 8,
    BY_CHANCE = 2000,
    SEED = 20261115,
};

/* Marks the places at which a large input is cut. */
static void choose_cuts(struct str input, bool *cut_at)
{
    struct rng rng = {SEED};
    for (size_t i = 0; i < input.len; i++)
        for (size_t at = i < NEAR ? 1 : i - NEAR; input.at[i] == '\n' && at <= i + NEAR; at++)
            if (at && at < input.len)
                cut_at[at] = true;
    for (int i = 0; i < BY_CHANCE; i++)
        cut_at[1 + rng_below(&rng, input.len - 1)] = true;
}

void split_each(struct str input,
                void (*play)(const void *ctx, struct str input, struct split split),
                const void *ctx)
{
    bool *cut_at = xcalloc(input.len + 1, sizeof(*cut_at)), all = input.len <= SMALL;
    if (!all)
        choose_cuts(input, cut_at);
    play(ctx, input, (struct split){0, 0});
    for (size_t at = 1; at < input.len; at++)
        if (all || cut_at[at])
            play(ctx, input, (struct split){at, 0});
    play(ctx, input, (struct split){1, 1});
    free(cut_at);
}

bool split_next(struct split *split, struct str *input, struct str *ret_piece)
{
    size_t len = split->first ? split->first : split->piece;
    if (!input->len)
        return false;
    if (!len || len > input->len)
        len = input->len;
    *ret_piece = (struct str){input->at, len};
    input->at += len;
    input->len -= len;
    split->first = 0;
    return true;
}
