/*
 * lookup.h - which resource a word means: as many documents as it takes, from the discovery_cache or from the
 * server.
 *
 *     po                  /api/v1; if it isn't there /apis, then each version of each group
 *     deployments.apps    /apis/apps, then each version of it
 *
 * A group that does not answer (an extension server that is down, or hangs) hides only its own
 * resources: the lookup continues without it. A resource that is found in none of the other groups
 * is then not "not found": the lookup fails with the group's error. If a resource was found
 * although a group did not answer, a warning names both.
 *
 * INF_ENOTFOUND means that discovery documents were read (HTTP 200) and do not list the resource. A
 * 404 in place of a document proves nothing, for a load balancer can send one too: if /apis/GROUP
 * answers 404, /apis has to answer without the group.
 *
 * What is not found in documents that have been on the discovery_cache for a while is looked for once more in
 * new ones: a CRD may have come.
 */
#ifndef KUBE_DISCOVERY_LOOKUP_H
#define KUBE_DISCOVERY_LOOKUP_H

#include "kube/discovery/discovery_cache.h"
#include "kube/discovery/resource_name.h"

enum {
    LOOKUP_NOW = 0,              /* max_age_ms: only documents that are fetched from now on */
    LOOKUP_FRESH_MS = 30 * 1000, /* a server is not asked more often than this what it has ... */
    LOOKUP_POLL_MS = 2 * 1000,  /* ... but for the one document that shows whether it has changed */
    LOOKUP_GROUP_MS = 5 * 1000, /* a group may be silent for this long; then it is skipped ... */
    LOOKUP_GROUP_AGAIN_MS = 1000, /* ... and any further one after this */
    LOOKUP_GROUPS_MS = 30 * 1000, /* LIMIT: for all groups; those not read by then are skipped */
};

/* Embedded in its owner, who sets the functions; zeroed besides. */
struct lookup {
    /* It is over, told once: what was found is lent; NULL: nothing, and @why says it. */
    void (*on_end)(struct lookup *lookup, const struct api_resource *found,
                   const struct inf_error *why);
    void (*on_progress)(struct lookup *lookup); /* the server is alive; may be NULL */

    /* its own */
    struct discovery_cache *discovery_cache; /* NULL: nothing is under way */
    struct clock *clock;
    const struct resource_word *word;
    uint64_t max_age_ms;
    struct timer start;
    struct discovery_reader reader;
    int step;
    struct discovery table;
    size_t asked;       /* versions of the table whose resources were asked for */
    uint64_t oldest_ms; /* age of what was read */
    bool group_404;     /* /apis/GROUP answered 404: /apis has to confirm it */
    uint64_t groups_until_ms;
    struct timer group_due;   /* the version that is being read has to answer by then */
    bool hung;                /* one did not */
    unsigned silent;          /* versions that could hold the resource and did not answer */
    char *silent_version;     /* the first of them: "metrics.k8s.io/v1beta1" */
    struct inf_error silence; /* and its error */
};

/* Documents may be so old; no more than LOOKUP_FRESH_MS if there is reason to doubt what they say, and
 * then the first one no more than LOOKUP_POLL_MS.
 * Nothing is under way; nothing is told before this returns. All is borrowed until the end. */
void lookup_start(struct lookup *lookup, struct discovery_cache *discovery_cache,
                  struct clock *clock, const struct resource_word *word, uint64_t max_age_ms);

/* Nothing is told any more. Harmless if nothing is under way. */
void lookup_stop(struct lookup *lookup);

#endif
