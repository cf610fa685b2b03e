/*
 * api_send.h - sends a large body in slices, compressed, so that one response never takes a whole tick.
 */
#ifndef DAEMON_API_SEND_H
#define DAEMON_API_SEND_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/api/api.h"

enum {
    API_GZIP_MIN = 128 * 1024, /* smaller bodies are not compressed, as by kube-apiserver */
    API_GZIP_MAX = 32, /* LIMIT: responses that are compressed at the same time; others are plain */
};

/* Whether another response may be compressed. */
bool api_gzip_is_free(const struct api *api);

/* Responds with status 200 and @body, whose bytes it takes over: compressed if @gzip is set and it is large
 * enough. */
void api_send(struct api *api, struct http_exchange *x, struct buf *body, bool gzip);

/* Cuts the responses in progress. */
void api_send_close(struct api *api);

#endif
