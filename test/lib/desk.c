#include "desk.h"

/* cmocka wants these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "core/dispatch/workqueue.h"

static void note(struct desk *d, const char *what)
{
    buf_printf(&d->handed, "%llu:%s ", (unsigned long long)d->sim.now_ms, what);
}

static void desk_on_work(struct inf_worker *worker, struct inf_queue *queue, const char *key)
{
    struct desk *d = container_of(worker, struct desk, worker);
    assert_ptr_equal(queue, d->queue);
    note(d, key);
    if (d->then)
        d->then(d, key);
}

static void desk_on_drained(struct inf_worker *worker, struct inf_queue *queue)
{
    struct desk *d = container_of(worker, struct desk, worker);
    assert_ptr_equal(queue, d->queue);
    note(d, "drained");
}

void desk_close(struct desk *d)
{
    inf_queue_close(d->queue);
    d->queue = NULL;
}

void desk_reopen(struct desk *d, const struct inf_queue_options *options)
{
    desk_close(d);
    d->queue = workqueue_new(&d->sim.clock, &d->worker, options, &(struct siphash_key){1, 2}, NULL);
}

int desk_set_up(void **state)
{
    struct desk *d = test_calloc(1, sizeof(*d));
    sim_init(&d->sim);
    d->worker = (struct inf_worker){.work = desk_on_work, .on_drained = desk_on_drained};
    desk_reopen(d, NULL);
    *state = d;
    return 0;
}

int desk_tear_down(void **state)
{
    struct desk *d = *state;
    desk_close(d);
    sim_run(&d->sim);
    sim_done(&d->sim);
    buf_free(&d->handed);
    test_free(d);
    return 0;
}

void assert_handed(struct desk *d, const char *expected)
{
    sim_run(&d->sim);
    buf_putc(&d->handed, '\0');
    assert_string_equal(d->handed.bytes, expected);
    buf_clear(&d->handed);
}

void finish(struct desk *d, const char *key, enum inf_work_outcome outcome)
{
    assert_int_equal(inf_queue_done(d->queue, key, outcome), 0);
}

void finish_ok(struct desk *d, const char *key)
{
    finish(d, key, INF_WORK_OK);
}

void finish_retry(struct desk *d, const char *key)
{
    finish(d, key, INF_WORK_RETRY);
}
