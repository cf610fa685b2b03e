/*
 * endpoint_metrics.c - writes the metrics in slices and sends them when they are complete.
 *
 * Normal path: the values are collected with the request, a pump task writes samples while the tick has
 * time, and the last slice sends the response. It has a length and is not streamed: a client that has
 * closed its sending side still gets it. A client that disconnects ends its page.
 */
#include "daemon/http/endpoint_metrics.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/daemon.h"
#include "daemon/http/endpoints.h"
#include "daemon/http/metrics.h"
#include "daemon/http/report_metrics.h"

enum {
    ITEMS_A_STEP = 64, /* about 40 us between two looks at the time */
};

/* A request whose page is not complete. */
struct metrics_response {
    struct http_exchange_user user;
    struct list node; /* in web.metrics */
    struct http_exchange *exchange;
    struct clock *clock;
    struct task task;
    struct metrics_page *page;
    struct buf body;
};

static void response_free(struct metrics_response *r)
{
    task_cancel(&r->task);
    list_remove(&r->node);
    metrics_page_free(r->page);
    buf_free(&r->body);
    free(r);
}

static void response_on_abort(struct http_exchange_user *user)
{
    response_free(container_of(user, struct metrics_response, user));
}

static const struct http_exchange_user_ops user_ops = {.on_abort = response_on_abort};

static void response_write_some(struct task *task)
{
    struct metrics_response *r = container_of(task, struct metrics_response, task);
    bool complete;
    do
        complete = metrics_page_put_some(r->page, ITEMS_A_STEP, &r->body);
    while (!complete && !clock_over_budget(r->clock));
    if (!complete) {
        task_schedule(r->clock, task);
        return;
    }
    endpoint_reply_body(r->exchange, 200, METRICS_CONTENT_TYPE, &r->body);
    response_free(r);
}

void endpoint_metrics_respond(struct daemon *d, const struct http_server_request *request,
                              struct http_exchange *exchange)
{
    struct metrics_response *r = NEW(struct metrics_response);
    (void)request;
    r->user.ops = &user_ops;
    r->exchange = exchange;
    r->clock = &d->loop.clock;
    r->page = metrics_page_new(d);
    task_init(&r->task, PHASE_PUMP, response_write_some);
    list_push(&d->web.metrics, &r->node);
    http_exchange_set_user(exchange, &r->user);
    task_schedule(r->clock, &r->task);
}

void endpoint_metrics_close(struct web *web)
{
    while (!list_empty(&web->metrics))
        response_free(container_of(web->metrics.next, struct metrics_response, node));
}
