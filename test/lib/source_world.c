#include "source_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/object/object.h"
#include "kube/discovery/resource_name.h"
#include "recording.h"

static void act_if(struct source_world *w, enum world_moment now)
{
    assert_false(w->calling);
    assert_non_null(w->api);
    if (w->when != now)
        return;
    w->when = WORLD_NEVER;
    w->act(w);
}

static void world_on_open(struct source_user *user)
{
    struct source_world *w = container_of(user, struct source_world, user);
    buf_puts(&w->events, "open\n");
    act_if(w, WORLD_IN_OPEN);
}

static void world_on_event(struct source_user *user, const struct source_event *e)
{
    static const char *const names[] = {"ADDED",    "MODIFIED", "DELETED", "BOOKMARK",
                                        "PAGE_END", "SKIPPED",  "TEXT"};
    struct source_world *w = container_of(user, struct source_world, user);
    assert_int_equal(e->received_us, clock_wall_us(&w->sim.clock));
    buf_puts(&w->events, names[e->type]);
    if (e->object)
        buf_printf(&w->events, " %.*s", STR_FMT(object_key(e->object)));
    buf_printf(&w->events, " %s%s", e->resource_version, e->initial_end ? " end" : "");
    if (e->object && object_is_identity(e->object))
        buf_printf(&w->events, " uid '%s' ", inf_object_uid(e->object));
    if (e->object && w->whole)
        buf_printf(&w->events, " %s", inf_object_json(e->object, NULL));
    if (e->type == SOURCE_PAGE_END && e->continue_token[0])
        buf_printf(&w->events, " then %s", e->continue_token);
    if (e->type == SOURCE_SKIPPED || e->type == SOURCE_TEXT)
        buf_printf(&w->events, "%s", e->text); /* after its version, which is "" */
    buf_putc(&w->events, '\n');
    act_if(w, e->type == SOURCE_PAGE_END ? WORLD_IN_PAGE_END : WORLD_IN_EVENT);
}

static void world_on_end(struct source_user *user, const struct inf_error *why)
{
    struct source_world *w = container_of(user, struct source_world, user);
    struct inf_error before = *why;
    buf_printf(&w->events, "%s: %s\n", inf_error_name(why->code), why->text);
    act_if(w, WORLD_IN_END);
    assert_memory_equal(&before, why, sizeof(before)); /* borrowed until this returns */
}

static void world_on_progress(struct source_user *user)
{
    struct source_world *w = container_of(user, struct source_world, user);
    w->n_progress++; /* depends on how the bytes were cut, so it is not recorded */
    act_if(w, WORLD_IN_PROGRESS);
}

static const struct source_user_ops world_ops = {
    .on_open = world_on_open,
    .on_event = world_on_event,
    .on_progress = world_on_progress,
    .on_end = world_on_end,
};

void source_world_init(struct source_world *w, const char *resource, const char *ns)
{
    source_world_init_with(w, resource, &(struct resource_scope){.ns = ns}, NULL);
}

void source_world_init_with(struct source_world *w, const char *resource,
                            const struct resource_scope *scope, const struct shape *shape)
{
    struct resource_name name;
    struct resource r;
    *w = (struct source_world){.user = {&world_ops}};
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pool = http_pool_new(&w->sim.clock, &w->pipes.dialer, "kube.test", 6443, NULL);
    w->server = (struct api_server){.clock = &w->sim.clock,
                                    .pool = w->pool,
                                    .host_header = "kube.test:6443",
                                    .path_prefix = "",
                                    .user_agent = "story/1"};
    assert_int_equal(resource_name_parse(resource, &name, NULL), 0);
    assert_true(resource_name_is_complete(&name, &r));
    resource_name_free(&name);
    w->api = api_source_new(
        &w->server, &(struct api_source_options){.resource = &r, .scope = *scope, .shape = shape});
    w->source = api_source_source(w->api);
}

void source_world_identify(struct source_world *w, const char *token, const char *token_file)
{
    auth_free(w->auth);
    kubeconfig_free(&w->config);
    w->config.token = token ? xstrdup(token) : NULL;
    w->config.token_file = token_file ? xstrdup(token_file) : NULL;
    w->auth = auth_new(&(struct auth_settings){.clock = &w->sim.clock, .config = &w->config});
    w->server.auth = w->auth;
}

void source_world_close(struct source_world *w)
{
    if (w->api)
        api_source_close(w->api);
    w->api = NULL;
}

void source_world_done(struct source_world *w)
{
    source_world_close(w);
    http_pool_free(w->pool);
    auth_free(w->auth);
    kubeconfig_free(&w->config);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    buf_free(&w->events);
}

void source_world_open(struct source_world *w, const struct source_request *request)
{
    w->calling = true;
    source_open(w->source, request, &w->user);
    w->calling = false;
}

void source_world_open_version(struct source_world *w, enum source_want want, const char *version)
{
    source_world_open(
        w, &(struct source_request){.want = want, .resource_version = version, .timeout_s = 300});
}

struct pipe *source_world_connect_with(struct source_world *w, const struct source_request *request)
{
    source_world_open(w, request);
    sim_run(&w->sim);
    return w->pipes.last;
}

struct pipe *source_world_connect(struct source_world *w)
{
    source_world_open_version(w, SOURCE_WATCH_LIST, "");
    sim_run(&w->sim);
    return w->pipes.last;
}

void source_world_play(struct source_world *w, struct pipe *pipe, const char *name)
{
    struct recording r;
    recording_open(&r, name);
    pipe_send(pipe, r.wire.bytes, r.wire.len);
    recording_close(&r);
    sim_run(&w->sim);
}

void source_world_expect_cut(struct source_world *w, struct pipe *pipe, const struct recording *r,
                             size_t len, const char *complete)
{
    char *end;
    pipe_send(pipe, r->wire.bytes, len);
    pipe_end(pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
    buf_putc(&w->events, '\0');
    end = strstr(w->events.bytes, "INF_ECUT: kube.test:6443 closed the connection ");
    assert_non_null(end);
    assert_ptr_equal(strchr(end, '\n'), w->events.bytes + w->events.len - 2);
    assert_memory_equal(w->events.bytes, complete, (size_t)(end - w->events.bytes));
}

void source_world_expect(struct source_world *w, const char *expected)
{
    buf_putc(&w->events, '\0');
    assert_string_equal(w->events.bytes, expected);
    buf_clear(&w->events);
}

void send_chunk(struct pipe *pipe, const char *text)
{
    char *chunk = xasprintf("%zx\r\n%s\r\n", strlen(text), text);
    pipe_sends(pipe, chunk);
    free(chunk);
}

void source_world_expect_response(const struct source_request *request, const char *body,
                                  const char *expected)
{
    struct source_world w;
    struct pipe *pipe;
    source_world_init(&w, "configmaps", NULL);
    pipe = source_world_connect_with(&w, request);
    pipe_sends(pipe, WATCH_HEAD);
    send_chunk(pipe, body);
    pipe_sends(pipe, WATCH_LAST);
    sim_run(&w.sim);
    source_world_expect(&w, expected);
    source_world_done(&w);
}
