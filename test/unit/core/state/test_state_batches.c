/* cmocka wants these four first */
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

static void objects_and_positions_survive_a_crash(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    struct inf_state_stream *nodes = inf_state_stream(w->state, "nodes");
    assert_true(inf_state_is_active(w->state));
    assert_false(inf_state_stream_is_restored(pods));
    state_world_put(pods, "shop/a", 5);
    state_world_put(pods, "shop/b", 6);
    state_world_put(nodes, "shop/a", 7);
    inf_state_position(pods, "5");
    inf_state_position(pods, "6");
    state_world_flush(w);
    state_world_put(pods, "shop/b", 8);
    state_world_delete(pods, "shop/a");
    state_world_delete(pods, "shop/unknown");
    inf_state_position(pods, "8");
    state_world_flush(w);
    state_world_crash(w, NULL);
    pods = inf_state_stream(w->state, "pods");
    assert_true(inf_state_stream_is_restored(pods));
    assert_int_equal(inf_state_stream_written_us(pods), SIM_START_US);
    assert_state(w, "nodes: shop/a=7\npods@8: shop/b=8\n");
    assert_false(inf_state_stream_is_restored(pods));
}

/* covers: crash/batch-collected */
static void what_was_not_flushed_is_lost(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    state_world_put(pods, "shop/a", 5);
    state_world_flush(w);
    state_world_put(pods, "shop/a", 6);
    inf_state_position(pods, "6");
    sim_advance(&w->sim, 5000);
    state_world_crash(w, NULL);
    assert_state(w, "pods: shop/a=5\n");
}

static void close_writes_what_was_noted(void **state)
{
    struct state_world *w = *state;
    state_world_put(inf_state_stream(w->state, "pods"), "shop/a", 5);
    state_world_close(w);
    state_world_open(w);
    assert_state(w, "pods: shop/a=5\n");
}

/* Only one write is in flight; what is noted meanwhile is written with the next one. */
static void batches_wait_for_the_write_in_flight(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    uint64_t number;
    state_world_put(pods, "shop/a", 1);
    state_world_flush(w);
    w->disk->stuck_call = MEMORY_WRITE;
    w->disk->calls[MEMORY_WRITE] = 0;
    for (unsigned n = 2; n < 10; n++) {
        state_world_put(pods, "shop/a", n);
        inf_state_flush(w->state);
        sim_run(&w->sim);
    }
    assert_int_equal(w->disk->calls[MEMORY_WRITE], 1);
    assert_int_equal(w->flushed, 1);
    state_world_put(pods, "shop/a", 100); /* not flushed */
    w->disk->stuck_call = MEMORY_CALLS;
    sim_run(&w->sim);
    assert_int_equal(w->disk->calls[MEMORY_WRITE], 2);
    number = w->flushed;
    assert_int_equal(number, 9);
    state_world_crash(w, NULL);
    assert_state(w, "pods: shop/a=9\n");
}

static void a_flush_without_notes_is_reported(void **state)
{
    struct state_world *w = *state;
    state_world_flush(w);
    state_world_flush(w);
    assert_int_equal(w->disk->calls[MEMORY_WRITE], 0);
    w->disk->stuck_call = MEMORY_WRITE;
    state_world_put(inf_state_stream(w->state, "pods"), "shop/a", 1);
    inf_state_flush(w->state);
    inf_state_flush(w->state);
    sim_run(&w->sim);
    assert_int_equal(w->flushed, 2);
    w->disk->stuck_call = MEMORY_CALLS;
    sim_run(&w->sim);
    assert_int_equal(w->flushed, 4);
}

static void files_are_synced_once_a_second(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    state_world_put(pods, "shop/a", 1);
    state_world_flush(w);
    w->disk->calls[MEMORY_SYNC] = 0;
    for (unsigned n = 0; n < 30; n++) {
        state_world_put(pods, "shop/a", n);
        state_world_flush(w);
        sim_advance(&w->sim, 100);
    }
    assert_in_range(w->disk->calls[MEMORY_SYNC], 2, 3);
    sim_advance(&w->sim, 60 * 1000);
    assert_in_range(w->disk->calls[MEMORY_SYNC], 3, 4);
}

static void streams_can_be_renamed_and_dropped(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    struct inf_state_info info;
    state_world_put(pods, "shop/a", 5);
    inf_state_position(pods, "5");
    state_world_put(inf_state_stream(w->state, "nodes"), "shop/n", 6);
    state_world_flush(w);
    inf_state_stream_rename(pods, "prod/pods");
    inf_state_stream_drop(inf_state_stream(w->state, "nodes"));
    state_world_flush(w);
    inf_state_info(w->state, &info);
    assert_int_equal(info.objects, 1);
    assert_int_equal(info.streams, 1);
    state_world_crash(w, NULL);
    assert_state(w, "prod/pods@5: shop/a=5\n");
    inf_state_stream_drop(inf_state_stream(w->state, "prod/pods"));
    state_world_flush(w);
    state_world_crash(w, NULL);
    assert_state(w, "");
}

static void queues_keep_what_was_not_confirmed(void **state)
{
    struct state_world *w = *state;
    struct inf_state_queue *log = inf_state_queue(w->state, "log");
    const char *bytes;
    uint64_t end;
    size_t len;
    state_world_add(log, "one ");
    state_world_add(log, "two ");
    state_world_flush(w);
    assert_false(inf_state_queue_pending(log, &bytes, &len, &end));
    inf_state_queue_confirm(log, 4);
    state_world_add(log, "three ");
    state_world_flush(w);
    state_world_add(log, "lost");
    state_world_crash(w, NULL);
    assert_state(w, "log[4..14]: \"two three \"\n");
    log = inf_state_queue(w->state, "log");
    assert_int_equal(inf_state_queue_end(log), 14);
    inf_state_queue_confirm(log, 6); /* partial: what is pending stays the same */
    assert_true(inf_state_queue_pending(log, &bytes, &len, &end));
    assert_int_equal(len, 10);
    state_world_add(log, "four ");
    inf_state_queue_confirm(log, 14);
    assert_false(inf_state_queue_pending(log, &bytes, &len, &end));
    state_world_flush(w);
    state_world_crash(w, NULL);
    assert_state(w, "log[14..19]: \"four \"\n");
    inf_state_queue_drop(inf_state_queue(w->state, "log"));
    state_world_flush(w);
    state_world_crash(w, NULL);
    assert_state(w, "");
}

/* A confirmation takes effect with its batch, not before. */
/* covers: crash/confirmed */
static void a_confirmation_that_was_not_flushed_is_lost(void **state)
{
    struct state_world *w = *state;
    struct inf_state_queue *log = inf_state_queue(w->state, "log");
    state_world_add(log, "one ");
    state_world_flush(w);
    inf_state_queue_confirm(log, 4);
    sim_advance(&w->sim, 3000);
    state_world_crash(w, NULL);
    assert_state(w, "log[0..4]: \"one \"\n");
}

/* Each file begins with what its records need. */
static void segments_are_filled_one_after_the_other(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods;
    struct inf_state_info info;
    state_world_close(w);
    w->settings.segment_bytes = 64 * 1024;
    state_world_open(w);
    pods = inf_state_stream(w->state, "pods");
    state_world_add(inf_state_queue(w->state, "log"), "line");
    for (unsigned n = 0; n < 300; n++) {
        char key[32];
        snprintf(key, sizeof(key), "shop/pod-%u", n);
        state_world_put_large(pods, key, n, 500);
        inf_state_position(pods, key);
        state_world_flush(w);
    }
    inf_state_info(w->state, &info);
    assert_true(info.segments >= 2);
    assert_int_equal(info.disk_bytes, memory_disk_size(w->disk));
    assert_true(info.live_bytes > 300 * 500 && info.live_bytes < info.disk_bytes);
    assert_int_equal(info.objects, 300);
    state_world_crash(w, NULL);
    inf_state_info(w->state, &info);
    assert_int_equal(info.disk_bytes, memory_disk_size(w->disk));
    pods = inf_state_stream(w->state, "pods");
    assert_string_equal(inf_state_stream_version(pods), "shop/pod-299");
    assert_int_equal(inf_state_stream_count(pods), 300);
    inf_state_stream_drop(pods);
    assert_state(w, "log[0..4]: \"line\"\n");
}

/* A stream whose texts are alike gets a dictionary, in a file of its own. */
static void packed_objects_are_read_with_their_dictionary(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    struct inf_state_info info;
    uint64_t before;
    char *shown, *again;
    for (unsigned n = 0; n < 300; n++) {
        char key[32];
        snprintf(key, sizeof(key), "shop/pod-%u", n);
        state_world_put_large(pods, key, n, 7000);
    }
    state_world_flush(w);
    assert_true(memory_disk_has(w->disk, "00000001.dict"));
    inf_state_info(w->state, &info);
    before = info.written_bytes;
    state_world_put_large(pods, "shop/pod-7", 1000, 7000);
    state_world_flush(w);
    inf_state_info(w->state, &info);
    assert_true(info.written_bytes - before < 1200);
    state_world_crash(w, NULL);
    pods = inf_state_stream(w->state, "pods");
    assert_non_null(state_stream_dictionary(pods));
    assert_int_equal(inf_state_stream_count(pods), 300);
    shown = state_world_show(w);
    state_world_put(pods, "shop/pod-299", 299);
    state_world_put_large(pods, "shop/pod-299", 299, 7000);
    state_world_flush(w);
    state_world_crash(w, NULL);
    again = state_world_show(w);
    assert_string_equal(shown, again);
    free(shown);
    free(again);
    w->settings.epoch = NULL;
    memory_disk_remove(w->disk, "00000001.dict");
    state_world_close(w);
    state_world_open(w);
    assert_state(w, "");
    inf_state_info(w->state, &info);
    assert_non_null(strstr(info.reason, "a dictionary is missing"));
}

static void loading_is_sliced(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    uint64_t ticks;
    for (unsigned n = 0; n < 2000; n++) {
        char key[32];
        snprintf(key, sizeof(key), "shop/pod-%u", n);
        state_world_put(pods, key, n);
    }
    state_world_flush(w);
    state_world_close(w);
    w->sim.budget = 1;
    w->disk->read_max = 1000;
    ticks = w->sim.ticks;
    state_world_open(w);
    assert_true(w->sim.ticks - ticks > 100);
    assert_int_equal(inf_state_stream_count(inf_state_stream(w->state, "pods")), 2000);
    w->sim.budget = 0;
}

/* A process that does not watch something any more drops its objects without taking them. */
static void loaded_objects_of_a_dropped_stream_are_freed_in_slices(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    unsigned ticks = 0;
    for (unsigned n = 0; n < 500; n++) {
        char key[32];
        snprintf(key, sizeof(key), "shop/%u", n);
        state_world_put(pods, key, n + 1);
    }
    state_world_flush(w);
    state_world_crash(w, NULL);
    pods = inf_state_stream(w->state, "pods");
    assert_int_equal(inf_state_stream_count(pods), 500);
    inf_state_stream_drop(pods);
    w->sim.budget = 1;
    for (; clock_has_work(&w->sim.clock); ticks++)
        sim_tick(&w->sim);
    w->sim.budget = 0;
    assert_true(ticks >= 500 / 64);
    state_world_flush(w);
    state_world_crash(w, NULL);
    assert_state(w, "");
}

static void a_read_only_state_writes_nothing(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    struct buf *file;
    state_world_put(pods, "shop/a", 5);
    state_world_flush(w);
    state_world_close(w);
    file = memory_disk_file(w->disk, "00000001.seg");
    buf_puts(file, "torn");
    w->settings.read_only = true;
    w->disk->fail[MEMORY_WRITE] = w->disk->fail[MEMORY_MAKE_DIR] = -30;
    w->disk->fail[MEMORY_TRUNCATE] = w->disk->fail[MEMORY_REMOVE] = -30;
    state_world_open(w);
    assert_false(inf_state_is_active(w->state));
    pods = inf_state_stream(w->state, "pods");
    state_world_put(pods, "shop/b", 6);
    state_world_flush(w);
    assert_state(w, "pods: shop/a=5\n");
    file->bytes[40] ^= 1;
    state_world_close(w);
    state_world_open(w);
    assert_state(w, "");
    assert_int_equal(w->suspensions, 0);
}

static void invalid_settings_are_refused(void **state)
{
    struct state_world *w = *state;
    struct siphash_key key = {1, 2};
    struct inf_state_settings settings = {.dir = ""};
    struct inf_error err;
    assert_null(state_new(&w->disk->disk, &w->sim.clock, &key, &settings, NULL, NULL, &err));
    assert_int_equal(err.code, INF_EINVAL);
    settings.dir = "x";
    settings.segment_bytes = 100;
    assert_null(state_new(&w->disk->disk, &w->sim.clock, &key, &settings, NULL, NULL, &err));
    settings.segment_bytes = 0;
    settings.reserved[0] = w;
    assert_null(state_new(&w->disk->disk, &w->sim.clock, &key, &settings, NULL, NULL, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_and_positions_survive_a_crash, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(what_was_not_flushed_is_lost, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(close_writes_what_was_noted, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(batches_wait_for_the_write_in_flight, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(a_flush_without_notes_is_reported, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(files_are_synced_once_a_second, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(streams_can_be_renamed_and_dropped, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(queues_keep_what_was_not_confirmed, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(a_confirmation_that_was_not_flushed_is_lost,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(segments_are_filled_one_after_the_other, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(packed_objects_are_read_with_their_dictionary,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(loading_is_sliced, state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(loaded_objects_of_a_dropped_stream_are_freed_in_slices,
                                        state_world_setup, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_read_only_state_writes_nothing, state_world_setup,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(invalid_settings_are_refused, state_world_setup,
                                        state_world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
