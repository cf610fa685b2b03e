/*
 * api_wait.c - polls the version of the store for requests that need a later one. See api_wait.h.
 *
 * The version also advances by bookmarks of the server, which are no changes, so it is polled.
 */
#include "daemon/api/api_wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/api/api_feed.h"

enum {
    POLL_MS = 20,
};

struct api_wait {
    struct http_exchange_user user;
    struct http_exchange *x;
    struct list node; /* in the feed's `waiting` */
    struct api_feed *feed;
    struct api_request r;
    api_go_fn *go;
    struct timer poll;
    struct task turn; /* responds in the pump phase */
    uint64_t until_ms;
};

void api_watch_refuse(const struct api_fault *fault, struct http_exchange *x)
{
    struct buf line = {0};
    buf_puts(&line, "{\"type\":\"ERROR\",\"object\":");
    api_fault_put(fault, &line);
    buf_puts(&line, "}\n");
    http_exchange_reply(x, 200, "application/json", line.bytes, line.len);
    buf_free(&line);
}

static void refuse(const struct api_fault *fault, struct api_request *r, struct http_exchange *x)
{
    if (r->page == API_WATCH)
        api_watch_refuse(fault, x);
    else
        api_fault_reply(fault, x);
    api_request_free(r);
}

static bool is_newer(const struct api_feed *feed, const char *version)
{
    return inf_resource_version_is_older(inf_store_resource_version(feed->store), version);
}

static bool is_exact(const struct api_request *r)
{
    return r->match == API_MATCH_EXACT ||
           (r->page == API_LIST && r->match == API_MATCH_NONE && r->has_limit);
}

/* The store has reached the version, if it is one. */
static void respond(struct api_feed *feed, struct api_request *r, struct http_exchange *x,
                    api_go_fn *go)
{
    struct api_fault fault = {.code = 0};
    api_feed_note_version(feed);
    if (r->resource_version && is_exact(r) &&
        strcmp(r->resource_version, inf_store_resource_version(feed->store)) != 0) {
        api_fault_set(&fault, 410, "The resourceVersion for the provided list is too old.");
        refuse(&fault, r, x);
    } else {
        go(feed, r, x);
    }
}

/* ---- waiting ---- */

static void wait_free(struct api_wait *w)
{
    timer_stop(w->feed->clock, &w->poll);
    task_cancel(&w->turn);
    list_remove(&w->node);
    free(w);
}

static void wait_run(struct task *task)
{
    struct api_wait *w = container_of(task, struct api_wait, turn);
    struct api_feed *feed = w->feed;
    struct api_request r = w->r;
    struct http_exchange *x = w->x;
    api_go_fn *go = w->go;
    struct api_fault fault = {.retry_after = 1};
    if (feed->store && is_newer(feed, r.resource_version)) {
        if (clock_now_ms(feed->clock) < w->until_ms) {
            timer_start(feed->clock, &w->poll, POLL_MS);
            return;
        }
        fault.too_large = true;
        api_fault_set(&fault, 504, "Timeout: Too large resource version: %s, current: %s",
                      r.resource_version, inf_store_resource_version(feed->store));
    } else if (!feed->store) {
        api_fault_set(&fault, 429, "the cache of this resource is being replaced; try again");
    }
    wait_free(w);
    http_exchange_set_user(x, NULL);
    if (fault.code)
        refuse(&fault, &r, x);
    else
        respond(feed, &r, x, go);
}

static void wait_on_poll(struct timer *timer)
{
    struct api_wait *w = container_of(timer, struct api_wait, poll);
    task_schedule(w->feed->clock, &w->turn);
}

static void wait_on_abort(struct http_exchange_user *user)
{
    struct api_wait *w = container_of(user, struct api_wait, user);
    api_request_free(&w->r);
    wait_free(w);
}

static const struct http_exchange_user_ops wait_ops = {.on_abort = wait_on_abort};

void api_wait_start(struct api_feed *feed, struct api_request *r, struct http_exchange *x,
                    api_go_fn *go)
{
    bool from_ring = r->page == API_WATCH && !r->initial; /* any version is a valid beginning */
    struct api_wait *w;
    if (!r->resource_version || from_ring || !is_newer(feed, r->resource_version)) {
        respond(feed, r, x, go);
        return;
    }
    w = NEW(struct api_wait);
    *w = (struct api_wait){.user = {&wait_ops}, .x = x, .feed = feed, .r = *r, .go = go};
    w->poll.fire = wait_on_poll;
    w->until_ms = clock_now_ms(feed->clock) + API_WAIT_MS;
    task_init(&w->turn, PHASE_PUMP, wait_run);
    list_push(&feed->waiting, &w->node);
    http_exchange_set_user(x, &w->user);
    timer_start(feed->clock, &w->poll, POLL_MS);
}

void api_wait_end_all(struct api_feed *feed)
{
    list_for_each_safe(node, &feed->waiting)
        wait_run(&container_of(node, struct api_wait, node)->turn);
}
