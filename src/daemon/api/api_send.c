/*
 * api_send.c - sends a body piece by piece. See api_send.h.
 *
 * Normal path: a body that is not compressed is sent at once. Otherwise pieces are compressed until HIGH bytes
 * are unsent or the time of this iteration is used up, and the next ones in later iterations.
 */
#include "daemon/api/api_send.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

enum {
    PIECE = 64 * 1024,
    HIGH = 256 * 1024,
};

struct api_sender {
    struct http_exchange_user user;
    struct http_exchange *x;
    struct api *api;
    struct list node; /* in the senders of the API */
    struct buf body;
    size_t sent;
    struct task turn;
};

bool api_gzip_is_free(const struct api *api)
{
    return api->compressing < API_GZIP_MAX;
}

static void sender_free(struct api_sender *s)
{
    task_cancel(&s->turn);
    list_remove(&s->node);
    buf_free(&s->body);
    s->api->compressing--;
    free(s);
}

static void sender_continue(struct api_sender *s)
{
    do {
        size_t left = s->body.len - s->sent, n = left < PIECE ? left : PIECE;
        http_exchange_write(s->x, s->body.bytes + s->sent, n);
        s->sent += n;
    } while (s->sent < s->body.len && !clock_over_budget(s->api->clock) &&
             http_exchange_unsent(s->x) < HIGH);
    if (s->sent == s->body.len) {
        http_exchange_end(s->x);
        sender_free(s);
    } else if (http_exchange_unsent(s->x) < HIGH) {
        task_schedule(s->api->clock, &s->turn);
    }
}

static void sender_run(struct task *task)
{
    sender_continue(container_of(task, struct api_sender, turn));
}

static void sender_on_drain(struct http_exchange_user *user)
{
    struct api_sender *s = container_of(user, struct api_sender, user);
    task_cancel(&s->turn);
    sender_continue(s);
}

static void sender_on_abort(struct http_exchange_user *user)
{
    sender_free(container_of(user, struct api_sender, user));
}

static const struct http_exchange_user_ops sender_ops = {.on_drain = sender_on_drain,
                                                         .on_abort = sender_on_abort};

void api_send(struct api *api, struct http_exchange *x, struct buf *body, bool gzip)
{
    struct api_sender *s;
    if (!gzip || body->len < API_GZIP_MIN || !api_gzip_is_free(api)) {
        http_exchange_reply(x, 200, "application/json", body->bytes, body->len);
        buf_free(body);
        return;
    }
    s = NEW(struct api_sender);
    s->user.ops = &sender_ops;
    s->x = x;
    s->api = api;
    s->body = *body;
    *body = (struct buf){0}; /* owned by s now */
    api->compressing++;
    list_push(&api->senders, &s->node);
    task_init(&s->turn, PHASE_PUMP, sender_run);
    http_exchange_set_user(x, &s->user);
    http_exchange_start_gzip(x, 200, "application/json");
    sender_continue(s);
}

void api_send_close(struct api *api)
{
    list_for_each_safe(node, &api->senders) {
        struct api_sender *s = container_of(node, struct api_sender, node);
        http_exchange_cut(s->x);
        sender_free(s);
    }
}
