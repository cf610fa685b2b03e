#include "queue_fixture.h"

/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "core/dispatch/workqueue.h"

static void note(struct queue_fixture *d, const char *what)
{
    buf_printf(&d->worked, "%llu:%s ", (unsigned long long)d->sim.now_ms, what);
}

static void queue_fixture_on_work(struct inf_worker *worker, struct inf_queue *queue,
                                  const char *key)
{
    struct queue_fixture *d = container_of(worker, struct queue_fixture, worker);
    assert_ptr_equal(queue, d->queue);
    note(d, key);
    if (d->then)
        d->then(d, key);
}

static void queue_fixture_on_drained(struct inf_worker *worker, struct inf_queue *queue)
{
    struct queue_fixture *d = container_of(worker, struct queue_fixture, worker);
    assert_ptr_equal(queue, d->queue);
    note(d, "drained");
}

void queue_fixture_close(struct queue_fixture *d)
{
    inf_queue_close(d->queue, NULL);
    d->queue = NULL;
}

void queue_fixture_reopen(struct queue_fixture *d, const struct inf_queue_options *options)
{
    queue_fixture_close(d);
    d->queue = workqueue_new(&d->sim.clock, &d->worker, options, &(struct siphash_key){1, 2}, NULL);
}

int queue_fixture_setup(void **state)
{
    struct queue_fixture *d = test_calloc(1, sizeof(*d));
    sim_init(&d->sim);
    d->worker =
        (struct inf_worker){.work = queue_fixture_on_work, .on_drained = queue_fixture_on_drained};
    queue_fixture_reopen(d, NULL);
    *state = d;
    return 0;
}

int queue_fixture_teardown(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_close(d);
    sim_run(&d->sim);
    sim_done(&d->sim);
    buf_free(&d->worked);
    test_free(d);
    return 0;
}

void assert_worked(struct queue_fixture *d, const char *expected)
{
    sim_run(&d->sim);
    buf_putc(&d->worked, '\0');
    assert_string_equal(d->worked.bytes, expected);
    buf_clear(&d->worked);
}

void finish_key(struct queue_fixture *d, const char *key, enum inf_work_outcome outcome)
{
    assert_int_equal(inf_queue_done(d->queue, key, outcome), 0);
}

void finish_key_ok(struct queue_fixture *d, const char *key)
{
    finish_key(d, key, INF_WORK_OK);
}

void finish_key_retry(struct queue_fixture *d, const char *key)
{
    finish_key(d, key, INF_WORK_RETRY);
}
