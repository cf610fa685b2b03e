/*
 * service.h - the requests of readers: informerd's own endpoints below /informerd/v1/, health, and the
 * Kubernetes API (api.h).
 *
 *     status    the state of the daemon, as in a state dump
 *     access    address and certificate authority of api.listen, for a kubeconfig
 *     events    records as they happen, and from event logs (events.h)
 *     history   records of objects, from event logs (record_stream.h)
 *     indexes   objects by configured indexes (service_indexes.h)
 *     token     a short-lived token for api.listen; only on the Unix socket
 *     code      a one-time code for a session of the page; only on the Unix socket. It is exchanged at
 *               /informerd/v1/session, the only path that accepts POST (http/page.h)
 *     reload    reloads the configuration; only for root and the user of the daemon, as the next one
 *     reopen    reopens the event logs
 *     handlers  the state of handlers, and commands to them (service_handlers.h)
 *
 * A new endpoint is a function, in a file of its own if it is long, and one row of the table in
 * service.c.
 */
#ifndef DAEMON_API_SERVICE_H
#define DAEMON_API_SERVICE_H

#include "daemon/access/reader.h"
#include "wire/http/http_server.h"

struct daemon;

/* Answers @request of @reader. */
void service_respond(struct daemon *d, const struct api_reader *reader,
                     const struct http_server_request *request, struct http_exchange *exchange);

#endif
