/*
 * endpoint_metrics.h - /metrics: a page that is written in several ticks if there are many watches.
 */
#ifndef DAEMON_HTTP_ENDPOINT_METRICS_H
#define DAEMON_HTTP_ENDPOINT_METRICS_H

#include "wire/http/http_server.h"

struct daemon;
struct web;

void endpoint_metrics_respond(struct daemon *d, const struct http_server_request *request,
                              struct http_exchange *exchange);

/* Frees the pages in progress. Their exchanges are no longer valid. */
void endpoint_metrics_close(struct web *web);

#endif
