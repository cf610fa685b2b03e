/*
 * api_view.h - finds the cache that can answer a request: a stream of a watch.
 *
 * Answers are complete or refused. A watch with selectors, without some namespaces or with metadata only
 * answers requests that ask for no more than it has; otherwise the refusal names the restriction.
 */
#ifndef DAEMON_API_VIEW_H
#define DAEMON_API_VIEW_H

#include "informer/informer.h"

#include "daemon/access/reader.h"
#include "daemon/api/api_request.h"

struct cluster;
struct daemon;
struct watch_stream;

struct api_view {
    const struct cluster *cluster;
    const struct watch_stream *stream;
    const struct inf_store *store;
    struct inf_resource resource; /* `kind` is not NULL */
};

/* The cluster of @r: the one that it names, or the first of the configuration. NULL, with @fault. */
struct cluster *api_cluster_of(struct daemon *d, const struct api_request *r,
                               struct api_fault *fault);

/* Finds the cache for @r, which is for objects. Everything is valid until control returns to the loop.
 * Returns 0, or -1 with @fault, whose details point into @r. */
int api_view_find(struct daemon *d, const struct api_reader *reader, const struct api_request *r,
                  struct api_view *ret, struct api_fault *fault);

/* Sets the headers Age, Informerd-State and, if the cache may be outdated, Warning. */
void api_view_describe(const struct api_view *view, struct http_exchange *x);

/* Whether the server does not have the resource of @stream, which is optional. */
bool api_is_absent(const struct watch_stream *stream);

/* The kind of the objects of @stream, as far as it is known; "" otherwise. */
const char *api_kind_of(const struct watch_stream *stream, const struct inf_resource *resource);

#endif
