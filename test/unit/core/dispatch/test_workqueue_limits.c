/*
 * test_workqueue_limits.c - delays, retries, limits and counters of a work queue.
 *
 * Numbers in comments are scenarios of semantics §8. FastSlow of 105 is not offered: there is
 * one limiter, with options.
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

static void add_after(struct queue_fixture *d, const char *key, uint64_t delay_ms)
{
    assert_int_equal(inf_queue_add_after(d->queue, key, delay_ms), 0);
}

static void add_rate_limited(struct queue_fixture *d, const char *key)
{
    assert_int_equal(inf_queue_add_rate_limited(d->queue, key), 0);
}

static struct inf_queue_stats stats(struct queue_fixture *d)
{
    struct inf_queue_stats s;
    inf_queue_stats(d->queue, &s);
    return s;
}

/* ---- delays ---- */

/* 104, TestSimpleQueue. */
static void a_delayed_key_is_handed_out_at_its_time(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    add_after(d, "a", 50);
    sim_advance(&d->sim, 49);
    assert_int_equal(inf_queue_length(d->queue), 0);
    assert_worked(d, "");
    sim_advance(&d->sim, 100);
    assert_worked(d, "50:a ");
}

static void a_delay_of_zero_is_an_add(void **state)
{
    struct queue_fixture *d = *state;
    add_after(d, "a", 0);
    assert_int_equal(inf_queue_length(d->queue), 1);
    assert_worked(d, "0:a ");
}

/* 104, TestDeduping; 131, scheduler_dedupe_should_keep_earlier_item and ..._replace_later_item. */
static void the_earliest_of_several_delays_counts(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    add_after(d, "a", 50);
    add_after(d, "a", 70);
    add_after(d, "b", 70);
    add_after(d, "b", 30);
    assert_int_equal(stats(d).delayed, 2);
    sim_advance(&d->sim, 1000);
    assert_worked(d, "30:b 50:a ");
    assert_int_equal(stats(d).delayed, 0);
}

/* 104, TestAddTwoFireEarly. */
static void the_key_due_first_is_handed_out_first(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    add_after(d, "a", 1000);
    add_after(d, "b", 50);
    sim_advance(&d->sim, 60);
    assert_worked(d, "50:b ");
    add_after(d, "c", 2000);
    sim_advance(&d->sim, 2000);
    assert_worked(d, "1000:a 2060:c ");
}

/* 104, TestCopyShifting. */
static void late_keys_are_handed_out_in_the_order_of_their_times(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    add_after(d, "c", 30);
    add_after(d, "b", 20);
    add_after(d, "a", 10);
    add_after(d, "d", 30);
    d->sim.now_ms = 100; /* the loop was blocked: all are late */
    assert_worked(d, "100:a 100:b 100:c 100:d ");
}

static void a_delay_that_ends_while_its_key_is_in_progress_causes_another_run(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    add_after(d, "a", 10);
    sim_advance(&d->sim, 20);
    assert_worked(d, "0:a ");
    finish_key(d, "a", INF_WORK_OK);
    assert_worked(d, "20:a ");
}

static void an_earlier_run_does_not_cancel_a_delay(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    add_after(d, "a", 10);
    add(d, "a");
    sim_advance(&d->sim, 20);
    assert_worked(d, "0:a 10:a ");
}

static void a_delay_that_ends_while_its_key_waits_causes_no_second_run(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    assert_worked(d, "0:a ");
    add(d, "b");
    add_after(d, "b", 10);
    sim_advance(&d->sim, 20);
    d->then = finish_key_ok;
    finish_key(d, "a", INF_WORK_OK);
    assert_worked(d, "20:b ");
}

static void the_longest_delay_does_not_overflow(void **state)
{
    struct queue_fixture *d = *state;
    sim_advance(&d->sim, 1000);
    add_after(d, "a", UINT64_MAX);
    add_after(d, "a", UINT64_MAX);
    sim_advance(&d->sim, 1000000);
    assert_worked(d, "");
}

/* ---- retries ---- */

/* 105, TestItemExponentialFailureRateLimiter. */
static void each_retry_of_a_key_waits_twice_as_long(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_retry;
    add(d, "a");
    sim_advance(&d->sim, 100);
    assert_worked(d, "0:a 5:a 15:a 35:a 75:a ");
    assert_int_equal(inf_queue_retries(d->queue, "a"), 5);
    d->then = finish_key_ok;
    sim_advance(&d->sim, 100);
    assert_worked(d, "155:a ");
    assert_int_equal(inf_queue_retries(d->queue, "a"), 0);
    add_rate_limited(d, "a");
    sim_advance(&d->sim, 100);
    assert_worked(d, "205:a ");
}

/* 105, the limit, and TestItemExponentialFailureRateLimiterOverFlow. */
static void no_retry_waits_longer_than_its_limit(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_reopen(d, &(struct inf_queue_options){.base_ms = 100, .max_ms = 300});
    d->then = finish_key_retry;
    add(d, "a");
    sim_advance(&d->sim, 1000);
    assert_worked(d, "0:a 100:a 300:a 600:a 900:a ");
    sim_advance(&d->sim, 60000);
    assert_int_equal(inf_queue_retries(d->queue, "a"), 205);
    assert_int_equal(stats(d).delayed, 1);
}

static void a_forgotten_key_has_no_retries(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    for (int i = 0; i < 4; i++)
        add_rate_limited(d, "a");
    assert_worked(d, "0:a ");
    assert_int_equal(inf_queue_retries(d->queue, "a"), 4);
    inf_queue_forget(d->queue, "a");
    inf_queue_forget(d->queue, "unknown");
    assert_int_equal(inf_queue_retries(d->queue, "a"), 0);
    assert_int_equal(inf_queue_retries(d->queue, "unknown"), 0);
}

/* 105, MaxOf: the longer of the two waits. */
static void all_keys_together_keep_the_rate(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_reopen(d, &(struct inf_queue_options){.retries_per_sec = 10, .burst = 2});
    d->then = finish_key_ok;
    add_rate_limited(d, "a");
    add_rate_limited(d, "b");
    add_rate_limited(d, "c");
    add_rate_limited(d, "d");
    sim_advance(&d->sim, 1000);
    assert_worked(d, "5:a 5:b 100:c 200:d ");
}

static void a_repeated_retry_of_a_key_takes_no_token(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_reopen(d, &(struct inf_queue_options){.retries_per_sec = 1, .burst = 2});
    d->then = finish_key_ok;
    for (int i = 0; i < 1000; i++)
        add_rate_limited(d, "eager");
    add_rate_limited(d, "calm");
    sim_advance(&d->sim, 1000);
    assert_worked(d, "5:eager 5:calm ");
}

static void a_retry_comes_before_a_longer_delay(void **state)
{
    struct queue_fixture *d = *state;
    d->then = finish_key_ok;
    add_after(d, "a", 500);
    add_rate_limited(d, "a");
    sim_advance(&d->sim, 1000);
    assert_worked(d, "5:a ");
}

/* A new event and a failure at the same time: the event is not delayed, and does not cancel the
 * retry. */
static void a_failed_key_that_was_added_meanwhile_is_not_delayed(void **state)
{
    struct queue_fixture *d = *state;
    add(d, "a");
    assert_worked(d, "0:a ");
    add(d, "a");
    finish_key(d, "a", INF_WORK_RETRY);
    d->then = finish_key_ok;
    sim_advance(&d->sim, 100);
    assert_worked(d, "0:a 5:a ");
}

/* ---- limits ---- */

static void keys_over_the_limit_are_refused_and_known_ones_are_not(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_reopen(d, &(struct inf_queue_options){.keys_max = 3});
    add(d, "a");
    assert_worked(d, "0:a ");
    add(d, "b");
    add_after(d, "c", 10);
    assert_int_equal(inf_queue_add(d->queue, "d"), -INF_ETOOBIG);
    assert_int_equal(inf_queue_add_after(d->queue, "d", 10), -INF_ETOOBIG);
    assert_int_equal(inf_queue_add_rate_limited(d->queue, "d"), -INF_ETOOBIG);
    add(d, "a");
    add(d, "c");
    assert_int_equal(stats(d).refused, 3);
    d->then = finish_key_ok;
    finish_key(d, "a", INF_WORK_RETRY);
    assert_worked(d, "0:b 0:c 0:a ");
    add(d, "d"); /* b was removed; a and c are still delayed */
    assert_worked(d, "0:d ");
}

static void the_length_of_a_key_is_limited(void **state)
{
    struct queue_fixture *d = *state;
    char key[INF_QUEUE_KEY_MAX + 1];
    memset(key, 'a', sizeof(key));
    key[INF_QUEUE_KEY_MAX] = '\0';
    assert_int_equal(inf_queue_add(d->queue, key), -INF_ETOOBIG);
    key[INF_QUEUE_KEY_MAX - 1] = '\0';
    add(d, key);
    add(d, ""); /* and no minimum */
}

static void a_hundred_thousand_keys_cost_no_more_each_than_ten(void **state)
{
    struct queue_fixture *d = *state;
    char key[32];
    for (int i = 0; i < 100000; i++) {
        snprintf(key, sizeof(key), "ns/pod-%d", i);
        add_after(d, key, (uint64_t)(i * 7919 % 1000 + 1));
    }
    d->then = finish_key_ok;
    sim_advance(&d->sim, 1000);
    assert_int_equal(stats(d).done, 100000);
    assert_int_equal(stats(d).delayed, 0);
}

/* ---- numbers ---- */

/* 106, TestMetrics. */
static void the_counters_match_the_operations(void **state)
{
    struct queue_fixture *d = *state;
    queue_fixture_reopen(d, &(struct inf_queue_options){.workers = 2});
    add(d, "a");
    add(d, "b");
    add(d, "c");
    add(d, "c");
    sim_advance(&d->sim, 50); /* a and b are in progress, c waits */
    assert_int_equal(stats(d).adds, 3);
    assert_int_equal(stats(d).collapsed, 1);
    assert_int_equal(stats(d).depth, 1);
    assert_int_equal(stats(d).working, 2);
    assert_int_equal(stats(d).oldest_queued_ms, 50);
    assert_int_equal(stats(d).longest_worked_ms, 50);
    assert_int_equal(stats(d).unfinished_ms, 100);
    finish_key(d, "a", INF_WORK_RETRY);
    sim_advance(&d->sim, 1); /* c is in progress; a is delayed */
    assert_int_equal(stats(d).retries, 1);
    assert_int_equal(stats(d).delayed, 1);
    assert_int_equal(stats(d).queued_ms, 50);
    assert_int_equal(stats(d).unfinished_ms, 51 + 1);
    finish_key(d, "b", INF_WORK_OK);
    assert_int_equal(stats(d).longest_worked_ms, 1);
    finish_key(d, "c", INF_WORK_OK);
    assert_int_equal(stats(d).done, 3);
    assert_int_equal(stats(d).worked_ms, 50 + 51 + 1);
    assert_int_equal(stats(d).unfinished_ms + stats(d).longest_worked_ms, 0);
    assert_int_equal(stats(d).oldest_queued_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(a_delayed_key_is_handed_out_at_its_time),
        QUEUE_TEST(a_delay_of_zero_is_an_add),
        QUEUE_TEST(the_earliest_of_several_delays_counts),
        QUEUE_TEST(the_key_due_first_is_handed_out_first),
        QUEUE_TEST(late_keys_are_handed_out_in_the_order_of_their_times),
        QUEUE_TEST(a_delay_that_ends_while_its_key_is_in_progress_causes_another_run),
        QUEUE_TEST(an_earlier_run_does_not_cancel_a_delay),
        QUEUE_TEST(a_delay_that_ends_while_its_key_waits_causes_no_second_run),
        QUEUE_TEST(the_longest_delay_does_not_overflow),
        QUEUE_TEST(each_retry_of_a_key_waits_twice_as_long),
        QUEUE_TEST(no_retry_waits_longer_than_its_limit),
        QUEUE_TEST(a_forgotten_key_has_no_retries),
        QUEUE_TEST(all_keys_together_keep_the_rate),
        QUEUE_TEST(a_repeated_retry_of_a_key_takes_no_token),
        QUEUE_TEST(a_retry_comes_before_a_longer_delay),
        QUEUE_TEST(a_failed_key_that_was_added_meanwhile_is_not_delayed),
        QUEUE_TEST(keys_over_the_limit_are_refused_and_known_ones_are_not),
        QUEUE_TEST(the_length_of_a_key_is_limited),
        QUEUE_TEST(a_hundred_thousand_keys_cost_no_more_each_than_ten),
        QUEUE_TEST(the_counters_match_the_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
