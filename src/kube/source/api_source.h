/*
 * api_source.h - a source (seam/source.h) that sends requests to an API server.
 */
#ifndef KUBE_SOURCE_API_SOURCE_H
#define KUBE_SOURCE_API_SOURCE_H

#include "kube/auth/auth.h"
#include "kube/discovery/resource.h"
#include "seam/clock.h"
#include "seam/source.h"

struct http_pool;
struct warnings;

/* Address and credentials of one cluster. All borrowed. */
struct api_server {
    struct clock *clock;
    struct http_pool *pool;  /* of connections to the server */
    const char *host_header; /* host:port as in a URL */
    const char *path_prefix; /* "" or "/k8s/clusters/c-1" */
    const char *user_agent;
    struct auth *auth;         /* our credentials; NULL: none */
    bool no_compression;       /* do not request gzip */
    struct warnings *warnings; /* logs the server's warnings; NULL: they are ignored */
};

struct api_source;
struct shape;

struct api_source_options {
    struct resource *resource;   /* its strings are taken over */
    struct resource_scope scope; /* copied */
    uint64_t *other_shards; /* counts objects that are dropped because they belong to another shard;
                               NULL: not counted */
    const struct shape *shape; /* borrowed; NULL: the default. With metadata_only, no more than that
                                  is requested. */
    /* Gets the end of each request instead of the user, whose on_end it must call now or later.
     * NULL: the user gets it. */
    void (*on_end)(void *ctx, const struct inf_error *why);
    void *ctx;
};

/* @server must outlive it. */
struct api_source *api_source_new(const struct api_server *server,
                                  const struct api_source_options *options);

struct source *api_source_source(struct api_source *source);

/* Whether the last request ended with a Status of the API itself that denies the resource: see
 * status_denies_resource(). */
bool api_source_denied(const struct api_source *source);

/* Cancels the request in progress. Memory is freed in the reap phase, so this may be called inside
 * a callback. */
void api_source_close(struct api_source *source);

#endif
