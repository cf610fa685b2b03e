/*
 * service_client.h - the endpoints of handlers with `client: true` (daemon/handler/handler_client.h) below
 * /informerd/v1/:
 *
 *     handlers/stream?name=NAME&id=ID              the records that are not acknowledged, without end
 *     handlers/ack?name=NAME&id=ID&lines=N         the first N lines of that stream are processed
 */
#ifndef DAEMON_SERVICE_CLIENT_H
#define DAEMON_SERVICE_CLIENT_H

#include "daemon/access/reader.h"
#include "wire/http/http_server.h"

struct daemon;

void service_client_respond_stream(struct daemon *d, const struct api_reader *reader,
                                   const struct http_server_request *request,
                                   struct http_exchange *exchange);
void service_client_respond_ack(struct daemon *d, const struct api_reader *reader,
                                const struct http_server_request *request,
                                struct http_exchange *exchange);

#endif
