/*
 * life.h - a client, an informer, a handler and a queue on a loop: a fixture for closing.c and pair.c.
 */
#ifndef LIBRARY_LIFE_H
#define LIBRARY_LIFE_H

#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

#include "informer/access.h"
#include "informer/informer.h"
#include "informer/queue.h"

/* Unlike assert(), also active in release builds. */
#define MUST(condition)                                                     \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(EXIT_FAILURE);                                             \
        }                                                                   \
    } while (0)

enum {
    REQUESTS = 5,
};

struct life {
    uv_loop_t *loop;
    struct inf_client *client;
    struct inf_informer *informer;
    struct inf_handler handler;
    struct inf_queue *queue;
    struct inf_worker worker;
    size_t events;
    struct inf_request requests[REQUESTS];
    size_t answers;
    size_t canceled;
    bool closed, informer_closed, queue_closed;
};

/* Watches configmaps. The caller sets the handler, and the worker if a queue is needed. */
static inline void life_open(struct life *life, uv_loop_t *loop, const char *kubeconfig)
{
    struct inf_client_options options = {.kubeconfig = kubeconfig};
    struct inf_watch watch = {.resource = "configmaps"};
    struct inf_error err = {0};
    life->loop = loop;
    life->client = inf_client_open(loop, &options, &err);
    MUST(life->client);
    life->informer = inf_informer_open(life->client, &watch, &err);
    MUST(life->informer);
    MUST(inf_handler_add(life->informer, &life->handler) == 0);
    if (life->worker.work)
        life->queue = inf_queue_open(life->client, &life->worker, NULL, &err);
}

#endif
