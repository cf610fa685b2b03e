/*
 * service_handlers.h - the endpoints for handlers (daemon/handler/handler.h) below /informerd/v1/:
 *
 *     handlers                                             the state of each handler
 *     handlers/parked?name=NAME                            its parked records, without the records themselves
 *     handlers/control?name=NAME&command=COMMAND[&seq=N]   a command of handler_control.h
 */
#ifndef DAEMON_API_SERVICE_HANDLERS_H
#define DAEMON_API_SERVICE_HANDLERS_H

#include "base/buf.h"
#include "daemon/access/reader.h"
#include "daemon/handler/handler.h"
#include "wire/http/http_server.h"

struct daemon;

enum {
    SERVICE_PARKED_MAX = 1000, /* LIMIT: parked records of one answer; further ones are counted */
};

/* The state of a handler as the members of a JSON object, without braces. */
void service_handlers_put(struct buf *out, struct daemon *d, const struct handler *handler);

void service_handlers_respond(struct daemon *d, const struct api_reader *reader,
                              const struct http_server_request *request,
                              struct http_exchange *exchange);
void service_handlers_respond_parked(struct daemon *d, const struct api_reader *reader,
                                     const struct http_server_request *request,
                                     struct http_exchange *exchange);
void service_handlers_respond_control(struct daemon *d, const struct api_reader *reader,
                                      const struct http_server_request *request,
                                      struct http_exchange *exchange);

#endif
