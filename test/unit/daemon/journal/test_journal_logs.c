/*
 * test_journal_outputs.c - logs come and go: what a reload leaves alone, what an log that is no longer named still
 * writes, and the end.
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

/* ---- logs come and go ---- */

static void a_reload_touches_only_what_changed(void **state)
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
    assert_true(before.bytes > 0 && after.bytes == before.bytes); /* a counter never goes back */
    journal_world_change(w, &w->pods, "'a':2", NULL);
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_lines(w, "b", "1 ADDED pods; 2 MODIFIED pods; 3 DELETED pods; ");
    journal_world_set_logs(w, logs, 2); /* it comes back */
    journal_world_change(w, &w->pods, "'a':2", NULL);
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 4 DELETED pods; ");
}

static void a_bad_reload_changes_nothing(void **state)
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

static void all_files_are_opened_anew(void **state)
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

/* An log that has lines in flight and is no longer named. */
static void take_away_while_writing(struct journal_world *w)
{
    journal_world_log_all(w);
    sim_run(&w->sim);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_flush(&w->journal);
    journal_world_change(w, &w->pods, NULL, "'a':2"); /* collected, while that is written */
    w->disk.frozen = true;
    journal_world_set_logs(w, NULL, 0);
}

static void an_output_that_goes_writes_what_it_has(void **state)
{
    struct journal_world *w = *state;
    take_away_while_writing(w);
    journal_world_change(w, &w->pods, NULL, "'a':3"); /* not for it any more */
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

/* In the log whose file it was; the other has all lines. */
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

static void an_output_that_goes_has_ten_seconds(void **state)
{
    struct journal_world *w = *state;
    struct journal_stats stats;
    take_away_while_writing(w);
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

static void an_output_that_goes_and_fails_gives_up(void **state)
{
    struct journal_world *w = *state;
    w->disk.space = 10;
    take_away_while_writing(w);
    w->disk.frozen = false;
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS - 1);
    assert_false(list_empty(&w->journal.leaving));
    sim_advance(&w->sim, 1);
    assert_logged(w, "2 lines are lost: No space left on device");
    assert_true(list_empty(&w->journal.leaving));
}

static void an_output_that_goes_and_fails_is_written_if_it_recovers(void **state)
{
    struct journal_world *w = *state;
    w->disk.space = 10;
    take_away_while_writing(w);
    w->disk.frozen = false;
    sim_advance(&w->sim, 2000);
    w->disk.space = (size_t)-1;
    sim_advance(&w->sim, EVENT_LOG_FINISH_MS - 2000);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; ");
    assert_true(list_empty(&w->journal.leaving));
    assert_not_logged(w, "lost:");
}

static void an_output_that_comes_back_goes_on_with_what_it_has(void **state)
{
    struct journal_world *w = *state;
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    take_away_while_writing(w);
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
static void an_output_that_goes_waits_for_its_numbers(void **state)
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
    assert_lines(w, "a", "65537 ADDED pods; ");
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
    journal_world_set_logs(w, logs, 2); /* it comes back while the system is still busy with it */
    assert_logged(w, "not opened yet");
    journal_world_change(w, &w->pods, "'a':2", NULL);
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; "); /* which did write them after all */
    w->disk.stuck = NULL;
    sim_run(&w->sim);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; 4 GAP unwritten; 5 DELETED pods; ");
    assert_lines(w, "b", "3 GAP unwritten; 5 DELETED pods; ");
}

/* ---- logs that hang ---- */

static void an_output_that_hangs_does_not_delay_another(void **state)
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

/* Each removed log that hangs keeps a thread: a new one waits when there is none left for it. */
static void with_too_many_that_hang_a_new_output_waits(void **state)
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

/* Removed and named again, twice, while the file of the first is still being closed. */
static void an_output_that_waits_for_its_path_may_come_and_go(void **state)
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

static void closed_while_an_output_goes(void **state)
{
    struct journal_world *w = *state;
    take_away_while_writing(w);
    journal_close(&w->journal);
    assert_logged(w, "bytes not written");
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_true(w->closed);
}

/* ---- the end ---- */

static void drained_when_all_is_written(void **state)
{
    struct journal_world *w = *state;
    journal_world_log_all(w);
    journal_world_change(w, &w->pods, NULL, "'a':1");
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

static void a_lost_descriptor_is_told(void **state)
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
        IN_JOURNAL_WORLD(a_reload_touches_only_what_changed),
        IN_JOURNAL_WORLD(a_bad_reload_changes_nothing),
        IN_JOURNAL_WORLD(all_files_are_opened_anew),
        IN_JOURNAL_WORLD(an_output_that_goes_writes_what_it_has),
        IN_JOURNAL_WORLD(lines_in_a_file_that_was_removed_are_reported_by_a_gap),
        IN_JOURNAL_WORLD(an_output_that_goes_has_ten_seconds),
        IN_JOURNAL_WORLD(an_output_that_goes_and_fails_gives_up),
        IN_JOURNAL_WORLD(an_output_that_goes_and_fails_is_written_if_it_recovers),
        IN_JOURNAL_WORLD(an_output_that_comes_back_goes_on_with_what_it_has),
        IN_JOURNAL_WORLD(an_output_that_goes_waits_for_its_numbers),
        IN_JOURNAL_WORLD(lines_that_a_reload_lost_are_reported_by_a_gap),
        IN_JOURNAL_WORLD(an_output_that_hangs_does_not_delay_another),
        IN_JOURNAL_WORLD(with_too_many_that_hang_a_new_output_waits),
        IN_JOURNAL_WORLD(an_output_that_waits_for_its_path_may_come_and_go),
        IN_JOURNAL_WORLD(closed_while_an_output_goes),
        IN_JOURNAL_WORLD(drained_when_all_is_written),
        IN_JOURNAL_WORLD(closed_at_whatever_it_is),
        IN_JOURNAL_WORLD(a_lost_descriptor_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
