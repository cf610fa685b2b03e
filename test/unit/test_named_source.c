/*
 * test_named_source.c - from a word to its objects, over a server that the test plays.
 */
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
#include "kube/named_source.h"
#include "pipe_stream.h"
#include "recording.h"
#include "sim.h"
#include "wire/http_pool.h"

struct world {
    struct source_user user; /* first */
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_pool *pool;
    struct api_server server;
    struct shelf *shelf;
    struct named_source *named; /* NULL once closed */
    struct named_source *other; /* of the same server; NULL: none */
    bool young;                 /* the server has no group example.com yet */
    struct buf told;
    const char *missing; /* a path that is answered 404; NULL: none */
    const char *broken;  /* one that is answered 503 */
};

/* ---- who asks ---- */

static void on_open(struct source_user *user)
{
    buf_puts(&((struct world *)user)->told, "open\n");
}

static void on_event(struct source_user *user, const struct source_event *event)
{
    assert_int_not_equal(event->type, SOURCE_TEXT);
    buf_puts(&((struct world *)user)->told, event->type == SOURCE_PAGE_END ? "end\n" : "object\n");
}

static void on_progress(struct source_user *user)
{
    (void)user;
}

static void on_end(struct source_user *user, const struct inf_error *why)
{
    struct world *w = (struct world *)user;
    buf_printf(&w->told, "%s: %s\n", inf_error_name(why->code), why->text);
}

static const struct source_user_ops ops = {on_open, on_event, on_progress, on_end};

static void on_found(void *ctx, const struct resource *found, const char *kind)
{
    struct world *w = ctx;
    buf_printf(&w->told, "found %s/%s/%s %s\n", found->group, found->version, found->name,
               kind ? kind : "-");
}

/* ---- the server ---- */

static const char *const documents[][2] = {
    {"/api/v1", "discovery-core-v1"},
    {"/apis", NULL},
    {"/apis/apps", NULL},
    {"/apis/apps/v1", "discovery-apps-v1"},
    {"/apis/example.com/v1", "discovery-example"},
};

/* Two groups are enough. */
#define GROUP(name) \
    "{\"kind\":\"APIGroup\",\"name\":\"" name "\",\"versions\":[{\"version\":\"v1\"}]}"
#define GROUPS(list) "{\"kind\":\"APIGroupList\",\"groups\":[" list "]}\n"

static void answer(struct pipe *pipe, int status, const char *body, size_t len)
{
    char head[200];
    snprintf(head, sizeof(head),
             "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
             status, len);
    pipe_sends(pipe, head);
    pipe_send(pipe, body, len);
}

static const char *groups_at(const struct world *w, const char *path)
{
    if (strcmp(path, "/apis/apps") == 0)
        return GROUP("apps") "\n";
    return w->young ? GROUPS(GROUP("apps")) : GROUPS(GROUP("apps") "," GROUP("example.com"));
}

static void answer_document(const struct world *w, struct pipe *pipe, const char *path,
                            const char *name)
{
    struct recording r;
    if (!name) {
        const char *text = groups_at(w, path);
        answer(pipe, 200, text, strlen(text));
        return;
    }
    recording_open(&r, name);
    answer(pipe, 200, r.body.bytes, r.body.len);
    recording_close(&r);
}

static void answer_path(struct world *w, struct pipe *pipe, const char *path)
{
    static const char list[] = "{\"kind\":\"List\",\"apiVersion\":\"v1\","
                               "\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}\n";
    buf_printf(&w->told, "GET %s\n", path);
    if (w->broken && strcmp(path, w->broken) == 0) {
        answer(pipe, 503, "down", 4);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(documents); i++)
        if (strcmp(documents[i][0], path) == 0) {
            answer_document(w, pipe, path, documents[i][1]);
            return;
        }
    if (w->missing ? strcmp(path, w->missing) != 0 : strchr(path, '?') != NULL)
        answer(pipe, 200, list, sizeof(list) - 1);
    else
        answer(pipe, 404, "no", 2);
}

static void on_tick(struct pipe *pipe)
{
    struct world *w = pipe->peer;
    char *path, *end;
    if (!pipe->written.len || !memmem(pipe->written.bytes, pipe->written.len, "\r\n\r\n", 4))
        return;
    end = memchr(pipe->written.bytes + 4, ' ', pipe->written.len - 4);
    path = xstrndup(pipe->written.bytes + 4, (size_t)(end - pipe->written.bytes - 4));
    buf_clear(&pipe->written);
    answer_path(w, pipe, path);
    free(path);
}

/* ---- both ---- */

/* A namespace that ends in '?' is only where one looks. */
static struct named_source *new_source(struct world *w, const char *text, const char *ns)
{
    char *plain = ns ? xstrndup(ns, strcspn(ns, "?")) : NULL;
    struct resource_word word;
    struct named_source *named;
    assert_int_equal(resource_word_parse(text, &word, NULL), 0);
    named = named_source_new(&w->server,
                             &(struct named_source_options){.word = &word,
                                                            .shelf = w->shelf,
                                                            .scope = {.ns = plain},
                                                            .ns_is_default = ns && strchr(ns, '?'),
                                                            .on_found = on_found,
                                                            .ctx = w});
    free(plain);
    return named;
}

static void world_init(struct world *w, const char *text, const char *ns)
{
    *w = (struct world){.user = {&ops}};
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pipes.on_tick = on_tick;
    w->pipes.peer = w;
    w->pool = http_pool_new(&w->sim.clock, &w->pipes.dialer, "k", 6443, NULL);
    w->server = (struct api_server){.clock = &w->sim.clock,
                                    .pool = w->pool,
                                    .host_header = "k:6443",
                                    .path_prefix = "",
                                    .user_agent = "test"};
    w->shelf = shelf_new(&w->server);
    w->named = new_source(w, text, ns);
}

static void open_list(struct named_source *named, struct source_user *user)
{
    source_open(named_source_source(named),
                &(struct source_request){.want = SOURCE_LIST, .resource_version = "", .limit = 5},
                user);
}

static void list(struct world *w)
{
    open_list(w->named, &w->user);
    sim_run(&w->sim);
}

static void told(struct world *w, const char *expected)
{
    buf_putc(&w->told, '\0');
    assert_string_equal(w->told.bytes, expected);
    buf_clear(&w->told);
}

static void world_done(struct world *w)
{
    if (w->named)
        named_source_close(w->named);
    if (w->other)
        named_source_close(w->other);
    shelf_close(w->shelf);
    http_pool_free(w->pool);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    buf_free(&w->told);
}

#define LISTED "open\nend\nINF_EEOF: k:6443: the list is complete\n"

static void a_full_name_needs_no_look(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "widgets.example.com/v1", NULL);
    told(&w, "found example.com/v1/widgets -\n");
    list(&w);
    told(&w, "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    world_done(&w);
}

static void a_short_name_of_the_core_group_needs_one(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "PO", "shop");
    list(&w);
    told(&w, "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    list(&w); /* it is known now */
    told(&w, "GET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    assert_int_equal(w.pipes.n_dialled, 1); /* all by one connection */
    world_done(&w);
}

static void a_group_needs_its_versions(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "deploy.apps", NULL);
    list(&w);
    told(&w, "GET /apis/apps\nGET /apis/apps/v1\nfound apps/v1/deployments Deployment\n"
             "GET /apis/apps/v1/deployments?limit=5\n" LISTED);
    world_done(&w);
}

static void other_words_need_all_groups(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "Widget", NULL);
    list(&w);
    told(&w,
         "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
         "found example.com/v1/widgets Widget\nGET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    world_done(&w);
}

static void a_group_that_is_down_hides_only_itself(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "wd", NULL);
    w.broken = "/apis/apps/v1";
    list(&w);
    told(&w,
         "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
         "found example.com/v1/widgets Widget\nGET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    world_done(&w);
    world_init(&w, "deploy", NULL);
    w.broken = "/apis/apps/v1";
    list(&w);
    told(&w,
         "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
         "INF_ENOTFOUND: resource 'deploy' is not known to the server; of its groups, 1 did not "
         "answer\n");
    world_done(&w);
}

static void the_core_group_has_to_answer(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "po", NULL);
    w.broken = "/api/v1";
    list(&w);
    told(&w, "GET /api/v1\nINF_ESERVER: k:6443: the server answers HTTP 503: down\n");
    w.broken = NULL;
    list(&w);
    told(&w, "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/pods?limit=5\n" LISTED);
    world_done(&w);
}

static void an_unknown_group_is_an_unknown_resource(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "gadgets.example.org", NULL);
    list(&w);
    told(&w, "GET /apis/example.org\n"
             "INF_ENOTFOUND: resource 'gadgets.example.org' is not known to the server\n");
    world_done(&w);
}

static void what_is_in_no_namespace_is_not_asked_for_in_one(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "node", "shop");
    list(&w);
    told(&w, "GET /api/v1\nINF_EINVAL: resource 'node': nodes are in no namespace; ask for all of "
             "them\n");
    world_done(&w);
}

static void where_one_looks_matters_to_what_is_in_a_namespace(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "node", "shop?");
    list(&w);
    told(&w, "GET /api/v1\nfound /v1/nodes Node\nGET /api/v1/nodes?limit=5\n" LISTED);
    world_done(&w);
    world_init(&w, "pods", "shop?");
    list(&w);
    told(&w, "found /v1/pods -\nGET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    world_done(&w);
    world_init(&w, "deployments.apps/v1", "shop?");
    list(&w);
    told(&w, "found apps/v1/deployments -\n"
             "GET /apis/apps/v1/namespaces/shop/deployments?limit=5\n" LISTED);
    world_done(&w);
}

/* It may come back in another version, and a full name may have been none. */
static void what_is_gone_is_looked_up_anew(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "deployment.v1.apps", NULL);
    told(&w, "found apps/v1/deployment -\n");
    w.missing = "/apis/apps/v1/deployment?limit=5";
    list(&w);
    told(
        &w,
        "GET /apis/apps/v1/deployment?limit=5\nINF_ENOTFOUND: k:6443: the server answers HTTP 404: no; "
        "are the resource's name, group and version right? See kubectl api-resources\n");
    list(&w);
    told(&w, "GET /apis/apps\nGET /apis/apps/v1\nfound apps/v1/deployments Deployment\n"
             "GET /apis/apps/v1/deployments?limit=5\n" LISTED);
    world_done(&w);
}

/* Cut into pieces, and given up after each of them. */
static void it_can_be_given_up_at_any_moment(void **state)
{
    (void)state;
    for (int cancel = 0; cancel <= 1; cancel++)
        for (unsigned ticks = 0; ticks < 40; ticks++) {
            struct world w;
            world_init(&w, "Widget", NULL);
            w.pipes.cut = 997;
            source_open(named_source_source(w.named),
                        &(struct source_request){.want = SOURCE_LIST, .resource_version = ""},
                        &w.user);
            for (unsigned i = 0; i < ticks; i++)
                sim_tick(&w.sim);
            if (cancel) {
                source_cancel(named_source_source(w.named));
                sim_run(&w.sim);
                buf_clear(&w.told);
                list(&w);
                assert_non_null(memmem(w.told.bytes, w.told.len, LISTED, strlen(LISTED)));
            }
            world_done(&w);
        }
}

static void who_pauses_is_told_nothing(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "po", NULL);
    source_pause(named_source_source(w.named));
    list(&w);
    buf_clear(&w.told);
    sim_advance(&w.sim, 100);
    assert_int_equal(w.told.len, 0);
    source_resume(named_source_source(w.named));
    sim_run(&w.sim);
    told(&w, "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/pods?limit=5\n" LISTED);
    world_done(&w);
}

/* A watch each, all begun at once. */
static void many_words_need_one_look(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "Widget", NULL);
    w.other = new_source(&w, "wd", NULL);
    open_list(w.other, &w.user);
    list(&w);
    told(&w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
             "found example.com/v1/widgets Widget\nfound example.com/v1/widgets Widget\n"
             "GET /apis/example.com/v1/widgets?limit=5\n" LISTED
             "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    world_done(&w);
}

static void what_was_read_is_kept_for_minutes(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "po", NULL);
    list(&w);
    buf_clear(&w.told);
    sim_advance(&w.sim, SHELF_KEEP_MS - 1000);
    w.other = new_source(&w, "svc", NULL);
    open_list(w.other, &w.user);
    sim_run(&w.sim);
    told(&w, "found /v1/services Service\nGET /api/v1/services?limit=5\n" LISTED);
    named_source_close(w.other);
    sim_advance(&w.sim, 2000);
    w.other = new_source(&w, "no", NULL);
    open_list(w.other, &w.user);
    sim_run(&w.sim);
    told(&w, "GET /api/v1\nfound /v1/nodes Node\nGET /api/v1/nodes?limit=5\n" LISTED);
    world_done(&w);
}

#define UNKNOWN "INF_ENOTFOUND: resource 'Widget' is not known to the server\n"

/* Soon after it is not asked again; later it is, for a CRD may have come. */
static void what_is_not_found_is_looked_for_anew(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "Widget", NULL);
    w.young = true;
    list(&w);
    told(&w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\n" UNKNOWN);
    w.young = false;
    sim_advance(&w.sim, LOOKUP_FRESH_MS - 1000);
    list(&w);
    told(&w, UNKNOWN);
    sim_advance(&w.sim, 2000);
    list(&w);
    told(&w,
         "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
         "found example.com/v1/widgets Widget\nGET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    world_done(&w);
}

/* What the shelf says is not believed, then. */
static void what_is_gone_is_not_taken_from_the_shelf(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "deploy.apps", NULL);
    list(&w);
    w.missing = "/apis/apps/v1/deployments?limit=5";
    sim_advance(&w.sim, LOOKUP_FRESH_MS + 1000);
    list(&w);
    buf_clear(&w.told);
    w.missing = NULL;
    list(&w);
    told(&w, "GET /apis/apps\nGET /apis/apps/v1\nfound apps/v1/deployments Deployment\n"
             "GET /apis/apps/v1/deployments?limit=5\n" LISTED);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_name_needs_no_look),
        cmocka_unit_test(a_short_name_of_the_core_group_needs_one),
        cmocka_unit_test(a_group_needs_its_versions),
        cmocka_unit_test(other_words_need_all_groups),
        cmocka_unit_test(a_group_that_is_down_hides_only_itself),
        cmocka_unit_test(the_core_group_has_to_answer),
        cmocka_unit_test(an_unknown_group_is_an_unknown_resource),
        cmocka_unit_test(what_is_in_no_namespace_is_not_asked_for_in_one),
        cmocka_unit_test(where_one_looks_matters_to_what_is_in_a_namespace),
        cmocka_unit_test(what_is_gone_is_looked_up_anew),
        cmocka_unit_test(it_can_be_given_up_at_any_moment),
        cmocka_unit_test(who_pauses_is_told_nothing),
        cmocka_unit_test(many_words_need_one_look),
        cmocka_unit_test(what_was_read_is_kept_for_minutes),
        cmocka_unit_test(what_is_not_found_is_looked_for_anew),
        cmocka_unit_test(what_is_gone_is_not_taken_from_the_shelf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
