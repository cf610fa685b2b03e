/*
 * test_log_reader.c - reading the files of an event log back while they are written, rotated, truncated and
 * removed. The disk is real, its operations end in virtual time.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "log_reader_world.h"

enum {
    READERS = 3 * LOG_READER_OPERATIONS,
};

/* As log_file_rotate.c does it with `keep: 3`. */
static void rotate(struct log_reader_world *w)
{
    move(w, "log.2", "log.3");
    move(w, "log.1", "log.2");
    move(w, "log", "log.1");
    append_text(w, "");
}

/* ---- lines ---- */

static void a_file_cut_at_any_byte_is_continued_when_the_rest_is_written(void **state)
{
    struct log_reader_world *w = *state;
    struct buf text = {0};
    put_line(&text, 1);
    put_line(&text, 2);
    w->disk.read_max = 7;
    for (size_t cut = 0; cut <= text.len; cut++) {
        unlink(w->path);
        append(w, text.bytes, cut);
        open_reader(w, from_start);
        append(w, text.bytes + cut, text.len - cut);
        read_more(w);
        assert_found(w, "1 2 ");
    }
    buf_free(&text);
}

static void lines_that_are_no_records_are_skipped(void **state)
{
    struct log_reader_world *w = *state;
    append_text(
        w, "\n      \nhello\n{\"a\":1}\n{\"time\":\"x\",\"seq\":1,\"log\":\"L\",\"type\":\"\"}\n");
    append_record(w, 1);
    append_text(w, "{\"time\":\"2026-11-15T10:00:0\n"); /* torn */
    append_record(w, 2);
    append_text(w, "{\"time\":\"2026-11-15T10:00:00Z\",\"seq\":3,"); /* not complete yet */
    open_reader(w, from_start);
    assert_found(w, "1 2 ");
}

static void a_line_longer_than_any_record_is_skipped(void **state)
{
    struct log_reader_world *w = *state;
    size_t len = LOG_READER_LINE_MAX + LOG_READER_PIECE;
    char *blanks = malloc(len);
    memset(blanks, ' ', len);
    append_record(w, 1);
    append(w, blanks, len);
    append_text(w, "\n");
    append_record(w, 2);
    free(blanks);
    open_reader(w, from_start);
    assert_found(w, "1 2 ");
}

static void a_truncated_file_is_read_from_its_beginning(void **state)
{
    struct log_reader_world *w = *state;
    write_records(w, "log", 1, 3);
    open_reader(w, from_start);
    assert_int_equal(truncate(w->path, 0), 0);
    append_record(w, 4);
    read_more(w);
    assert_found(w, "1 2 3 4 ");
}

/* ---- the first file ---- */

static void write_three_files(struct log_reader_world *w)
{
    write_records(w, "log.2", 10, 12);
    write_records(w, "log.1", 13, 15);
    write_records(w, "log", 16, 18);
}

static void starts_with_the_file_that_has_the_position(void **state)
{
    struct log_reader_world *w = *state;
    write_three_files(w);
    open_reader(w, from_start);
    assert_found(w, "10 11 12 13 14 15 16 17 18 ");
    open_reader(w, from_seq(14));
    assert_found(w, "14 15 16 17 18 ");
    w->disk.calls[FAKE_OPEN] = 0;
    open_reader(w, from_seq(17));
    assert_found(w, "17 18 ");
    assert_int_equal(w->disk.calls[FAKE_OPEN], 1); /* the rotated files are not needed */
    open_reader(w, from_seq(30));
    assert_found(w, "");
    append_record(w, 29);
    append_record(w, 30);
    read_more(w);
    assert_found(w, "30 ");
}

static void a_time_selects_the_records_from_then_on(void **state)
{
    struct log_reader_world *w = *state;
    int64_t ten = INT64_C(1794736800000000); /* 2026-11-15T10:00:00Z */
    write_records(w, "log.1", 1, 2);
    write_records(w, "log", 100, 102);
    open_reader(w, (struct log_position){.kind = LOG_FROM_TIME, .time_us = ten + 101 * 1000000});
    assert_found(w, "101 102 ");
}

static void a_position_before_the_oldest_record_is_a_gap(void **state)
{
    struct log_reader_world *w = *state;
    write_three_files(w);
    open_reader(w, from_seq(3));
    assert_found(w, "gap(9) 10 11 12 13 14 15 16 17 18 ");
    open_reader(w, (struct log_position){.kind = LOG_FROM_TIME, .time_us = 1});
    assert_found(w, "gap(9) 10 11 12 13 14 15 16 17 18 ");
    write_records(w, "log.3", 1, 9); /* the first record of all */
    open_reader(w, (struct log_position){.kind = LOG_FROM_TIME, .time_us = 1});
    assert_found(w, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 ");
}

static void records_of_another_sequence_are_older(void **state)
{
    struct log_reader_world *w = *state;
    append_text(
        w, "{\"time\":\"2026-11-15T09:00:00Z\",\"seq\":500,\"log\":\"K\",\"type\":\"STOP\"}\n");
    append_record(w, 1);
    append_record(w, 2);
    open_reader(w, from_seq(1));
    assert_found(w, "1 2 ");
    open_reader(w, from_start);
    assert_found(w, "500 1 2 ");
}

static void without_files_there_is_nothing_yet(void **state)
{
    struct log_reader_world *w = *state;
    open_reader(w, from_start);
    assert_int_equal(w->ends, 1);
    append_record(w, 1);
    read_more(w);
    assert_found(w, "1 ");
}

static void an_error_is_reported(void **state)
{
    struct log_reader_world *w = *state;
    write_three_files(w);
    w->disk.fail[FAKE_READ] = -EIO;
    w->disk.skip[FAKE_READ] = 4;
    open_reader(w, from_start);
    assert_found(w, "10 11 12 failed(-5) ");
}

/* ---- rotation ---- */

static void rotate_before_call(struct fake_disk *disk, enum fake_call call)
{
    struct log_reader_world *w = container_of(disk, struct log_reader_world, disk);
    (void)call;
    if (++w->calls == w->rotate_at)
        rotate(w);
}

/* The rotation comes before each of the operations in turn, also in the search for the next file. */
static void a_rotation_at_any_moment_loses_and_repeats_nothing(void **state)
{
    struct log_reader_world *w = *state;
    unsigned most = 0;
    w->disk.before_call = rotate_before_call;
    for (unsigned at = 1; at <= most + 1; at++) {
        write_records(w, "log.1", 1, 3);
        write_records(w, "log", 4, 6);
        w->calls = 0;
        w->rotate_at = at;
        open_reader(w, from_start);
        append_record(w, 7);
        read_more(w);
        assert_found(w, "1 2 3 4 5 6 7 ");
        most = w->calls > most ? w->calls : most;
        for (unsigned n = 1; n <= 3; n++) {
            char name[8];
            snprintf(name, sizeof(name), "log.%u", n);
            move(w, name, "gone");
        }
    }
    assert_true(most > 10);
}

static void a_reader_at_the_end_goes_on_to_the_new_file(void **state)
{
    struct log_reader_world *w = *state;
    write_records(w, "log", 1, 2);
    open_reader(w, from_start);
    append_record(w, 3); /* before the rotation, not read yet */
    rotate(w);
    append_record(w, 4);
    read_more(w);
    rotate(w);
    append_record(w, 5);
    rotate(w);
    append_record(w, 6);
    read_more(w);
    assert_found(w, "1 2 3 4 5 6 ");
}

/* logrotate: the log writes to the moved file until it has noticed. */
static void a_moved_file_that_is_still_written_is_not_left(void **state)
{
    struct log_reader_world *w = *state;
    char *moved = w->path;
    write_records(w, "log", 1, 2);
    open_reader(w, from_start);
    move(w, "log", "log.1");
    w->is_written = true;
    read_more(w);
    w->path = folder_file(&w->folder, "log.1");
    append_record(w, 3);
    free(w->path);
    w->path = moved;
    read_more(w);
    w->is_written = false;
    append_record(w, 4);
    read_more(w);
    assert_found(w, "1 2 3 4 ");
}

static void files_that_were_removed_meanwhile_are_a_gap(void **state)
{
    struct log_reader_world *w = *state;
    write_records(w, "log", 1, 2);
    open_reader(w, from_start);
    move(w, "log", "away"); /* and one that was never seen */
    write_records(w, "log", 8, 9);
    read_more(w);
    assert_found(w, "1 2 gap(7) 8 9 ");
    move(w, "log", "away"); /* renamed by another program, but nothing is missing */
    write_records(w, "log", 10, 11);
    read_more(w);
    assert_found(w, "10 11 ");
}

/* ---- the gate ---- */

static void readers_share_a_limited_number_of_operations(void **state)
{
    struct log_reader_world *w = *state;
    struct log_reader *readers[READERS];
    write_records(w, "log", 1, 2);
    w->disk.frozen = true;
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = make_reader(w, from_start);
        log_reader_more(readers[i]);
    }
    sim_run(&w->sim);
    assert_int_equal(w->disk.calls[FAKE_OPEN], LOG_READER_OPERATIONS);
    for (size_t i = 0; i < READERS / 2; i++) /* in flight and waiting ones */
        log_reader_close(readers[i]);
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_int_equal(w->results, READERS - READERS / 2);
    assert_int_equal(w->gate.running, 0);
    for (size_t i = READERS / 2; i < READERS; i++)
        log_reader_close(readers[i]);
    sim_run(&w->sim);
    assert_int_equal(w->disk.calls[FAKE_CLOSE], LOG_READER_OPERATIONS + READERS - READERS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_LOG_READER_WORLD(a_file_cut_at_any_byte_is_continued_when_the_rest_is_written),
        IN_LOG_READER_WORLD(lines_that_are_no_records_are_skipped),
        IN_LOG_READER_WORLD(a_line_longer_than_any_record_is_skipped),
        IN_LOG_READER_WORLD(a_truncated_file_is_read_from_its_beginning),
        IN_LOG_READER_WORLD(starts_with_the_file_that_has_the_position),
        IN_LOG_READER_WORLD(a_time_selects_the_records_from_then_on),
        IN_LOG_READER_WORLD(a_position_before_the_oldest_record_is_a_gap),
        IN_LOG_READER_WORLD(records_of_another_sequence_are_older),
        IN_LOG_READER_WORLD(without_files_there_is_nothing_yet),
        IN_LOG_READER_WORLD(an_error_is_reported),
        IN_LOG_READER_WORLD(a_rotation_at_any_moment_loses_and_repeats_nothing),
        IN_LOG_READER_WORLD(a_reader_at_the_end_goes_on_to_the_new_file),
        IN_LOG_READER_WORLD(a_moved_file_that_is_still_written_is_not_left),
        IN_LOG_READER_WORLD(files_that_were_removed_meanwhile_are_a_gap),
        IN_LOG_READER_WORLD(readers_share_a_limited_number_of_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
