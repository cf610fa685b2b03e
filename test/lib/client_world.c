/*
 * client_world.c - see client_world.h.
 */
#include "client_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void client_world_write_kubeconfig(struct client_world *w, int port)
{
    FILE *file = fopen(w->kubeconfig, "w");
    assert_non_null(file);
    fprintf(file,
            "{current-context: c, contexts: [{name: c, context: {cluster: c}}],"
            " clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]}",
            port);
    assert_int_equal(fclose(file), 0);
}

void client_world_open(struct client_world *w)
{
    struct inf_client_options options = {.kubeconfig = w->kubeconfig};
    struct inf_error err = {0};
    int fd;
    strcpy(w->kubeconfig, "/tmp/client_world.XXXXXX");
    fd = mkstemp(w->kubeconfig);
    assert_true(fd >= 0);
    close(fd);
    client_world_write_kubeconfig(w, 1);
    uv_loop_init(&w->loop);
    w->client = inf_client_open(&w->loop, &options, &err);
    if (!w->client)
        fail_msg("%s", err.text);
}

void client_world_close(struct client_world *w)
{
    inf_client_close(w->client, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    unlink(w->kubeconfig);
}
