/*
 * test_journal_logs.c - adding and removing event logs: what a reload keeps, what a removed log still writes,
 * and closing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/pool.h"
#include "journal_world.h"

/* ---- reloads ---- */

static void a_reload_changes_only_what_differs(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[1])};
    struct journal_stats before, after;
    unsigned opened;
    journal_world_set_logs(w, logs, 2);
    opened = w->disk.calls[FAKE_OPEN];
    journal_world_change(w, &w->pods, NULL, "'a':1");
    logs[0].filter.verbs = 1u << INF_DELETED;
    journal_world_set_logs(w, logs, 2);
    assert_int_equal(w->disk.calls[FAKE_OPEN], opened);
    journal_world_change(w, &w->pods, "'a':1", "'a':2");
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_lines(w, "b", "1 ADDED pods; 2 MODIFIED pods; ");
    journal_stats(&w->journal, &before);
    journal_world_set_logs(w, &logs[1], 1);
    journal_stats(&w->journal, &after);
    assert_int_equal(after.logs, 1);
    assert_true(before.bytes > 0 && after.bytes == before.bytes); /* a counter never decreases */
    journal_world_change(w, &w->pods, "'a':2", NULL);
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_lines(w, "b", "1 ADDED pods; 2 MODIFIED pods; 3 DELETED pods; ");
    journal_world_set_logs(w, logs, 2); /* added again */
    journal_world_change(w, &w->pods, "'a':2", NULL);
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 4 DELETED pods; ");
}

static void an_invalid_reload_changes_nothing(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[0])};
    struct inf_error err;
    journal_world_set_logs(w, logs, 1);
    assert_int_equal(journal_set_logs(&w->journal, logs, 2, &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, "configured twice"));
    logs[1].sink.target = w->paths[1];
    logs[1].filter.labels = "in (";
    assert_int_equal(journal_set_logs(&w->journal, logs, 2, &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, w->paths[1]));
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_file(&w->folder, "b", "(none)");
}

static void reopens_all_files_on_request(void **state)
{
    struct journal_world *w = *state;
    journal_world_log_all(w);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    rename(w->paths[0], w->paths[1]);
    journal_reopen(&w->journal);
    sim_run(&w->sim);
    journal_world_change(w, &w->pods, "'a':1", NULL);
    journal_world_flush(w);
    assert_lines(w, "b", "1 ADDED pods; ");
    assert_lines(w, "a", "2 DELETED pods; ");
}

/* A log is removed while it has lines in flight. */
static void remove_log_while_writing(struct journal_world *w)
{
    journal_world_log_all(w);
    sim_run(&w->sim);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_flush(&w->journal);
    journal_world_change(w, &w->pods, NULL, "'a':2"); /* collected meanwhile */
    w->disk.frozen = true;
    journal_world_set_logs(w, NULL, 0);
}

static void a_removed_log_writes_its_remaining_lines(void **state)
{
    struct journal_world *w = *state;
    remove_log_while_writing(w);
    journal_world_change(w, &w->pods, NULL, "'a':3"); /* after it was removed */
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; ");
    assert_true(list_empty(&w->journal.leaving));
}

static void remove_before_first_write(struct fake_disk *disk, enum fake_call call)
{
    struct journal_world *w = container_of(disk, struct journal_world, disk);
    if (call == FAKE_WRITE && disk->calls[FAKE_WRITE] == 0)
        unlink(w->paths[0]);
}

/* Only in the log whose file it was; the other one has all lines. */
static void lines_in_a_file_that_was_removed_are_reported_by_a_gap(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[1])};
    char *text;
    journal_world_set_logs(w, logs, 2);
    sim_run(&w->sim);
    w->disk.before_call = remove_before_first_write;
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_change(w, &w->pods, NULL, "'a':2");
    journal_world_flush(w);
    journal_world_change(w, &w->pods, NULL, "'a':3");
    journal_world_flush(w);
    assert_lines(w, "a", "3 GAP removed; 4 ADDED pods; ");
    assert_lines(w, "b", "1 ADDED pods; 2 ADDED pods; 4 ADDED pods; ");
    text = folder_read(&w->folder, "a");
    assert_non_null(strstr(text, "\"dropped\":2"));
    free(text);
}

static void a_removed_log_has_ten_seconds(void **state)
{
    struct journal_world *w = *state;
    struct journal_stats stats;
    remove_log_while_writing(w);
    journal_drain(&w->journal);
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS - 1);
    assert_int_equal(w->drained, 0);
    sim_advance(&w->sim, 1);
    assert_logged(w, "bytes not written");
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_int_equal(w->drained, 1);
    assert_true(list_empty(&w->journal.leaving));
    journal_stats(&w->journal, &stats);
    assert_int_equal(stats.unwritten, 0);
}

static void a_removed_log_that_fails_gives_up(void **state)
{
    struct journal_world *w = *state;
    w->disk.space = 10;
    remove_log_while_writing(w);
    w->disk.frozen = false;
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS - 1);
    assert_false(list_empty(&w->journal.leaving));
    sim_advance(&w->sim, 1);
    assert_logged(w, "2 lines are lost: No space left on device");
    assert_true(list_empty(&w->journal.leaving));
}

static void a_removed_log_that_recovers_writes_its_lines(void **state)
{
    struct journal_world *w = *state;
    w->disk.space = 10;
    remove_log_while_writing(w);
    w->disk.frozen = false;
    sim_advance(&w->sim, 2000);
    w->disk.space = (size_t)-1;
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS - 2000);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; ");
    assert_true(list_empty(&w->journal.leaving));
    assert_not_logged(w, "lost:");
}

static void a_log_that_is_added_again_continues_with_its_lines(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    remove_log_while_writing(w);
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS - 1);
    journal_world_set_logs(w, &log, 1);
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS);
    journal_world_change(w, &w->pods, NULL, "'a':3");
    w->disk.frozen = false;
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; 3 ADDED pods; ");
    assert_not_logged(w, "not written");
}

/* Its numbers are not reserved yet: the lines are written when they are. */
static void a_removed_log_waits_for_its_numbers(void **state)
{
    struct journal_world *w = *state;
    journal_world_log_all(w);
    w->state_disk.frozen = true;
    w->seq.next = w->seq.reserved;
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_set_logs(w, NULL, 0);
    assert_false(list_empty(&w->journal.leaving));
    w->state_disk.frozen = false;
    sim_run(&w->sim);
    assert_lines(w, "a", "16777217 ADDED pods; ");
    assert_true(list_empty(&w->journal.leaving));
}

static void lines_that_a_reload_lost_are_reported_by_a_gap(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[1])};
    logs[1].filter.verbs = 1u << INF_DELETED;
    journal_world_set_logs(w, logs, 2);
    w->disk.stuck = journal_world_op(w, 0);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_change(w, &w->pods, NULL, "'a':2");
    journal_world_flush(w);
    journal_world_set_logs(w, &logs[1], 1);
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS);
    assert_logged(w, "2 lines are lost");
    assert_lines(w, "b", "3 GAP unwritten; ");
    journal_world_set_logs(w, logs, 2); /* added again while the write is still in flight */
    assert_logged(w, "not opened yet");
    journal_world_change(w, &w->pods, "'a':2", NULL);
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; "); /* the write has succeeded after all */
    w->disk.stuck = NULL;
    sim_run(&w->sim);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; 4 GAP unwritten; 5 DELETED pods; ");
    assert_lines(w, "b", "3 GAP unwritten; 5 DELETED pods; ");
}

/* ---- logs that hang ---- */

static void a_log_that_hangs_delays_no_other(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[1])};
    journal_world_set_logs(w, logs, 2);
    w->disk.stuck = journal_world_op(w, 0);
    for (int i = 0; i < 3; i++) {
        journal_world_change(w, &w->pods, NULL, "'a':1");
        journal_world_flush(w);
    }
    assert_lines(w, "b", "1 ADDED pods; 2 ADDED pods; 3 ADDED pods; ");
    journal_world_set_logs(w, &logs[1], 1);
    journal_world_change(w, &w->pods, "'a':1", NULL);
    journal_world_flush(w);
    assert_lines(w, "b", "1 ADDED pods; 2 ADDED pods; 3 ADDED pods; 4 DELETED pods; ");
    w->disk.stuck = NULL;
}

/* Each removed log that hangs occupies a thread: a new one waits until one is free. */
static void a_new_log_waits_while_too_many_removed_ones_hang(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings logs[POOL_LOGS], other = journal_world_settings(w->paths[1]);
    char *paths[POOL_LOGS];
    for (int i = 0; i < POOL_LOGS; i++) {
        paths[i] = xasprintf("%s-%d", w->paths[0], i);
        logs[i] = journal_world_settings(paths[i]);
    }
    journal_world_set_logs(w, logs, POOL_LOGS);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    w->disk.frozen = true;
    journal_flush(&w->journal);
    journal_world_set_logs(w, NULL, 0);
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS);
    w->disk.frozen = false;
    w->disk.stuck_all = FAKE_WRITE;
    journal_world_set_logs(w, &other, 1);
    assert_logged(w, "/b: not opened yet; waiting until a removed event log is closed");
    journal_world_change(w, &w->pods, "'a':1", NULL);
    journal_world_flush(w);
    assert_file(&w->folder, "b", "(none)");
    w->disk.stuck_all = FAKE_CALLS;
    sim_run(&w->sim);
    assert_lines(w, "b", "2 DELETED pods; ");
    for (int i = 0; i < POOL_LOGS; i++)
        free(paths[i]);
}

/* Removed and added, twice, while the first file is still being closed. */
static void a_log_that_waits_for_its_path_may_be_removed_and_added(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    journal_world_set_logs(w, &log, 1);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    w->disk.stuck_all = FAKE_CLOSE;
    for (int i = 0; i < 2; i++) {
        journal_world_set_logs(w, NULL, 0);
        sim_advance(&w->sim, 1);
        journal_world_set_logs(w, &log, 1);
        journal_world_change(w, &w->pods, "'a':1", NULL);
        sim_advance(&w->sim, 1);
    }
    w->disk.stuck_all = FAKE_CALLS;
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS / 2);
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 DELETED pods; 3 DELETED pods; ");
}

static void can_be_closed_while_a_removed_log_finishes(void **state)
{
    struct journal_world *w = *state;
    remove_log_while_writing(w);
    journal_close(&w->journal);
    assert_logged(w, "bytes not written");
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_true(w->closed);
}

/* ---- draining and closing ---- */

static void is_drained_when_everything_is_written(void **state)
{
    struct journal_world *w = *state;
    journal_world_log_all(w);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_drain(&w->journal);
    assert_int_equal(w->drained, 0);
    sim_run(&w->sim);
    assert_int_equal(w->drained, 1);
    assert_lines(w, "a", "1 ADDED pods; ");
    journal_drain(&w->journal); /* at once: there is nothing to write */
    assert_int_equal(w->drained, 2);
    journal_close(&w->journal);
    sim_run(&w->sim);
    assert_file(&w->state_dir, "seq", "2 closed\n");
}

static void closing_reports_unwritten_lines(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[1])};
    journal_world_set_logs(w, logs, 2);
    w->disk.space = 10;
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    journal_close(&w->journal);
    sim_run(&w->sim);
    assert_true(w->closed);
    assert_logged(w, "bytes not written");
}

static void a_failed_descriptor_is_reported(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = {.sink = {.target = "stdout", .fd = 1}};
    journal_world_set_logs(w, &log, 1);
    w->disk.fail[FAKE_WRITE] = -EPIPE;
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_drain(&w->journal);
    sim_run(&w->sim);
    assert_int_equal(w->lost, -EPIPE);
    assert_int_equal(w->drained, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_JOURNAL_WORLD(a_reload_changes_only_what_differs),
        IN_JOURNAL_WORLD(an_invalid_reload_changes_nothing),
        IN_JOURNAL_WORLD(reopens_all_files_on_request),
        IN_JOURNAL_WORLD(a_removed_log_writes_its_remaining_lines),
        IN_JOURNAL_WORLD(lines_in_a_file_that_was_removed_are_reported_by_a_gap),
        IN_JOURNAL_WORLD(a_removed_log_has_ten_seconds),
        IN_JOURNAL_WORLD(a_removed_log_that_fails_gives_up),
        IN_JOURNAL_WORLD(a_removed_log_that_recovers_writes_its_lines),
        IN_JOURNAL_WORLD(a_log_that_is_added_again_continues_with_its_lines),
        IN_JOURNAL_WORLD(a_removed_log_waits_for_its_numbers),
        IN_JOURNAL_WORLD(lines_that_a_reload_lost_are_reported_by_a_gap),
        IN_JOURNAL_WORLD(a_log_that_hangs_delays_no_other),
        IN_JOURNAL_WORLD(a_new_log_waits_while_too_many_removed_ones_hang),
        IN_JOURNAL_WORLD(a_log_that_waits_for_its_path_may_be_removed_and_added),
        IN_JOURNAL_WORLD(can_be_closed_while_a_removed_log_finishes),
        IN_JOURNAL_WORLD(is_drained_when_everything_is_written),
        IN_JOURNAL_WORLD(closing_reports_unwritten_lines),
        IN_JOURNAL_WORLD(a_failed_descriptor_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
