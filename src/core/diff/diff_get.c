/*
 * diff_get.c - a finished diff, as its reader sees it.
 */
#include <stdlib.h>

#include "core/diff/diff.h"

void inf_diff_free(struct inf_diff *diff)
{
    if (!diff)
        return;
    arena_free(&diff->memory);
    free(diff->changes);
    free(diff);
}

size_t inf_diff_count(const struct inf_diff *diff)
{
    return diff->count;
}

const struct inf_change *inf_diff_get(const struct inf_diff *diff, size_t i)
{
    return &diff->changes[i];
}

bool inf_diff_truncated(const struct inf_diff *diff)
{
    return diff->truncated;
}

const char *inf_diff_op_name(enum inf_diff_op op)
{
    switch (op) {
    case INF_DIFF_ADD: return "add";
    case INF_DIFF_REMOVE: return "remove";
    case INF_DIFF_REPLACE: return "replace";
    case INF_DIFF_REORDER: return "reorder";
    }
    return "?";
}
