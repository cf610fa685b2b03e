/*
 * api_source.h - a source that is a real API server: requests out, events in.
 */
#ifndef KUBE_SOURCE_API_SOURCE_H
#define KUBE_SOURCE_API_SOURCE_H

#include "kube/auth/auth.h"
#include "kube/discovery/resource.h"
#include "seam/clock.h"
#include "seam/source.h"

struct http_pool;
struct warnings;

/* One cluster's address and how to get in. All borrowed. */
struct api_server {
    struct clock *clock;
    struct http_pool *pool;  /* where it is, and the connections that are open */
    const char *host_header; /* host:port as it stands in a URL */
    const char *path_prefix; /* "" or "/k8s/clusters/c-1" */
    const char *user_agent;
    struct auth *auth;         /* our credentials; NULL: none */
    bool no_compression;       /* do not request gzip */
    struct warnings *warnings; /* logs the server's warnings; NULL: they are ignored */
};

struct api_source;
struct shape;

/* What to ask for, and what to keep of it. */
struct api_source_options {
    struct resource *resource;   /* what it owns is taken over */
    struct resource_scope scope; /* copied */
    const struct shape *shape; /* borrowed; NULL: the default. With metadata_only, no more than that
                                  is asked for. */
};

/* @server must outlive it. */
struct api_source *api_source_new(const struct api_server *server,
                                  const struct api_source_options *options);

struct source *api_source_source(struct api_source *source);

/* Whether the last request ended with the API's own statement that it has no such resource: see
 * status_denies_resource(). */
bool api_source_denied(const struct api_source *source);

/* Cancels what is under way. Its memory goes in the reap phase, so this may be called inside a
 * callback. */
void api_source_close(struct api_source *source);

#endif
