#include "log_reader_world.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void take_all(struct log_reader_world *w)
{
    struct record_line record;
    while (log_reader_take(w->reader, &record))
        buf_printf(&w->found, "%" PRIu64 " ", record.seq);
}

static void on_more(struct log_reader_user *user, enum log_reader_result result)
{
    struct log_reader_world *w = container_of(user, struct log_reader_world, user);
    w->results++;
    if (!w->reader) /* many of them */
        return;
    switch (result) {
    case LOG_READER_LINES: take_all(w); break;
    case LOG_READER_GAP:
        buf_printf(&w->found, "gap(%" PRIu64 ") ", log_reader_gap(w->reader));
        break;
    case LOG_READER_FAILED:
        buf_printf(&w->found, "failed(%d) ", log_reader_error(w->reader));
        return;
    case LOG_READER_END: w->ends++; return;
    }
    log_reader_more(w->reader);
}

static bool is_written(struct log_reader_user *user, const struct disk_stat *file)
{
    (void)file;
    return container_of(user, struct log_reader_world, user)->is_written;
}

static const struct log_reader_user_ops ops = {on_more, is_written};

int log_reader_world_set_up(void **state)
{
    struct log_reader_world *w = calloc(1, sizeof(*w));
    w->user.ops = &ops;
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    folder_make(&w->folder);
    log_reader_gate_init(&w->gate);
    w->path = folder_file(&w->folder, "log");
    *state = w;
    return 0;
}

int log_reader_world_tear_down(void **state)
{
    struct log_reader_world *w = *state;
    log_reader_close(w->reader);
    sim_run(&w->sim);
    fake_disk_done(&w->disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    buf_free(&w->found);
    free(w->path);
    free(w);
    return 0;
}

struct log_reader *make_reader(struct log_reader_world *w, struct log_position from)
{
    struct log_reader_files files = {
        .disk = &w->disk.disk, .gate = &w->gate, .path = w->path, .keep = 3, .log = "L"};
    return log_reader_new(&files, &from, &w->user);
}

/* Reads on until nothing more is available. */
void read_more(struct log_reader_world *w)
{
    log_reader_more(w->reader);
    sim_run(&w->sim);
}

void open_reader(struct log_reader_world *w, struct log_position from)
{
    log_reader_close(w->reader);
    sim_run(&w->sim);
    w->reader = make_reader(w, from);
    read_more(w);
}

void assert_found(struct log_reader_world *w, const char *expected)
{
    buf_putc(&w->found, '\0');
    assert_string_equal(w->found.bytes, expected);
    buf_clear(&w->found);
}

/* A record that was written @seq seconds after 10:00. */
void put_line(struct buf *out, unsigned seq)
{
    buf_printf(out,
               "{\"time\":\"2026-11-15T10:%02u:%02u.000000Z\",\"seq\":%u,\"log\":\"L\","
               "\"type\":\"ADDED\",\"name\":\"n\"}\n",
               seq / 60, seq % 60, seq);
}

/* Writes the records from @first to @last to a file. */
void write_records(struct log_reader_world *w, const char *name, unsigned first, unsigned last)
{
    struct buf text = {0};
    for (unsigned i = first; i <= last; i++)
        put_line(&text, i);
    buf_putc(&text, '\0');
    folder_write(&w->folder, name, text.bytes);
    buf_free(&text);
}

void append(struct log_reader_world *w, const char *text, size_t len)
{
    FILE *file = fopen(w->path, "a");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    fclose(file);
}

void append_text(struct log_reader_world *w, const char *text)
{
    append(w, text, strlen(text));
}

void append_record(struct log_reader_world *w, unsigned seq)
{
    struct buf line = {0};
    put_line(&line, seq);
    append(w, line.bytes, line.len);
    buf_free(&line);
}

void move(struct log_reader_world *w, const char *from, const char *to)
{
    char *old = folder_file(&w->folder, from), *new = folder_file(&w->folder, to);
    (void)rename(old, new);
    free(old);
    free(new);
}

const struct log_position from_start = {.kind = LOG_FROM_START};

struct log_position from_seq(uint64_t seq)
{
    return (struct log_position){.kind = LOG_FROM_SEQ, .seq = seq};
}
