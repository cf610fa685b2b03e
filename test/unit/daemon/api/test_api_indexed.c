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

#include "api_world.h"
#include "base/alloc.h"
#include "base/base.h"
#include "builders.h"
#include "core/store/index_path.h"
#include "daemon/api/api_list.h"

static void let_it_read(struct api_world *w, struct pipe *pipe)
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
static void change_one(struct api_world *w, unsigned *random)
{
    static const char *const labels[] = {"web",   "web",  "db", "cron", "mail",
                                         "batch", "node", "x",  "y"};
    char name[16];
    (void)snprintf(name, sizeof(name), "p%03u", next_random(random) % NAMES);
    if (next_random(random) % 4 == 0)
        api_world_delete(w, name);
    else
        api_world_put(w, name, labels[next_random(random) % (sizeof(labels) / sizeof(*labels))],
                      20 * 1000);
}

static void replace_some(struct api_world *w)
{
    struct generation *next = generation_new(w->store);
    for (int i = 0; i < NAMES; i += 3) {
        struct inf_object *object;
        char name[16];
        (void)snprintf(name, sizeof(name), "p%03d", i);
        object = api_world_pod(w, name, i % 2 ? "web" : "db", 20 * 1000);
        generation_put(next, object);
        inf_object_unref(object);
    }
    store_flip(w->store, next, "100000", INF_RELIST);
    while (!store_emit_some(w->store, 10, api_world_ignore, NULL))
        sim_tick(&w->sim);
}

/* A list in a new store, with the index @def or none, that is read while many objects change. */
static struct buf list_among_changes(struct api_world *w, const struct index_def *def,
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
    struct api_world *w = *state;
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
        cmocka_unit_test_setup_teardown(a_list_by_index_equals_one_without, api_world_setup,
                                        api_world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
