/*
 * journal_world.c - a journal with its sequence on fake disks, and readable forms of what it writes.
 */
#include "journal_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "changes.h"
#include "daemon/output/sink_file.h"

static struct journal_world *world_of(struct journal *journal)
{
    return container_of(journal, struct journal_world, journal);
}

static void on_hold(struct journal_watch *watch, bool hold)
{
    (void)watch;
    (void)hold; /* watch->held has it */
}

static void on_log_line(void *owner, enum inf_log_level level, const char *line)
{
    struct journal_world *w = owner;
    buf_printf(&w->logged, "%d %s\n", (int)level, line);
}

static void on_lost(struct journal *journal, int error)
{
    world_of(journal)->lost = error;
}

static void on_drained(struct journal *journal)
{
    world_of(journal)->drained++;
}

static void on_closed(struct journal *journal)
{
    world_of(journal)->closed = true;
}

int journal_world_set_up(void **state)
{
    struct journal_world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    fake_disk_init(&w->state_disk, &w->sim);
    folder_make(&w->folder);
    folder_make(&w->state_dir);
    w->paths[0] = folder_file(&w->folder, "a");
    w->paths[1] = folder_file(&w->folder, "b");
    assert_int_equal(seq_open(&w->seq, &w->sim.clock, &w->state_disk.disk, w->state_dir.path, NULL),
                     0);
    journal_init(&w->journal, &w->sim.clock, &w->disk.disk, &w->seq);
    w->journal.owner = w;
    w->journal.log = on_log_line;
    w->journal.on_lost = on_lost;
    w->journal.on_drained = on_drained;
    w->journal.on_closed = on_closed;
    w->pods_info.id.name = "pods";
    w->nodes_info.id.name = "nodes";
    w->pods = (struct journal_watch){.info = &w->pods_info, .on_hold = on_hold};
    w->nodes = (struct journal_watch){.info = &w->nodes_info, .on_hold = on_hold};
    journal_watch_add(&w->journal, &w->pods);
    journal_watch_add(&w->journal, &w->nodes);
    *state = w;
    return 0;
}

int journal_world_tear_down(void **state)
{
    struct journal_world *w = *state;
    w->disk.frozen = w->state_disk.frozen = false;
    if (!w->closed)
        journal_close(&w->journal);
    sim_run(&w->sim);
    assert_true(w->closed);
    journal_watch_remove(&w->pods);
    journal_watch_remove(&w->nodes);
    fake_disk_done(&w->disk);
    fake_disk_done(&w->state_disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    folder_remove(&w->state_dir);
    buf_free(&w->logged);
    free(w->paths[0]);
    free(w->paths[1]);
    free(w);
    return 0;
}

struct event_log_settings journal_world_settings(const char *path)
{
    return (struct event_log_settings){.sink.target = path, .filter.initial = true};
}

void journal_world_set_logs(struct journal_world *w, const struct event_log_settings *settings,
                            size_t n)
{
    struct inf_error err;
    if (journal_set_logs(&w->journal, settings, n, &err) < 0)
        fail_msg("%s", err.text);
    sim_run(&w->sim);
}

void journal_world_log_all(struct journal_world *w)
{
    struct event_log_settings settings = journal_world_settings(w->paths[0]);
    journal_world_set_logs(w, &settings, 1);
}

void journal_world_change(struct journal_world *w, struct journal_watch *watch, const char *before,
                          const char *after)
{
    struct sample sample;
    sample_pod(&sample, before, after);
    journal_event(&w->journal, watch, &sample.event, NULL);
    sample_free(&sample);
}

void journal_world_flush(struct journal_world *w)
{
    journal_flush(&w->journal);
    sim_run(&w->sim);
}

static void put_text(struct buf *out, yyjson_val *record, const char *field)
{
    const char *text = yyjson_get_str(yyjson_obj_get(record, field));
    if (text)
        buf_printf(out, " %s", text);
}

/* Calls @put for each record of a file. The caller frees the result. */
static char *show_records(struct journal_world *w, const char *name,
                          void (*put)(struct buf *out, yyjson_val *record))
{
    char *text = folder_read(&w->folder, name), *rest = text, *line;
    struct buf out = {0};
    while ((line = strsep(&rest, "\n")) && *line) {
        yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
        yyjson_val *record = yyjson_doc_get_root(doc);
        assert_non_null(doc);
        assert_string_equal(yyjson_get_str(yyjson_obj_get(record, "log")), w->seq.log);
        put(&out, record);
        buf_puts(&out, "; ");
        yyjson_doc_free(doc);
    }
    buf_putc(&out, '\0');
    free(text);
    return out.bytes;
}

static void put_line(struct buf *out, yyjson_val *record)
{
    buf_printf(out, "%u", (unsigned)yyjson_get_uint(yyjson_obj_get(record, "seq")));
    put_text(out, record, "type");
    put_text(out, record, "watch");
    put_text(out, record, "reason");
}

char *journal_world_lines(struct journal_world *w, const char *name)
{
    return show_records(w, name, put_line);
}

static void put_versions(struct buf *out, yyjson_val *record)
{
    yyjson_val *ignored = yyjson_obj_get(record, "ignored");
    buf_puts(out, "rv");
    put_text(out, record, "rv");
    buf_puts(out, yyjson_obj_get(record, "old_rv") ? ", old_rv" : "");
    put_text(out, record, "old_rv");
    if (ignored)
        buf_printf(out, ", ignored %u", (unsigned)yyjson_get_uint(ignored));
}

void assert_versions(struct journal_world *w, const char *name, const char *expected)
{
    char *versions = show_records(w, name, put_versions);
    assert_string_equal(versions, expected);
    free(versions);
}

void assert_lines(struct journal_world *w, const char *name, const char *expected)
{
    char *lines = journal_world_lines(w, name);
    assert_string_equal(lines, expected);
    free(lines);
}

void assert_logged(struct journal_world *w, const char *part)
{
    buf_putc(&w->logged, '\0');
    if (!strstr(w->logged.bytes, part))
        fail_msg("logged: %s", w->logged.bytes);
    buf_clear(&w->logged);
}

void assert_not_logged(struct journal_world *w, const char *part)
{
    buf_putc(&w->logged, '\0');
    w->logged.len--;
    if (strstr(w->logged.bytes, part))
        fail_msg("logged: %s", w->logged.bytes);
}

const struct disk_op *journal_world_op(struct journal_world *w, size_t n)
{
    for_each_log(log, &w->journal.logs)
        if (n-- == 0)
            return &container_of(log->sink, struct file_sink, sink)->file.op;
    return NULL;
}
