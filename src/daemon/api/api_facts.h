/*
 * api_facts.h - what the discovery documents of a cluster say about its resources.
 */
#ifndef DAEMON_API_FACTS_H
#define DAEMON_API_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/access.h"
#include "informer/informer.h"

#include "base/list.h"
#include "seam/clock.h"

struct api;
struct cluster;

/* One resource. Strings are owned. */
struct api_fact {
    char *group;
    char *version;
    char *name;
    bool namespaced;
    char *short_names; /* a JSON array */
    char *categories;
};

struct api_facts {
    struct list node; /* in the facts of the API */
    char *cluster;    /* its name */
    struct clock *clock;
    struct inf_request request;
    bool requested; /* the request is in progress */
    bool closing;   /* to be freed when it has ended */
    uint64_t read_ms;
    bool were_read;
    struct api_fact *items;
    size_t count;
    struct list waiters; /* see api_park.h */
};

/* The facts of @cluster, perhaps not read yet. */
struct api_facts *api_facts_get(struct api *api, const struct cluster *cluster);

/* Requests them if that is necessary. @missing: a resource that the facts lack is needed. Returns whether
 * they can be used now; otherwise the waiters continue at the end of the request. */
bool api_facts_read(struct api_facts *facts, const struct cluster *cluster, bool missing);

/* NULL: not known. */
const struct api_fact *api_facts_find(const struct api_facts *facts,
                                      const struct inf_resource *resource);

void api_facts_close(struct api_facts *facts);

#endif
