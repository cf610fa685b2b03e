/*
 * synced.c - waits until all informers of a client are synced.
 *
 * Normal path: the request adds a handler without on_event to every informer that is not synced
 * yet, and ends when the last of them was called. An informer that closes no longer counts. If none
 * is left to wait for, the request ends from the loop all the same. The wait itself does not fail.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "lib/request.h"

struct awaited_informer {
    struct inf_handler handler;
    struct list node;
    struct inf_informer *informer;
};

struct sync_wait {
    struct request request;
    inf_synced_cb *on_done;
    struct list awaited; /* of struct awaited_informer */
};

static void sync_wait_forget(struct awaited_informer *a)
{
    inf_handler_remove(&a->handler);
    list_remove(&a->node);
    free(a);
}

static void sync_wait_on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    struct sync_wait *w = handler->data;
    (void)informer;
    sync_wait_forget(container_of(handler, struct awaited_informer, handler));
    if (list_empty(&w->awaited))
        request_end_later(&w->request, 0); /* after the other handlers of this informer */
}

static void sync_wait_on_informer_closed(struct request *request,
                                         const struct inf_informer *informer)
{
    struct sync_wait *w = container_of(request, struct sync_wait, request);
    list_for_each_safe(node, &w->awaited) {
        struct awaited_informer *a = container_of(node, struct awaited_informer, node);
        if (a->informer == informer) {
            sync_wait_forget(a);
            if (list_empty(&w->awaited))
                request_end_later(request, 0);
        }
    }
}

static void sync_wait_stop(struct request *request)
{
    struct sync_wait *w = container_of(request, struct sync_wait, request);
    list_for_each_safe(node, &w->awaited)
        sync_wait_forget(container_of(node, struct awaited_informer, node));
}

static void sync_wait_report(struct request *request, const struct inf_error *why)
{
    container_of(request, struct sync_wait, request)->on_done(request->user, why);
}

static void sync_wait_free(struct request *request)
{
    free(container_of(request, struct sync_wait, request));
}

static const struct request_ops sync_wait_ops = {
    .stop = sync_wait_stop,
    .report = sync_wait_report,
    .free = sync_wait_free,
    .on_informer_closed = sync_wait_on_informer_closed,
};

int inf_client_wait_synced(struct inf_client *client, struct inf_request *request,
                           inf_synced_cb *on_done)
{
    struct sync_wait *w = NEW(struct sync_wait);
    int rc = request_start(&w->request, &sync_wait_ops, client, request);
    if (rc < 0)
        return rc;
    w->on_done = on_done;
    list_init(&w->awaited);
    list_for_each(node, &client->informers) {
        struct inf_informer *informer = informer_of_node(node);
        struct awaited_informer *a;
        if (inf_informer_synced(informer))
            continue;
        a = NEW(struct awaited_informer);
        a->informer = informer;
        a->handler.data = w;
        a->handler.on_synced = sync_wait_on_synced;
        list_push(&w->awaited, &a->node);
        inf_handler_add(informer, &a->handler);
    }
    if (list_empty(&w->awaited))
        request_end_later(&w->request, 0);
    return 0;
}
