/*
 * race.c - connection attempts in parallel: a timer starts the next one, the first success ends all
 * others.
 */
#include "loop/race.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

/* One connection attempt. libuv always calls race_on_connected(), also if the handle is closed
 * before: the attempt is freed there. */
struct attempt {
    struct list node;
    struct race *race; /* NULL: abandoned */
    uv_tcp_t *handle;
    uv_connect_t request;
};

static void race_try_next(struct race *race, const char *why);

static void race_on_connected(uv_connect_t *request, int status)
{
    struct attempt *attempt = container_of(request, struct attempt, request);
    struct race *race = attempt->race;
    uv_tcp_t *handle = attempt->handle;
    list_remove(&attempt->node);
    free(attempt);
    if (!race)
        return;
    if (status < 0) {
        loop_discard(race->loop, (uv_handle_t *)handle);
        race_try_next(race, uv_strerror(status));
        return;
    }
    loop_busy(race->loop); /* not above: a failure may be reported before poll, which then blocks */
    race_stop(race);
    race->on_won(race, handle);
}

/* Returns 0, or libuv's error if the attempt can't be started. */
static int race_try_address(struct race *race, const struct sockaddr *address)
{
    struct attempt *attempt = NEW(struct attempt);
    int rc;
    attempt->race = race;
    attempt->handle = NEW(uv_tcp_t);
    uv_tcp_init(race->loop->uv, attempt->handle); /* creates no socket yet: can't fail */
    rc = uv_tcp_connect(&attempt->request, attempt->handle, address, race_on_connected);
    if (rc < 0) {
        loop_discard(race->loop, (uv_handle_t *)attempt->handle);
        free(attempt);
        return rc;
    }
    list_push(&race->attempts, &attempt->node);
    return 0;
}

static void race_lose(struct race *race, const char *why)
{
    race_stop(race);
    race->on_lost(race, why);
}

/* Starts the next attempt, if any. @why: the error of the last attempt. */
static void race_try_next(struct race *race, const char *why)
{
    int rc = -1;
    while (rc < 0 && race->next < race->addresses.count) {
        rc = race_try_address(race, &race->addresses.list[race->next++].any);
        if (rc < 0)
            why = uv_strerror(rc);
    }
    timer_stop(&race->loop->clock, &race->stagger);
    if (race->next < race->addresses.count)
        timer_start(&race->loop->clock, &race->stagger, RACE_STAGGER_MS);
    if (list_empty(&race->attempts))
        race_lose(race, why);
}

static void race_on_stagger(struct timer *timer)
{
    race_try_next(container_of(timer, struct race, stagger), "no response");
}

static void race_on_deadline(struct timer *timer)
{
    race_lose(container_of(timer, struct race, deadline), "no response");
}

void race_init(struct race *race, struct loop *loop)
{
    *race = (struct race){
        .loop = loop, .stagger.fire = race_on_stagger, .deadline.fire = race_on_deadline};
    list_init(&race->attempts);
}

void race_start(struct race *race, const struct addresses *addresses, uint16_t port)
{
    race->addresses = *addresses;
    race->next = 0;
    for (size_t i = 0; i < race->addresses.count; i++)
        address_set_port(&race->addresses.list[i], port);
    timer_start(&race->loop->clock, &race->deadline, RACE_MAX_MS);
    race_try_next(race, "the name has no address");
}

void race_stop(struct race *race)
{
    struct list *node;
    timer_stop(&race->loop->clock, &race->stagger);
    timer_stop(&race->loop->clock, &race->deadline);
    while ((node = list_pop(&race->attempts))) {
        struct attempt *attempt = container_of(node, struct attempt, node);
        attempt->race = NULL;
        loop_discard(race->loop, (uv_handle_t *)attempt->handle);
    }
}
