/*
 * api_park.c - keeps an exchange until its call can continue. See api_park.h.
 */
#include "daemon/api/api_park.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

struct api_parked {
    struct http_exchange_user user;
    struct api_call call;
    struct list node;    /* in the parked calls of the API */
    struct list waiting; /* in the waiters of what it waits for */
    struct timer due;
    struct task turn;
};

static void parked_free(struct api_parked *p)
{
    timer_stop(p->call.api->clock, &p->due);
    task_cancel(&p->turn);
    list_remove(&p->node);
    list_remove(&p->waiting);
    free(p);
}

static void parked_run(struct task *task)
{
    struct api_parked *p = container_of(task, struct api_parked, turn);
    struct api_call call = p->call;
    parked_free(p);
    http_exchange_set_user(call.x, NULL);
    call.waited = true;
    api_serve(&call);
}

static void parked_on_due(struct timer *timer)
{
    struct api_parked *p = container_of(timer, struct api_parked, due);
    task_schedule(p->call.api->clock, &p->turn);
}

static void parked_on_abort(struct http_exchange_user *user)
{
    parked_free(container_of(user, struct api_parked, user));
}

static const struct http_exchange_user_ops parked_ops = {.on_abort = parked_on_abort};

void api_park(const struct api_call *call, struct list *waiters, uint64_t ms)
{
    struct api_parked *p = NEW(struct api_parked);
    p->user.ops = &parked_ops;
    p->call = *call;
    p->due.fire = parked_on_due;
    task_init(&p->turn, PHASE_PUMP, parked_run);
    list_push(&call->api->parked, &p->node);
    list_init(&p->waiting);
    list_push(waiters, &p->waiting);
    http_exchange_set_user(call->x, &p->user);
    timer_start(call->api->clock, &p->due, ms);
}

void api_unpark_all(struct list *waiters)
{
    struct list *node;
    while ((node = list_pop(waiters))) {
        struct api_parked *p = container_of(node, struct api_parked, waiting);
        task_schedule(p->call.api->clock, &p->turn);
    }
}

void api_park_close(struct api *api)
{
    struct list *node;
    while ((node = list_pop(&api->parked))) {
        struct api_parked *p = container_of(node, struct api_parked, node);
        http_exchange_cut(p->call.x);
        parked_free(p);
    }
}
