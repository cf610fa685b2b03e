/*
 * lookup.h - resolves a resource name with discovery documents from the cache or from the server.
 *
 *     po                  /api/v1; if not found there, /apis and then each version of each group
 *     deployments.apps    /apis/apps, then each version of it
 *
 * A group that does not respond (an extension server that is down, or hangs) hides only its own
 * resources: the lookup continues without it. A resource that is found in none of the other groups
 * is then not "not found": the lookup fails with the group's error. If a resource was found
 * although a group did not respond, a warning names both.
 *
 * INF_ENOTFOUND means that discovery documents were read (HTTP 200) and do not list the resource. A
 * 404 in place of a document proves nothing, because a load balancer can send one too: after a 404
 * for /apis/GROUP, /apis must be readable and not list the group.
 *
 * If a resource is not found in cached documents older than LOOKUP_FRESH_MS, the lookup is repeated
 * with fresh ones: a CRD may have been added.
 */
#ifndef KUBE_DISCOVERY_LOOKUP_H
#define KUBE_DISCOVERY_LOOKUP_H

#include "kube/discovery/discovery_cache.h"
#include "kube/discovery/resource_name.h"

enum {
    LOOKUP_NOW = 0,               /* max_age_ms: only documents that are fetched from now on */
    LOOKUP_FRESH_MS = 30 * 1000,  /* documents are not fetched more often than this ... */
    LOOKUP_POLL_MS = 2 * 1000,    /* ... except the one that shows whether something has changed */
    LOOKUP_GROUP_MS = 5 * 1000,   /* a group that is silent for this long is skipped ... */
    LOOKUP_GROUP_AGAIN_MS = 1000, /* ... and each further one after this time */
    LOOKUP_GROUPS_MS = 30 * 1000, /* LIMIT: for all groups; those not read by then are skipped */
};

/* Embedded in its owner, which sets the functions; the rest is zero. */
struct lookup {
    /* Called once at the end: @found is valid during the call; NULL: not found or failed, see
     * @why. */
    void (*on_end)(struct lookup *lookup, const struct api_resource *found,
                   const struct inf_error *why);
    /* Instead of on_end(), for lookup_start_all(): everything that the server has, valid during the
     * call; NULL: failed, see @why. */
    void (*on_table)(struct lookup *lookup, const struct discovery *table,
                     const struct inf_error *why);
    void (*on_progress)(struct lookup *lookup); /* the server responds; may be NULL */

    /* private */
    struct discovery_cache *discovery_cache; /* NULL: no lookup is under way */
    struct clock *clock;
    const struct resource_name *wanted;
    uint64_t max_age_ms;
    struct timer start;
    struct discovery_reader reader;
    int step;
    struct discovery table;
    size_t n_requested; /* number of versions in the table whose resources were requested */
    uint64_t oldest_ms; /* age of the oldest document that was read */
    bool group_404;     /* /apis/GROUP returned 404: /apis has to confirm it */
    uint64_t groups_until_ms;
    struct timer group_due;        /* time limit of the version that is being read */
    bool hung;                     /* one version exceeded it */
    unsigned silent;               /* versions that could have the resource and did not respond */
    char *silent_version;          /* the first of them: "metrics.k8s.io/v1beta1" */
    struct inf_error silent_error; /* and its error */
};

/* Uses documents up to the age of @max_age_ms. If that is at most LOOKUP_FRESH_MS, because callers
 * doubt the cached ones, the first document may be at most LOOKUP_POLL_MS old. No lookup may be
 * under way. Never calls back before it returns. All arguments are borrowed until the end. */
void lookup_start(struct lookup *lookup, struct discovery_cache *discovery_cache,
                  struct clock *clock, const struct resource_name *wanted, uint64_t max_age_ms);

/* Reads all groups, with documents from the cache. Groups that do not respond are skipped, with a
 * warning. Otherwise like lookup_start(). */
void lookup_start_all(struct lookup *lookup, struct discovery_cache *discovery_cache,
                      struct clock *clock);

/* Cancels the lookup; there are no more callbacks. Does nothing if none is under way. */
void lookup_stop(struct lookup *lookup);

#endif
