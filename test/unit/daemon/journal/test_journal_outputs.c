/*
 * test_journal_outputs.c - outputs come and go: what a reload leaves alone, what an output that is no longer named still
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

/* ---- outputs come and go ---- */

static void a_reload_touches_only_what_changed(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings outputs[] = {world_all_to(w->paths[0]),
                                                world_all_to(w->paths[1])};
    struct journal_stats before, after;
    unsigned opened;
    world_set_outputs(w, outputs, 2);
    opened = w->disk.calls[FAKE_OPEN];
    world_tell(w, &w->pods, NULL, "'a':1");
    outputs[0].filter.verbs = 1u << INF_DELETED;
    world_set_outputs(w, outputs, 2);
    assert_int_equal(w->disk.calls[FAKE_OPEN], opened);
    world_tell(w, &w->pods, "'a':1", "'a':2");
    world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_lines(w, "b", "1 ADDED pods; 2 MODIFIED pods; ");
    journal_stats(&w->journal, &before);
    world_set_outputs(w, &outputs[1], 1);
    journal_stats(&w->journal, &after);
    assert_int_equal(after.outputs, 1);
    assert_true(before.bytes > 0 && after.bytes == before.bytes); /* a counter never goes back */
    world_tell(w, &w->pods, "'a':2", NULL);
    world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_lines(w, "b", "1 ADDED pods; 2 MODIFIED pods; 3 DELETED pods; ");
    world_set_outputs(w, outputs, 2); /* it comes back */
    world_tell(w, &w->pods, "'a':2", NULL);
    world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 4 DELETED pods; ");
}

static void a_bad_reload_changes_nothing(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings outputs[] = {world_all_to(w->paths[0]),
                                                world_all_to(w->paths[0])};
    struct inf_error err;
    world_set_outputs(w, outputs, 1);
    assert_int_equal(journal_set_outputs(&w->journal, outputs, 2, &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, "configured twice"));
    outputs[1].file.path = w->paths[1];
    outputs[1].filter.labels = "in (";
    assert_int_equal(journal_set_outputs(&w->journal, outputs, 2, &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, w->paths[1]));
    world_tell(w, &w->pods, NULL, "'a':1");
    world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_file(&w->folder, "b", "(none)");
}

static void all_files_are_opened_anew(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings output = world_all_to(w->paths[0]);
    world_set_outputs(w, &output, 1);
    world_tell(w, &w->pods, NULL, "'a':1");
    world_flush(w);
    rename(w->paths[0], w->paths[1]);
    journal_reopen(&w->journal);
    sim_run(&w->sim);
    world_tell(w, &w->pods, "'a':1", NULL);
    world_flush(w);
    assert_lines(w, "b", "1 ADDED pods; ");
    assert_lines(w, "a", "2 DELETED pods; ");
}

/* An output that has lines in flight and is no longer named. */
static void take_away_while_writing(struct journal_world *w)
{
    struct journal_output_settings output = world_all_to(w->paths[0]);
    world_set_outputs(w, &output, 1);
    sim_run(&w->sim);
    world_tell(w, &w->pods, NULL, "'a':1");
    journal_flush(&w->journal);
    world_tell(w, &w->pods, NULL, "'a':2"); /* collected, while that is written */
    w->disk.frozen = true;
    world_set_outputs(w, NULL, 0);
}

static void an_output_that_goes_writes_what_it_has(void **state)
{
    struct journal_world *w = *state;
    take_away_while_writing(w);
    world_tell(w, &w->pods, NULL, "'a':3"); /* not for it any more */
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
    struct journal_output_settings outputs[] = {world_all_to(w->paths[0]),
                                                world_all_to(w->paths[1])};
    char *text;
    world_set_outputs(w, outputs, 2);
    sim_run(&w->sim);
    w->disk.before_call = remove_before_first_write;
    world_tell(w, &w->pods, NULL, "'a':1");
    world_tell(w, &w->pods, NULL, "'a':2");
    world_flush(w);
    world_tell(w, &w->pods, NULL, "'a':3");
    world_flush(w);
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
    sim_advance(&w->sim, OUTPUT_FINISH_MS - 1);
    assert_int_equal(w->drained, 0);
    sim_advance(&w->sim, 1);
    assert_said(w, "bytes not written");
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
    sim_advance(&w->sim, OUTPUT_FINISH_MS - 1);
    assert_false(list_empty(&w->journal.leaving));
    sim_advance(&w->sim, 1);
    assert_said(w, "2 lines are lost: No space left on device");
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
    sim_advance(&w->sim, OUTPUT_FINISH_MS - 2000);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; ");
    assert_true(list_empty(&w->journal.leaving));
    assert_not_said(w, "lost:");
}

static void an_output_that_comes_back_goes_on_with_what_it_has(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings output = world_all_to(w->paths[0]);
    take_away_while_writing(w);
    sim_advance(&w->sim, OUTPUT_FINISH_MS - 1);
    world_set_outputs(w, &output, 1);
    sim_advance(&w->sim, OUTPUT_FINISH_MS);
    world_tell(w, &w->pods, NULL, "'a':3");
    w->disk.frozen = false;
    world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; 3 ADDED pods; ");
    assert_not_said(w, "not written");
}

/* Its numbers are not reserved yet: the lines are written when they are. */
static void an_output_that_goes_waits_for_its_numbers(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings output = world_all_to(w->paths[0]);
    world_set_outputs(w, &output, 1);
    w->state_disk.frozen = true;
    w->seq.next = w->seq.reserved;
    world_tell(w, &w->pods, NULL, "'a':1");
    world_set_outputs(w, NULL, 0);
    assert_false(list_empty(&w->journal.leaving));
    w->state_disk.frozen = false;
    sim_run(&w->sim);
    assert_lines(w, "a", "65537 ADDED pods; ");
    assert_true(list_empty(&w->journal.leaving));
}

static void lines_that_a_reload_lost_are_reported_by_a_gap(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings outputs[] = {world_all_to(w->paths[0]),
                                                world_all_to(w->paths[1])};
    outputs[1].filter.verbs = 1u << INF_DELETED;
    world_set_outputs(w, outputs, 2);
    w->disk.stuck = world_op(w, 0);
    world_tell(w, &w->pods, NULL, "'a':1");
    world_tell(w, &w->pods, NULL, "'a':2");
    world_flush(w);
    world_set_outputs(w, &outputs[1], 1);
    sim_advance(&w->sim, OUTPUT_FINISH_MS);
    assert_said(w, "2 lines are lost");
    assert_lines(w, "b", "3 GAP unwritten; ");
    world_set_outputs(w, outputs, 2); /* it comes back while the system is still busy with it */
    assert_said(w, "not opened yet");
    world_tell(w, &w->pods, "'a':2", NULL);
    world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; "); /* which did write them after all */
    w->disk.stuck = NULL;
    sim_run(&w->sim);
    assert_lines(w, "a", "1 ADDED pods; 2 ADDED pods; 4 GAP unwritten; 5 DELETED pods; ");
    assert_lines(w, "b", "3 GAP unwritten; 5 DELETED pods; ");
}

/* ---- outputs that hang ---- */

static void an_output_that_hangs_does_not_delay_another(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings outputs[] = {world_all_to(w->paths[0]),
                                                world_all_to(w->paths[1])};
    world_set_outputs(w, outputs, 2);
    w->disk.stuck = world_op(w, 0);
    for (int i = 0; i < 3; i++) {
        world_tell(w, &w->pods, NULL, "'a':1");
        world_flush(w);
    }
    assert_lines(w, "b", "1 ADDED pods; 2 ADDED pods; 3 ADDED pods; ");
    world_set_outputs(w, &outputs[1], 1);
    world_tell(w, &w->pods, "'a':1", NULL);
    world_flush(w);
    assert_lines(w, "b", "1 ADDED pods; 2 ADDED pods; 3 ADDED pods; 4 DELETED pods; ");
    w->disk.stuck = NULL;
}

/* Each removed output that hangs keeps a thread: a new one waits when there is none left for it. */
static void with_too_many_that_hang_a_new_output_waits(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings outputs[POOL_LOGS], other = world_all_to(w->paths[1]);
    char *paths[POOL_LOGS];
    for (int i = 0; i < POOL_LOGS; i++) {
        paths[i] = xasprintf("%s-%d", w->paths[0], i);
        outputs[i] = world_all_to(paths[i]);
    }
    world_set_outputs(w, outputs, POOL_LOGS);
    world_tell(w, &w->pods, NULL, "'a':1");
    w->disk.frozen = true;
    journal_flush(&w->journal);
    world_set_outputs(w, NULL, 0);
    sim_advance(&w->sim, OUTPUT_FINISH_MS);
    w->disk.frozen = false;
    w->disk.stuck_all = FAKE_WRITE;
    world_set_outputs(w, &other, 1);
    assert_said(w, "/b: not opened yet; waiting until a removed event log is closed");
    world_tell(w, &w->pods, "'a':1", NULL);
    world_flush(w);
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
    struct journal_output_settings output = world_all_to(w->paths[0]);
    world_set_outputs(w, &output, 1);
    world_tell(w, &w->pods, NULL, "'a':1");
    world_flush(w);
    w->disk.stuck_all = FAKE_CLOSE;
    for (int i = 0; i < 2; i++) {
        world_set_outputs(w, NULL, 0);
        sim_advance(&w->sim, 1);
        world_set_outputs(w, &output, 1);
        world_tell(w, &w->pods, "'a':1", NULL);
        sim_advance(&w->sim, 1);
    }
    w->disk.stuck_all = FAKE_CALLS;
    sim_advance(&w->sim, OUTPUT_FINISH_MS / 2);
    world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 DELETED pods; 3 DELETED pods; ");
}

static void closed_while_an_output_goes(void **state)
{
    struct journal_world *w = *state;
    take_away_while_writing(w);
    journal_close(&w->journal);
    assert_said(w, "bytes not written");
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_true(w->closed);
}

/* ---- the end ---- */

static void drained_when_all_is_written(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings output = world_all_to(w->paths[0]);
    world_set_outputs(w, &output, 1);
    world_tell(w, &w->pods, NULL, "'a':1");
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
    struct journal_output_settings outputs[] = {world_all_to(w->paths[0]),
                                                world_all_to(w->paths[1])};
    world_set_outputs(w, outputs, 2);
    w->disk.space = 10;
    world_tell(w, &w->pods, NULL, "'a':1");
    world_flush(w);
    journal_close(&w->journal);
    sim_run(&w->sim);
    assert_true(w->closed);
    assert_said(w, "bytes not written");
}

static void a_lost_descriptor_is_told(void **state)
{
    struct journal_world *w = *state;
    struct journal_output_settings output = {.file.fd = 1};
    world_set_outputs(w, &output, 1);
    w->disk.fail[FAKE_WRITE] = UV_EPIPE;
    world_tell(w, &w->pods, NULL, "'a':1");
    journal_drain(&w->journal);
    sim_run(&w->sim);
    assert_int_equal(w->lost, UV_EPIPE);
    assert_int_equal(w->drained, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_reload_touches_only_what_changed),
        IN_WORLD(a_bad_reload_changes_nothing),
        IN_WORLD(all_files_are_opened_anew),
        IN_WORLD(an_output_that_goes_writes_what_it_has),
        IN_WORLD(lines_in_a_file_that_was_removed_are_reported_by_a_gap),
        IN_WORLD(an_output_that_goes_has_ten_seconds),
        IN_WORLD(an_output_that_goes_and_fails_gives_up),
        IN_WORLD(an_output_that_goes_and_fails_is_written_if_it_recovers),
        IN_WORLD(an_output_that_comes_back_goes_on_with_what_it_has),
        IN_WORLD(an_output_that_goes_waits_for_its_numbers),
        IN_WORLD(lines_that_a_reload_lost_are_reported_by_a_gap),
        IN_WORLD(an_output_that_hangs_does_not_delay_another),
        IN_WORLD(with_too_many_that_hang_a_new_output_waits),
        IN_WORLD(an_output_that_waits_for_its_path_may_come_and_go),
        IN_WORLD(closed_while_an_output_goes),
        IN_WORLD(drained_when_all_is_written),
        IN_WORLD(closed_at_whatever_it_is),
        IN_WORLD(a_lost_descriptor_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
