#include "http_world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/base.h"

const struct http_request GET_PODS = {.method = "GET", .target = "/api/v1/pods", .host = "h"};

void http_client_send(struct http_client *a, const struct http_request *request)
{
    a->sending = true;
    http_conn_request(a->conn, request, &a->user, NULL);
    a->sending = false;
}

static struct http_client *http_client_of(struct http_user *user)
{
    struct http_client *a = container_of(user, struct http_client, user);
    assert_non_null(a->conn);
    assert_false(a->sending);
    assert_false(a->paused);
    return a;
}

static void at(struct http_client *a, enum http_client_moment moment)
{
    if (a->pause_at == moment) {
        http_conn_pause(a->conn);
        a->paused = true;
    }
    if (a->close_at == moment) {
        http_conn_close(a->conn);
        a->conn = NULL;
    }
}

static void on_head(struct http_user *user, const struct http_head *head)
{
    struct http_client *a = http_client_of(user);
    buf_printf(&a->events, "%d;", head->status);
    at(a, AT_HEAD);
}

static size_t on_body(struct http_user *user, const char *bytes, size_t len)
{
    struct http_client *a = http_client_of(user);
    size_t n = a->take && a->take < len ? a->take : len;
    buf_put(&a->body, bytes, n);
    if (!a->quiet && len)
        buf_printf(&a->events, "%.*s;", (int)n, bytes);
    a->empty_calls += len == 0;
    if (a->resume_again && len)
        http_conn_resume(a->conn);
    if (len)
        at(a, AT_BODY);
    return n;
}

static void on_end(struct http_user *user, const struct inf_error *why)
{
    struct http_client *a = http_client_of(user);
    buf_puts(&a->events, why ? "failed" : "end");
    if (why)
        a->why = *why;
    if (!why && a->again && http_conn_reusable(a->conn)) {
        buf_puts(&a->events, ";");
        http_client_send(a, a->again);
        a->again = NULL;
    }
    at(a, AT_END);
}

static const struct http_user_ops http_client_ops = {on_head, on_body, on_end};

void http_client_init(struct http_client *a)
{
    *a = (struct http_client){.user = {.ops = &http_client_ops}};
}

void http_client_done(struct http_client *a)
{
    http_conn_close(a->conn);
    buf_free(&a->events);
    buf_free(&a->body);
}

void http_world_open(struct http_world *w, const struct http_plan *plan)
{
    *w = (struct http_world){.pipe = NULL};
    http_client_init(&w->client);
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pipes.cut = plan->cut;
    w->pipes.seed = plan->seed;
    w->pipes.hold = plan->hold;
    w->client.conn = http_conn_open(&w->sim.clock, &w->pipes.dialer, "h", 6443, &plan->limits);
    w->pipe = w->pipes.last;
}

void http_world_init(struct http_world *w)
{
    http_world_open(w, &(struct http_plan){.cut = 0});
}

void http_world_done(struct http_world *w)
{
    http_client_done(&w->client);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
}

void http_world_resume(struct http_world *w)
{
    w->client.paused = false;
    http_conn_resume(w->client.conn);
    sim_run(&w->sim);
}

void http_world_expect(struct http_world *w, const char *events)
{
    sim_run(&w->sim);
    buf_putc(&w->client.events, '\0');
    assert_string_equal(w->client.events.bytes, events);
    buf_clear(&w->client.events);
}

void http_world_expect_failure(struct http_world *w, const char *events, int code, const char *text)
{
    http_world_expect(w, events);
    assert_string_equal(w->client.why.text, text);
    assert_int_equal(w->client.why.code, code);
    assert_false(http_conn_reusable(w->client.conn));
    assert_true(pipe_closed(w->pipe));
}

void http_world_respond(struct http_world *w, const char *wire, bool end)
{
    http_client_send(&w->client, &GET_PODS);
    sim_run(&w->sim);
    pipe_sends(w->pipe, wire);
    if (end)
        pipe_end(w->pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
}
