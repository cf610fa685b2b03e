/*
 * endpoints.h - the HTTP endpoints of the daemon:
 *
 *     /livez              200 while the event loop runs
 *     /readyz[?verbose]   200 if all watches and event logs are ready, otherwise 503
 *     /metrics            metrics in the text format of Prometheus
 *
 * A new endpoint is a function, in a file of its own if it is long, and one row of the table in
 * endpoints.c. Requests reach it only if their Host header is allowed (web.c).
 */
#ifndef DAEMON_HTTP_ENDPOINTS_H
#define DAEMON_HTTP_ENDPOINTS_H

#include "base/buf.h"
#include "wire/http_server.h"

struct api_reader;
struct daemon;

/* Answers @request. If its path is none of the endpoints, the local API answers (daemon/api/api.h), or if
 * @reader is NULL a 404 with a list of all endpoints. */
void endpoints_respond(struct daemon *d, const struct api_reader *reader,
                       const struct http_server_request *request, struct http_exchange *exchange);

/* For endpoints: answer with plain text, or with a @body of another type, which is freed. */
void endpoint_reply_text(struct http_exchange *exchange, int status, const char *text);
void endpoint_reply_body(struct http_exchange *exchange, int status, const char *type,
                         struct buf *body);

#endif
