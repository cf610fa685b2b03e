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

#include <stdbool.h>

#include "base/buf.h"
#include "wire/http/http_server.h"

struct daemon;

/* Answers @request, or with 404 and a list of all endpoints if its path is none of them. */
void endpoints_respond(struct daemon *d, const struct http_server_request *request,
                       struct http_exchange *exchange);

/* Whether @path is that of an endpoint. */
bool endpoints_have(const char *path);

/* For endpoints: answer with plain text, or with a @body of another type, which is freed. */
void endpoint_reply_text(struct http_exchange *exchange, int status, const char *text);
void endpoint_reply_body(struct http_exchange *exchange, int status, const char *type,
                         struct buf *body);

#endif
