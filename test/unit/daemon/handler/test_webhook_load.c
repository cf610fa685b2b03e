/*
 * test_webhook_load.c - webhooks with a rate, full queues and objects that fail for ever.
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
#include "webhook_world.h"

/* ---- rate, overflow and many failures ---- */

/* The server answers each request at once. Returns the number of requests in the next @ms. */
static int serve(struct webhook_world *t, uint64_t ms)
{
    int requests = 0;
    for (uint64_t i = 0; i <= ms; i++) {
        while (t->pipes.last && t->pipes.last->written.len) {
            webhook_world_respond(t, WEBHOOK_OK);
            requests++;
        }
        if (i < ms)
            sim_advance(&t->journal->sim, 1);
    }
    return requests;
}

static void a_rate_limits_the_requests(void **state)
{
    struct webhook_world *t = *state;
    t->settings.rate = 20 * 60;
    webhook_world_apply(t, 1);
    for (int i = 0; i < 100; i++)
        webhook_world_change(t, "web");
    assert_in_range(serve(t, 1000), 20, 23);
    assert_in_range(serve(t, 1000), 19, 21);
    assert_in_range(serve(t, 2000), 39, 41);
}

/* 10,000 changes of ten objects into a handler of 20 a second, and what is delivered in the end. */
static struct handler_status overflow(struct webhook_world *t, enum handler_overflow policy)
{
    char name[16];
    t->settings.rate = 20 * 60;
    t->settings.queue_bytes = 64 * 1024;
    t->settings.overflow = policy;
    webhook_world_apply(t, 1);
    for (int i = 0; i < 10000; i++) {
        snprintf(name, sizeof(name), "web-%d", i % 10);
        webhook_world_change(t, name);
        if (policy == HANDLER_WAIT)
            while (t->journal->pods.held) /* as the watch: no change meanwhile */
                serve(t, 50);
    }
    while (webhook_world_status(t).length)
        serve(t, 50);
    return webhook_world_status(t);
}

static void ten_thousand_changes_with_a_gap(void **state)
{
    struct handler_status s = overflow(*state, HANDLER_GAP);
    assert_int_equal(s.counters.runs + s.counters.skipped, 10000);
    assert_true(s.counters.gaps > 0 && s.counters.runs < 1000);
}

static void ten_thousand_changes_coalesced(void **state)
{
    struct handler_status s = overflow(*state, HANDLER_COALESCE);
    assert_int_equal(s.counters.runs + s.counters.coalesced, 10000);
    assert_int_equal(s.counters.skipped, 0);
}

static void ten_thousand_changes_that_wait(void **state)
{
    struct handler_status s = overflow(*state, HANDLER_WAIT);
    assert_int_equal(s.counters.runs, 10000);
    assert_int_equal(s.counters.skipped + s.counters.coalesced, 0);
}

static void a_thousand_failing_objects_do_not_delay_a_healthy_one(void **state)
{
    struct webhook_world *t = *state;
    char name[16];
    size_t failed = 0;
    t->settings.queue_bytes = 16 * 1024 * 1024;
    t->settings.backoff_max_ms = 300 * 1000;
    webhook_world_apply(t, 1);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "bad-%d", i);
        webhook_world_change(t, name);
    }
    for (int round = 0; round < 200; round++) {
        webhook_world_change(t, "good");
        for (bool delivered = false; !delivered;) {
            char *text;
            assert_true(t->pipes.last->written.len > 0);
            text = webhook_world_request(t);
            delivered = strstr(text, "\"name\":\"good\"");
            webhook_world_respond(t, delivered ? WEBHOOK_OK : WEBHOOK_ERROR("503", ""));
            failed += !delivered;
            free(text);
        }
        sim_advance(&t->journal->sim, 1000);
    }
    /* each object is repeated after 1, 2, 4 ... 256, 300 s: about 8 times in 200 s */
    assert_in_range(failed, 7000, 10000);
    assert_int_equal(webhook_world_status(t).length, 1000);
    assert_int_equal(webhook_world_status(t).counters.parked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WEBHOOK_WORLD(a_rate_limits_the_requests),
        IN_WEBHOOK_WORLD(ten_thousand_changes_with_a_gap),
        IN_WEBHOOK_WORLD(ten_thousand_changes_coalesced),
        IN_WEBHOOK_WORLD(ten_thousand_changes_that_wait),
        IN_WEBHOOK_WORLD(a_thousand_failing_objects_do_not_delay_a_healthy_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
