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
#include "core/state/state_record.h"
#include "state_world.h"

/* A stream, a queue and two batches. Returns the size of the file after the first one. */
static size_t write_two_batches(struct state_world *w)
{
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    struct inf_state_queue *log = inf_state_queue(w->state, "log");
    size_t size;
    state_world_put(pods, "shop/a", 1);
    state_world_put(pods, "shop/b", 2);
    state_world_add(log, "one ");
    inf_state_position(pods, "2");
    state_world_flush(w);
    size = memory_disk_file(w->disk, "00000001.seg")->len;
    state_world_put(pods, "shop/a", 3);
    state_world_delete(pods, "shop/b");
    state_world_add(log, "two ");
    inf_state_queue_confirm(log, 4);
    inf_state_position(pods, "3");
    state_world_flush(w);
    return size;
}

static const char FIRST[] = "log[0..4]: \"one \"\npods@2: shop/a=1 shop/b=2\n";
static const char BOTH[] = "log[4..8]: \"two \"\npods@3: shop/a=3\n";

static struct buf *segment(struct state_world *w, unsigned number)
{
    char name[16];
    snprintf(name, sizeof(name), "%08u.seg", number);
    return memory_disk_file(w->disk, name);
}

/* Loads the first @len bytes of @file. */
static void reopen_cut(struct state_world *w, const struct buf *file, size_t len)
{
    state_world_close(w);
    memory_disk_put(w->disk, "00000001.seg", file->bytes, len);
    state_world_open(w);
}

/* covers: crash/batch-writing */
static void a_batch_that_is_cut_at_any_byte_does_not_count(void **state)
{
    struct state_world *w = *state;
    size_t first = write_two_batches(w);
    struct buf file = {0};
    struct inf_state_info info;
    buf_put(&file, segment(w, 1)->bytes, segment(w, 1)->len);
    for (size_t len = 0; len <= file.len; len++) {
        bool whole = len == file.len || len == first || len == 0;
        reopen_cut(w, &file, len);
        inf_state_info(w->state, &info);
        assert_null(info.reason);
        assert_int_equal(info.torn_bytes > 0, !whole);
        assert_state(w, len == file.len ? BOTH : len >= first ? FIRST : "");
        state_world_put(inf_state_stream(w->state, "pods"), "shop/z", 9); /* and it goes on */
        state_world_flush(w);
        state_world_crash(w, NULL);
        assert_non_null(inf_state_stream(w->state, "pods"));
        assert_int_equal(inf_state_stream_count(inf_state_stream(w->state, "pods")),
                         len == file.len ? 2
                         : len >= first  ? 3
                                         : 1);
    }
    assert_int_equal(w->suspensions, 0);
    buf_free(&file);
}

/* In the last segment a wrong byte ends what is read; the head of the file is needed. */
static void a_wrong_byte_in_the_last_segment_ends_it(void **state)
{
    struct state_world *w = *state;
    size_t first = write_two_batches(w);
    struct buf file = {0};
    buf_put(&file, segment(w, 1)->bytes, segment(w, 1)->len);
    for (size_t at = 0; at < file.len; at++) {
        file.bytes[at] ^= 0x10;
        reopen_cut(w, &file, file.len);
        file.bytes[at] ^= 0x10;
        assert_state(w, at >= first ? FIRST : "");
    }
    buf_free(&file);
}

/* ---- damage that discards everything ---- */

static void write_three_segments(struct state_world *w)
{
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    for (unsigned n = 0; !segment(w, 4); n++) {
        char key[32];
        snprintf(key, sizeof(key), "shop/pod-%u", n);
        state_world_put(pods, key, n);
        state_world_flush(w);
    }
    state_world_close(w);
}

static void assert_discarded(struct state_world *w, const char *why)
{
    struct inf_state_info info;
    state_world_open(w);
    inf_state_info(w->state, &info);
    assert_non_null(info.reason);
    if (!strstr(info.reason, why))
        fail_msg("reason: %s", info.reason);
    assert_true(info.loaded);
    assert_false(info.suspended);
    assert_int_equal(info.disk_bytes, 0);
    assert_int_equal(memory_disk_size(w->disk), 0);
    assert_state(w, "");
    assert_true(inf_state_is_active(w->state));
    state_world_put(inf_state_stream(w->state, "pods"), "shop/z", 9);
    state_world_flush(w);
    state_world_crash(w, NULL);
    assert_state(w, "pods: shop/z=9\n");
}

/* covers: crash/damaged */
static void damage_in_an_older_segment_discards_everything(void **state)
{
    struct state_world *w = *state;
    write_three_segments(w);
    segment(w, 2)->bytes[5000] ^= 1;
    assert_discarded(w, "segment 2 is damaged at byte ");
}

static void a_missing_segment_discards_everything(void **state)
{
    struct state_world *w = *state;
    write_three_segments(w);
    memory_disk_remove(w->disk, "00000002.seg");
    assert_discarded(w, "segment 2 is missing");
}

static void a_missing_first_segment_discards_everything(void **state)
{
    struct state_world *w = *state;
    write_three_segments(w);
    memory_disk_remove(w->disk, "00000001.seg");
    assert_discarded(w, "the first segment is missing");
}

static void an_older_segment_without_its_end_discards_everything(void **state)
{
    struct state_world *w = *state;
    write_three_segments(w);
    segment(w, 2)->len -= 10;
    assert_discarded(w, "segment 2 is damaged at byte ");
}

static void batches_that_are_missing_discard_everything(void **state)
{
    struct state_world *w = *state;
    struct buf *file;
    size_t at = 0;
    struct record record;
    size_t size;
    write_three_segments(w);
    file = segment(w, 2);
    for (size_t next = 0; next < file->len; next += size) {
        record_peek((struct str){file->bytes + next, file->len - next}, &record, &size);
        if (record.type == RECORD_BATCH_END && next + size < file->len)
            at = next + size;
    }
    file->len = at; /* all but the last batch */
    assert_discarded(w, "a batch is missing");
}

static void another_epoch_discards_everything(void **state)
{
    struct state_world *w = *state;
    write_three_segments(w);
    w->settings.epoch = "other key";
    assert_discarded(w, "it belongs to another epoch, such as another key of hashed values");
}

static void files_of_another_state_discard_everything(void **state)
{
    struct state_world *w = *state;
    struct buf file = {0};
    write_three_segments(w);
    buf_put(&file, segment(w, 2)->bytes, segment(w, 2)->len);
    for (unsigned n = 1; n < 5; n++) {
        char name[16];
        snprintf(name, sizeof(name), "%08u.seg", n);
        memory_disk_remove(w->disk, name);
    }
    state_world_open(w);
    write_three_segments(w);
    memory_disk_put(w->disk, "00000002.seg", file.bytes, file.len);
    buf_free(&file);
    assert_discarded(w, "it belongs to another state");
}

/* Writes a file of one segment with a head and @record in a complete batch. */
static void put_crafted(struct state_world *w, uint32_t version, const struct record *record)
{
    struct segment_body head = {.version = version};
    struct batch_body end = {.oldest = 1};
    struct record records[] = {
        {RECORD_SEGMENT, 0, 1, 77, {(const char *)&head, sizeof(head)}},
        *record,
        {RECORD_BATCH_END, 0, 1, 1, {(const char *)&end, sizeof(end)}},
    };
    struct buf file = {0};
    memcpy(head.magic, record_magic, sizeof(head.magic));
    for (size_t i = 0; i < 3; i++)
        record_put(&file, &records[i]);
    state_world_close(w);
    memory_disk_put(w->disk, "00000001.seg", file.bytes, file.len);
    buf_free(&file);
}

static void records_with_a_valid_crc_are_checked(void **state)
{
    struct state_world *w = *state;
    static const struct {
        struct record record;
        const char *why;
    } cases[] = {
        {{RECORD_OBJECT, 0, 1, 0, {"x", 1}}, "object of an unknown stream"},
        {{RECORD_TOMBSTONE, 0, 1, 0, {"x", 1}}, "deletion in an unknown stream"},
        {{RECORD_POSITION, 0, 1, 0, {"x", 1}}, "position of an unknown stream"},
        {{RECORD_STREAM_DROP, 0, 1, 0, {"x", 1}}, "unknown stream"},
        {{RECORD_STREAM, 0, 1, 0, {"a\0b", 3}}, "invalid definition of a stream"},
        {{RECORD_STREAM, 0, UINT32_MAX, 0, {"a", 1}}, "invalid definition of a stream"},
        {{RECORD_QUEUE, 0, UINT32_MAX, 0, {"a", 1}}, "invalid definition of a queue"},
        {{RECORD_LINES, 0, 1, 0, {"x", 1}}, "lines of an unknown queue"},
        {{RECORD_CONFIRM, 0, 1, 0, {"x", 1}}, "confirmation of an unknown queue"},
        {{RECORD_QUEUE_DROP, 0, 1, 0, {"x", 1}}, "unknown queue"},
        {{RECORD_DICTIONARY, 0, 1, 0, {"x", 1}}, "unknown type of record"},
        {{(enum record_type)99, 0, 1, 0, {"x", 1}}, "unknown type of record"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put_crafted(w, RECORD_VERSION, &cases[i].record);
        assert_discarded(w, cases[i].why);
    }
    put_crafted(w, RECORD_VERSION + 1, &(struct record){RECORD_STREAM, 0, 1, 0, {"pods", 4}});
    assert_discarded(w, "it has another version");
    put_crafted(w, RECORD_VERSION, &(struct record){RECORD_STREAM, 0, 1, 0, {"pods", 4}});
    state_world_open(w);
    assert_state(w, "pods:\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_batch_that_is_cut_at_any_byte_does_not_count,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_wrong_byte_in_the_last_segment_ends_it,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(damage_in_an_older_segment_discards_everything,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_missing_segment_discards_everything,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(a_missing_first_segment_discards_everything,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(an_older_segment_without_its_end_discards_everything,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(batches_that_are_missing_discard_everything,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(another_epoch_discards_everything, state_world_setup_small,
                                        state_world_teardown),
        cmocka_unit_test_setup_teardown(files_of_another_state_discard_everything,
                                        state_world_setup_small, state_world_teardown),
        cmocka_unit_test_setup_teardown(records_with_a_valid_crc_are_checked,
                                        state_world_setup_small, state_world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
