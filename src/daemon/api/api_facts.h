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
    struct list readers; /* of struct api_facts_reader */
};

/* Waits for the facts. Embedded in its owner. */
struct api_facts_reader {
    struct list node;
    void (*on_facts)(struct api_facts_reader *reader); /* from the loop */
};

/* The facts of @cluster, perhaps not read yet. */
struct api_facts *api_facts_get(struct api *api, const struct cluster *cluster);

/* Whether @reader has to wait; then on_facts is called once, also if they can't be read. @missing: a
 * resource that the facts lack is needed. */
bool api_facts_wait(struct api_facts *facts, const struct cluster *cluster, bool missing,
                    struct api_facts_reader *reader);

/* NULL: not known. */
const struct api_fact *api_facts_find(const struct api_facts *facts,
                                      const struct inf_resource *resource);

void api_facts_close(struct api_facts *facts);

#endif
