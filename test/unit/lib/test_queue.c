/*
 * test_queue.c - a work queue on a client and a real loop: it opens, works, and closes with its
 * client.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <uv.h>

#include "informer/informer.h"
#include "informer/queue.h"

#include "base/base.h"

static const char kubeconfig[] =
    "{current-context: c, contexts: [{name: c, context: {cluster: c}}],"
    " clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]}";

struct place {
    char path[32];
    uv_loop_t loop;
    struct inf_client *client;
    struct inf_queue *queue;
    struct inf_worker worker;
    unsigned runs;
};

static void place_on_work(struct inf_worker *worker, struct inf_queue *queue, const char *key)
{
    struct place *p = container_of(worker, struct place, worker);
    p->runs++;
    assert_int_equal(inf_queue_done(queue, key, p->runs < 3 ? INF_WORK_RETRY : INF_WORK_OK), 0);
}

static int set_up(void **state)
{
    struct place *p = test_calloc(1, sizeof(*p));
    struct inf_error err = {0};
    int fd;
    strcpy(p->path, "/tmp/test_queue.XXXXXX");
    fd = mkstemp(p->path);
    if (fd < 0 || write(fd, kubeconfig, strlen(kubeconfig)) < 0 || close(fd) < 0)
        return -1;
    uv_loop_init(&p->loop);
    p->client =
        inf_client_open(&p->loop, &(struct inf_client_options){.kubeconfig = p->path}, &err);
    p->worker.work = place_on_work;
    *state = p;
    if (!p->client)
        print_error("%s\n", err.text);
    return p->client ? 0 : -1;
}

/* libuv and the leak sanitizer are the judges of what is left. */
static int tear_down(void **state)
{
    struct place *p = *state;
    inf_client_close(p->client, NULL);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&p->loop), 0);
    unlink(p->path);
    test_free(p);
    return 0;
}

/* uv_run() returns when nothing is left to do: the queue keeps the loop exactly as long as it needs
 * it. */
static void keys_are_worked_on_as_the_loop_runs(void **state)
{
    struct place *p = *state;
    p->queue = inf_queue_open(p->client, &p->worker, NULL, NULL);
    assert_int_equal(inf_queue_add(p->queue, "default/a"), 0);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    assert_int_equal(p->runs, 3);
    inf_queue_close(p->queue, NULL);
}

static void a_queue_closes_with_its_client(void **state)
{
    struct place *p = *state;
    p->queue =
        inf_queue_open(p->client, &p->worker, &(struct inf_queue_options){.name = "x"}, NULL);
    assert_int_equal(inf_queue_add(p->queue, "default/a"), 0);
    assert_int_equal(inf_queue_add_after(p->queue, "default/b", 3600000), 0);
}

static void a_delay_that_was_dropped_does_not_keep_the_loop(void **state)
{
    struct place *p = *state;
    p->queue = inf_queue_open(p->client, &p->worker, NULL, NULL);
    assert_int_equal(inf_queue_add_after(p->queue, "default/a", 3600000), 0);
    uv_run(&p->loop, UV_RUN_NOWAIT);
    inf_queue_drain(p->queue);
    uv_run(&p->loop, UV_RUN_DEFAULT); /* or the test ends in an hour */
    inf_queue_close(p->queue, NULL);
    p->queue = inf_queue_open(p->client, &p->worker, NULL, NULL);
    assert_int_equal(inf_queue_add_after(p->queue, "default/a", 3600000), 0);
    inf_queue_close(p->queue, NULL);
    uv_run(&p->loop, UV_RUN_DEFAULT);
}

static void a_worker_must_have_work(void **state)
{
    struct place *p = *state;
    struct inf_worker idle = {0};
    struct inf_error err;
    assert_null(inf_queue_open(p->client, &idle, NULL, &err));
    assert_int_equal(err.code, INF_EINVAL);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(keys_are_worked_on_as_the_loop_runs),
        IN_PLACE(a_queue_closes_with_its_client),
        IN_PLACE(a_delay_that_was_dropped_does_not_keep_the_loop),
        IN_PLACE(a_worker_must_have_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
