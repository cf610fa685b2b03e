/*
 * test_journal.c - one sequence, several logs: which log gets which line, and which watch is held.
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

#include "base/alloc.h"
#include "base/base.h"
#include "changes.h"
#include "daemon/journal/journal.h"
#include "journal_world.h"

/* ---- lines ---- */

static void a_change_has_the_same_number_in_each_log(void **state)
{
    const char *only_pods[] = {"pods"};
    struct journal_world *w = *state;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[1])};
    logs[1].filter.watches = only_pods;
    logs[1].filter.n_watches = 1;
    logs[1].filter.verbs = 1u << INF_MODIFIED;
    journal_world_set_logs(w, logs, 2);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_change(w, &w->pods, "'a':1", "'a':2");
    journal_world_change(w, &w->nodes, "'a':1", "'a':2");
    journal_world_change(w, &w->pods, "'a':2", NULL);
    journal_world_change(w, &w->pods, "'a':1", "'a':3");
    journal_world_flush(w);
    assert_lines(w, "a",
                 "1 ADDED pods; 2 MODIFIED pods; 3 MODIFIED nodes; 4 DELETED pods; "
                 "5 MODIFIED pods; ");
    assert_lines(w, "b", "2 MODIFIED pods; 5 MODIFIED pods; ");
    assert_int_equal(w->disk.calls[FAKE_WRITE], 2); /* one for each log */
    assert_int_equal(w->pods.events[INF_MODIFIED], 2);
    assert_int_equal(w->nodes.events[INF_MODIFIED], 1);
}

static void a_change_that_no_log_accepts_has_no_number(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    log.filter.verbs = 1u << INF_ADDED;
    log.notes = 1u << NOTE_GAP;
    journal_world_set_logs(w, &log, 1);
    journal_world_change(w, &w->pods, "'a':1", "'a':2");
    journal_start(&w->journal, "");
    journal_world_change(w, &w->pods, NULL, "'a':2");
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_int_equal(w->pods.events[INF_MODIFIED], 0);
}

static void heartbeats_are_counted_where_they_are_ignored(void **state)
{
    static const char before[] = "'status':{'checked':'2026-01-01T00:00:00Z'}";
    static const char after[] = "'status':{'checked':'2026-01-01T00:00:09Z'}";
    struct journal_world *w = *state;
    journal_world_log_all(w);
    w->pods_info.ignore_heartbeats = true;
    journal_world_change(w, &w->pods, before, after);
    journal_world_change(w, &w->nodes, before, after);
    journal_world_change(w, &w->pods, NULL, after);
    journal_world_flush(w);
    assert_lines(w, "a", "1 MODIFIED nodes; 2 ADDED pods; ");
    assert_int_equal(w->pods.events[INF_MODIFIED], 0);
    assert_int_equal(w->pods.heartbeats, 1);
    assert_int_equal(w->nodes.heartbeats, 0);
}

static void a_level_below_the_minimum_of_all_logs_takes_no_number(void **state)
{
    static const char good[] = "'status':{'phase':'Running'}",
                      bad[] = "'status':{'phase':'Failed'}";
    struct journal_world *w = *state;
    struct event_log_settings settings[] = {journal_world_settings(w->paths[0]),
                                            journal_world_settings(w->paths[1])};
    settings[0].filter.level = INF_LOG_ERROR;
    settings[1].filter.level = INF_LOG_WARN;
    journal_world_set_logs(w, settings, 2);
    journal_set_levels(&w->journal, level_rules_make(NULL, 0, NULL));
    journal_world_change(w, &w->pods, NULL, good);
    journal_world_change(w, &w->pods, good, bad); /* pod-failed: warn */
    journal_world_change(w, &w->pods, bad, good);
    journal_world_flush(w);
    assert_lines(w, "a", "");
    assert_lines(w, "b", "1 MODIFIED pods; ");
    assert_int_equal(w->pods.events[INF_ADDED], 0);
    assert_int_equal(w->pods.events[INF_MODIFIED], 1);
}

/* Each state has the next resource version; NULL ends the list. */
static void report_states(struct journal_world *w, const char *const *states)
{
    for (int rv = 2; states[1]; states++, rv++) {
        struct sample sample;
        sample_pod_at(&sample, states[0], states[1], rv);
        journal_event(&w->journal, &w->pods, &sample.event, NULL);
        sample_free(&sample);
    }
    journal_world_flush(w);
}

#define CHECKED(second) "'status':{'checked':'2026-01-01T00:00:0" second "Z'}"

static void old_rv_is_that_of_the_last_record(void **state)
{
    static const char *const states[] = {CHECKED("1"),          CHECKED("2"),          CHECKED("3"),
                                         CHECKED("3") ",'a':1", CHECKED("3") ",'a':2", NULL};
    struct journal_world *w = *state;
    journal_world_log_all(w);
    w->pods_info.ignore_heartbeats = true;
    report_states(w, states);
    assert_versions(w, "a", "rv 4, old_rv 1, ignored 2; rv 5, old_rv 4; ");
    assert_null(w->pods.ignored.by_key.root);
}

static void updates_that_change_nothing_are_counted_not_reported(void **state)
{
    static const char *const states[] = {"'a':1", "'a':1", "'a':1", "'a':2", NULL};
    struct journal_world *w = *state;
    journal_world_log_all(w);
    w->pods_info.ignore_unchanged = true;
    report_states(w, states);
    assert_versions(w, "a", "rv 4, old_rv 1, ignored 2; ");
    assert_int_equal(w->pods.unchanged, 2);
    assert_int_equal(w->pods.heartbeats, 0);
}

static void updates_that_change_nothing_are_reported_if_nothing_is_ignored(void **state)
{
    static const char *const states[] = {"'a':1", "'a':1", NULL};
    struct journal_world *w = *state;
    journal_world_log_all(w);
    report_states(w, states);
    assert_versions(w, "a", "rv 2, old_rv 1; ");
}

static void ignored_updates_are_forgotten_with_the_object(void **state)
{
    static const char *const states[] = {"'a':1", "'a':1", NULL};
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    journal_world_set_logs(w, &log, 1);
    w->pods_info.ignore_unchanged = true;
    report_states(w, states);
    assert_non_null(w->pods.ignored.by_key.root);
    journal_world_change(w, &w->pods, "'a':1", NULL);
    assert_null(w->pods.ignored.by_key.root);
    log.filter.verbs = 1u << INF_MODIFIED; /* no log accepts the deletion */
    journal_world_set_logs(w, &log, 1);
    report_states(w, states);
    assert_non_null(w->pods.ignored.by_key.root);
    journal_world_change(w, &w->pods, "'a':1", NULL);
    assert_null(w->pods.ignored.by_key.root);
    report_states(w, states); /* freed with the watch; the leak sanitizer checks that */
}

static void resyncs_are_not_written(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    struct sample sample;
    journal_world_set_logs(w, &log, 1);
    sample_pod(&sample, "'a':1", "'a':1");
    sample.event.origin = INF_RESYNC;
    journal_event(&w->journal, &w->pods, &sample.event, NULL);
    sample_free(&sample);
    journal_world_flush(w);
    assert_lines(w, "a", "");
}

static void daemon_records_go_to_logs_that_accept_their_watch(void **state)
{
    const char *only_nodes[] = {"nodes"};
    struct journal_world *w = *state;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[1])};
    logs[1].filter.watches = only_nodes;
    logs[1].filter.n_watches = 1;
    journal_world_set_logs(w, logs, 2);
    journal_start(&w->journal, "");
    journal_synced(&w->journal, &w->pods, 3, "812");
    journal_gap(&w->journal, &w->pods, NULL,
                &(struct inf_gap){.reason = INF_GAP_RELIST, .text = "x"});
    journal_gap(&w->journal, &w->nodes, NULL,
                &(struct inf_gap){.reason = INF_GAP_REWIND, .text = "x"});
    journal_freshness(&w->journal, &w->pods, NULL,
                      &(struct inf_freshness){.stale = true, .text = "x"});
    journal_freshness(&w->journal, &w->pods, NULL,
                      &(struct inf_freshness){.stale = false, .text = "x"});
    journal_stop(&w->journal, "stopped");
    sim_run(&w->sim);
    assert_lines(w, "a",
                 "1 START; 2 SYNCED pods; 3 RELIST pods; 4 GAP nodes rewind; 5 STALE pods; "
                 "6 RECOVERED pods; 7 STOP; ");
    assert_lines(w, "b", "1 START; 4 GAP nodes rewind; 7 STOP; ");
    assert_int_equal(w->pods.gaps, 1);
}

static void synced_has_no_version_if_there_are_several_streams(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    log.format = &text_format;
    journal_world_set_logs(w, &log, 1);
    journal_synced(&w->journal, &w->pods, 3, "812");
    journal_synced(&w->journal, &w->pods, 1, NULL);
    journal_world_flush(w);
    assert_file(
        &w->folder, "a",
        "00:00:00 SYNCED   pods                              initial sync complete: 3 objects at resourceVersion 812\n"
        "00:00:00 SYNCED   pods                              initial sync complete: 1 object\n");
}

static void start_after_a_crash_has_a_reason(void **state)
{
    struct journal_world *w = *state;
    journal_world_log_all(w);
    w->seq.skipped = true;
    journal_start(&w->journal, "");
    sim_run(&w->sim);
    assert_lines(w, "a", "1 START seq-skipped; ");
}

static void the_short_format_is_written(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    log.format = &text_format;
    log.record.width = 60;
    journal_world_set_logs(w, &log, 1);
    journal_world_change(w, &w->pods, "'a':1", NULL);
    journal_stop(&w->journal, "stopped");
    sim_run(&w->sim);
    assert_file(&w->folder, "a",
                "12:04:31 DELETED  pod shop/web-0\n"
                "00:00:00 STOP     stopped\n");
}

/* Only objects are in such a log; a gap is logged. */
static void a_format_for_objects_has_no_notes(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    const struct inf_gap gap = {.reason = INF_GAP_SKIPPED, .text = "an object is too large"};
    log.format = &columns_format;
    log.format_argument = "NAME:.metadata.name";
    journal_world_set_logs(w, &log, 1);
    journal_start(&w->journal, "");
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_set_logs(w, &log, 1); /* a reload writes no second header */
    journal_world_change(w, &w->pods, "'a':1", "'a':2");
    journal_gap(&w->journal, &w->pods, NULL, &gap);
    journal_stop(&w->journal, "stopped");
    sim_run(&w->sim);
    assert_file(&w->folder, "a", "NAME\nweb-0\nweb-0\n");
    assert_logged(w, "pods: an object is too large");
}

static void no_line_is_written_before_its_number_is_reserved(void **state)
{
    struct journal_world *w = *state;
    journal_world_log_all(w);
    w->state_disk.frozen = true;
    w->seq.next = w->seq.reserved - 1;
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    assert_lines(w, "a", "16777216 ADDED pods; ");
    journal_world_change(w, &w->pods, "'a':1", "'a':2");
    journal_world_flush(w);
    assert_lines(w, "a", "16777216 ADDED pods; ");
    w->state_disk.frozen = false;
    sim_run(&w->sim);
    assert_lines(w, "a", "16777216 ADDED pods; 16777217 MODIFIED pods; ");
}

static void failures_of_the_sequence_are_logged(void **state)
{
    struct journal_world *w = *state;
    w->state_disk.fail[FAKE_OPEN] = -ENOSPC;
    w->seq.next = w->seq.reserved;
    seq_take(&w->seq);
    sim_run(&w->sim);
    assert_logged(w, "cannot reserve sequence numbers: No space left on device");
    w->state_disk.fail[FAKE_OPEN] = 0;
    sim_advance(&w->sim, 1000);
    assert_logged(w, "can be reserved again");
}

/* ---- holding ---- */

/* Reports changes of 14 KiB until @bytes more are unwritten. */
static void fill_logs(struct journal_world *w, struct journal_watch *watch, size_t bytes)
{
    char *before = xasprintf("'a':'%07000d'", 1), *after = xasprintf("'a':'%07000d'", 2);
    struct journal_stats start, stats;
    journal_stats(&w->journal, &start);
    do {
        journal_world_change(w, watch, before, after);
        journal_stats(&w->journal, &stats);
    } while (stats.unwritten - start.unwritten < bytes);
    journal_world_flush(w);
    free(before);
    free(after);
}

static void a_full_log_holds_the_watches_that_write_to_it(void **state)
{
    const char *only_pods[] = {"pods"};
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    struct journal_watch late = {.info = &w->pods_info, .on_hold = w->pods.on_hold};
    struct journal_stats stats;
    log.filter.watches = only_pods;
    log.filter.n_watches = 1;
    journal_world_set_logs(w, &log, 1);
    w->disk.frozen = true;
    fill_logs(w, &w->pods, 1);
    fill_logs(w, &w->pods, EVENT_LOG_HIGH);
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

static void watches_are_held_while_numbers_can_t_be_reserved(void **state)
{
    struct journal_world *w = *state;
    journal_world_log_all(w);
    w->state_disk.frozen = true;
    w->seq.next = w->seq.reserved;
    fill_logs(w, &w->pods, EVENT_LOG_HIGH);
    assert_true(w->pods.held);
    assert_lines(w, "a", "");
    w->state_disk.frozen = false;
    sim_run(&w->sim);
    assert_false(w->pods.held);
}

static void a_removed_log_holds_no_watch(void **state)
{
    struct journal_world *w = *state;
    journal_world_log_all(w);
    w->disk.space = 0;
    fill_logs(w, &w->pods, 1);
    fill_logs(w, &w->pods, EVENT_LOG_HIGH);
    assert_true(w->pods.held);
    journal_world_set_logs(w, NULL, 0);
    assert_false(w->pods.held);
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS);
    assert_logged(w, "bytes not written");
}

static void dropped_notes_are_counted_and_reported_by_a_gap(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    struct journal_stats stats;
    char *lines, *gap;
    journal_world_set_logs(w, &log, 1);
    w->disk.frozen = true;
    fill_logs(w, &w->pods, 1);
    fill_logs(w, &w->pods, EVENT_LOG_MAX);
    journal_stop(&w->journal, "lost");
    journal_stop(&w->journal, "lost");
    journal_stats(&w->journal, &stats);
    assert_int_equal(stats.dropped, 2);
    w->disk.frozen = false;
    sim_run(&w->sim);
    journal_world_change(w, &w->pods, "'a':1", NULL);
    journal_world_flush(w);
    lines = journal_world_lines(w, "a");
    assert_null(strstr(lines, "STOP"));
    gap = strstr(lines, " GAP dropped; ");
    assert_non_null(gap);
    strtoul(gap + strlen(" GAP dropped; "), &gap, 10);
    assert_string_equal(gap, " DELETED pods; ");
    free(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_JOURNAL_WORLD(a_change_has_the_same_number_in_each_log),
        IN_JOURNAL_WORLD(a_change_that_no_log_accepts_has_no_number),
        IN_JOURNAL_WORLD(heartbeats_are_counted_where_they_are_ignored),
        IN_JOURNAL_WORLD(a_level_below_the_minimum_of_all_logs_takes_no_number),
        IN_JOURNAL_WORLD(old_rv_is_that_of_the_last_record),
        IN_JOURNAL_WORLD(updates_that_change_nothing_are_counted_not_reported),
        IN_JOURNAL_WORLD(updates_that_change_nothing_are_reported_if_nothing_is_ignored),
        IN_JOURNAL_WORLD(ignored_updates_are_forgotten_with_the_object),
        IN_JOURNAL_WORLD(resyncs_are_not_written),
        IN_JOURNAL_WORLD(daemon_records_go_to_logs_that_accept_their_watch),
        IN_JOURNAL_WORLD(synced_has_no_version_if_there_are_several_streams),
        IN_JOURNAL_WORLD(start_after_a_crash_has_a_reason),
        IN_JOURNAL_WORLD(the_short_format_is_written),
        IN_JOURNAL_WORLD(a_format_for_objects_has_no_notes),
        IN_JOURNAL_WORLD(no_line_is_written_before_its_number_is_reserved),
        IN_JOURNAL_WORLD(failures_of_the_sequence_are_logged),
        IN_JOURNAL_WORLD(a_full_log_holds_the_watches_that_write_to_it),
        IN_JOURNAL_WORLD(watches_are_held_while_numbers_can_t_be_reserved),
        IN_JOURNAL_WORLD(a_removed_log_holds_no_watch),
        IN_JOURNAL_WORLD(dropped_notes_are_counted_and_reported_by_a_gap),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
