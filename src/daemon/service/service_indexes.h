/*
 * service_indexes.h - objects by the indexes that watches are configured with (`indexes`), below
 * /informerd/v1/:
 *
 *     indexes                                    the indexes, with their watches and field paths
 *     indexes/NAME/VALUE[?watch=W&namespace=NS]  the objects that have this value, as a list of Kubernetes
 *
 * The list is that of a request with the same field selector (api.h): forms, limits of readers and
 * refusals are the same, except that there are no tables. `labelSelector` is passed on.
 */
#ifndef DAEMON_API_SERVICE_INDEXES_H
#define DAEMON_API_SERVICE_INDEXES_H

#include "daemon/access/reader.h"
#include "wire/http/http_server.h"

struct daemon;

void service_indexes_respond(struct daemon *d, const struct api_reader *reader,
                             const struct http_server_request *request,
                             struct http_exchange *exchange);

/* Of a path that goes on after "indexes/". */
void service_indexes_respond_value(struct daemon *d, const struct api_reader *reader,
                                   const struct http_server_request *request,
                                   struct http_exchange *exchange);

#endif
