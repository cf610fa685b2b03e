/*
 * connector.c - "Happy Eyeballs" (RFC 8305): connection attempts in parallel.
 *
 * Normal path: the first address connects, and all other attempts are closed. A timer, or the failure
 * of an attempt, starts the next one. Fails with the error of the last attempt when there is no
 * further address, or when the deadline has passed.
 */
#include "loop/connector.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

/* One connection attempt. libuv always calls connector_on_attempt(), also if the handle is closed
 * before: the attempt is freed there. */
struct attempt {
    struct list node;
    struct connector *connector; /* NULL: abandoned */
    uv_tcp_t *handle;
    uv_connect_t request;
};

static void connector_try_next(struct connector *c, const char *why);

static void connector_fail(struct connector *c, const char *why)
{
    connector_stop(c);
    c->on_failed(c, why);
}

static void connector_on_attempt(uv_connect_t *request, int status)
{
    struct attempt *attempt = container_of(request, struct attempt, request);
    struct connector *c = attempt->connector;
    uv_tcp_t *handle = attempt->handle;
    list_remove(&attempt->node);
    free(attempt);
    if (!c)
        return;
    if (status < 0) {
        loop_discard(c->loop, (uv_handle_t *)handle);
        connector_try_next(c, uv_strerror(status));
        return;
    }
    loop_busy(c->loop); /* not above: a failure may be reported before poll, which then blocks */
    connector_stop(c);
    c->on_connected(c, handle);
}

/* Returns 0, or libuv's error if the attempt can't be started. */
static int connector_try_address(struct connector *c, const struct sockaddr *address)
{
    struct attempt *attempt = NEW(struct attempt);
    int rc;
    attempt->connector = c;
    attempt->handle = NEW(uv_tcp_t);
    uv_tcp_init(c->loop->uv, attempt->handle); /* creates no socket yet: can't fail */
    rc = uv_tcp_connect(&attempt->request, attempt->handle, address, connector_on_attempt);
    if (rc < 0) {
        loop_discard(c->loop, (uv_handle_t *)attempt->handle);
        free(attempt);
        return rc;
    }
    list_push(&c->attempts, &attempt->node);
    return 0;
}

/* Starts the next attempt, if any. @why: the error of the last attempt. */
static void connector_try_next(struct connector *c, const char *why)
{
    int rc = -1;
    while (rc < 0 && c->next < c->addresses.count) {
        rc = connector_try_address(c, &c->addresses.list[c->next++].any);
        if (rc < 0)
            why = uv_strerror(rc);
    }
    timer_stop(&c->loop->clock, &c->stagger);
    if (c->next < c->addresses.count)
        timer_start(&c->loop->clock, &c->stagger, CONNECTOR_STAGGER_MS);
    if (list_empty(&c->attempts))
        connector_fail(c, why);
}

static void connector_on_stagger(struct timer *timer)
{
    connector_try_next(container_of(timer, struct connector, stagger), "no response");
}

static void connector_on_deadline(struct timer *timer)
{
    connector_fail(container_of(timer, struct connector, deadline), "no response");
}

void connector_init(struct connector *c, struct loop *loop)
{
    *c = (struct connector){
        .loop = loop, .stagger.fire = connector_on_stagger, .deadline.fire = connector_on_deadline};
    list_init(&c->attempts);
}

void connector_start(struct connector *c, const struct addresses *addresses, uint16_t port)
{
    c->addresses = *addresses;
    c->next = 0;
    for (size_t i = 0; i < c->addresses.count; i++) {
        union address *address = &c->addresses.list[i];
        if (address->any.sa_family == AF_INET6)
            address->v6.sin6_port = htons(port);
        else
            address->v4.sin_port = htons(port);
    }
    timer_start(&c->loop->clock, &c->deadline, CONNECTOR_MAX_MS);
    connector_try_next(c, "the name has no address");
}

void connector_stop(struct connector *c)
{
    struct list *node;
    timer_stop(&c->loop->clock, &c->stagger);
    timer_stop(&c->loop->clock, &c->deadline);
    while ((node = list_pop(&c->attempts))) {
        struct attempt *attempt = container_of(node, struct attempt, node);
        attempt->connector = NULL;
        loop_discard(c->loop, (uv_handle_t *)attempt->handle);
    }
}
