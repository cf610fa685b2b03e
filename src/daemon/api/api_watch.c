/*
 * api_watch.c - sends the entries of a feed to one client. See api_watch.h.
 *
 *     [walk over the initial objects, as ADDED, then a bookmark]  ->  entries  ->  the end
 *
 * Normal path: the feed calls api_watch_advance() after each change; the entries after the watch's
 * position are written in one piece, unless HIGH bytes are unsent: then the watch stays behind until
 * they were sent. A watch that is so slow that its position has left the feed gets an ERROR event with
 * code 410. All watches end after timeoutSeconds, by default after 30 to 60 minutes.
 */
#include "daemon/api/api_watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/api/api_feed.h"

enum {
    PIECE = 64 * 1024,
    HIGH = 128 * 1024,
    TIMEOUT_S = 1800, /* the default: from this to twice this */
};

static void watch_free(struct api_watch *w)
{
    list_remove(&w->node);
    timer_stop(w->feed->clock, &w->timeout);
    task_cancel(&w->turn);
    api_walk_stop(&w->walk);
    buf_free(&w->piece);
    api_request_free(&w->r);
    free(w);
}

/* Completes the response. */
static void watch_end(struct api_watch *w)
{
    http_exchange_end(w->x);
    watch_free(w);
}

static void watch_fail(struct api_watch *w, const struct api_fault *fault)
{
    struct buf line = {0};
    buf_puts(&line, "{\"type\":\"ERROR\",\"object\":");
    api_fault_put(fault, &line);
    buf_puts(&line, "}\n");
    http_exchange_write(w->x, line.bytes, line.len);
    buf_free(&line);
    watch_end(w);
}

static void watch_expire(struct api_watch *w, const char *why)
{
    struct api_fault fault = {.code = 0};
    api_fault_set(&fault, 410, "%s", why);
    watch_fail(w, &fault);
}

/* ---- the initial objects ---- */

static bool watch_put_initial(void *ctx, const struct inf_object *object)
{
    struct api_watch *w = ctx;
    api_put_event(&w->piece, &w->feed->type, w->r.form, "ADDED", object, NULL, !w->has_columns,
                  clock_wall_us(w->feed->clock));
    w->has_columns = true;
    return w->piece.len < PIECE && !clock_over_budget(w->feed->clock);
}

static void watch_write_piece(struct api_watch *w)
{
    http_exchange_write(w->x, w->piece.bytes, w->piece.len);
    buf_clear(&w->piece);
}

static void watch_end_walk(struct api_watch *w)
{
    if (w->r.watch_list)
        api_put_bookmark(&w->piece, &w->feed->type, w->r.form, w->walk.version,
                         /* initial_end= */ true);
    watch_write_piece(w);
    buf_free(&w->piece);
    api_walk_stop(&w->walk);
    w->walking = false;
    api_watch_advance(w);
}

static void watch_continue_walk(struct api_watch *w)
{
    enum api_walk_result result;
    do {
        result = api_walk_some(&w->walk, watch_put_initial, w);
        if (result == API_WALK_END) {
            watch_end_walk(w);
            return;
        }
        if (result == API_WALK_LOST) {
            watch_expire(w, "too old resource version: the client reads too slowly");
            return;
        }
        if (w->piece.len >= PIECE)
            watch_write_piece(w);
    } while (result == API_WALK_MORE && !clock_over_budget(w->feed->clock) &&
             http_exchange_unsent(w->x) < HIGH);
    if (result == API_WALK_MORE && http_exchange_unsent(w->x) < HIGH)
        task_schedule(w->feed->clock, &w->turn);
}

static void watch_run(struct task *task)
{
    watch_continue_walk(container_of(task, struct api_watch, turn));
}

static void watch_on_ready(struct api_walk *walk)
{
    watch_continue_walk(container_of(walk, struct api_watch, walk));
}

/* ---- entries ---- */

static bool is_selected(const struct api_watch *w, const struct inf_object *object)
{
    return inf_selector_matches(w->r.labels, object) && inf_selector_matches(w->r.fields, object);
}

/* What entry @number is to this watch: an object that enters the selection is added, one that leaves
 * it is deleted. */
static enum api_event event_for(const struct api_watch *w, uint64_t number)
{
    struct api_feed *f = w->feed;
    const struct api_entry *e = api_feed_entry(f, number);
    bool was, is;
    if (e->version <= w->after ||
        (w->r.ns && strcmp(w->r.ns, inf_object_namespace(e->object)) != 0))
        return API_NOTHING;
    if (!w->r.labels && !w->r.fields)
        return e->event;
    was = e->old && is_selected(w, api_feed_old(f, number));
    is = e->event != API_DELETED && is_selected(w, api_feed_object(f, number));
    return was && is ? API_MODIFIED : is ? API_ADDED : was ? API_DELETED : API_NOTHING;
}

/* The usual case: one entry, whose line all watches share. Returns false if it is another case. */
static bool watch_write_shared(struct api_watch *w)
{
    struct api_feed *f = w->feed;
    const struct api_line *line;
    enum api_event event;
    if (w->number + 1 != f->next || !w->has_columns)
        return false;
    event = event_for(w, w->number);
    if (event != API_NOTHING) {
        line = api_feed_line(f, w->number, w->r.form, event);
        if (!line)
            return false;
        http_exchange_write_chunk(w->x, line->bytes, line->len, line->head);
        api_feed_limit_lines(f);
    }
    w->number++;
    return true;
}

static void watch_write_entries(struct api_watch *w)
{
    struct api_feed *f = w->feed;
    struct buf piece = {0};
    for (; w->number < f->next && piece.len < PIECE && !clock_over_budget(f->clock); w->number++) {
        enum api_event event = event_for(w, w->number);
        if (event == API_NOTHING)
            continue;
        api_feed_put_line(f, w->number, w->r.form, event,
                          api_form_is_table(w->r.form) && !w->has_columns, &piece);
        w->has_columns = true;
    }
    http_exchange_write(w->x, piece.bytes, piece.len);
    buf_free(&piece);
    if (w->number < f->next && http_exchange_unsent(w->x) < HIGH)
        api_feed_schedule(f);
}

void api_watch_advance(struct api_watch *w)
{
    struct api_feed *f = w->feed;
    if (w->walking || w->number == f->next || http_exchange_unsent(w->x) >= HIGH)
        return;
    if (w->number < f->first)
        watch_expire(w, "too old resource version: the client reads too slowly");
    else if (!watch_write_shared(w))
        watch_write_entries(w);
}

/* Only when the client has everything up to the version. */
void api_watch_bookmark(struct api_watch *w)
{
    struct api_feed *f = w->feed;
    struct buf line = {0};
    uint64_t version = api_feed_version(f);
    if (!w->r.bookmarks || w->walking || w->number != f->next || f->replacing ||
        version <= w->bookmarked || http_exchange_unsent(w->x))
        return;
    w->bookmarked = version;
    api_feed_note_version(f);
    api_put_bookmark(&line, &f->type, w->r.form, inf_store_resource_version(f->store),
                     /* initial_end= */ false);
    http_exchange_write(w->x, line.bytes, line.len);
    buf_free(&line);
}

void api_watch_end_all(struct api_feed *feed, bool expired)
{
    list_for_each_safe(node, &feed->watches) {
        struct api_watch *w = container_of(node, struct api_watch, node);
        if (expired)
            watch_expire(w, "too old resource version: the watched objects were redefined");
        else
            watch_end(w);
    }
}

/* ---- life ---- */

static void watch_on_timeout(struct timer *timer)
{
    struct api_watch *w = container_of(timer, struct api_watch, timeout);
    if (w->feed->store)
        api_watch_bookmark(w);
    watch_end(w);
}

static void watch_on_drain(struct http_exchange_user *user)
{
    struct api_watch *w = container_of(user, struct api_watch, user);
    task_cancel(&w->turn);
    if (!w->feed->store)
        return; /* the feed ends it */
    if (!w->walking)
        api_watch_advance(w);
    else if (!w->walk.waits)
        watch_continue_walk(w);
}

static void watch_on_abort(struct http_exchange_user *user)
{
    watch_free(container_of(user, struct api_watch, user));
}

static const struct http_exchange_user_ops watch_ops = {.on_drain = watch_on_drain,
                                                        .on_abort = watch_on_abort};

/* Where a watch without initial events begins. Returns 0, or -1 with @fault. */
static int find_beginning(struct api_watch *w, struct api_fault *fault)
{
    struct api_feed *f = w->feed;
    const char *version = w->r.resource_version;
    if (!version || strcmp(version, inf_store_resource_version(f->store)) == 0) {
        w->number = f->next;
        w->after = api_feed_version(f);
        return 0;
    }
    w->after = api_version_number(version);
    if (w->after && api_feed_version(f) && api_feed_find(f, w->after, &w->number))
        return 0;
    return api_fault_set(fault, 410, "too old resource version: %s (%" PRIu64 ")", version,
                         f->oldest);
}

void api_watch_go(struct api_feed *feed, struct api_request *r, struct http_exchange *x)
{
    struct api_watch *w;
    struct api_fault fault = {.code = 0};
    uint64_t timeout_s =
        r->timeout_s ? r->timeout_s : TIMEOUT_S + clock_now_ms(feed->clock) % TIMEOUT_S;
    if (http_exchange_is_half_closed(x)) { /* as when that happens later */
        http_exchange_cut(x);
        api_request_free(r);
        return;
    }
    w = NEW(struct api_watch);
    w->user.ops = &watch_ops;
    w->x = x;
    w->feed = feed;
    w->r = *r;
    w->walking = w->r.initial;
    w->has_columns = !api_form_is_table(w->r.form);
    w->timeout.fire = watch_on_timeout;
    list_init(&w->node);
    task_init(&w->turn, PHASE_PUMP, watch_run);
    if (!w->walking && find_beginning(w, &fault) < 0) {
        api_watch_refuse(&fault, x);
        watch_free(w);
        return;
    }
    list_push(&feed->watches, &w->node);
    timer_start(feed->clock, &w->timeout, timeout_s * 1000);
    http_exchange_set_user(x, &w->user);
    http_exchange_start(x, 200, "application/json");
    if (w->walking) {
        w->number = feed->next;
        w->after = api_feed_version(feed);
        api_walk_start(&w->walk, feed, &w->r, watch_on_ready);
        watch_continue_walk(w);
    } else {
        api_watch_advance(w);
    }
}
