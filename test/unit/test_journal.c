/*
 * test_journal.c - one sequence, several outputs: who gets which line, who waits, and what a reload
 * leaves alone.
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
#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "changes.h"
#include "daemon/journal.h"
#include "fake_disk.h"
#include "folder.h"

struct world {
    struct sim sim;
    struct fake_disk disk;
    struct fake_disk state_disk;
    struct folder folder;
    struct folder state_dir;
    struct seq seq;
    struct journal journal;
    struct journal_watch pods, nodes;
    struct buf said;
    char *paths[2];
    int drained, lost;
    bool closed;
};

static struct world *world_of(struct journal *journal)
{
    return container_of(journal, struct world, journal);
}

static void on_hold(struct journal_watch *watch, bool hold)
{
    (void)watch;
    (void)hold; /* watch->held has it */
}

static void log_line(void *owner, enum inf_log_level level, const char *line)
{
    struct world *w = owner;
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

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
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
    w->pods = (struct journal_watch){.id.name = "pods", .on_hold = on_hold};
    w->nodes = (struct journal_watch){.id.name = "nodes", .on_hold = on_hold};
    journal_watch_add(&w->journal, &w->pods);
    journal_watch_add(&w->journal, &w->nodes);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    w->disk.frozen = w->state_disk.frozen = false;
    if (!w->closed)
        journal_close(&w->journal);
    sim_run(&w->sim);
    assert_true(w->closed);
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

static struct journal_output_settings all_to(const char *path)
{
    return (struct journal_output_settings){.file.path = path, .filter.initial = true};
}

static void set_outputs(struct world *w, const struct journal_output_settings *settings, size_t n)
{
    struct inf_error err;
    if (journal_set_outputs(&w->journal, settings, n, &err) < 0)
        fail_msg("%s", err.text);
    sim_run(&w->sim);
}

static void tell(struct world *w, struct journal_watch *watch, const char *before,
                 const char *after)
{
    struct sample sample;
    sample_pod(&sample, before, after);
    journal_event(&w->journal, watch, &sample.event);
    sample_free(&sample);
}

static void flush(struct world *w)
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

/* The records of a file in short: "<seq> <type>[ <watch>][ <reason>]; " each. */
static char *lines_of(struct world *w, const char *name)
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

static void assert_lines(struct world *w, const char *name, const char *expected)
{
    char *lines = lines_of(w, name);
    assert_string_equal(lines, expected);
    free(lines);
}

static void assert_said(struct world *w, const char *part)
{
    buf_putc(&w->said, '\0');
    if (!strstr(w->said.bytes, part))
        fail_msg("said: %s", w->said.bytes);
    buf_clear(&w->said);
}

/* ---- lines ---- */

static void one_sequence_seen_through_filters(void **state)
{
    const char *only_pods[] = {"pods"};
    struct world *w = *state;
    struct journal_output_settings outputs[] = {all_to(w->paths[0]), all_to(w->paths[1])};
    outputs[1].filter.watches = only_pods;
    outputs[1].filter.n_watches = 1;
    outputs[1].filter.verbs = 1u << INF_MODIFIED;
    set_outputs(w, outputs, 2);
    tell(w, &w->pods, NULL, "'a':1");
    tell(w, &w->pods, "'a':1", "'a':2");
    tell(w, &w->nodes, "'a':1", "'a':2");
    tell(w, &w->pods, "'a':2", NULL);
    tell(w, &w->pods, "'a':1", "'a':3");
    flush(w);
    assert_lines(w, "a",
                 "1 ADDED pods; 2 MODIFIED pods; 3 MODIFIED nodes; 4 DELETED pods; "
                 "5 MODIFIED pods; ");
    assert_lines(w, "b", "2 MODIFIED pods; 5 MODIFIED pods; ");
    assert_int_equal(w->disk.calls[FAKE_WRITE], 2); /* one for each output */
    assert_int_equal(w->pods.events[INF_MODIFIED], 2);
    assert_int_equal(w->nodes.events[INF_MODIFIED], 1);
}

static void what_nobody_wants_has_no_number(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    output.filter.verbs = 1u << INF_ADDED;
    output.notes = 1u << NOTE_GAP;
    set_outputs(w, &output, 1);
    tell(w, &w->pods, "'a':1", "'a':2");
    journal_start(&w->journal);
    tell(w, &w->pods, NULL, "'a':2");
    flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_int_equal(w->pods.events[INF_MODIFIED], 0);
}

static void heartbeats_are_counted_where_they_are_ignored(void **state)
{
    static const char before[] = "'status':{'checked':'2026-01-01T00:00:00Z'}";
    static const char after[] = "'status':{'checked':'2026-01-01T00:00:09Z'}";
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    set_outputs(w, &output, 1);
    w->pods.ignore_heartbeats = true;
    tell(w, &w->pods, before, after);
    tell(w, &w->nodes, before, after);
    tell(w, &w->pods, NULL, after);
    flush(w);
    assert_lines(w, "a", "1 MODIFIED nodes; 2 ADDED pods; ");
    assert_int_equal(w->pods.events[INF_MODIFIED], 0);
    assert_int_equal(w->pods.heartbeats, 1);
    assert_int_equal(w->nodes.heartbeats, 0);
}

static void resyncs_are_no_changes(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    struct sample sample;
    set_outputs(w, &output, 1);
    sample_pod(&sample, "'a':1", "'a':1");
    sample.event.origin = INF_RESYNC;
    journal_event(&w->journal, &w->pods, &sample.event);
    sample_free(&sample);
    flush(w);
    assert_lines(w, "a", "");
}

static void what_the_daemon_says_itself(void **state)
{
    const char *only_nodes[] = {"nodes"};
    struct world *w = *state;
    struct journal_output_settings outputs[] = {all_to(w->paths[0]), all_to(w->paths[1])};
    outputs[1].filter.watches = only_nodes;
    outputs[1].filter.n_watches = 1;
    set_outputs(w, outputs, 2);
    journal_start(&w->journal);
    journal_synced(&w->journal, &w->pods, 3, "812");
    journal_gap(&w->journal, &w->pods, &(struct inf_gap){.reason = INF_GAP_RELIST, .text = "x"});
    journal_gap(&w->journal, &w->nodes, &(struct inf_gap){.reason = INF_GAP_REWIND, .text = "x"});
    journal_freshness(&w->journal, &w->pods, &(struct inf_freshness){.stale = true, .text = "x"});
    journal_freshness(&w->journal, &w->pods, &(struct inf_freshness){.stale = false, .text = "x"});
    journal_stop(&w->journal, "told to");
    sim_run(&w->sim);
    assert_lines(w, "a",
                 "1 START; 2 SYNCED pods; 3 RELIST pods; 4 GAP nodes rewind; 5 STALE pods; "
                 "6 RECOVERED pods; 7 STOP; ");
    assert_lines(w, "b", "1 START; 4 GAP nodes rewind; 7 STOP; ");
    assert_int_equal(w->pods.gaps, 1);
}

static void several_streams_are_at_no_version(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    output.form = JOURNAL_SHORT;
    set_outputs(w, &output, 1);
    journal_synced(&w->journal, &w->pods, 3, "812");
    journal_synced(&w->journal, &w->pods, 1, NULL);
    flush(w);
    assert_file(
        &w->folder, "a",
        "00:00:00 SYNCED   pods                              all 3 objects are told, at version 812\n"
        "00:00:00 SYNCED   pods                              the one object is told\n");
}

static void a_start_after_a_crash_says_so(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    set_outputs(w, &output, 1);
    w->seq.skipped = true;
    journal_start(&w->journal);
    sim_run(&w->sim);
    assert_lines(w, "a", "1 START seq-skipped; ");
}

static void lines_for_people(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    output.form = JOURNAL_SHORT;
    output.short_format.width = 40;
    set_outputs(w, &output, 1);
    tell(w, &w->pods, "'a':1", NULL);
    journal_stop(&w->journal, "told to");
    sim_run(&w->sim);
    assert_file(&w->folder, "a",
                "12:04:31 DELETED  pod shop/web-0\n"
                "00:00:00 STOP     told to\n");
}

static void nothing_is_seen_before_its_number_is_reserved(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    set_outputs(w, &output, 1);
    w->state_disk.frozen = true;
    w->seq.next = w->seq.reserved - 1;
    tell(w, &w->pods, NULL, "'a':1");
    flush(w);
    assert_lines(w, "a", "65536 ADDED pods; ");
    tell(w, &w->pods, "'a':1", "'a':2");
    flush(w);
    assert_lines(w, "a", "65536 ADDED pods; ");
    w->state_disk.frozen = false;
    sim_run(&w->sim);
    assert_lines(w, "a", "65536 ADDED pods; 65537 MODIFIED pods; ");
}

static void trouble_with_the_sequence_is_said(void **state)
{
    struct world *w = *state;
    w->state_disk.fail[FAKE_OPEN] = UV_ENOSPC;
    w->seq.next = w->seq.reserved;
    seq_take(&w->seq);
    sim_run(&w->sim);
    assert_said(w, "can't reserve numbers: No space left on device");
    w->state_disk.fail[FAKE_OPEN] = 0;
    sim_advance(&w->sim, 1000);
    assert_said(w, "works again");
}

/* ---- holding ---- */

/* Changes of 14 KiB until so many bytes more wait. */
static void fill(struct world *w, struct journal_watch *watch, size_t bytes)
{
    char *before = xasprintf("'a':'%07000d'", 1), *after = xasprintf("'a':'%07000d'", 2);
    struct journal_stats start, stats;
    journal_stats(&w->journal, &start);
    do {
        tell(w, watch, before, after);
        journal_stats(&w->journal, &stats);
    } while (stats.unwritten - start.unwritten < bytes);
    flush(w);
    free(before);
    free(after);
}

static void who_feeds_a_full_output_waits(void **state)
{
    const char *only_pods[] = {"pods"};
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    struct journal_watch late = {.id.name = "pods", .on_hold = on_hold};
    struct journal_stats stats;
    output.filter.watches = only_pods;
    output.filter.n_watches = 1;
    set_outputs(w, &output, 1);
    w->disk.frozen = true;
    fill(w, &w->pods, 1);
    fill(w, &w->pods, OUTPUT_HIGH);
    assert_true(w->pods.held);
    assert_false(w->nodes.held);
    journal_watch_add(&w->journal, &late);
    assert_true(late.held);
    journal_watch_remove(&late);
    journal_stats(&w->journal, &stats);
    assert_int_equal(stats.held, 1);
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_false(w->pods.held);
}

static void who_would_outrun_the_sequence_waits(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    set_outputs(w, &output, 1);
    w->state_disk.frozen = true;
    w->seq.next = w->seq.reserved;
    fill(w, &w->pods, OUTPUT_HIGH);
    assert_true(w->pods.held);
    assert_lines(w, "a", "");
    w->state_disk.frozen = false;
    sim_run(&w->sim);
    assert_false(w->pods.held);
}

static void an_output_that_goes_lets_go(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    set_outputs(w, &output, 1);
    w->disk.space = 0;
    fill(w, &w->pods, 1);
    fill(w, &w->pods, OUTPUT_HIGH);
    assert_true(w->pods.held);
    set_outputs(w, NULL, 0);
    assert_false(w->pods.held);
    assert_said(w, "bytes not written");
}

static void notes_without_room_are_counted_and_told(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    struct journal_stats stats;
    char *lines, *gap;
    set_outputs(w, &output, 1);
    w->disk.frozen = true;
    fill(w, &w->pods, 1);
    fill(w, &w->pods, OUTPUT_MAX);
    journal_stop(&w->journal, "lost");
    journal_stop(&w->journal, "lost");
    journal_stats(&w->journal, &stats);
    assert_int_equal(stats.dropped, 2);
    w->disk.frozen = false;
    sim_run(&w->sim);
    tell(w, &w->pods, "'a':1", NULL);
    flush(w);
    lines = lines_of(w, "a");
    assert_null(strstr(lines, "STOP"));
    gap = strstr(lines, " GAP dropped; ");
    assert_non_null(gap);
    strtoul(gap + strlen(" GAP dropped; "), &gap, 10);
    assert_string_equal(gap, " DELETED pods; ");
    free(lines);
}

/* ---- outputs come and go ---- */

static void a_reload_touches_only_what_changed(void **state)
{
    struct world *w = *state;
    struct journal_output_settings outputs[] = {all_to(w->paths[0]), all_to(w->paths[1])};
    struct journal_stats before, after;
    unsigned opened;
    set_outputs(w, outputs, 2);
    opened = w->disk.calls[FAKE_OPEN];
    tell(w, &w->pods, NULL, "'a':1");
    outputs[0].filter.verbs = 1u << INF_DELETED;
    set_outputs(w, outputs, 2);
    assert_int_equal(w->disk.calls[FAKE_OPEN], opened);
    tell(w, &w->pods, "'a':1", "'a':2");
    flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_lines(w, "b", "1 ADDED pods; 2 MODIFIED pods; ");
    journal_stats(&w->journal, &before);
    set_outputs(w, &outputs[1], 1);
    journal_stats(&w->journal, &after);
    assert_int_equal(after.outputs, 1);
    assert_true(before.bytes > 0 && after.bytes == before.bytes); /* a counter never goes back */
    tell(w, &w->pods, "'a':2", NULL);
    flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_lines(w, "b", "1 ADDED pods; 2 MODIFIED pods; 3 DELETED pods; ");
    set_outputs(w, outputs, 2); /* it comes back */
    tell(w, &w->pods, "'a':2", NULL);
    flush(w);
    assert_lines(w, "a", "1 ADDED pods; 4 DELETED pods; ");
}

static void a_bad_reload_changes_nothing(void **state)
{
    struct world *w = *state;
    struct journal_output_settings outputs[] = {all_to(w->paths[0]), all_to(w->paths[0])};
    struct inf_error err;
    set_outputs(w, outputs, 1);
    assert_int_equal(journal_set_outputs(&w->journal, outputs, 2, &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, "there twice"));
    outputs[1].file.path = w->paths[1];
    outputs[1].filter.labels = "in (";
    assert_int_equal(journal_set_outputs(&w->journal, outputs, 2, &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, w->paths[1]));
    tell(w, &w->pods, NULL, "'a':1");
    flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_file(&w->folder, "b", "(none)");
}

static void all_files_are_opened_anew(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    set_outputs(w, &output, 1);
    tell(w, &w->pods, NULL, "'a':1");
    flush(w);
    rename(w->paths[0], w->paths[1]);
    journal_reopen(&w->journal);
    sim_run(&w->sim);
    tell(w, &w->pods, "'a':1", NULL);
    flush(w);
    assert_lines(w, "b", "1 ADDED pods; ");
    assert_lines(w, "a", "2 DELETED pods; ");
}

/* ---- the end ---- */

static void drained_when_all_is_written(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = all_to(w->paths[0]);
    set_outputs(w, &output, 1);
    tell(w, &w->pods, NULL, "'a':1");
    journal_drain(&w->journal);
    assert_int_equal(w->drained, 0);
    sim_run(&w->sim);
    assert_int_equal(w->drained, 1);
    assert_lines(w, "a", "1 ADDED pods; ");
    journal_drain(&w->journal); /* there is nothing to do: at once */
    assert_int_equal(w->drained, 2);
    journal_close(&w->journal);
    sim_run(&w->sim);
    assert_file(&w->state_dir, "seq", "2 closed\n");
}

static void closed_at_whatever_it_is(void **state)
{
    struct world *w = *state;
    struct journal_output_settings outputs[] = {all_to(w->paths[0]), all_to(w->paths[1])};
    set_outputs(w, outputs, 2);
    w->disk.space = 10;
    tell(w, &w->pods, NULL, "'a':1");
    flush(w);
    journal_close(&w->journal);
    sim_run(&w->sim);
    assert_true(w->closed);
    assert_said(w, "bytes not written");
}

static void a_lost_descriptor_is_told(void **state)
{
    struct world *w = *state;
    struct journal_output_settings output = {.file.fd = 1};
    set_outputs(w, &output, 1);
    w->disk.fail[FAKE_WRITE] = UV_EPIPE;
    tell(w, &w->pods, NULL, "'a':1");
    journal_drain(&w->journal);
    sim_run(&w->sim);
    assert_int_equal(w->lost, UV_EPIPE);
    assert_int_equal(w->drained, 1);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(one_sequence_seen_through_filters),
        IN_WORLD(what_nobody_wants_has_no_number),
        IN_WORLD(heartbeats_are_counted_where_they_are_ignored),
        IN_WORLD(resyncs_are_no_changes),
        IN_WORLD(what_the_daemon_says_itself),
        IN_WORLD(several_streams_are_at_no_version),
        IN_WORLD(a_start_after_a_crash_says_so),
        IN_WORLD(lines_for_people),
        IN_WORLD(nothing_is_seen_before_its_number_is_reserved),
        IN_WORLD(trouble_with_the_sequence_is_said),
        IN_WORLD(who_feeds_a_full_output_waits),
        IN_WORLD(who_would_outrun_the_sequence_waits),
        IN_WORLD(an_output_that_goes_lets_go),
        IN_WORLD(notes_without_room_are_counted_and_told),
        IN_WORLD(a_reload_touches_only_what_changed),
        IN_WORLD(a_bad_reload_changes_nothing),
        IN_WORLD(all_files_are_opened_anew),
        IN_WORLD(drained_when_all_is_written),
        IN_WORLD(closed_at_whatever_it_is),
        IN_WORLD(a_lost_descriptor_is_told),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
