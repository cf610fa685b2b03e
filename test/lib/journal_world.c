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
#include "daemon/journal/outlet.h"

static struct journal_world *world_of(struct journal *journal)
{
    return container_of(journal, struct journal_world, journal);
}

static void on_hold(struct journal_watch *watch, bool hold)
{
    (void)watch;
    (void)hold; /* watch->held has it */
}

static void log_line(void *owner, enum inf_log_level level, const char *line)
{
    struct journal_world *w = owner;
    buf_printf(&w->said, "%d %s\n", (int)level, line);
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
    w->journal.log = log_line;
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
    buf_free(&w->said);
    free(w->paths[0]);
    free(w->paths[1]);
    free(w);
    return 0;
}

struct journal_output_settings world_all_to(const char *path)
{
    return (struct journal_output_settings){.file.path = path, .filter.initial = true};
}

void world_set_outputs(struct journal_world *w, const struct journal_output_settings *settings,
                       size_t n)
{
    struct inf_error err;
    if (journal_set_outputs(&w->journal, settings, n, &err) < 0)
        fail_msg("%s", err.text);
    sim_run(&w->sim);
}

void world_tell(struct journal_world *w, struct journal_watch *watch, const char *before,
                const char *after)
{
    struct sample sample;
    sample_pod(&sample, before, after);
    journal_event(&w->journal, watch, &sample.event, NULL);
    sample_free(&sample);
}

void world_flush(struct journal_world *w)
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

char *world_lines(struct journal_world *w, const char *name)
{
    char *text = folder_read(&w->folder, name), *rest = text, *line;
    struct buf out = {0};
    while ((line = strsep(&rest, "\n")) && *line) {
        yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        assert_non_null(doc);
        assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "log")), w->seq.log);
        buf_printf(&out, "%u", (unsigned)yyjson_get_uint(yyjson_obj_get(root, "seq")));
        put_text(&out, root, "type");
        put_text(&out, root, "watch");
        put_text(&out, root, "reason");
        buf_puts(&out, "; ");
        yyjson_doc_free(doc);
    }
    buf_putc(&out, '\0');
    free(text);
    return out.bytes;
}

static void put_versions(struct buf *out, yyjson_val *record)
{
    yyjson_val *left_out = yyjson_obj_get(record, "ignored");
    buf_puts(out, "rv");
    put_text(out, record, "rv");
    buf_puts(out, yyjson_obj_get(record, "old_rv") ? ", old_rv" : "");
    put_text(out, record, "old_rv");
    if (left_out)
        buf_printf(out, ", ignored %u", (unsigned)yyjson_get_uint(left_out));
    buf_puts(out, "; ");
}

void assert_versions(struct journal_world *w, const char *name, const char *expected)
{
    char *text = folder_read(&w->folder, name), *rest = text, *line;
    struct buf out = {0};
    while ((line = strsep(&rest, "\n")) && *line) {
        yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
        assert_non_null(doc);
        put_versions(&out, yyjson_doc_get_root(doc));
        yyjson_doc_free(doc);
    }
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
    free(text);
}

void assert_lines(struct journal_world *w, const char *name, const char *expected)
{
    char *lines = world_lines(w, name);
    assert_string_equal(lines, expected);
    free(lines);
}

void assert_said(struct journal_world *w, const char *part)
{
    buf_putc(&w->said, '\0');
    if (!strstr(w->said.bytes, part))
        fail_msg("said: %s", w->said.bytes);
    buf_clear(&w->said);
}

void assert_not_said(struct journal_world *w, const char *part)
{
    buf_putc(&w->said, '\0');
    w->said.len--;
    if (strstr(w->said.bytes, part))
        fail_msg("said: %s", w->said.bytes);
}

const struct disk_op *world_op(struct journal_world *w, size_t n)
{
    for_each_outlet(o, &w->journal)
        if (n-- == 0)
            return &o->output.file.op;
    return NULL;
}
