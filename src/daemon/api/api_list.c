/*
 * api_list.c - writes a list while the connection can take it.
 *
 * Normal path: a walk gives the objects; pieces of about PIECE bytes are written until HIGH bytes are
 * unsent or the time of this iteration is used up, and again when they were sent. A list that fits into
 * one piece has a Content-Length; for clients that accept gzip, larger ones are compressed. If the walk is lost, the response is cut: its status was sent.
 */
#include "daemon/api/api_list.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/api/api_feed.h"
#include "daemon/api/api_send.h"
#include "daemon/api/api_walk.h"

enum {
    PIECE = 64 * 1024,
    HIGH = 256 * 1024,
};

struct api_list {
    struct http_exchange_user user;
    struct http_exchange *x;
    struct api_feed *feed;
    struct api_request r;
    struct api_walk walk;
    struct buf piece;
    struct task turn;
    size_t count;
    bool started;     /* the head was sent */
    bool compressing; /* and the body is compressed */
};

static void list_free(struct api_list *l)
{
    task_cancel(&l->turn);
    api_walk_stop(&l->walk);
    buf_free(&l->piece);
    api_request_free(&l->r);
    l->feed->api->compressing -= l->compressing;
    free(l);
}

/* Until it is known whether the list is large, one that may be compressed is not sent. */
static size_t piece_size(const struct api_list *l)
{
    return l->r.gzip && !l->started ? API_GZIP_MIN : PIECE;
}

static bool list_put(void *ctx, const struct inf_object *object)
{
    struct api_list *l = ctx;
    api_put_item(&l->piece, &l->feed->type, l->r.form, object, l->count++ == 0,
                 clock_wall_us(l->feed->clock));
    return l->piece.len < piece_size(l) && !clock_over_budget(l->feed->clock);
}

static void list_start(struct api_list *l)
{
    l->compressing = l->r.gzip && api_gzip_is_free(l->feed->api);
    l->feed->api->compressing += l->compressing;
    if (l->compressing)
        http_exchange_start_gzip(l->x, 200, "application/json");
    else
        http_exchange_start(l->x, 200, "application/json");
    l->started = true;
}

static void list_write(struct api_list *l)
{
    if (!l->started)
        list_start(l);
    http_exchange_write(l->x, l->piece.bytes, l->piece.len);
    buf_clear(&l->piece);
}

static void list_end(struct api_list *l)
{
    api_put_list_end(&l->piece);
    if (l->started) {
        list_write(l);
        http_exchange_end(l->x);
    } else {
        http_exchange_reply(l->x, 200, "application/json", l->piece.bytes, l->piece.len);
    }
    list_free(l);
}

static void list_continue(struct api_list *l)
{
    enum api_walk_result result;
    do {
        result = api_walk_some(&l->walk, list_put, l);
        if (result == API_WALK_END) {
            list_end(l);
            return;
        }
        if (result == API_WALK_LOST) {
            http_exchange_cut(l->x);
            list_free(l);
            return;
        }
        if (l->piece.len >= piece_size(l))
            list_write(l);
    } while (result == API_WALK_MORE && !clock_over_budget(l->feed->clock) &&
             http_exchange_unsent(l->x) < HIGH);
    if (l->piece.len && !l->started && !l->r.gzip)
        list_write(l); /* the first byte does not wait for a whole piece */
    api_charge(l->feed->api);
    if (result == API_WALK_MORE && http_exchange_unsent(l->x) < HIGH)
        task_schedule(l->feed->clock, &l->turn);
}

static void list_run(struct task *task)
{
    list_continue(container_of(task, struct api_list, turn));
}

static void list_on_ready(struct api_walk *walk)
{
    list_continue(container_of(walk, struct api_list, walk));
}

static void list_on_drain(struct http_exchange_user *user)
{
    struct api_list *l = container_of(user, struct api_list, user);
    task_cancel(&l->turn);
    if (!l->walk.waits)
        list_continue(l);
}

static void list_on_abort(struct http_exchange_user *user)
{
    list_free(container_of(user, struct api_list, user));
}

static const struct http_exchange_user_ops list_ops = {.on_drain = list_on_drain,
                                                       .on_abort = list_on_abort};

void api_list_go(struct api_feed *feed, struct api_request *r, struct http_exchange *x)
{
    struct api_list *l = NEW(struct api_list);
    l->user.ops = &list_ops;
    l->x = x;
    l->feed = feed;
    l->r = *r;
    task_init(&l->turn, PHASE_PUMP, list_run);
    http_exchange_set_user(x, &l->user);
    api_walk_start(&l->walk, feed, &l->r, list_on_ready);
    api_put_list_head(&l->piece, &feed->type, l->r.form, l->walk.version);
    list_continue(l);
}
