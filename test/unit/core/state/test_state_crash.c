/*
 * test_state_crash.c - the process is killed between any two steps of the disk, also while the next file is
 * started and while old ones are compacted: what is on disk is one of the batches from the last that
 * was reported to the last that was started, as a whole.
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
#include "state_world.h"

enum {
    SEGMENT = 64 * 1024,
    BATCHES = 160,
    LINE = 4,
};

struct crash_world {
    struct state_world world;
    struct inf_state_stream *pods;
    struct inf_state_queue *log;
    unsigned started;        /* batches */
    unsigned in_new_segment; /* kills while the newest file had no batch */
    unsigned within_write;   /* kills that cut a batch */
};

static int set_up(void **state)
{
    struct crash_world *c = test_calloc(1, sizeof(*c));
    state_world_init(&c->world);
    c->world.settings.segment_bytes = SEGMENT;
    state_world_open(&c->world);
    c->pods = inf_state_stream(c->world.state, "pods");
    c->log = inf_state_queue(c->world.state, "log");
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    struct crash_world *c = *state;
    state_world_done(&c->world);
    test_free(c);
    return 0;
}

/* An object that changes, one that stays, a line, and the confirmation of the line before. */
static void start_batch(struct crash_world *c)
{
    unsigned n = ++c->started;
    char text[24];
    if (n == 1)
        state_world_put_large(c->pods, "shop/b", 1, 2000);
    state_world_put_large(c->pods, "shop/a", n, 2000);
    snprintf(text, sizeof(text), "%03u ", n);
    state_world_add(c->log, text);
    inf_state_queue_confirm(c->log, (uint64_t)(n - 1) * LINE);
    snprintf(text, sizeof(text), "%u", n);
    inf_state_position(c->pods, text);
    inf_state_flush(c->world.state);
}

static char *expected_after(unsigned n)
{
    return n ? xasprintf("log[%u..%u]: \"%03u \"\npods@%u: shop/a=%u shop/b=1\n", (n - 1) * LINE,
                         n * LINE, n, n, n)
             : xstrdup("");
}

static void assert_one_batch(struct crash_world *c, struct state_world *next)
{
    const struct inf_state_stream *pods = inf_state_stream_next(next->state, NULL);
    unsigned found = pods ? (unsigned)atoi(inf_state_stream_version(pods)) : 0;
    char *expected = expected_after(found);
    struct inf_state_info info;
    inf_state_info(next->state, &info);
    assert_null(info.reason);
    assert_in_range(found, c->world.flushed, c->started);
    c->within_write += info.torn_bytes > 0;
    assert_state(next, expected);
    free(expected);
}

static void note_moment(struct crash_world *c)
{
    struct inf_state_info info;
    const struct buf *newest;
    char name[16];
    inf_state_info(c->world.state, &info);
    snprintf(name, sizeof(name), "%08u.seg", (unsigned)(info.compactions + info.segments));
    newest = memory_disk_file(c->world.disk, name);
    c->in_new_segment += info.segments > 1 && (!newest || newest->len < 2000);
}

/* A write in flight is complete, or with @rng cut anywhere. */
static void kill_now(struct crash_world *c, struct rng *rng)
{
    struct state_world next;
    state_world_init(&next);
    next.settings.segment_bytes = SEGMENT;
    memory_disk_crash(next.disk, c->world.disk, rng);
    state_world_open(&next);
    assert_one_batch(c, &next);
    state_world_done(&next);
}

/* covers: crash/batch-collected crash/batch-writing crash/next-file crash/compacting */
static void a_kill_at_any_step_leaves_one_batch(void **state)
{
    struct crash_world *c = *state;
    struct inf_state_info info;
    struct rng rng = {18};
    for (unsigned n = 0; n < BATCHES; n++) {
        kill_now(c, NULL);
        start_batch(c);
        do {
            note_moment(c);
            kill_now(c, NULL);
            kill_now(c, &rng);
        } while (sim_tick(&c->world.sim));
        if (n % 8 == 0)
            sim_advance(&c->world.sim, 1100); /* syncs, which let a compaction end */
    }
    inf_state_info(c->world.state, &info);
    assert_true(info.compactions >= 2);
    assert_true(c->in_new_segment > 0);
    assert_true(c->within_write > 0);
}

/* ---- dictionaries ---- */

static size_t count_after_kill(struct crash_world *c, const char *removed)
{
    struct inf_state_info info;
    struct state_world next;
    state_world_init(&next);
    next.settings.segment_bytes = SEGMENT;
    memory_disk_crash(next.disk, c->world.disk, NULL);
    if (removed)
        memory_disk_remove(next.disk, removed);
    state_world_open(&next);
    inf_state_info(next.state, &info);
    assert_int_equal(info.reason != NULL, removed != NULL);
    state_world_done(&next);
    return info.objects;
}

/* A dictionary is on disk before the first batch that needs it.
 *
 * covers: crash/dictionary */
static void a_kill_while_a_dictionary_is_written_loses_no_batch(void **state)
{
    enum {
        BEFORE = 10,
        MORE = 290,
    };
    struct crash_world *c = *state;
    char key[32];
    for (unsigned n = 0; n < BEFORE + MORE; n++) {
        snprintf(key, sizeof(key), "shop/pod-%u", n);
        state_world_put_large(c->pods, key, n, 7000);
        if (n != BEFORE - 1)
            continue;
        inf_state_flush(c->world.state);
        sim_run(&c->world.sim);
        assert_false(memory_disk_has(c->world.disk, "00000001.dict"));
    }
    inf_state_flush(c->world.state);
    do {
        size_t count = count_after_kill(c, NULL);
        assert_true(count == BEFORE || count == BEFORE + MORE);
    } while (sim_tick(&c->world.sim));
    assert_true(memory_disk_has(c->world.disk, "00000001.dict"));
    assert_int_equal(count_after_kill(c, NULL), BEFORE + MORE);
    assert_int_equal(count_after_kill(c, "00000001.dict"), 0);
}

/* ---- the next run ---- */

static void take_one(void *ctx, const struct inf_object *object, const struct str *labels)
{
    (void)ctx;
    (void)labels;
    inf_object_unref(object);
}

/* covers: crash/restoring */
static void a_kill_while_objects_are_taken_changes_nothing(void **state)
{
    struct crash_world *c = *state;
    char *expected = expected_after(1);
    start_batch(c);
    sim_run(&c->world.sim);
    state_world_crash(&c->world, NULL);
    assert_true(state_stream_take(inf_state_stream(c->world.state, "pods"), 1, take_one, NULL));
    state_world_crash(&c->world, NULL);
    assert_state(&c->world, expected);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kill_at_any_step_leaves_one_batch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kill_while_a_dictionary_is_written_loses_no_batch, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_kill_while_objects_are_taken_changes_nothing, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
