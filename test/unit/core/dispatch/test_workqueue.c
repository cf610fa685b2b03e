/*
 * test_workqueue.c - keys in a work queue: waiting, in progress, added again, finished.
 *
 * Delays, retries and limits are in test_workqueue_limits.c. Numbers in comments are scenarios
 * of semantics §8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "queue_fixture.h"

static void add(struct queue_fixture *d, const char *key)
{
    assert_int_equal(inf_queue_add(d->queue, key), 0);
}

/* ---- waiting keys ---- */

/* 101, TestBasic. */
static void keys_are_handed_out_in_the_order_of_their_adds(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    add(d, "b");
    add(d, "a");
    add(d, "c");
    assert_worked(d, "0:b 0:a 0:c ");
    assert_int_equal(inf_queue_length(d->queue), 0);
}

static void nothing_is_handed_out_inside_a_call(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    add(d, "b");
    assert_int_equal(d->worked.len, 0);
    assert_worked(d, "0:a ");
    finish_key(d, "a", INF_WORK_OK);
    assert_int_equal(d->worked.len, 0);
    inf_queue_drain(d->queue);
    assert_int_equal(d->worked.len, 0);
}

/* 102, TestCollapse. */
static void a_waiting_key_is_queued_once(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    add(d, "b");
    add(d, "a");
    assert_int_equal(inf_queue_length(d->queue), 2);
    d->then = finish_key_ok;
    assert_worked(d, "0:a 0:b ");
}

/* 101, TestAddWhileProcessing; 102, TestCollapseWhileProcessing; 132,
 * runner_should_never_run_two_instances_at_once. */
static void a_key_added_while_it_is_worked_on_gets_one_more_run(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_reopen(d, &(struct inf_queue_options){.workers = 8});
    add(d, "a");
    assert_worked(d, "0:a ");
    add(d, "a");
    add(d, "a");
    assert_int_equal(inf_queue_length(d->queue), 0);
    assert_worked(d, "");
    finish_key(d, "a", INF_WORK_OK);
    assert_int_equal(inf_queue_length(d->queue), 1);
    assert_worked(d, "0:a ");
    finish_key(d, "a", INF_WORK_OK);
    assert_worked(d, "");
}

/* 102, TestReinsert. */
static void a_finished_key_can_be_added_again(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    add(d, "a");
    assert_worked(d, "0:a ");
    add(d, "a");
    assert_worked(d, "0:a ");
}

static void a_key_that_was_added_again_goes_to_the_end_of_the_queue(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    assert_worked(d, "0:a ");
    add(d, "a");
    add(d, "b");
    d->then = finish_key_ok;
    finish_key(d, "a", INF_WORK_OK);
    assert_worked(d, "0:b 0:a ");
}

/* 132, runner_should_wait_for_readiness: there, until a worker is free. */
static void no_more_keys_are_worked_on_than_there_are_workers(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_reopen(d, &(struct inf_queue_options){.workers = 2});
    add(d, "a");
    add(d, "b");
    add(d, "c");
    add(d, "d");
    assert_worked(d, "0:a 0:b ");
    assert_int_equal(inf_queue_length(d->queue), 2);
    finish_key(d, "b", INF_WORK_OK);
    assert_worked(d, "0:c ");
    finish_key(d, "a", INF_WORK_OK);
    finish_key(d, "c", INF_WORK_OK);
    assert_worked(d, "0:d ");
}

static void only_a_key_in_progress_can_be_finished(void **state)
{
    struct queue_fixture *d = *state;
    assert_int_equal(inf_queue_done(d->queue, "a", INF_WORK_OK), -INF_ENOTFOUND);
    add(d, "a");
    assert_int_equal(inf_queue_done(d->queue, "a", INF_WORK_OK), -INF_ENOTFOUND);
    assert_worked(d, "0:a ");
    finish_key(d, "a", INF_WORK_OK);
    assert_int_equal(inf_queue_done(d->queue, "a", INF_WORK_OK), -INF_ENOTFOUND);
}

/* ---- inside work() ---- */

static void read_after_done(struct queue_fixture *d, const char *key)
{
    finish_key(d, key, INF_WORK_OK);
    assert_string_equal(key, "a"); /* the address sanitizer checks it */
}

static void a_key_can_be_read_until_the_worker_returns(void **state)
{
    struct queue_fixture *d = *state;
    d->then = read_after_done;
    add(d, "a");
    assert_worked(d, "0:a ");
}

static void add_again_three_times(struct queue_fixture *d, const char *key)
{
    if (d->worked.len < strlen("0:a 0:b 0:a "))
        add(d, key);
    finish_key(d, key, INF_WORK_OK);
}

static void a_worker_may_add_its_own_key(void **state)
{
    struct queue_fixture *d = *state;
    d->then = add_again_three_times;
    add(d, "a");
    add(d, "b");
    assert_worked(d, "0:a 0:b 0:a 0:b ");
}

/* A worker that finishes at once could keep the loop busy forever: a tick only handles the keys
 * that were waiting when it began. */
static void a_key_that_adds_itself_takes_turns_with_the_loop(void **state)
{
    struct queue_fixture *d = *state;
    d->then = add_again_three_times;
    add(d, "a");
    sim_tick(&d->sim);
    assert_int_equal(d->worked.len, strlen("0:a "));
    assert_worked(d, "0:a 0:a 0:a ");
}

static void a_tick_hands_out_what_its_budget_allows(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    d->sim.budget = 2;
    add(d, "a");
    add(d, "b");
    add(d, "c");
    sim_tick(&d->sim);
    assert_int_equal(inf_queue_length(d->queue), 1);
    assert_worked(d, "0:a 0:b 0:c ");
}

/* ---- draining ---- */

/* 103, TestQueueDrainageUsingShutDownWithDrain. */
static void draining_ends_when_the_last_key_is_finished(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    add(d, "b");
    assert_worked(d, "0:a ");
    inf_queue_drain(d->queue);
    assert_int_equal(inf_queue_add(d->queue, "c"), -INF_ECLOSED);
    assert_int_equal(inf_queue_add(d->queue, "a"), -INF_ECLOSED);
    assert_worked(d, "");
    finish_key(d, "a", INF_WORK_OK);
    assert_worked(d, "0:b ");
    finish_key(d, "b", INF_WORK_OK);
    assert_worked(d, "0:drained ");
}

/* 103, TestQueueDrainageUsingShutDownWithDrainWithDirtyItem. */
static void draining_waits_for_a_key_that_was_added_while_in_progress(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    assert_worked(d, "0:a ");
    add(d, "a");
    inf_queue_drain(d->queue);
    finish_key(d, "a", INF_WORK_OK);
    assert_worked(d, "0:a ");
    finish_key(d, "a", INF_WORK_OK);
    assert_worked(d, "0:drained ");
}

static void draining_drops_delays_and_retries(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    assert_worked(d, "0:a ");
    assert_int_equal(inf_queue_add_after(d->queue, "a", 10), 0);
    assert_int_equal(inf_queue_add_rate_limited(d->queue, "b"), 0);
    inf_queue_drain(d->queue);
    assert_int_equal(inf_queue_retries(d->queue, "b"), 0); /* the key was removed */
    assert_int_equal(inf_queue_add_after(d->queue, "c", 10), -INF_ECLOSED);
    assert_int_equal(inf_queue_add_rate_limited(d->queue, "c"), -INF_ECLOSED);
    finish_key(d, "a", INF_WORK_RETRY);
    assert_worked(d, "0:drained ");
    sim_advance(&d->sim, 1000);
    assert_worked(d, "");
}

static void an_idle_queue_is_drained_at_once_and_only_once(void **state)
{
    struct queue_fixture *d = *state;
    inf_queue_drain(d->queue);
    inf_queue_drain(d->queue);
    assert_worked(d, "0:drained ");
    inf_queue_drain(d->queue);
    assert_worked(d, "");
}

static void on_drained_is_optional(void **state)
{
    struct queue_fixture *d = *state;
    d->worker.on_drained = NULL;
    inf_queue_drain(d->queue);
    assert_worked(d, "");
}

/* ---- closing ---- */

/* 103, TestForceQueueShutdownUsingShutDown: a caller that does not wait for the end closes the
 * queue. */
static void closing_cancels_a_drain(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    add(d, "b");
    assert_worked(d, "0:a ");
    inf_queue_drain(d->queue);
    queue_fixture_close(d);
    assert_worked(d, "");
}

static void close_and_invalidate_the_worker(struct queue_fixture *d, const char *key)
{
    queue_fixture_close(d);
    d->worker = (struct inf_worker){0}; /* freed: it must not be read any more */
    assert_string_equal(key, "a");      /* still borrowed */
}

static void a_worker_may_close_its_queue(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_reopen(d, &(struct inf_queue_options){.workers = 2});
    d->then = close_and_invalidate_the_worker;
    add(d, "a");
    add(d, "b");
    assert_int_equal(inf_queue_add_after(d->queue, "c", 5), 0);
    assert_worked(d, "0:a ");
    sim_advance(&d->sim, 10);
    assert_worked(d, "");
}

static void finish_and_close(struct queue_fixture *d, const char *key)
{
    finish_key(d, key, INF_WORK_RETRY);
    queue_fixture_close(d);
}

static void a_worker_may_finish_its_key_and_close(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_and_close;
    add(d, "a");
    assert_worked(d, "0:a ");
}

static void close_when_drained(struct inf_worker *worker, struct inf_queue *queue)
{
    struct queue_fixture *d = container_of(worker, struct queue_fixture, worker);
    assert_ptr_equal(queue, d->queue);
    queue_fixture_close(d);
}

static void a_queue_may_be_closed_when_it_is_drained(void **state)
{
    struct queue_fixture *d = *state;
    d->worker.on_drained = close_when_drained;
    inf_queue_drain(d->queue);
    assert_worked(d, "");
    assert_null(d->queue);
}

static void closing_null_is_allowed(void **state)
{
    (void)state;
    inf_queue_close(NULL, NULL);
}

/* ---- many keys ---- */

enum {
    MANY = 5000,
};

static void add_many(struct queue_fixture *d, uint64_t delay_ms)
{
    char key[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "%s%d", delay_ms ? "later" : "now", i);
        assert_int_equal(inf_queue_add_after(d->queue, key, delay_ms), 0);
    }
}

/* The number of ticks until nothing is left to do; each tick must do little. */
static unsigned count_ticks(struct queue_fixture *d)
{
    unsigned n = 0;
    d->sim.budget = 1;
    while (sim_tick(&d->sim))
        n++;
    d->sim.budget = 0;
    return n;
}

static void many_keys_are_closed_in_slices(void **state)
{
    struct queue_fixture *d = *state;
    add_many(d, 10);
    add_many(d, 0);
    queue_fixture_close(d);
    sim_tick(&d->sim);
    sim_advance(&d->sim, 10); /* the delays end meanwhile */
    assert_worked(d, "");
    queue_fixture_reopen(d, NULL);
    add_many(d, 1000);
    queue_fixture_close(d);
    assert_in_range(count_ticks(d), 20, MANY);
}

static void many_delays_are_dropped_in_slices(void **state)
{
    struct queue_fixture *d = *state;
    struct inf_queue_stats stats;
    add_many(d, 10);
    assert_int_equal(inf_queue_add_after(d->queue, "now", 10), 0);
    add(d, "now");
    inf_queue_drain(d->queue);
    inf_queue_stats(d->queue, &stats);
    assert_int_equal(stats.delayed, 0);
    d->sim.budget = 1;
    sim_tick(&d->sim);
    d->sim.budget = 0;
    sim_advance(&d->sim, 10); /* some end without it */
    assert_worked(d, "0:now ");
    finish_key(d, "now", INF_WORK_OK);
    assert_worked(d, "10:drained ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(keys_are_handed_out_in_the_order_of_their_adds),
        QUEUE_TEST(nothing_is_handed_out_inside_a_call),
        QUEUE_TEST(a_waiting_key_is_queued_once),
        QUEUE_TEST(a_key_added_while_it_is_worked_on_gets_one_more_run),
        QUEUE_TEST(a_finished_key_can_be_added_again),
        QUEUE_TEST(a_key_that_was_added_again_goes_to_the_end_of_the_queue),
        QUEUE_TEST(no_more_keys_are_worked_on_than_there_are_workers),
        QUEUE_TEST(only_a_key_in_progress_can_be_finished),
        QUEUE_TEST(a_key_can_be_read_until_the_worker_returns),
        QUEUE_TEST(a_worker_may_add_its_own_key),
        QUEUE_TEST(a_key_that_adds_itself_takes_turns_with_the_loop),
        QUEUE_TEST(a_tick_hands_out_what_its_budget_allows),
        QUEUE_TEST(draining_ends_when_the_last_key_is_finished),
        QUEUE_TEST(draining_waits_for_a_key_that_was_added_while_in_progress),
        QUEUE_TEST(draining_drops_delays_and_retries),
        QUEUE_TEST(an_idle_queue_is_drained_at_once_and_only_once),
        QUEUE_TEST(on_drained_is_optional),
        QUEUE_TEST(closing_cancels_a_drain),
        QUEUE_TEST(many_keys_are_closed_in_slices),
        QUEUE_TEST(many_delays_are_dropped_in_slices),
        QUEUE_TEST(a_worker_may_close_its_queue),
        QUEUE_TEST(a_worker_may_finish_its_key_and_close),
        QUEUE_TEST(a_queue_may_be_closed_when_it_is_drained),
        cmocka_unit_test(closing_null_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
