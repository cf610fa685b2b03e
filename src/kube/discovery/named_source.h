/*
 * named_source.h - a source for a resource given by name; resolves the name first.
 *
 *     named_source      resolves the name with lookup.h     ->  on_found
 *          |
 *     api_source        lists and watches the objects
 *
 * The lookup is part of the first request: if it fails, the request fails, and callers retry it
 * like any other.
 *
 * A 404 may come from a load balancer, and callers may report all objects as deleted after
 * INF_ENOTFOUND. So every 404 is checked with fresh discovery documents before the request ends:
 *
 *     discovery does not list it           INF_ENOTFOUND; looked up again with the next request
 *     it lists another version of it       the same request is sent there
 *     it lists it, or can't be read        INF_ESERVER or discovery's error, unless the API itself
 *                                          has returned a 404 Status repeatedly: INF_ENOTFOUND
 */
#ifndef KUBE_DISCOVERY_NAMED_SOURCE_H
#define KUBE_DISCOVERY_NAMED_SOURCE_H

#include "kube/discovery/lookup.h"
#include "kube/source/api_source.h"

struct named_source;

struct named_source_options {
    struct resource_name *wanted;            /* its strings are taken over */
    struct discovery_cache *discovery_cache; /* borrowed */
    struct resource_scope scope;             /* copied */
    uint64_t *other_shards;                  /* as in api_source.h */
    bool ns_is_default;        /* the scope's namespace is ignored for cluster-scoped resources */
    bool by_namespace;         /* namespaces are selected: cluster-scoped resources are an error */
    const struct shape *shape; /* as in api_source.h */
    /* Called with the resolved resource before its first request, and again if it changes. @kind is
     * NULL if no lookup was needed. The arguments are valid during the call. */
    void (*on_found)(void *ctx, const struct resource *found, const char *kind);
    void *ctx;
};

/* @server must outlive the source. If the name needs no lookup, on_found is called before this
 * returns. */
struct named_source *named_source_new(const struct api_server *server,
                                      const struct named_source_options *options);

struct source *named_source_source(struct named_source *source);

/* As api_source_close(). */
void named_source_close(struct named_source *source);

#endif
