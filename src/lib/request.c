/*
 * request.c - starts, ends and cancels the requests of a client.
 *
 * Normal path: request_start() adds a request to its client's list, and request_end() removes it
 * and calls the user. A canceled request ends from the loop with INF_ECANCELED. The memory is freed
 * in the reap phase, because the functions that end a request may still be on the stack.
 */
#include "lib/request.h"

#include "base/base.h"
#include "base/err.h"

static void request_free_deferred(struct deferred_free *deferred_free)
{
    struct request *r = container_of(deferred_free, struct request, deferred_free);
    r->ops->free(r);
}

static void request_on_end(struct task *task)
{
    struct request *r = container_of(task, struct request, end);
    struct inf_error why = {0};
    if (r->code)
        err_set(&why, r->code, "%s", inf_error_meaning(r->code));
    request_end(r, r->code ? &why : NULL);
}

int request_start(struct request *r, const struct request_ops *ops, struct inf_client *client,
                  struct inf_request *user)
{
    r->ops = ops;
    if (user->internal) {
        ops->free(r);
        return -INF_EINVAL;
    }
    r->client = client;
    r->user = user;
    user->internal = r;
    task_init(&r->end, PHASE_PUMP, request_on_end);
    list_push(&client->requests, &r->node);
    return 0;
}

static void request_stop(struct request *r)
{
    r->ops->stop(r);
    document_stop(&r->document);
}

/* Unregisters the request first: the user may start it again or close the client. */
void request_end(struct request *r, const struct inf_error *why)
{
    request_stop(r);
    task_cancel(&r->end);
    list_remove(&r->node);
    r->user->internal = NULL;
    clock_free_later(&r->client->loop.clock, &r->deferred_free, request_free_deferred);
    r->ops->report(r, why);
}

void request_end_later(struct request *r, int code)
{
    request_stop(r);
    r->code = code;
    task_schedule(&r->client->loop.clock, &r->end);
}

void inf_request_cancel(struct inf_request *request)
{
    if (request->internal)
        request_end_later(request->internal, INF_ECANCELED);
}

void request_cancel_all(struct inf_client *client)
{
    list_for_each(node, &client->requests)
        request_end_later(container_of(node, struct request, node), INF_ECANCELED);
}

void request_informer_closed(struct inf_client *client, const struct inf_informer *informer)
{
    list_for_each_safe(node, &client->requests) {
        struct request *r = container_of(node, struct request, node);
        if (r->ops->on_informer_closed)
            r->ops->on_informer_closed(r, informer);
    }
}
