/*
 * test_state_consumer.c - durable consumers: records over crashes, until they are done.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "informer/consumer.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/rng.h"
#include "state_world.h"

struct world {
    struct state_world *state;
    struct inf_consumer *consumer;
    struct inf_consumer_record record; /* the last one */
};

static int set_up(void **state)
{
    struct world *t = NEW(struct world);
    if (state_world_setup_small((void **)&t->state) < 0)
        return -1;
    t->consumer = inf_consumer_open(t->state->state, "c", NULL, NULL);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct world *t = *state;
    int rc;
    inf_consumer_close(t->consumer);
    rc = state_world_teardown((void **)&t->state);
    free(t);
    return rc;
}

static void add(struct world *t, const char *text)
{
    assert_int_equal(inf_consumer_add(t->consumer, text, strlen(text)), 0);
}

static void crash(struct world *t, struct rng *rng)
{
    inf_consumer_close(t->consumer);
    state_world_crash(t->state, rng);
    t->consumer = inf_consumer_open(t->state->state, "c", NULL, NULL);
}

/* Hands out the next record, which is @text; NULL: there is none. */
static uint64_t next(struct world *t, const char *text)
{
    bool found = inf_consumer_next(t->consumer, &t->record);
    assert_int_equal(found, text != NULL);
    if (text) {
        assert_int_equal(t->record.len, strlen(text));
        assert_memory_equal(t->record.bytes, text, t->record.len);
    }
    return t->record.id;
}

static void a_record_is_handed_out_when_its_batch_is_written(void **state)
{
    struct world *t = *state;
    add(t, "a");
    next(t, NULL);
    state_world_flush(t->state);
    next(t, "a");
    assert_false(t->record.repeated);
    next(t, NULL);
    assert_int_equal(inf_consumer_length(t->consumer), 1);
}

static void records_are_handed_out_again_after_a_crash_until_they_are_done(void **state)
{
    struct world *t = *state;
    uint64_t id;
    add(t, "a");
    add(t, "b");
    add(t, "c");
    state_world_flush(t->state);
    next(t, "a");
    id = next(t, "b");
    assert_int_equal(inf_consumer_done(t->consumer, id), 0);
    assert_int_equal(inf_consumer_done(t->consumer, id), -INF_ENOTFOUND);
    add(t, "lost"); /* in a batch that is never written */
    inf_state_flush(t->state->state);
    sim_run(&t->state->sim);
    add(t, "never");
    crash(t, NULL);
    next(t, "a");
    assert_true(t->record.repeated);
    next(t, "c");
    next(t, "lost");
    next(t, NULL);
    add(t, "d");
    state_world_flush(t->state);
    assert_true(next(t, "d") > id);
    assert_false(t->record.repeated);
}

static void ids_grow_although_all_records_are_done(void **state)
{
    struct world *t = *state;
    uint64_t last = 0;
    for (int i = 0; i < 5; i++) {
        add(t, "a");
        add(t, "b");
        state_world_flush(t->state);
        assert_true(next(t, "a") > last);
        assert_int_equal(inf_consumer_done(t->consumer, t->record.id), 0);
        last = next(t, "b");
        assert_int_equal(inf_consumer_done(t->consumer, last), 0);
        state_world_flush(t->state);
        crash(t, NULL);
        assert_int_equal(inf_consumer_length(t->consumer), 0);
    }
}

static void a_returned_record_is_handed_out_again(void **state)
{
    struct world *t = *state;
    uint64_t id;
    add(t, "a");
    add(t, "b");
    state_world_flush(t->state);
    id = next(t, "a");
    assert_int_equal(inf_consumer_return(t->consumer, id), 0);
    assert_int_equal(inf_consumer_return(t->consumer, id), -INF_ENOTFOUND);
    assert_int_equal(inf_consumer_return(t->consumer, 99), -INF_ENOTFOUND);
    next(t, "a");
    assert_true(t->record.repeated);
    next(t, "b");
}

static void the_limit_refuses_a_record(void **state)
{
    struct world *t = *state;
    struct inf_consumer_options options = {.bytes_max = 5};
    struct inf_consumer *c = inf_consumer_open(t->state->state, "small", &options, NULL);
    assert_int_equal(inf_consumer_add(c, "abc", 3), 0);
    assert_int_equal(inf_consumer_add(c, "abc", 3), -INF_ETOOBIG);
    assert_int_equal(inf_consumer_add(c, "ab", 2), 0);
    assert_int_equal(inf_consumer_length(c), 2);
    inf_consumer_close(c);
}

static void wrong_options_are_refused(void **state)
{
    struct world *t = *state;
    struct inf_consumer_options options = {.reserved = {&options}};
    struct inf_error err;
    char name[INF_STATE_ID_MAX + 2];
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_null(inf_consumer_open(t->state->state, "c2", &options, &err));
    assert_non_null(strstr(err.text, "reserved"));
    assert_null(inf_consumer_open(t->state->state, name, NULL, &err));
    assert_non_null(strstr(err.text, "longer than"));
}

static void a_log_of_another_format_ends_reading(void **state)
{
    static const char *const logs[] = {"R 1 1\naX", "R 1 1\naR 2 9\nb", "R 1 1\naD x\n",
                                       "R 1 1\naR 99999999999999999999 1\nb"};
    struct world *t = *state;
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        struct inf_state_queue *queue = inf_state_queue(t->state->state, "c");
        inf_state_queue_drop(queue);
        queue = inf_state_queue(t->state->state, "c");
        inf_state_queue_add(queue, logs[i], strlen(logs[i]));
        state_world_flush(t->state);
        crash(t, NULL);
        next(t, "a");
        next(t, NULL);
    }
}

static void records_are_saved_again_in_a_state_that_was_emptied(void **state)
{
    struct world *t = *state;
    struct inf_state_queue *queue = inf_state_queue(t->state->state, "c");
    add(t, "a");
    state_world_flush(t->state);
    inf_state_queue_confirm(queue, inf_state_queue_end(queue));
    inf_consumer_save(t->consumer);
    state_world_flush(t->state);
    crash(t, NULL);
    next(t, "a");
}

/* Random work and crashes: every record that was handed out as saved is done once, or handed out again. */
static void no_record_is_lost_over_random_crashes(void **state)
{
    struct world *t = *state;
    struct rng rng = {20};
    uint64_t added = 0, done = 0, expected = 0;
    char big[700];
    memset(big, 'x', sizeof(big));
    for (int i = 0; i < 3000; i++) {
        uint64_t what = rng_below(&rng, 10);
        if (what < 4) {
            assert_int_equal(inf_consumer_add(t->consumer, big, rng_below(&rng, sizeof(big))), 0);
            added++;
        } else if (what < 7 && inf_consumer_next(t->consumer, &t->record)) {
            assert_true(t->record.id > 0);
            if (rng_below(&rng, 8)) {
                inf_consumer_done(t->consumer, t->record.id);
                done++;
            }
        } else if (what == 9 && rng_below(&rng, 10) == 0) {
            state_world_flush(t->state);
            expected = inf_consumer_length(t->consumer);
            crash(t, NULL);
            assert_int_equal(inf_consumer_length(t->consumer), expected);
        } else {
            state_world_flush(t->state);
        }
    }
    assert_int_equal(inf_consumer_length(t->consumer), added - done);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_record_is_handed_out_when_its_batch_is_written),
        CASE(records_are_handed_out_again_after_a_crash_until_they_are_done),
        CASE(ids_grow_although_all_records_are_done),
        CASE(a_returned_record_is_handed_out_again),
        CASE(the_limit_refuses_a_record),
        CASE(wrong_options_are_refused),
        CASE(a_log_of_another_format_ends_reading),
        CASE(records_are_saved_again_in_a_state_that_was_emptied),
        CASE(no_record_is_lost_over_random_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
