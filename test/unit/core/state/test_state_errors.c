/* cmocka wants these four first */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "state_world.h"

static void assert_suspended(struct state_world *w, const char *why)
{
    struct inf_state_info info;
    inf_state_info(w->state, &info);
    assert_true(info.suspended);
    assert_false(inf_state_is_active(w->state));
    assert_string_equal(info.reason, why);
    assert_string_equal(w->why, why);
}

/* Notes are ignored, flushes are reported at once; then the disk works again, and everything is noted
 * again. */
static void assert_returns(struct state_world *w, struct inf_state_stream *pods)
{
    struct inf_state_info info;
    state_world_put(pods, "shop/a", 5);
    inf_state_position(pods, "5");
    state_world_flush(w);
    assert_int_equal(inf_state_stream_count(pods), 0);
    sim_advance(&w->sim, 10 * 60 * 1000);
    assert_int_equal(w->returns, 1);
    inf_state_info(w->state, &info);
    assert_false(info.suspended);
    assert_null(info.reason);
    assert_int_equal(info.objects, 0);
    assert_string_equal(inf_state_stream_version(pods), "");
    state_world_put(pods, "shop/b", 6);
    state_world_flush(w);
    state_world_put(pods, "shop/c", 7);
    inf_state_position(pods, "7");
    state_world_flush(w);
    state_world_crash(w, NULL);
    assert_state(w, "log[4..4]: \"\"\npods@7: shop/b=6 shop/c=7\n");
}

static struct inf_state_stream *write_something(struct state_world *w)
{
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    state_world_put(pods, "shop/x", 1);
    inf_state_position(pods, "1");
    state_world_add(inf_state_queue(w->state, "log"), "line");
    state_world_flush(w);
    return pods;
}

static void a_full_disk_suspends_the_state(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = write_something(w);
    w->disk->space = 100;
    state_world_put(pods, "shop/a", 2);
    state_world_flush(w);
    assert_suspended(w, "write: No space left on device");
    sim_advance(&w->sim, 60 * 1000);
    assert_int_equal(w->returns, 0); /* the probe fails, too */
    assert_int_equal(w->suspensions, 1);
    w->disk->space = UINT64_MAX;
    assert_returns(w, pods);
}

static void an_io_error_suspends_the_state(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = write_something(w);
    w->disk->fail[MEMORY_WRITE] = -EIO;
    state_world_put(pods, "shop/a", 2);
    state_world_flush(w);
    assert_suspended(w, "write: Input/output error");
    w->disk->fail[MEMORY_WRITE] = 0;
    assert_returns(w, pods);
}

static void a_failed_sync_suspends_the_state(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = write_something(w);
    w->disk->fail[MEMORY_SYNC] = -EIO;
    sim_advance(&w->sim, 1500);
    assert_suspended(w, "sync: Input/output error");
    w->disk->fail[MEMORY_SYNC] = 0;
    assert_returns(w, pods);
}

static void a_write_that_hangs_suspends_the_state(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = write_something(w);
    w->disk->stuck = true;
    state_world_put(pods, "shop/a", 2);
    inf_state_flush(w->state);
    sim_advance(&w->sim, 1900);
    assert_int_equal(w->suspensions, 0);
    sim_advance(&w->sim, 200);
    assert_suspended(w, "the disk has not completed an operation for 2000 ms");
    assert_int_equal(w->flushed, 2);
    state_world_flush(w);
    sim_advance(&w->sim, 10 * 60 * 1000);
    assert_int_equal(w->returns, 0);
    w->disk->stuck = false;
    assert_returns(w, pods);
}

/* A crash while objects are noted again: the stream is not complete, and counts as absent. */
/* covers: crash/rebuilding */
static void a_stream_that_is_not_complete_again_is_absent(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = write_something(w);
    w->disk->fail[MEMORY_WRITE] = -EIO;
    state_world_put(pods, "shop/a", 2);
    state_world_flush(w);
    w->disk->fail[MEMORY_WRITE] = 0;
    sim_advance(&w->sim, 60 * 1000);
    state_world_put(pods, "shop/a", 2);
    state_world_put(inf_state_stream(w->state, "nodes"), "shop/n", 3); /* a new one is complete */
    state_world_flush(w);
    state_world_crash(w, NULL);
    assert_state(w, "log[4..4]: \"\"\nnodes: shop/n=3\n");
    buf_putc(&w->log, '\0');
    assert_non_null(strstr(w->log.bytes, "discarded stream 'pods'"));
}

static void a_directory_that_cannot_be_made_suspends_the_state(void **state)
{
    struct state_world *w = *state;
    state_world_close(w);
    w->disk->fail[MEMORY_MAKE_DIR] = -EACCES;
    state_world_open(w);
    assert_suspended(w, "create directory: Permission denied");
    inf_state_queue_add(inf_state_queue(w->state, "log"), "line", 4);
    w->disk->fail[MEMORY_MAKE_DIR] = 0;
    assert_returns(w, inf_state_stream(w->state, "pods"));
}

static void an_error_while_loading_suspends_the_state(void **state)
{
    struct state_world *w = *state;
    static const enum memory_call calls[] = {MEMORY_LIST, MEMORY_OPEN, MEMORY_STAT, MEMORY_READ};
    write_something(w);
    state_world_close(w);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        w->disk->fail[calls[i]] = -EIO;
        state_world_open(w);
        assert_non_null(strstr(w->why, ": Input/output error"));
        assert_int_equal(w->suspensions, i + 1);
        assert_state(w, "");
        w->disk->fail[calls[i]] = 0;
        state_world_close(w);
    }
    state_world_open(w); /* the files were not touched */
    assert_state(w, "log[0..4]: \"line\"\npods@1: shop/x=1\n");
}

static void a_read_that_hangs_does_not_delay_the_start_for_ever(void **state)
{
    struct state_world *w = *state;
    write_something(w);
    state_world_close(w);
    w->disk->stuck_call = MEMORY_READ;
    state_world_start(w);
    sim_advance(&w->sim, 11 * 1000);
    assert_int_equal(w->loaded, 2);
    assert_suspended(w, "read: Connection timed out");
    w->disk->stuck_call = MEMORY_CALLS;
    inf_state_queue_add(inf_state_queue(w->state, "log"), "line", 4);
    assert_returns(w, inf_state_stream(w->state, "pods"));
}

/* The pool still uses the memory of the loader. */
static void a_read_that_hangs_ends_a_read_only_start(void **state)
{
    struct state_world *w = *state;
    struct inf_state_info info;
    write_something(w);
    state_world_close(w);
    w->settings.read_only = true;
    w->disk->stuck_call = MEMORY_READ;
    state_world_start(w);
    sim_advance(&w->sim, 11 * 1000);
    assert_int_equal(w->loaded, 2);
    inf_state_info(w->state, &info);
    assert_string_equal(info.reason, "read: Connection timed out");
    w->disk->stuck_call = MEMORY_CALLS;
    sim_run(&w->sim);
    assert_state(w, "");
}

static void objects_that_were_loaded_can_be_taken_while_suspended(void **state)
{
    struct state_world *w = *state;
    write_something(w);
    state_world_crash(w, NULL);
    w->disk->fail[MEMORY_WRITE] = -EIO;
    state_world_put(inf_state_stream(w->state, "nodes"), "shop/n", 1);
    inf_state_flush(w->state);
    sim_run(&w->sim);
    assert_suspended(w, "write: Input/output error");
    assert_state(w, "log[0..4]: \"line\"\nnodes:\npods@1: shop/x=1\n");
    w->disk->fail[MEMORY_WRITE] = 0;
}

static void close_does_not_wait_for_a_disk_that_hangs(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = write_something(w);
    w->disk->stuck = true;
    state_world_put(pods, "shop/a", 2);
    state_world_close(w); /* asserts that it ends */
    w->disk->stuck = false;
    sim_run(&w->sim);
    state_world_open(w);
}

static void close_while_loading(void **state)
{
    struct state_world *w = *state;
    write_something(w);
    for (unsigned ticks = 0; ticks < 30; ticks++) {
        state_world_close(w);
        state_world_start(w);
        for (unsigned n = 0; n < ticks; n++)
            sim_tick(&w->sim);
    }
    sim_run(&w->sim);
    assert_state(w, "log[0..4]: \"line\"\npods@1: shop/x=1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_disk_suspends_the_state, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(an_io_error_suspends_the_state, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(a_failed_sync_suspends_the_state, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(a_write_that_hangs_suspends_the_state, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_is_not_complete_again_is_absent,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_directory_that_cannot_be_made_suspends_the_state,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(an_error_while_loading_suspends_the_state,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_read_that_hangs_does_not_delay_the_start_for_ever,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_read_that_hangs_ends_a_read_only_start, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(objects_that_were_loaded_can_be_taken_while_suspended,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(close_does_not_wait_for_a_disk_that_hangs,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(close_while_loading, state_world_setup,
                                        state_world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
