/*
 * handler_client.h - the connection of a handler with `client: true`: a program that takes its records over the
 * local API. Used by the endpoints handlers/stream and handlers/ack (daemon/service/service_client.h).
 */
#ifndef DAEMON_HANDLER_CLIENT_H
#define DAEMON_HANDLER_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/handler/handler_kind.h"
#include "wire/http/http_exchange.h"

struct handlers;

enum {
    HANDLER_CLIENT_ID_MAX = 64, /* LIMIT: bytes of the id of a stream */
};

/* The functions below accept only handlers for which this is true. */
static inline bool handler_is_client(const struct handler *handler)
{
    return handler->settings.kind == &handler_client;
}

/* Whether the reader named @reader may take the records. */
bool handler_client_permits(const struct handler *handler, const char *reader);

/* Sends the records to @exchange from now on; takes it over. @id is at most HANDLER_CLIENT_ID_MAX bytes long.
 * Returns false if a client is connected. */
bool handler_client_open(struct handler *handler, const char *id, struct http_exchange *exchange);

/* Whether the stream @id is connected. */
bool handler_client_has(const struct handler *handler, const char *id);

/* The first @lines lines of the current stream are processed. Returns false if fewer were sent. */
bool handler_client_ack(struct handler *handler, uint64_t lines);

/* The server of the exchanges was closed: none of them is valid any more. */
void handler_clients_close(struct handlers *handlers);

#endif
