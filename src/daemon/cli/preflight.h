/*
 * preflight.h - checks the clusters of a configuration before anything is watched: version and
 * identity, the meaning of each resource name, and access to each resource in each namespace.
 *
 *     p = preflight_new(conf, NULL, PREFLIGHT_ACCESS);
 *     preflight_run(p);                                  blocks until all is known or timed out
 *     ... preflight_check(p, i)->results[j] ...
 *     preflight_free(p);
 *
 * A watch with namespace_selector needs to list and watch namespaces, and its resource in each
 * namespace that is selected now: when all other requests of a cluster are complete, the namespaces
 * are listed and results for them are added. If they cannot be listed, access in all namespaces is
 * checked instead.
 *
 * All clusters are checked concurrently, each with a few requests at a time. A cluster that does
 * not respond in time fails and does not affect the others.
 */
#ifndef DAEMON_CLI_PREFLIGHT_H
#define DAEMON_CLI_PREFLIGHT_H

#include <stdbool.h>

#include "informer/access.h"

#include "daemon/conf/conf.h"
#include "seam/clock.h"

enum {
    PREFLIGHT_TIMEOUT_MS =
        20 * 1000, /* without a response from a cluster; connecting may take 15 s */
};

enum preflight_kind {
    PREFLIGHT_ACCESS,   /* all of the above */
    PREFLIGHT_RESOURCE, /* only resource names that cannot be resolved without a server */
};

enum verdict {
    VERDICT_SKIPPED, /* not checked (yet): see the failure of the cluster */
    VERDICT_OK,
    VERDICT_MISSING, /* permission to list or watch is missing */
    VERDICT_WAITING, /* the watch is optional and the resource does not exist */
    VERDICT_INVALID, /* the resource does not exist or its name is ambiguous */
    VERDICT_FAILED,  /* the request failed */
};

/* What a result is about. */
enum preflight_subject {
    SUBJECT_RESOURCE,   /* access to the resource of the watch */
    SUBJECT_SELECTOR,   /* access to namespaces, for namespace_selector; results follow for those
                           that it selects */
    SUBJECT_UNSELECTED, /* no namespace matches now: only the resource name was resolved */
};

struct preflight;
struct cluster_check;

/* The result for one resource in one namespace (or all) that a watch needs to list and watch. */
struct preflight_result {
    const struct conf_watch *watch;
    const char *resource; /* name as in the configuration */
    const char *ns;       /* NULL: all namespaces */
    enum preflight_subject subject;
    enum verdict verdict;
    struct inf_error why;         /* set for WAITING, INVALID and FAILED */
    bool may_list, may_watch;     /* set for OK and MISSING */
    char *group, *version, *name; /* the resolved resource; NULL: not resolved */
    bool cluster_wide;            /* cluster-scoped, if that is known */

    /* private */
    struct cluster_check *check;
    struct inf_request request; /* its data is the result */
    char *own_ns;               /* owned copy of `ns`, if it is not from the configuration */
    bool expanded;              /* of a selector: results for the namespaces were added */
};

/* Whether the Lease of the replicas can be written there. */
struct lease_check {
    const struct conf_replica *replica; /* NULL: it is not in this cluster */
    enum verdict verdict;
    struct inf_error why; /* set for FAILED */
    bool may_create, may_get, may_update;

    /* private */
    bool requested;
    struct inf_request request; /* its data is the check of the cluster */
};

/* The results for one cluster. */
struct cluster_check {
    const struct conf_cluster *conf;
    char *server;             /* URL; NULL if the cluster could not be opened */
    struct inf_error failure; /* why checks were not completed; code 0: they were */
    char *version;            /* NULL: not reported */
    char *user;               /* NULL: not reported */
    char *groups;             /* "a, b"; NULL: none */
    struct preflight_result *results;
    size_t n_results;
    struct lease_check lease;

    /* private */
    struct preflight *preflight;
    struct cluster *cluster;    /* NULL: closed */
    struct inf_request request; /* for the identity; its data is the check */
    struct timer timeout;
    size_t next;                /* index of the next result to request */
    size_t pending;             /* requests in progress */
    struct inf_handler handler; /* of the informer that lists the selected namespaces */
    size_t selecting;           /* index of the result whose namespaces are listed */
};

/* Prepares checks of the cluster named @cluster, or of all clusters if it is NULL. Keeps a
 * pointer to @conf, which must outlive the result. */
struct preflight *preflight_new(const struct conf *conf, const char *cluster,
                                enum preflight_kind kind);

/* Runs all checks. Blocks until they are complete or failed. */
void preflight_run(struct preflight *preflight);

/* Whether any check needs a request to a server. */
bool preflight_needs_server(const struct preflight *preflight);

size_t preflight_count(const struct preflight *preflight);
const struct cluster_check *preflight_check(const struct preflight *preflight, size_t i);

/* The exit code of the worst result: EX_CONFIG, EX_NOPERM, EX_UNAVAILABLE or 0. */
int preflight_exit_code(const struct preflight *preflight);

void preflight_free(struct preflight *preflight);

#endif
