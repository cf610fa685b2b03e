/*
 * test_log_reader_rotated.c - reading files that logrotate has compressed, or named by their dates.
 */
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
#include "gzip.h"
#include "log_reader_world.h"

enum {
    MANY_BLANKS = 8 * 1000 * 1000, /* in lines of 100 */
};

static void write_bytes(struct log_reader_world *w, const char *name, struct str bytes)
{
    char *path = folder_file(&w->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.at, 1, bytes.len, file), bytes.len);
    fclose(file);
    free(path);
}

static void remove_file(struct log_reader_world *w, const char *name)
{
    char *path = folder_file(&w->folder, name);
    assert_int_equal(unlink(path), 0);
    free(path);
}

static void pack_records(struct buf *out, unsigned first, unsigned last)
{
    struct buf text = {0};
    for (unsigned i = first; i <= last; i++)
        put_line(&text, i);
    gzip_member(out, (struct str){text.bytes, text.len});
    buf_free(&text);
}

/* A compressed file with the records from @first to @last, of which only @len bytes are written. */
static void write_packed_part(struct log_reader_world *w, const char *name, unsigned first,
                              unsigned last, size_t len)
{
    struct buf packed = {0};
    pack_records(&packed, first, last);
    write_bytes(w, name, (struct str){packed.bytes, len < packed.len ? len : packed.len});
    buf_free(&packed);
}

static void write_packed(struct log_reader_world *w, const char *name, unsigned first,
                         unsigned last)
{
    write_packed_part(w, name, first, last, SIZE_MAX);
}

/* ---- names ---- */

/* logrotate keeps more files than `keep: 3`, which is of informerd's own rotation. */
static void compressed_files_are_read_before_the_others(void **state)
{
    struct log_reader_world *w = *state;
    write_packed(w, "log.6.gz", 1, 2);
    write_packed(w, "log.5.gz", 3, 4);
    write_packed(w, "log.4.gz", 5, 6);
    write_packed(w, "log.3.gz", 7, 8);
    write_packed(w, "log.2.gz", 9, 10);
    write_records(w, "log.1", 11, 12);
    write_records(w, "log", 13, 14);
    open_reader(w, from_start);
    assert_found(w, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 ");
    open_reader(w, from_seq(8));
    assert_found(w, "8 9 10 11 12 13 14 ");
}

static void missing_numbers_are_skipped(void **state)
{
    struct log_reader_world *w = *state;
    write_packed(w, "log.9.gz", 1, 2);
    write_packed(w, "log.6.gz", 3, 4);
    write_records(w, "log.2", 5, 6);
    write_records(w, "log", 7, 8);
    open_reader(w, from_start);
    assert_found(w, "1 2 3 4 5 6 7 8 ");
}

static void files_named_by_date_are_read_in_the_order_of_dates(void **state)
{
    struct log_reader_world *w = *state;
    write_packed(w, "log.1.gz", 1, 2); /* of the time before `dateext` */
    write_packed(w, "log-20261116.gz", 3, 4);
    write_packed(w, "log-20261117.gz", 5, 6);
    write_records(w, "log-20261118", 7, 8);
    write_records(w, "log-error-20261118", 100, 101);
    write_records(w, "log", 9, 10);
    open_reader(w, from_start);
    assert_found(w, "1 2 3 4 5 6 7 8 9 10 ");
    open_reader(w, from_seq(5));
    assert_found(w, "5 6 7 8 9 10 ");
}

static void a_copy_that_is_being_compressed_is_not_read(void **state)
{
    struct log_reader_world *w = *state;
    write_records(w, "log.1", 1, 4);
    write_packed_part(w, "log.1.gz", 1, 4, 20);
    write_records(w, "log", 5, 6);
    open_reader(w, from_start);
    assert_found(w, "1 2 3 4 5 6 ");
}

/* ---- logrotate at work ---- */

/* `compress` without `delaycompress`, while a reader waits for more. */
static void a_file_that_was_compressed_after_the_last_read_loses_nothing(void **state)
{
    struct log_reader_world *w = *state;
    write_records(w, "log", 1, 2);
    open_reader(w, from_start);
    append_record(w, 3); /* not read yet */
    write_packed(w, "log.1.gz", 1, 3);
    write_records(w, "new", 4, 5);
    move(w, "new", "log");
    read_more(w);
    assert_found(w, "1 2 3 4 5 ");
    move(w, "log.1.gz", "log.2.gz");
    write_packed(w, "log.1.gz", 4, 5); /* and a whole file between two reads */
    move(w, "log.2.gz", "log.3.gz");
    move(w, "log.1.gz", "log.2.gz");
    write_packed(w, "log.1.gz", 6, 7);
    write_records(w, "new", 8, 9);
    move(w, "new", "log");
    read_more(w);
    assert_found(w, "6 7 8 9 ");
}

/* As logrotate with `compress` and `delaycompress`, or with `dateext` too. */
static void rotate_by_number(struct log_reader_world *w)
{
    write_packed(w, "packed", 4, 6);
    move(w, "log.2.gz", "log.3.gz");
    move(w, "packed", "log.2.gz");
    remove_file(w, "log.1");
    move(w, "log", "log.1");
    append_text(w, "");
}

static void rotate_by_date(struct log_reader_world *w)
{
    write_packed(w, "log-20261117.gz", 4, 6);
    remove_file(w, "log-20261117");
    move(w, "log", "log-20261118");
    append_text(w, "");
}

static void rotate_by_number_before_call(struct fake_disk *disk, enum fake_call call)
{
    struct log_reader_world *w = container_of(disk, struct log_reader_world, disk);
    (void)call;
    if (++w->calls == w->rotate_at)
        rotate_by_number(w);
}

static void rotate_by_date_before_call(struct fake_disk *disk, enum fake_call call)
{
    struct log_reader_world *w = container_of(disk, struct log_reader_world, disk);
    (void)call;
    if (++w->calls == w->rotate_at)
        rotate_by_date(w);
}

static void remove_rotated(struct log_reader_world *w)
{
    static const char *const names[] = {"log.1",           "log.2.gz",     "log.3.gz",
                                        "log-20261116.gz", "log-20261117", "log-20261117.gz",
                                        "log-20261118"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        move(w, names[i], "gone");
}

static void assert_any_moment(struct log_reader_world *w, const char *oldest, const char *middle)
{
    unsigned most = 0;
    for (unsigned at = 1; at <= most + 1; at++) {
        write_packed(w, oldest, 1, 3);
        write_records(w, middle, 4, 6);
        write_records(w, "log", 7, 9);
        w->calls = 0;
        w->rotate_at = at;
        open_reader(w, from_start);
        append_record(w, 10);
        read_more(w);
        assert_found(w, "1 2 3 4 5 6 7 8 9 10 ");
        most = w->calls > most ? w->calls : most;
        remove_rotated(w);
    }
    assert_true(most > 20);
}

static void a_rotation_with_compression_at_any_moment_loses_and_repeats_nothing(void **state)
{
    struct log_reader_world *w = *state;
    w->disk.before_call = rotate_by_number_before_call;
    assert_any_moment(w, "log.2.gz", "log.1");
}

static void a_rotation_by_date_at_any_moment_loses_and_repeats_nothing(void **state)
{
    struct log_reader_world *w = *state;
    w->disk.before_call = rotate_by_date_before_call;
    assert_any_moment(w, "log-20261116.gz", "log-20261117");
}

/* ---- contents ---- */

static void a_compressed_file_may_end_its_pieces_anywhere(void **state)
{
    struct log_reader_world *w = *state;
    struct buf packed = {0};
    pack_records(&packed, 1, 2);
    pack_records(&packed, 3, 3); /* another member, as of `cat a.gz b.gz` */
    write_bytes(w, "log.1.gz", (struct str){packed.bytes, packed.len});
    write_records(w, "log", 4, 4);
    for (w->disk.read_max = 1; w->disk.read_max <= packed.len; w->disk.read_max++) {
        open_reader(w, from_start);
        assert_found(w, "1 2 3 4 ");
    }
    buf_free(&packed);
}

/* 8 MB of blanks are 8 KB compressed: one read of the file. */
static void a_piece_that_expands_far_is_inflated_in_parts(void **state)
{
    struct log_reader_world *w = *state;
    struct buf text = {0}, packed = {0};
    put_line(&text, 1);
    memset(buf_room(&text, MANY_BLANKS), ' ', MANY_BLANKS);
    for (size_t i = 99; i < MANY_BLANKS; i += 100)
        text.bytes[text.len + i] = '\n';
    text.len += MANY_BLANKS;
    put_line(&text, 2);
    gzip_member(&packed, (struct str){text.bytes, text.len});
    write_bytes(w, "log.1.gz", (struct str){packed.bytes, packed.len});
    write_records(w, "log", 3, 3);
    open_reader(w, from_start);
    assert_found(w, "1 2 3 ");
    assert_true(w->results > MANY_BLANKS / (2 * LOG_READER_PIECE));
    buf_free(&packed);
    buf_free(&text);
}

static void a_damaged_file_is_a_gap_after_its_records(void **state)
{
    struct log_reader_world *w = *state;
    struct buf packed = {0};
    write_packed(w, "log.3.gz", 1, 2);
    pack_records(&packed, 3, 4);
    buf_puts(&packed, "no gzip");
    write_bytes(w, "log.2.gz", (struct str){packed.bytes, packed.len});
    write_packed(w, "log.1.gz", 8, 9);
    write_records(w, "log", 10, 10);
    open_reader(w, from_start);
    assert_found(w, "1 2 3 4 gap(4) 8 9 10 ");
    folder_write(&w->folder, "log.2.gz", "no gzip");
    open_reader(w, from_start);
    assert_found(w, "1 2 gap(2) 8 9 10 ");
    buf_free(&packed);
}

static void a_file_that_was_cut_is_a_gap(void **state)
{
    struct log_reader_world *w = *state;
    write_packed_part(w, "log.2.gz", 1, 3, 40);
    write_packed(w, "log.1.gz", 4, 5);
    write_records(w, "log", 6, 6);
    write_packed(w, "log.3.gz", 1, 1);
    open_reader(w, from_start);
    assert_found(w, "1 gap(1) 4 5 6 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_LOG_READER_WORLD(compressed_files_are_read_before_the_others),
        IN_LOG_READER_WORLD(missing_numbers_are_skipped),
        IN_LOG_READER_WORLD(files_named_by_date_are_read_in_the_order_of_dates),
        IN_LOG_READER_WORLD(a_copy_that_is_being_compressed_is_not_read),
        IN_LOG_READER_WORLD(a_file_that_was_compressed_after_the_last_read_loses_nothing),
        IN_LOG_READER_WORLD(a_rotation_with_compression_at_any_moment_loses_and_repeats_nothing),
        IN_LOG_READER_WORLD(a_rotation_by_date_at_any_moment_loses_and_repeats_nothing),
        IN_LOG_READER_WORLD(a_compressed_file_may_end_its_pieces_anywhere),
        IN_LOG_READER_WORLD(a_piece_that_expands_far_is_inflated_in_parts),
        IN_LOG_READER_WORLD(a_damaged_file_is_a_gap_after_its_records),
        IN_LOG_READER_WORLD(a_file_that_was_cut_is_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
