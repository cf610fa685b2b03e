/*
 * split.c - chooses the offsets at which an input is cut, and cuts it. How many it chooses depends on
 * the tier (tier.h).
 */
#include "split.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "tier.h"

enum {
    SPLIT_SEED = 20261115,
};

struct split_density {
    size_t short_input; /* cut at every byte up to this length */
    size_t near;        /* cut up to this many bytes before and after an edge */
    size_t random_cuts;
};

static struct split_density split_density(void)
{
    return tier_is_full() ? (struct split_density){16 * 1024, 8, 2000}
                          : (struct split_density){256, 1, 20};
}

/* Marks the offsets at which a long input is cut. */
static void choose_cuts(size_t len, const size_t *edges, size_t n_edges, bool *cut_at)
{
    struct split_density density = split_density();
    struct rng rng = {SPLIT_SEED};
    for (size_t i = 0; i < n_edges; i++)
        for (size_t at = edges[i] < density.near ? 1 : edges[i] - density.near;
             at <= edges[i] + density.near; at++)
            if (at && at < len)
                cut_at[at] = true;
    for (size_t i = 0; i < density.random_cuts; i++)
        cut_at[1 + rng_below(&rng, len - 1)] = true;
}

void split_each_near(struct str input, const size_t *edges, size_t n_edges,
                     void (*play)(const void *ctx, struct str input, struct split split),
                     const void *ctx)
{
    bool *cut_at = xcalloc(input.len + 1, sizeof(*cut_at));
    bool all = input.len <= split_density().short_input;
    if (!all)
        choose_cuts(input.len, edges, n_edges, cut_at);
    play(ctx, input, (struct split){0, 0});
    for (size_t at = 1; at < input.len; at++)
        if (all || cut_at[at])
            play(ctx, input, (struct split){at, 0});
    play(ctx, input, (struct split){1, 1});
    free(cut_at);
}

void split_each(struct str input,
                void (*play)(const void *ctx, struct str input, struct split split),
                const void *ctx)
{
    size_t *lines = xcalloc(input.len + 1, sizeof(*lines)), n = 0;
    for (size_t i = 0; i < input.len; i++)
        if (input.at[i] == '\n')
            lines[n++] = i;
    split_each_near(input, lines, n, play, ctx);
    free(lines);
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
