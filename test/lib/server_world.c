#include "server_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"

static void say(struct http_exchange *x, int status, const char *text)
{
    http_exchange_reply(x, status, "text/plain", text, strlen(text));
}

static void say_echo(struct http_exchange *x, const struct http_server_request *request)
{
    char *text = xasprintf("%s|%s", request->path, request->query);
    http_exchange_header(x, "X-Echo", "yes");
    say(x, 200, text);
    free(text);
}

static void say_much(struct http_exchange *x)
{
    char *bytes = xmalloc(LONG);
    memset(bytes, '.', LONG);
    http_exchange_reply(x, 200, "text/plain", bytes, LONG);
    free(bytes);
}

static void keep(struct server_world *w, struct http_exchange *x)
{
    assert_null(w->x);
    w->x = x;
    http_exchange_set_user(x, &w->exchange_user);
}

static void on_request(struct http_server_user *user, const struct http_server_request *request,
                       struct http_exchange *x)
{
    struct server_world *w = container_of(user, struct server_world, user);
    const char *path = request->path;
    w->asked++;
    if (strcmp(path, "/hello") == 0) {
        say(x, 200, "hello");
    } else if (strncmp(path, "/echo", 5) == 0) {
        say_echo(x, request);
    } else if (strcmp(path, "/kept") == 0) {
        http_exchange_header(x, "Cache-Control", "immutable");
        say(x, 304, "not sent");
    } else if (strcmp(path, "/login") == 0) {
        http_exchange_reply(x, 200, "text/plain", request->body.at, request->body.len);
    } else if (strcmp(path, "/long") == 0) {
        say_much(x);
    } else if (strcmp(path, "/later") == 0) {
        keep(w, x);
    } else if (strcmp(path, "/pieces") == 0) {
        keep(w, x);
        http_exchange_start(x, 200, "text/plain");
    } else if (strcmp(path, "/close") == 0) {
        http_server_close(w->server);
        w->server = NULL;
    } else {
        say(x, 404, "");
    }
}

static void on_drain(struct http_exchange_user *user)
{
    struct server_world *w = container_of(user, struct server_world, exchange_user);
    assert_non_null(w->x);
    assert_int_equal(http_exchange_unsent(w->x), 0);
    w->drained++;
    if (w->cut_in_drain)
        http_exchange_cut(w->x);
    else if (w->end_in_drain)
        http_exchange_end(w->x);
    if (w->cut_in_drain || w->end_in_drain)
        w->x = NULL;
}

static void on_abort(struct http_exchange_user *user)
{
    struct server_world *w = container_of(user, struct server_world, exchange_user);
    assert_non_null(w->x);
    w->x = NULL;
    w->aborted++;
}

static const struct http_server_user_ops user_ops = {.on_request = on_request};
static const struct http_exchange_user_ops exchange_user_ops = {on_drain, on_abort};

void server_world_init(struct server_world *w, const struct http_server_limits *limits)
{
    *w = (struct server_world){.user = {&user_ops}, .exchange_user = {&exchange_user_ops}};
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->server = http_server_new(&w->sim.clock, limits, &w->user);
}

void server_world_done(struct server_world *w)
{
    http_server_close(w->server);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
}

struct pipe *server_world_connect(struct server_world *w)
{
    http_server_accept(w->server, dialer_dial(&w->pipes.dialer, "client", 1, NULL));
    sim_tick(&w->sim);
    return w->pipes.last;
}

void server_world_wrote(struct server_world *w, struct pipe *pipe, const char *text)
{
    sim_run(&w->sim);
    buf_putc(&pipe->written, '\0');
    assert_string_equal(pipe->written.bytes, text);
    buf_clear(&pipe->written);
}

void server_world_reply(struct server_world *w, const char *text)
{
    struct http_exchange *x = w->x;
    w->x = NULL;
    say(x, 200, text);
}

void server_world_write(struct server_world *w, const char *text)
{
    http_exchange_write(w->x, text, strlen(text));
}

void server_world_end(struct server_world *w)
{
    struct http_exchange *x = w->x;
    w->x = NULL;
    http_exchange_end(x);
}

int server_world_setup(void **state)
{
    static struct server_world w;
    server_world_init(&w, NULL);
    *state = &w;
    return 0;
}

int server_world_teardown(void **state)
{
    server_world_done(*state);
    return 0;
}
