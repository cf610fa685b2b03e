#include "named_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "recording.h"
#include "wire/http/http_pool.h"

static void named_world_on_log(struct log *log, enum log_level level, const char *line)
{
    struct named_notebook *n = container_of(log, struct named_notebook, log);
    assert_int_equal(level, LOG_WARN);
    buf_printf(&n->lines, "%s\n", line);
}

/* ---- the user ---- */

static void on_open(struct source_user *user)
{
    buf_puts(&((struct named_world *)user)->events, "open\n");
}

static void on_event(struct source_user *user, const struct source_event *event)
{
    assert_int_not_equal(event->type, SOURCE_TEXT);
    buf_puts(&((struct named_world *)user)->events,
             event->type == SOURCE_PAGE_END ? "end\n" : "object\n");
}

static void on_progress(struct source_user *user)
{
    (void)user;
}

static void on_end(struct source_user *user, const struct inf_error *why)
{
    struct named_world *w = (struct named_world *)user;
    buf_printf(&w->events, "%s: %s\n", inf_error_name(why->code), why->text);
}

static const struct source_user_ops ops = {
    .on_open = on_open, .on_event = on_event, .on_progress = on_progress, .on_end = on_end};

static void on_found(void *ctx, const struct resource *found, const char *kind)
{
    struct named_world *w = ctx;
    buf_printf(&w->events, "found %s/%s/%s %s\n", found->group, found->version, found->name,
               kind ? kind : "-");
}

/* ---- the server ---- */

static const char *const documents[][2] = {
    {"/api/v1", "discovery-core-v1"},
    {"/apis", NULL},
    {"/apis/apps", NULL},
    {"/apis/apps/v1", "discovery-apps-v1"},
    {"/apis/example.com", NULL},
    {"/apis/example.com/v1", "discovery-example"},
};

/* Two groups are enough. */
#define GROUP(name) \
    "{\"kind\":\"APIGroup\",\"name\":\"" name "\",\"versions\":[{\"version\":\"v1\"}]}"
#define GROUPS(list) "{\"kind\":\"APIGroupList\",\"groups\":[" list "]}\n"

static void respond(struct pipe *pipe, int status, const char *body, size_t len)
{
    char head[200];
    snprintf(head, sizeof(head),
             "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
             status, len);
    pipe_sends(pipe, head);
    pipe_send(pipe, body, len);
}

static const char *groups_at(const struct named_world *w, const char *path)
{
    if (strcmp(path, "/apis/apps") == 0)
        return GROUP("apps") "\n";
    if (strcmp(path, "/apis/example.com") == 0)
        return GROUP("example.com") "\n";
    if (w->no_apps)
        return GROUPS(GROUP("example.com"));
    return w->young ? GROUPS(GROUP("apps")) : GROUPS(GROUP("apps") "," GROUP("example.com"));
}

static void respond_document(const struct named_world *w, struct pipe *pipe, const char *path,
                             const char *name)
{
    struct recording r;
    if (!name) {
        const char *text = groups_at(w, path);
        respond(pipe, 200, text, strlen(text));
        return;
    }
    recording_open(&r, name);
    respond(pipe, 200, r.body.bytes, r.body.len);
    recording_close(&r);
}

static void respond_404(const struct named_world *w, struct pipe *pipe)
{
    const char *page = w->page ? w->page : "no";
    respond(pipe, 404, page, strlen(page));
}

static void respond_path(struct named_world *w, struct pipe *pipe, const char *path)
{
    static const char list[] = "{\"kind\":\"List\",\"apiVersion\":\"v1\","
                               "\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}\n";
    bool of_apps = strncmp(path, "/apis/apps", 10) == 0;
    buf_printf(&w->events, "GET %s\n", path);
    if (w->hanging && strcmp(path, w->hanging) == 0)
        return;
    if (w->all_404 || (w->no_apps && of_apps)) {
        respond_404(w, pipe);
        return;
    }
    if (w->broken && strcmp(path, w->broken) == 0) {
        respond(pipe, 503, "down", 4);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(documents); i++)
        if (strcmp(documents[i][0], path) == 0) {
            respond_document(w, pipe, path, documents[i][1]);
            return;
        }
    if (w->missing ? strcmp(path, w->missing) != 0 : strchr(path, '?') != NULL)
        respond(pipe, 200, list, sizeof(list) - 1);
    else
        respond_404(w, pipe);
}

static void on_tick(struct pipe *pipe)
{
    struct named_world *w = pipe->peer;
    char *path, *end;
    if (!pipe->written.len || !memmem(pipe->written.bytes, pipe->written.len, "\r\n\r\n", 4))
        return;
    end = memchr(pipe->written.bytes + 4, ' ', pipe->written.len - 4);
    path = xstrndup(pipe->written.bytes + 4, (size_t)(end - pipe->written.bytes - 4));
    buf_clear(&pipe->written);
    respond_path(w, pipe, path);
    free(path);
}

/* ---- both ---- */

struct named_source *named_world_source(struct named_world *w, const char *text, const char *ns)
{
    char *plain = ns ? xstrndup(ns, strcspn(ns, "?")) : NULL;
    struct resource_name name;
    struct named_source *named;
    assert_int_equal(resource_name_parse(text, &name, NULL), 0);
    named = named_source_new(&w->server,
                             &(struct named_source_options){.wanted = &name,
                                                            .discovery_cache = w->discovery_cache,
                                                            .scope = {.ns = plain},
                                                            .ns_is_default = ns && strchr(ns, '?'),
                                                            .on_found = on_found,
                                                            .ctx = w});
    free(plain);
    return named;
}

void named_world_init(struct named_world *w, const char *text, const char *ns)
{
    *w = (struct named_world){.user = {&ops}};
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pipes.on_tick = on_tick;
    w->pipes.peer = w;
    w->pool = http_pool_new(&w->sim.clock, &w->pipes.dialer, "k", 6443, NULL);
    w->server = (struct api_server){.clock = &w->sim.clock,
                                    .pool = w->pool,
                                    .host_header = "k:6443",
                                    .path_prefix = "",
                                    .user_agent = "test",
                                    .warnings = &w->warnings};
    w->notebook.log.emit = named_world_on_log;
    warnings_init(&w->warnings, &w->notebook.log);
    w->discovery_cache = discovery_cache_new(&w->server);
    w->named = named_world_source(w, text, ns);
}

void named_world_open_list(struct named_source *named, struct source_user *user)
{
    source_open(named_source_source(named),
                &(struct source_request){.want = SOURCE_LIST, .resource_version = "", .limit = 5},
                user);
}

void named_world_list(struct named_world *w)
{
    named_world_open_list(w->named, &w->user);
    sim_run(&w->sim);
}

void named_world_expect(struct named_world *w, const char *expected)
{
    buf_putc(&w->events, '\0');
    assert_string_equal(w->events.bytes, expected);
    buf_clear(&w->events);
}

void named_world_expect_list(struct named_world *w, const char *expected)
{
    named_world_list(w);
    named_world_expect(w, expected);
}

void named_world_done(struct named_world *w)
{
    if (w->named)
        named_source_close(w->named);
    if (w->other)
        named_source_close(w->other);
    discovery_cache_close(w->discovery_cache);
    http_pool_free(w->pool);
    warnings_free(&w->warnings);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    buf_free(&w->events);
    buf_free(&w->notebook.lines);
}

void named_world_expect_warnings(struct named_world *w, const char *expected)
{
    buf_putc(&w->notebook.lines, '\0');
    assert_string_equal(w->notebook.lines.bytes, expected);
    buf_clear(&w->notebook.lines);
}

bool named_world_has_event(struct named_world *w, const char *part)
{
    bool is = memmem(w->events.bytes, w->events.len, part, strlen(part)) != NULL;
    buf_clear(&w->events);
    return is;
}

void named_world_deployments_404(struct named_world *w, const char *name, const char *page)
{
    named_world_init(w, name, NULL);
    named_world_list(w);
    buf_clear(&w->events);
    w->missing = DEPLOYMENTS;
    w->page = page;
    sim_advance(&w->sim, 1000);
}
