/*
 * test_api_indexed.c - lists of the local API that use an index, compared with those that do not, while
 * objects change and the cache is replaced.
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
#include "builders.h"
#include "core/store/index_path.h"
#include "core/store/store.h"
#include "daemon/api/api_feed.h"
#include "daemon/api/api_list.h"
#include "pipe_stream.h"
#include "sim.h"

struct world {
    struct http_server_user user;
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_server *server;
    struct api api;
    struct inf_store *store;
    uint64_t version;
};

static const struct inf_resource pods = {
    .group = "", .version = "v1", .name = "pods", .kind = "Pod"};

static void serve(struct http_server_user *user, const struct http_server_request *request,
                  struct http_exchange *x)
{
    struct world *w = container_of(user, struct world, user);
    struct api_request r;
    struct api_fault fault;
    assert_int_equal(api_request_read(&r, request, &fault), 0);
    api_wait_start(api_feed_get(&w->api, w->store, &pods, NULL), &r, x, api_list_go);
}

static const struct http_server_user_ops ops = {.on_request = serve};

static int set_up(void **state)
{
    struct world *w = test_calloc(1, sizeof(*w));
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->user.ops = &ops;
    w->server = http_server_new(&w->sim.clock, NULL, &w->user);
    api_init(&w->api, NULL, &w->sim.clock);
    w->store = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    api_close(&w->api);
    http_server_close(w->server);
    sim_run(&w->sim);
    while (w->store && !store_free_some(w->store, 100))
        continue;
    pipe_dialer_done(&w->pipes);
    sim_done(&w->sim);
    test_free(w);
    return 0;
}

static void ignore(void *ctx, const struct inf_event *event)
{
    (void)ctx;
    (void)event;
}

/* A pod n/NAME at the next version, with a label app=LABEL and about @size bytes. */
static struct inf_object *make(struct world *w, const char *name, const char *label, int size)
{
    char *text = xasprintf("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
                           "\"namespace\":\"n\",\"uid\":\"u-%s\",\"resourceVersion\":\"%d\","
                           "\"labels\":{\"app\":\"%s\"}},\"spec\":{\"x\":\"%0*d\"}}",
                           name, name, (int)++w->version, label, size, 0);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

static void put_sized(struct world *w, const char *name, const char *label, int size)
{
    struct inf_object *object = make(w, name, label, size);
    store_put(w->store, object, INF_LIVE, ignore, NULL);
    inf_object_unref(object);
}

static void take_out(struct world *w, const char *name)
{
    struct inf_object *object = make(w, name, "x", 1);
    store_delete(w->store, object, ignore, NULL);
    inf_object_unref(object);
}

static void let_it_read(struct world *w, struct pipe *pipe)
{
    pipe->clogged = false;
    sim_run(&w->sim);
}

/* ---- lists by index ---- */

enum {
    NAMES = 400,
    ROUNDS = 60,
};

static unsigned next_random(unsigned *random)
{
    *random = *random * 1103515245u + 12345u;
    return *random >> 16;
}

/* Adds, changes, moves to another label or deletes one of the objects. */
static void change_one(struct world *w, unsigned *random)
{
    static const char *const labels[] = {"web",   "web",  "db", "cron", "mail",
                                         "batch", "node", "x",  "y"};
    char name[16];
    (void)snprintf(name, sizeof(name), "p%03u", next_random(random) % NAMES);
    if (next_random(random) % 4 == 0)
        take_out(w, name);
    else
        put_sized(w, name, labels[next_random(random) % (sizeof(labels) / sizeof(*labels))],
                  20 * 1000);
}

static void replace_some(struct world *w)
{
    struct generation *next = generation_new(w->store);
    for (int i = 0; i < NAMES; i += 3) {
        struct inf_object *object;
        char name[16];
        (void)snprintf(name, sizeof(name), "p%03d", i);
        object = make(w, name, i % 2 ? "web" : "db", 20 * 1000);
        generation_put(next, object);
        inf_object_unref(object);
    }
    store_flip(w->store, next, "100000", INF_RELIST);
    while (!store_emit_some(w->store, 10, ignore, NULL))
        sim_tick(&w->sim);
}

/* A list in a new store, with the index @def or none, that is read while many objects change. */
static struct buf list_among_changes(struct world *w, const struct index_def *def,
                                     const char *query)
{
    char *text = xasprintf("GET /api/v1/pods?%s HTTP/1.0\r\n\r\n", query);
    unsigned random = 1;
    struct pipe *pipe;
    struct buf response;
    while (!store_free_some(w->store, 1000))
        continue;
    w->store = store_new(&(struct siphash_key){1, 2}, def, def != NULL);
    w->version = 0;
    for (int i = 0; i < 3 * NAMES; i++)
        change_one(w, &random);
    http_server_accept(w->server, dialer_dial(&w->pipes.dialer, "client", 1, NULL));
    sim_tick(&w->sim);
    pipe = w->pipes.last;
    pipe->clogged = true;
    pipe_sends(pipe, text);
    sim_run(&w->sim);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 5; i++)
            change_one(w, &random);
        if (round == 1)
            assert_false(pipe_closed(pipe)); /* it is in progress */
        if (round == ROUNDS / 2)
            replace_some(w);
        pipe->clogged = round % 2;
        sim_tick(&w->sim);
    }
    let_it_read(w, pipe);
    assert_true(pipe_closed(pipe));
    free(text);
    response = pipe->written;
    pipe->written = (struct buf){0};
    return response;
}

static void a_list_by_index_equals_one_without(void **state)
{
    static const char *const queries[] = {
        "fieldSelector=metadata.labels.app%3Dweb",
        "fieldSelector=metadata.labels.app%3Dcron,metadata.name!%3Dp007",
        "fieldSelector=metadata.labels.app%3Dweb&labelSelector=app!%3Ddb",
    };
    struct world *w = *state;
    struct inf_path *path = path_from("metadata.labels.app");
    struct index_def def = index_by_path("app", path);
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        struct buf plain = list_among_changes(w, NULL, queries[i]);
        struct buf indexed = list_among_changes(w, &def, queries[i]);
        assert_int_equal(plain.len, indexed.len);
        assert_memory_equal(plain.bytes, indexed.bytes, plain.len);
        buf_free(&plain);
        buf_free(&indexed);
    }
    while (!store_free_some(w->store, 1000))
        continue;
    w->store = NULL;
    sim_run(&w->sim);
    inf_path_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_by_index_equals_one_without, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
