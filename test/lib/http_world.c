#include "http_world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/base.h"

const struct http_request ASKER_GET = {.method = "GET", .target = "/api/v1/pods", .host = "h"};

void asker_ask(struct asker *a, const struct http_request *request)
{
    a->asking = true;
    http_conn_request(a->conn, request, &a->user);
    a->asking = false;
}

static struct asker *asker_of(struct http_user *user)
{
    struct asker *a = container_of(user, struct asker, user);
    assert_non_null(a->conn);
    assert_false(a->asking);
    assert_false(a->paused);
    return a;
}

static void at(struct asker *a, enum asker_moment moment)
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
    struct asker *a = asker_of(user);
    buf_printf(&a->told, "%d;", head->status);
    at(a, AT_HEAD);
}

static size_t on_body(struct http_user *user, const char *bytes, size_t len)
{
    struct asker *a = asker_of(user);
    size_t n = a->take && a->take < len ? a->take : len;
    buf_put(&a->body, bytes, n);
    if (!a->quiet && len)
        buf_printf(&a->told, "%.*s;", (int)n, bytes);
    a->empty_calls += len == 0;
    if (a->ask_again && len)
        http_conn_resume(a->conn);
    if (len)
        at(a, AT_BODY);
    return n;
}

static void on_end(struct http_user *user, const struct inf_error *why)
{
    struct asker *a = asker_of(user);
    buf_puts(&a->told, why ? "failed" : "end");
    if (why)
        a->why = *why;
    if (!why && a->again && http_conn_reusable(a->conn)) {
        buf_puts(&a->told, ";");
        asker_ask(a, a->again);
        a->again = NULL;
    }
    at(a, AT_END);
}

static const struct http_user_ops asker_ops = {on_head, on_body, on_end};

void asker_init(struct asker *a)
{
    *a = (struct asker){.user = {.ops = &asker_ops}};
}

void asker_done(struct asker *a)
{
    http_conn_close(a->conn);
    buf_free(&a->told);
    buf_free(&a->body);
}

void http_world_open(struct http_world *w, const struct http_plan *plan)
{
    *w = (struct http_world){.pipe = NULL};
    asker_init(&w->asker);
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pipes.cut = plan->cut;
    w->pipes.seed = plan->seed;
    w->pipes.hold = plan->hold;
    w->asker.conn = http_conn_open(&w->sim.clock, &w->pipes.dialer, "h", 6443, &plan->limits);
    w->pipe = w->pipes.last;
}

void http_world_init(struct http_world *w)
{
    http_world_open(w, &(struct http_plan){.cut = 0});
}

void http_world_done(struct http_world *w)
{
    asker_done(&w->asker);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
}

void http_world_resume(struct http_world *w)
{
    w->asker.paused = false;
    http_conn_resume(w->asker.conn);
    sim_run(&w->sim);
}

void http_world_told(struct http_world *w, const char *told)
{
    sim_run(&w->sim);
    buf_putc(&w->asker.told, '\0');
    assert_string_equal(w->asker.told.bytes, told);
    buf_clear(&w->asker.told);
}

void http_world_failed(struct http_world *w, const char *told, int code, const char *text)
{
    http_world_told(w, told);
    assert_string_equal(w->asker.why.text, text);
    assert_int_equal(w->asker.why.code, code);
    assert_false(http_conn_reusable(w->asker.conn));
    assert_true(pipe_closed(w->pipe));
}

void http_world_answer(struct http_world *w, const char *wire, bool end)
{
    asker_ask(&w->asker, &ASKER_GET);
    sim_run(&w->sim);
    pipe_sends(w->pipe, wire);
    if (end)
        pipe_end(w->pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
}
