/*
 * client_world.h - a client on a real loop, for tests of the library without a server: nothing listens on the address in
 * its kubeconfig.
 */
#ifndef TEST_CLIENT_WORLD_H
#define TEST_CLIENT_WORLD_H

#include <uv.h>

#include "informer/informer.h"

struct client_world {
    char kubeconfig[32]; /* the path */
    uv_loop_t loop;
    struct inf_client *client;
};

/* The path of a new temporary file is stored in `kubeconfig`. Failures end the test. */
void client_world_open(struct client_world *w);

/* Closes the client, runs the loop to its end, and checks that libuv has no handle left. */
void client_world_close(struct client_world *w);

/* Writes a kubeconfig for a server at this port of loopback. */
void client_world_write_kubeconfig(struct client_world *w, int port);

#endif
