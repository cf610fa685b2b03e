/*
 * test_queue.c - a work queue on a client and a real loop: it opens, works, and closes with its
 * client.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "informer/queue.h"

#include "base/base.h"
#include "client_world.h"

struct queue_world {
    struct client_world base;
    struct inf_queue *queue;
    struct inf_worker worker;
    unsigned runs;
};

/* Each key fails twice, then succeeds. */
static void on_work(struct inf_worker *worker, struct inf_queue *queue, const char *key)
{
    struct queue_world *w = container_of(worker, struct queue_world, worker);
    w->runs++;
    assert_int_equal(inf_queue_done(queue, key, w->runs < 3 ? INF_WORK_RETRY : INF_WORK_OK), 0);
}

static int set_up(void **state)
{
    struct queue_world *w = test_calloc(1, sizeof(*w));
    client_world_open(&w->base);
    w->worker.work = on_work;
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct queue_world *w = *state;
    client_world_close(&w->base);
    test_free(w);
    return 0;
}

/* uv_run() returns when no key is left: the queue keeps the loop active only as long as necessary. */
static void hands_out_keys_and_retries_while_the_loop_runs(void **state)
{
    struct queue_world *w = *state;
    w->queue = inf_queue_open(w->base.client, &w->worker, NULL, NULL);
    assert_int_equal(inf_queue_add(w->queue, "default/a"), 0);
    uv_run(&w->base.loop, UV_RUN_DEFAULT);
    assert_int_equal(w->runs, 3);
    inf_queue_close(w->queue, NULL);
}

static void closing_the_client_closes_its_queues(void **state)
{
    struct queue_world *w = *state;
    w->queue =
        inf_queue_open(w->base.client, &w->worker, &(struct inf_queue_options){.name = "x"}, NULL);
    assert_int_equal(inf_queue_add(w->queue, "default/a"), 0);
    assert_int_equal(inf_queue_add_after(w->queue, "default/b", 3600000), 0);
}

static void a_dropped_delay_does_not_keep_the_loop_active(void **state)
{
    struct queue_world *w = *state;
    w->queue = inf_queue_open(w->base.client, &w->worker, NULL, NULL);
    assert_int_equal(inf_queue_add_after(w->queue, "default/a", 3600000), 0);
    uv_run(&w->base.loop, UV_RUN_NOWAIT);
    inf_queue_drain(w->queue);
    uv_run(&w->base.loop, UV_RUN_DEFAULT); /* returns at once, not after an hour */
    inf_queue_close(w->queue, NULL);
    w->queue = inf_queue_open(w->base.client, &w->worker, NULL, NULL);
    assert_int_equal(inf_queue_add_after(w->queue, "default/a", 3600000), 0);
    inf_queue_close(w->queue, NULL);
    uv_run(&w->base.loop, UV_RUN_DEFAULT);
}

static void refuses_a_worker_without_a_work_function(void **state)
{
    struct queue_world *w = *state;
    struct inf_worker idle = {0};
    struct inf_error err;
    assert_null(inf_queue_open(w->base.client, &idle, NULL, &err));
    assert_int_equal(err.code, INF_EINVAL);
}

#define QUEUE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(hands_out_keys_and_retries_while_the_loop_runs),
        QUEUE_TEST(closing_the_client_closes_its_queues),
        QUEUE_TEST(a_dropped_delay_does_not_keep_the_loop_active),
        QUEUE_TEST(refuses_a_worker_without_a_work_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
