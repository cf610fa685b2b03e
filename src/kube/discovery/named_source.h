/*
 * named_source.h - a source for a resource that is known by a word: what it means is looked up first.
 *
 *     kube/named_source      which resource is it?       ->  on_found
 *          |  asks kube/lookup, then it is over
 *     kube/api_source        its objects
 *
 * The lookup is part of the first request: what goes wrong in it ends that request, and so is tried
 * again as anything else is.
 *
 * A 404 may come from a load balancer, and callers may take INF_ENOTFOUND as a reason to report all
 * objects deleted. So every 404 is checked against fresh discovery documents before the request ends:
 *
 *     discovery does not list it           INF_ENOTFOUND; looked up again with the next request
 *     it lists another version of it       the same request is sent there
 *     it lists it, or can't be read        INF_ESERVER or discovery's error: a failure like any other,
 *                                          unless the API itself has denied it (a Status) repeatedly
 */
#ifndef KUBE_DISCOVERY_NAMED_SOURCE_H
#define KUBE_DISCOVERY_NAMED_SOURCE_H

#include "kube/discovery/lookup.h"
#include "kube/source/api_source.h"

struct named_source;

struct named_source_options {
    struct resource_word *word;              /* what it owns is taken over */
    struct discovery_cache *discovery_cache; /* of the server's documents; borrowed */
    struct resource_scope scope;             /* copied */
    bool
        ns_is_default; /* what is in no namespace is meant as a whole: the scope's does not matter */
    bool by_namespace; /* what is in no namespace can't be meant: some namespaces are left out */
    const struct shape *shape; /* as in api_source.h */
    /* What it means: told before anything of it is asked for, and again if that changes. @kind is
     * NULL if no server was asked. All is lent. */
    void (*on_found)(void *ctx, const struct resource *found, const char *kind);
    void *ctx;
};

/* @server must outlive it. A word that needs no server is found before this returns. */
struct named_source *named_source_new(const struct api_server *server,
                                      const struct named_source_options *options);

struct source *named_source_source(struct named_source *source);

/* As api_source_close(). */
void named_source_close(struct named_source *source);

#endif
