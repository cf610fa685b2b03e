/*
 * document.c - one request of an api_source, with a time limit.
 *
 * The text is collected until the end of the response and then delivered. An empty response and a
 * timeout are errors like those of the source.
 */
#include "kube/discovery/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

static void document_on_open(struct source_user *user)
{
    (void)user;
}

/* Only the first text counts; further ones are ignored. */
static void document_on_event(struct source_user *user, const struct source_event *event)
{
    struct document *d = container_of(user, struct document, user);
    if (d->text.len)
        return;
    buf_puts(&d->text, event->text);
    buf_putc(&d->text, '\0');
}

static void document_on_progress(struct source_user *user)
{
    struct document *d = container_of(user, struct document, user);
    if (d->on_progress)
        d->on_progress(d);
}

/* The state is reset before on_end is called, because the owner may start the next request there.
 * */
static void document_finish(struct document *d, const struct inf_error *why)
{
    struct buf text = d->text;
    struct inf_error result = *why;
    d->text = (struct buf){0};
    document_stop(d);
    if (result.code == INF_EEOF && !text.len)
        err_set(&result, INF_EDECODE, "the server sent an empty response");
    d->on_end(d, result.code == INF_EEOF ? text.bytes : NULL, &result);
    buf_free(&text);
}

static void document_on_end(struct source_user *user, const struct inf_error *why)
{
    document_finish(container_of(user, struct document, user), why);
}

static void document_on_due(struct timer *timer)
{
    struct inf_error why;
    err_set(&why, INF_ETIMEOUT, "no complete response within %d s", DOCUMENT_TIMEOUT_MS / 1000);
    document_finish(container_of(timer, struct document, due), &why);
}

static const struct source_user_ops user_ops = {
    .on_open = document_on_open,
    .on_event = document_on_event,
    .on_progress = document_on_progress,
    .on_end = document_on_end,
};

void document_start(struct document *d, const struct api_server *server, const char *path,
                    const char *body)
{
    struct resource none = {xstrdup(""), xstrdup(""), xstrdup("")};
    d->user.ops = &user_ops;
    d->clock = server->clock;
    d->due.fire = document_on_due;
    timer_start(d->clock, &d->due, DOCUMENT_TIMEOUT_MS);
    d->source = api_source_new(server, &(struct api_source_options){.resource = &none});
    source_open(api_source_source(d->source),
                &(struct source_request){.want = SOURCE_DOCUMENT,
                                         .path = path,
                                         .body = body,
                                         .method = d->method,
                                         .accept = d->accept,
                                         .any_type = d->any_type},
                &d->user);
}

void document_stop(struct document *d)
{
    if (d->source) {
        api_source_close(d->source);
        timer_stop(d->clock, &d->due);
    }
    d->source = NULL;
    buf_free(&d->text);
}
