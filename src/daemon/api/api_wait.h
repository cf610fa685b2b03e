/*
 * api_wait.h - requests that wait until the cache has reached a resource version: NotOlderThan.
 *
 * With it, a client that has written to the API server reads its own write here.
 */
#ifndef DAEMON_API_WAIT_H
#define DAEMON_API_WAIT_H

#include "daemon/api/api_request.h"

struct api_feed;

enum {
    API_WAIT_MS = 3 * 1000, /* as kube-apiserver: then 504 */
};

/* Responds to @r, whose contents it takes over, from @feed. */
typedef void api_go_fn(struct api_feed *feed, struct api_request *r, struct http_exchange *x);

/* Calls @go at once if @feed has reached the version of @r, otherwise later. Responds itself with 504,
 * or with 410 if another version than the current one is requested exactly. */
void api_wait_start(struct api_feed *feed, struct api_request *r, struct http_exchange *x,
                    api_go_fn *go);

/* For the feed: it has ended. */
void api_wait_end_all(struct api_feed *feed);

/* A fault of a watch is an event of a response with status 200, as from kube-apiserver. */
void api_watch_refuse(const struct api_fault *fault, struct http_exchange *x);

#endif
