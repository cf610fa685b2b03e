/*
 * api_source.c - sends one request at a time to an API server and delivers its response as events.
 *
 * Normal path: connect, send the request, receive 200 and a body, which body.c splits into events for
 * the user. The request ends with the body (INF_EEOF). A list delivers its page end before that, when
 * its text and the HTTP body are complete.
 *
 * A request waits for credentials if none are available. If they are refused (401) and others are
 * available, it is sent again, once; the first refusal is not reported.
 *
 * Failures are reported by one on_end: a status other than 200 (after its body was read, up to a
 * limit, because it contains the reason), an ERROR event, invalid JSON, an incomplete body, and every
 * error of http_conn.c. A connection whose response was read completely is used again.
 *
 * A user may cancel, and open the next request, inside any callback: after each call `serial` shows
 * whether we still serve the same request.
 */
#include "kube/source/api_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/source/advice.h"
#include "kube/source/api_request.h"
#include "kube/source/api_response.h"
#include "kube/source/body.h"
#include "kube/source/warnings.h"
#include "wire/http/http_conn.h"
#include "wire/http/http_pool.h"

enum {
    REASON_TIMEOUT_MS = 10 * 1000, /* LIMIT: from the head of a refusal to the end of its body */
};

struct api_source {
    struct source source;
    struct http_user http;
    struct deferred_free deferred_free;
    const struct api_server *server;
    struct resource resource;
    char *ns, *label_selector, *field_selector;             /* NULL: none */
    void (*on_end)(void *ctx, const struct inf_error *why); /* instead of the user's; may be NULL */
    void *ctx;
    bool paused;

    /* the request in progress */
    struct source_user *user; /* NULL: there is none */
    uint64_t serial;
    struct buf target;         /* path and query, NUL-terminated */
    char *posted;              /* its body; NULL: none */
    const char *method;        /* with a body; a literal, or NULL: POST */
    char *accept;              /* NULL: the default */
    bool any_type;             /* of the response */
    struct auth_waiter waiter; /* for credentials */
    uint64_t generation;       /* of the credentials that were sent */
    bool retried;              /* after a 401, with other credentials */
    bool denied;               /* see api_source_denied() */
    struct http_call *call;
    struct timer failed; /* reports `failure`, an error before there was a connection */
    struct inf_error failure;
    struct timer reason_due; /* limit for the body of an error response */
    struct api_response response;
    struct body body; /* of a successful response */
};

/* ---- the end of a request ---- */

static void forget_request(struct api_source *s)
{
    http_call_close(s->call);
    s->call = NULL;
    s->user = NULL;
    auth_stop_waiting(&s->waiter);
    timer_stop(s->server->clock, &s->failed);
    timer_stop(s->server->clock, &s->reason_due);
    body_reset(&s->body);
    api_response_reset(&s->response);
}

/* All ends pass here: a peer may have put our credentials into the message. */
static void finish_request(struct api_source *s, struct inf_error *why)
{
    struct source_user *user = s->user;
    scrubber_clean_text(auth_scrubber(s->server->auth), why->text);
    forget_request(s);
    if (s->on_end)
        s->on_end(s->ctx, why);
    else
        user->ops->on_end(user, why);
}

static void fail_request(struct api_source *s, struct inf_error *why)
{
    char *credentials = auth_describe(s->server->auth);
    err_wrap(why, "%s", s->server->host_header);
    advice_add(why, &(struct advice){.resource = &s->resource,
                                     .ns = s->ns,
                                     .path_prefix = s->server->path_prefix,
                                     .credentials = credentials});
    free(credentials);
    finish_request(s, why);
}

static void api_source_on_failed(struct timer *timer)
{
    struct api_source *s = container_of(timer, struct api_source, failed);
    struct inf_error why = s->failure; /* the next request, opened in on_end, may fail too */
    finish_request(s, &why);
}

/* ---- the response ---- */

static void api_source_on_head(struct http_user *http, const struct http_head *dirty)
{
    struct api_source *s = container_of(http, struct api_source, http);
    struct clean_head clean;
    struct http_head head = clean_head_make(&clean, dirty, auth_scrubber(s->server->auth));
    struct inf_error why;
    int rc;
    warnings_log_new(s->server->warnings, s->server->host_header, &head);
    s->response.any_type = s->any_type;
    rc = api_response_start(&s->response, &head, &why);
    clean_head_free(&clean);
    if (rc < 0)
        fail_request(s, &why);
    else if (api_response_succeeded(&s->response))
        s->user->ops->on_open(s->user);
    else
        timer_start(s->server->clock, &s->reason_due, REASON_TIMEOUT_MS);
}

/* Whether the request with @serial is still in progress. */
static bool is_current(const struct api_source *s, uint64_t serial)
{
    return s->serial == serial && s->user;
}

static void deliver_event(struct api_source *s, struct source_event *event)
{
    event->received_us = clock_wall_us(s->server->clock);
    s->user->ops->on_event(s->user, event);
    inf_object_unref(event->object);
}

/* Takes events from @input until it is used up, the request ends, or the budget of this tick is
 * used up. */
static void read_events(struct api_source *s, struct str *input)
{
    uint64_t serial = s->serial;
    bool delivered = false;
    struct inf_error why;
    struct source_event event;
    do {
        int rc = body_next(&s->body, input, &event, &why);
        if (rc < 0) {
            fail_request(s, &why);
            return;
        }
        if (rc == 0) {
            if (!delivered)
                s->user->ops->on_progress(s->user);
            return;
        }
        deliver_event(s, &event);
        delivered = true;
    } while (is_current(s, serial) && !s->paused && !clock_over_budget(s->server->clock));
}

static size_t api_source_on_body(struct http_user *http, const char *bytes, size_t len)
{
    struct api_source *s = container_of(http, struct api_source, http);
    struct str input = {bytes, len}, piece;
    uint64_t serial = s->serial;
    struct inf_error why;
    int rc;
    while ((rc = api_response_next(&s->response, &input, &piece, &why)) == 1) {
        size_t before = piece.len;
        read_events(s, &piece);
        if (!is_current(s, serial))
            return len - input.len;
        api_response_took(&s->response, &input, before - piece.len);
        if (piece.len || s->paused || clock_over_budget(s->server->clock))
            break;
    }
    if (rc < 0)
        fail_request(s, &why);
    else if (rc == 1 && !s->paused && api_response_holds(&s->response))
        http_call_resume(s->call); /* decompressed data needs another call, but no more input */
    return len - input.len;
}

static bool retry_unauthorized(struct api_source *s, const struct inf_error *why);

/* The HTTP response is complete. Reports the error or the end; a list delivers its page end first,
 * and the user may cancel inside that callback. */
static void end_response(struct api_source *s)
{
    uint64_t serial = s->serial;
    struct list_head list;
    struct inf_error why;
    api_response_scrub(&s->response, auth_scrubber(s->server->auth));
    if (api_response_end(&s->response, clock_wall_us(s->server->clock), &why) < 0) {
        s->denied = api_response_denies(&s->response, s->resource.group, s->resource.name);
        if (retry_unauthorized(s, &why))
            return;
    } else if (body_end(&s->body, &list, &why)) {
        deliver_event(s, &(struct source_event){.type = SOURCE_PAGE_END,
                                                .resource_version = list.resource_version,
                                                .continue_token = list.continue_token});
        list_head_free(&list);
        if (!is_current(s, serial))
            return;
    }
    fail_request(s, &why);
}

/* The status is known; the rest of the body is not worth waiting for. */
static void api_source_on_reason_due(struct timer *timer)
{
    end_response(container_of(timer, struct api_source, reason_due));
}

static void api_source_on_end(struct http_user *http, const struct inf_error *why)
{
    struct api_source *s = container_of(http, struct api_source, http);
    struct inf_error cut;
    if (!why ||
        api_response_failed(&s->response)) { /* an error response counts even if it is cut */
        end_response(s);
        return;
    }
    cut = *why;
    finish_request(s, &cut); /* http_conn.c has added the server */
}

static const struct http_user_ops http_ops = {
    .on_head = api_source_on_head,
    .on_body = api_source_on_body,
    .on_end = api_source_on_end,
};

/* ---- the request ---- */

/* Sends the request, now or when credentials are available. Makes no callback before it returns. */
static void start_request(struct api_source *s)
{
    const struct shape *shape = s->body.decoder.maker.shape;
    struct auth_headers auth;
    int rc = auth_get(s->server->auth, &s->waiter, &auth, &s->failure);
    if (rc < 0)
        timer_start(s->server->clock, &s->failed, 0);
    if (rc != 0)
        return;
    s->generation = auth.generation;
    s->call = api_request_send(s->server,
                               &(struct api_request){.want = s->body.want,
                                                     .metadata_only = shape && shape->metadata_only,
                                                     .target = s->target.bytes,
                                                     .posted = s->posted,
                                                     .method = s->method,
                                                     .accept = s->accept},
                               &auth, &s->http);
    if (s->paused)
        http_call_pause(s->call);
}

static void api_source_on_ready(struct auth_waiter *waiter, const struct inf_error *why)
{
    struct api_source *s = container_of(waiter, struct api_source, waiter);
    struct inf_error copy;
    if (!why) {
        start_request(s);
        return;
    }
    copy = *why;
    finish_request(s, &copy);
}

/* After a 401, if there are other credentials; once. */
static bool retry_unauthorized(struct api_source *s, const struct inf_error *why)
{
    if (why->code != INF_EUNAUTHORIZED || s->retried ||
        !auth_refused(s->server->auth, s->generation))
        return false;
    s->retried = true;
    http_call_close(s->call);
    s->call = NULL;
    timer_stop(s->server->clock, &s->reason_due);
    api_response_reset(&s->response);
    start_request(s);
    return true;
}

static void api_source_open(struct source *source, const struct source_request *request,
                            struct source_user *user)
{
    struct api_source *s = container_of(source, struct api_source, source);
    struct resource_scope scope = {s->ns, s->label_selector, s->field_selector, s->body.shard};
    s->serial++;
    s->user = user;
    s->retried = s->denied = false;
    body_start(&s->body, request);
    s->body.scrubber = auth_scrubber(s->server->auth);
    buf_clear(&s->target);
    resource_target(&s->target, s->server->path_prefix, &s->resource, &scope, request);
    buf_putc(&s->target, '\0');
    free(s->posted);
    s->posted = xstrdup_or_null(request->body);
    s->method = request->method;
    free(s->accept);
    s->accept = xstrdup_or_null(request->accept);
    s->any_type = request->any_type;
    start_request(s);
}

static void api_source_cancel(struct source *source)
{
    forget_request(container_of(source, struct api_source, source));
}

static void api_source_pause(struct source *source)
{
    struct api_source *s = container_of(source, struct api_source, source);
    s->paused = true;
    if (s->call)
        http_call_pause(s->call);
}

static void api_source_resume(struct source *source)
{
    struct api_source *s = container_of(source, struct api_source, source);
    s->paused = false;
    if (s->call)
        http_call_resume(s->call);
}

static const struct source_ops source_ops = {
    .open = api_source_open,
    .cancel = api_source_cancel,
    .pause = api_source_pause,
    .resume = api_source_resume,
};

/* ---- life ---- */

struct api_source *api_source_new(const struct api_server *server,
                                  const struct api_source_options *options)
{
    struct api_source *s = NEW(struct api_source);
    s->source.ops = &source_ops;
    s->http.ops = &http_ops;
    s->server = server;
    s->body.decoder.maker.shape = options->shape;
    s->body.shard = options->scope.shard;
    s->body.other_shards = options->other_shards;
    s->resource = *options->resource;
    *options->resource = (struct resource){0}; /* owned by s now */
    s->ns = xstrdup_or_null(options->scope.ns);
    s->label_selector = xstrdup_or_null(options->scope.label_selector);
    s->field_selector = xstrdup_or_null(options->scope.field_selector);
    s->on_end = options->on_end;
    s->ctx = options->ctx;
    s->failed.fire = api_source_on_failed;
    s->reason_due.fire = api_source_on_reason_due;
    s->waiter.on_ready = api_source_on_ready;
    return s;
}

struct source *api_source_source(struct api_source *source)
{
    return &source->source;
}

bool api_source_denied(const struct api_source *source)
{
    return source->denied;
}

static void api_source_free_deferred(struct deferred_free *deferred_free)
{
    struct api_source *s = container_of(deferred_free, struct api_source, deferred_free);
    body_free(&s->body);
    buf_free(&s->target);
    free(s->posted);
    free(s->accept);
    resource_free(&s->resource);
    free(s->ns);
    free(s->label_selector);
    free(s->field_selector);
    free(s);
}

void api_source_close(struct api_source *source)
{
    forget_request(source);
    clock_free_later(source->server->clock, &source->deferred_free, api_source_free_deferred);
}
