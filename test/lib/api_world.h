/*
 * api_world.h - a local API in virtual time: a store, a feed of it, and a server whose clients are pipes.
 *
 * Use api_world_setup() and api_world_teardown() with cmocka_unit_test_setup_teardown().
 */
#ifndef API_WORLD_H
#define API_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/store/store.h"
#include "daemon/api/api_feed.h"
#include "pipe_stream.h"
#include "sim.h"
#include "wire/http/http_server.h"

struct api_world {
    struct http_server_user user;
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_server *server;
    struct api api;
    struct inf_store *store;
    const struct table_printer *printer; /* of tables; NULL: none is requested */
    bool gzip;                           /* clients accept it */
    uint64_t version;
};

/* The resource that the server serves. */
extern const struct inf_resource api_world_pods;

int api_world_setup(void **state);
int api_world_teardown(void **state);

/* A pod n/NAME at the next version, with a label app=LABEL and about @size bytes. */
struct inf_object *api_world_pod(struct api_world *w, const char *name, const char *label,
                                 int size);

/* Puts such a pod into the store. */
void api_world_put(struct api_world *w, const char *name, const char *label, int size);
void api_world_delete(struct api_world *w, const char *name);

/* For functions of the store whose events are not of interest. */
void api_world_ignore(void *ctx, const struct inf_event *event);

#endif
