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
#include "builders.h"
#include "core/object/object_packer.h"
#include "state_world.h"

enum {
    SEGMENT = 64 * 1024,
};

static struct inf_state_info info_of(struct state_world *w)
{
    struct inf_state_info info;
    inf_state_info(w->state, &info);
    return info;
}

/* @changes of a few objects, in batches of one. */
static void change(struct state_world *w, struct inf_state_stream *pods, unsigned changes)
{
    for (unsigned n = 0; n < changes; n++) {
        char key[32];
        snprintf(key, sizeof(key), "shop/hot-%u", n % 3);
        state_world_put_large(pods, key, n, 2000);
        state_world_flush(w);
        if (n % 8 == 0)
            sim_advance(&w->sim, 300);
    }
}

static void disk_use_is_bounded(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    struct inf_state_info info;
    uint64_t max = 0;
    for (unsigned n = 0; n < 100; n++) {
        char key[32];
        snprintf(key, sizeof(key), "shop/cold-%u", n);
        state_world_put_large(pods, key, n, 2000);
    }
    for (unsigned round = 0; round < 100; round++) {
        change(w, pods, 10);
        info = info_of(w);
        assert_int_equal(info.disk_bytes, memory_disk_size(w->disk));
        max = info.disk_bytes > max ? info.disk_bytes : max;
    }
    assert_true(info.compactions > 5);
    assert_true(max < 2 * info.live_bytes + 4 * SEGMENT);
    assert_true(info.live_bytes < 103 * 2600);
    assert_true(info.written_bytes < 4 * 1100 * 2300); /* copies included */
    state_world_crash(w, NULL);
    assert_int_equal(info_of(w).live_bytes, info.live_bytes);
    assert_int_equal(info_of(w).objects, 103);
}

/* An object that was deleted does not come back when the record of its deletion is gone. */
/* covers: crash/compacted */
static void deleted_objects_do_not_come_back(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    state_world_put(pods, "shop/a", 1);
    state_world_put(pods, "shop/b", 2);
    state_world_flush(w);
    change(w, pods, 40);
    state_world_delete(pods, "shop/a");
    change(w, pods, 6);
    for (unsigned n = 0; n < 20; n++) {
        change(w, pods, 15);
        state_world_crash(w, NULL);
        assert_int_equal(inf_state_stream_count(inf_state_stream(w->state, "pods")), 4);
        pods = inf_state_stream(w->state, "pods");
    }
    assert_null(info_of(w).reason);
}

static void lines_that_are_not_confirmed_are_copied(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    struct inf_state_queue *log = inf_state_queue(w->state, "log");
    state_world_add(log, "one ");
    state_world_flush(w);
    change(w, pods, 50);
    state_world_add(log, "two ");
    state_world_flush(w);
    change(w, pods, 200);
    assert_true(info_of(w).compactions >= 2);
    state_world_add(log, "three ");
    inf_state_queue_confirm(log, 4);
    state_world_flush(w);
    state_world_crash(w, NULL);
    inf_state_stream_drop(inf_state_stream(w->state, "pods"));
    assert_state(w, "log[4..14]: \"two three \"\n");
}

static void flush_changes(struct state_world *w, struct inf_state_stream *pods, unsigned changes)
{
    for (unsigned n = 0; n < changes; n++)
        state_world_put_large(pods, "shop/hot", n, 2000);
    inf_state_flush(w->state);
}

/* Four batches of half a segment. While the second one is written, the first segment is not the last one any more. */
static void a_segment_is_not_compacted_before_all_of_it_is_written(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    unsigned opened;
    flush_changes(w, pods, 1);
    sim_run(&w->sim);
    opened = w->disk->calls[MEMORY_OPEN];
    w->disk->stuck_call = MEMORY_WRITE;
    for (unsigned n = 0; n < 4; n++)
        flush_changes(w, pods, 14);
    w->disk->stuck_call = MEMORY_CALLS;
    sim_tick(&w->sim); /* the first write ends */
    w->disk->stuck_call = MEMORY_WRITE;
    sim_run(&w->sim);
    assert_int_equal(w->disk->calls[MEMORY_OPEN], opened);
    w->disk->stuck_call = MEMORY_CALLS;
    sim_run(&w->sim);
    flush_changes(w, pods, 1);
    sim_advance(&w->sim, 5000);
    assert_int_equal(info_of(w).compactions, 1);
    assert_true(inf_state_is_active(w->state));
}

/* The batches that the suspension has dropped are not waited for. */
static void a_state_that_was_suspended_is_compacted(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    flush_changes(w, pods, 1);
    sim_run(&w->sim);
    w->disk->fail[MEMORY_WRITE] = -EIO;
    flush_changes(w, pods, 100);
    sim_run(&w->sim);
    assert_int_equal(w->suspensions, 1);
    w->disk->fail[MEMORY_WRITE] = 0;
    sim_advance(&w->sim, 10 * 60 * 1000);
    assert_int_equal(w->returns, 1);
    change(w, pods, 50);
    sim_advance(&w->sim, 5000);
    assert_true(info_of(w).compactions > 0);
}

/* A batch that the owner has not ended is not written with the copies. */
static void compaction_does_not_end_the_batch_of_the_owner(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    struct inf_state_info info = info_of(w);
    char *expected;
    unsigned n;
    state_world_put(pods, "shop/a", 100);
    for (n = 0; info.disk_bytes - info.live_bytes <= info.live_bytes + SEGMENT; n++) {
        state_world_put_large(pods, "shop/b", n, 2000);
        w->disk->stuck_call = MEMORY_WRITE;
        inf_state_flush(w->state);
        sim_run(&w->sim);
        state_world_put(pods, "shop/a", 101 + n); /* the owner has not ended this batch */
        w->disk->stuck_call = MEMORY_CALLS;
        sim_run(&w->sim);
        info = info_of(w);
        assert_int_equal(info.compactions, 0); /* otherwise it did not wait */
    }
    sim_advance(&w->sim, 20 * 1000);
    assert_int_equal(info_of(w).compactions, 0);
    state_world_crash(w, NULL);
    expected = xasprintf("pods: shop/a=%u shop/b=%u\n", 99 + n, n - 1);
    assert_state(w, expected);
    free(expected);
    state_world_flush(w);
    change(w, inf_state_stream(w->state, "pods"), 24);
    assert_true(info_of(w).compactions > 0);
}

/* Objects that are packed with a dictionary of their own. */
static void put_packed(struct state_world *w, struct inf_state_stream *pods, unsigned generation)
{
    static const struct pack_limits small = {.objects = 1, .window = 1000};
    struct object_packer packer;
    object_packer_init(&packer, state_pack_context(w->state), &small, generation);
    for (unsigned n = 0; n < 30; n++) {
        char *text = xasprintf("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%u\",\"namespace\":"
                               "\"shop\",\"resourceVersion\":\"%u\"},\"spec\":{\"containers\":[{"
                               "\"name\":\"main\",\"image\":\"registry.example.com/web:%u\"}]},"
                               "\"generation\":\"a text that is longer than others %u\"}",
                               n, generation, generation, generation);
        struct inf_object *object = object_from(text);
        const struct inf_object *packed = object_pack(&packer, object, n);
        state_put(pods, packed, NULL);
        inf_object_unref(packed);
        inf_object_unref(object);
        free(text);
    }
    state_world_flush(w);
    object_packer_free(&packer);
}

static unsigned count_dictionaries(struct state_world *w)
{
    unsigned count = 0;
    for (unsigned n = 0; n < 1000; n++) {
        char name[32];
        snprintf(name, sizeof(name), "%08u.dict", n);
        count += memory_disk_has(w->disk, name);
    }
    return count;
}

static void dictionaries_are_removed_when_no_file_uses_them(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    for (unsigned n = 0; n < 40; n++) {
        put_packed(w, pods, n);
        change(w, pods, 6);
        if (n % 10 == 9) {
            state_world_crash(w, NULL);
            assert_null(info_of(w).reason);
            pods = inf_state_stream(w->state, "pods");
        }
    }
    assert_in_range(count_dictionaries(w), 1, 25);
    change(w, pods, 300);
    assert_int_equal(count_dictionaries(w), 1);
    assert_int_equal(info_of(w).disk_bytes, memory_disk_size(w->disk));
    state_world_crash(w, NULL);
    assert_int_equal(inf_state_stream_count(inf_state_stream(w->state, "pods")), 33);
}

static void a_state_that_needs_more_than_max_disk_is_suspended(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods;
    state_world_close(w);
    w->settings.max_disk = 4 * SEGMENT;
    state_world_open(w);
    pods = inf_state_stream(w->state, "pods");
    change(w, pods, 600);
    assert_int_equal(w->suspensions, 0); /* compaction is enough */
    for (unsigned n = 0; n < 5000 && !w->suspensions; n++) {
        char key[32];
        snprintf(key, sizeof(key), "shop/cold-%u", n);
        state_world_put_large(pods, key, n, 2000);
        state_world_flush(w);
        sim_advance(&w->sim, 100);
    }
    assert_int_equal(w->suspensions, 1);
    assert_non_null(strstr(w->why, "max_disk is 262144"));
    sim_advance(&w->sim, 50 * 60 * 1000);
    assert_int_equal(w->returns, 0);
    sim_advance(&w->sim, 11 * 60 * 1000);
    assert_int_equal(w->returns, 1);
    assert_int_equal(memory_disk_size(w->disk), 0);
}

static void a_damaged_record_that_is_copied_suspends_the_state(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    state_world_put(pods, "shop/a", 1);
    state_world_flush(w);
    memory_disk_file(w->disk, "00000001.seg")->bytes[150] ^= 1;
    change(w, pods, 100);
    assert_int_equal(w->suspensions, 1);
    assert_string_equal(w->why, "00000001.seg is damaged");
    sim_advance(&w->sim, 10 * 1000);
    assert_int_equal(w->returns, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(disk_use_is_bounded, state_world_setup_small,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(deleted_objects_do_not_come_back, state_world_setup_small,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(lines_that_are_not_confirmed_are_copied,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_segment_is_not_compacted_before_all_of_it_is_written,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_state_that_was_suspended_is_compacted,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(compaction_does_not_end_the_batch_of_the_owner,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(dictionaries_are_removed_when_no_file_uses_them,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_state_that_needs_more_than_max_disk_is_suspended,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_damaged_record_that_is_copied_suspends_the_state,
                                        state_world_setup_small, state_world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
