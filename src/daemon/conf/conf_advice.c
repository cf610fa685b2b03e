/*
 * conf_advice.c - one function per kind of warning; each calls @warn with a complete line.
 */
#include "daemon/conf/conf_advice.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

enum {
    STALE_AFTER_LEAST_S = 90, /* API servers send a bookmark about once a minute */
};

static void advise_cluster(const struct conf_cluster *cluster,
                           void (*warn)(void *ctx, const char *line), void *ctx)
{
    char *line;
    if (cluster->stale_after_ms >= STALE_AFTER_LEAST_S * 1000)
        return;
    line = xasprintf("cluster '%s': stale_after is %" PRIu64 ".%" PRIu64
                     "s. API servers send a bookmark about once a minute, so idle watches will "
                     "repeatedly become stale and recover; set it to at least %ds",
                     cluster->name, cluster->stale_after_ms / 1000,
                     cluster->stale_after_ms % 1000 / 100, STALE_AFTER_LEAST_S);
    warn(ctx, line);
    free(line);
}

void conf_advice(const struct conf *conf, void (*warn)(void *ctx, const char *line), void *ctx)
{
    for (size_t i = 0; i < conf->n_clusters; i++)
        advise_cluster(&conf->clusters[i], warn, ctx);
}
