/*
 * api_park.h - requests that wait for something that is being read from the API server.
 *
 *     if (!known && !call->waited) {
 *         api_park(call, &thing->waiters, 3000);        the call continues from the start, once:
 *         return;                                       when the thing is known, or after 3 s
 *     }
 *     ... respond with what is known
 *     api_unpark_all(&thing->waiters);                  it is known now, or failed
 *
 * A client that disconnects meanwhile is forgotten. All requests of the local API that wait are in one list,
 * so that none is missed at the end.
 */
#ifndef DAEMON_API_PARK_H
#define DAEMON_API_PARK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/api/api.h"

/* A request that is being served. Everything is borrowed; @reader and @request outlive the exchange. */
struct api_call {
    struct api *api;
    const struct api_reader *reader;
    const struct http_server_request *request;
    struct http_exchange *x;
    bool waited; /* it was parked: respond now */
};

/* Serves @call again when api_unpark_all() is called for @waiters, or after @ms. */
void api_park(const struct api_call *call, struct list *waiters, uint64_t ms);

/* The calls continue in the pump phase. */
void api_unpark_all(struct list *waiters);

/* Cuts the connections of all calls that wait. */
void api_park_close(struct api *api);

#endif
