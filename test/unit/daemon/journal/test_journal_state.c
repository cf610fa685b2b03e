/*
 * test_journal_state.c - a journal with state on disk: lines are saved before they are written, and the
 * next run writes what a crash has left.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "changes.h"
#include "core/state/state.h"
#include "journal_world.h"
#include "memory_disk.h"

struct saved_world {
    struct journal_world *journal;
    struct memory_disk disk; /* of the state */
    struct inf_state *state;
};

static void on_flushed(struct inf_state *state, uint64_t flush)
{
    struct saved_world *s = inf_state_data(state);
    journal_saved(&s->journal->journal, flush);
}

static struct inf_state *open_state(struct saved_world *s, struct memory_disk *disk)
{
    struct inf_state_settings settings = {.dir = "state", .data = s, .on_flushed = on_flushed};
    struct siphash_key key = {1, 2};
    struct inf_error err;
    struct inf_state *state =
        state_new(&disk->disk, &s->journal->sim.clock, &key, &settings, NULL, NULL, &err);
    assert_non_null(state);
    sim_run(&s->journal->sim);
    return state;
}

static int set_up(void **state)
{
    struct saved_world *s = calloc(1, sizeof(*s));
    journal_world_set_up((void **)&s->journal);
    memory_disk_init(&s->disk, &s->journal->sim);
    s->state = s->journal->journal.state = open_state(s, &s->disk);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    s->disk.stuck = w->disk.frozen = false;
    if (!w->closed)
        journal_close(&w->journal);
    sim_run(&w->sim);
    w->journal.state = NULL;
    inf_state_close(s->state, NULL, NULL);
    sim_advance(&w->sim, 5000);
    memory_disk_done(&s->disk);
    journal_world_tear_down((void **)&s->journal);
    free(s);
    return 0;
}

#define SAVED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void lines_wait_until_they_are_saved(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    journal_world_log_all(w);
    s->disk.stuck = true;
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    journal_world_change(w, &w->pods, "'a':1", "'a':2"); /* goes into the next batch */
    journal_world_flush(w);
    assert_file(&w->folder, "a", "");
    s->disk.stuck = false;
    sim_run(&w->sim);
    assert_lines(w, "a", "1 ADDED pods; 2 MODIFIED pods; ");
}

/* As when a compaction ends while the lines are being saved. */
static void another_write_of_the_state_does_not_release_lines(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    journal_world_log_all(w);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    s->disk.stuck = true;
    journal_world_change(w, &w->pods, "'a':1", "'a':2");
    journal_world_flush(w);
    journal_saved(&w->journal, w->journal.saving_flush - 1);
    sim_run(&w->sim);
    assert_lines(w, "a", "1 ADDED pods; ");
    s->disk.stuck = false;
    sim_run(&w->sim);
    assert_lines(w, "a", "1 ADDED pods; 2 MODIFIED pods; ");
}

static void a_stuck_state_delays_lines_for_two_seconds(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    journal_world_log_all(w);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    s->disk.stuck = true;
    journal_world_change(w, &w->pods, "'a':1", "'a':2");
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
    sim_advance(&w->sim, 2100);
    assert_lines(w, "a", "1 ADDED pods; 2 MODIFIED pods; ");
    journal_world_change(w, &w->pods, "'a':2", "'a':3"); /* suspended: not delayed */
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 MODIFIED pods; 3 MODIFIED pods; ");
}

static void a_full_disk_of_the_state_delays_nothing(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    journal_world_log_all(w);
    s->disk.fail[MEMORY_WRITE] = -ENOSPC;
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; ");
}

/* What the queue of a log has when the process is killed now. */
static void assert_pending_after_crash(struct saved_world *s, const char *log, bool expected)
{
    struct memory_disk copy;
    struct inf_state *next;
    const char *bytes;
    size_t len;
    uint64_t end;
    memory_disk_init(&copy, &s->journal->sim);
    memory_disk_crash(&copy, &s->disk, NULL);
    next = open_state(s, &copy);
    assert_int_equal(inf_state_queue_pending(inf_state_queue(next, log), &bytes, &len, &end),
                     expected);
    inf_state_close(next, NULL, NULL);
    sim_run(&s->journal->sim);
    memory_disk_done(&copy);
}

/* covers: crash/other-output-later */
static void lines_are_pending_until_the_log_has_written_them(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    struct event_log_settings logs[] = {journal_world_settings(w->paths[0]),
                                        journal_world_settings(w->paths[1])};
    journal_world_set_logs(w, logs, 2);
    w->disk.stuck = journal_world_op(w, 1);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    journal_world_change(w, &w->pods, "'a':1",
                         "'a':2"); /* its batch confirms the first line of a */
    journal_world_flush(w);
    journal_world_flush(w);
    assert_lines(w, "a", "1 ADDED pods; 2 MODIFIED pods; ");
    assert_pending_after_crash(s, w->paths[0], false);
    assert_pending_after_crash(s, w->paths[1], true);
    w->disk.stuck = NULL;
    sim_run(&w->sim);
    journal_world_flush(w);
    assert_pending_after_crash(s, w->paths[1], false);
}

static void change_at(struct journal_world *w, const char *before, const char *after, int version)
{
    struct sample sample;
    sample_pod_at(&sample, before, after, version);
    journal_event(&w->journal, &w->pods, &sample.event, NULL);
    sample_free(&sample);
    journal_world_flush(w);
}

/* The mark of the state that a power loss leaves now: what was synced. */
static uint64_t mark_after_power_loss(struct saved_world *s)
{
    struct memory_disk copy;
    struct inf_state_info info;
    struct inf_state *next;
    struct rng rng = {7};
    memory_disk_init(&copy, &s->journal->sim);
    memory_disk_crash(&copy, &s->disk, NULL);
    memory_disk_power_loss(&copy, &rng);
    next = open_state(s, &copy);
    inf_state_info(next, &info);
    inf_state_close(next, NULL, NULL);
    sim_run(&s->journal->sim);
    memory_disk_done(&copy);
    return info.mark;
}

/* The log has records 2 and 3, of versions 6 and 7, which the state has lost. */
/* covers: crash/log-ahead */
static void a_power_loss_leaves_more_of_the_log_than_of_the_state(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    journal_world_log_all(w);
    change_at(w, NULL, "'a':5", 5);
    sim_advance(&w->sim, 5000); /* it is synced */
    change_at(w, "'a':5", "'a':6", 6);
    change_at(w, "'a':6", "'a':7", 7);
    w->journal.ahead_from = mark_after_power_loss(s);
    assert_int_equal(w->journal.ahead_from, 2);
    journal_world_set_logs(w, NULL, 0);
    w->disk.frozen = true; /* the end of the log is not read yet */
    journal_world_log_all(w);
    assert_true(w->pods.held);
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_false(w->pods.held);
    assert_logged(w, "has changes of 1 object that the saved state has lost");
    change_at(w, "'a':5", "'a':6", 6);
    change_at(w, "'a':6", "'a':7", 7);
    change_at(w, "'a':7", "'a':8", 8);
    assert_lines(w, "a", "1 ADDED pods; 2 MODIFIED pods; 3 MODIFIED pods; 6 MODIFIED pods; ");
}

/* It may have thousands of records. */
static void the_end_of_a_log_is_read_within_the_budget(void **state)
{
    enum {
        CHANGES = 640
    };
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    unsigned ticks = 0;
    journal_world_log_all(w);
    change_at(w, NULL, "'a':5", 5);
    sim_advance(&w->sim, 5000);
    for (unsigned i = 0; i < CHANGES / 2; i++) {
        change_at(w, "'a':5", "'a':6", 6);
        change_at(w, "'a':6", "'a':5", 7);
    }
    w->journal.ahead_from = mark_after_power_loss(s);
    assert_int_equal(w->journal.ahead_from, 2);
    journal_world_set_logs(w, NULL, 0);
    w->disk.frozen = true;
    journal_world_log_all(w);
    w->disk.frozen = false;
    w->sim.budget = 1;
    for (; w->pods.held; ticks++)
        sim_tick(&w->sim);
    assert_in_range(ticks, CHANGES / 16, CHANGES / 4);
    assert_logged(w, "has changes of 1 object that the saved state has lost");
}

/* The versions are no longer on the server: a list has a later one. */
static void the_state_before_a_later_version_is_unknown(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    char *text;
    journal_world_log_all(w);
    change_at(w, NULL, "'a':5", 5);
    sim_advance(&w->sim, 5000);
    change_at(w, "'a':5", "'a':6", 6);
    w->journal.ahead_from = 2;
    journal_world_set_logs(w, NULL, 0);
    journal_world_log_all(w);
    sim_run(&w->sim);
    change_at(w, "'a':8", "'a':9", 9);
    text = folder_read(&w->folder, "a");
    assert_non_null(strstr(text, "\"rv\":\"9\",\"old_rv\":\"6\",\"old_unknown\":true"));
    assert_non_null(strstr(text, "changed, previous state unknown"));
    assert_non_null(strstr(strstr(text, "old_unknown"), "\"object\":{"));
    assert_null(strstr(strstr(text, "old_unknown"), "\"diff\""));
    free(text);
}

/* A log that can't be read holds its watches for some seconds only. */
static void a_log_whose_end_cannot_be_read_does_not_hold_its_watches(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    w->journal.ahead_from = 2;
    w->disk.frozen = true;
    journal_world_log_all(w);
    assert_true(w->pods.held);
    sim_advance(&w->sim, EVENT_LOG_AHEAD_MS);
    assert_false(w->pods.held);
}

/* A list was compared with the saved state, which did not have the object. */
static void objects_that_only_the_log_has_are_a_gap_after_a_list(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    struct inf_gap relist = {.reason = INF_GAP_RELIST, .text = "expired"};
    journal_world_log_all(w);
    change_at(w, NULL, "'a':5", 5);
    w->journal.ahead_from = 1;
    journal_world_set_logs(w, NULL, 0);
    journal_world_log_all(w);
    sim_run(&w->sim);
    journal_synced(&w->journal, &w->pods, 0, "9"); /* without a list: the change may come again */
    journal_gap(&w->journal, &w->pods, NULL, &relist);
    journal_synced(&w->journal, &w->pods, 0, "9");
    journal_synced(&w->journal, &w->pods, 0, "9");
    journal_world_flush(w);
    assert_lines(w, "a",
                 "1 ADDED pods; 2 SYNCED pods; 3 RELIST pods; 4 GAP pods power-loss; "
                 "5 SYNCED pods; 6 SYNCED pods; ");
}

static void a_removed_log_has_no_queue(void **state)
{
    struct saved_world *s = *state;
    struct journal_world *w = s->journal;
    journal_world_log_all(w);
    journal_world_change(w, &w->pods, NULL, "'a':1");
    journal_world_flush(w);
    assert_non_null(inf_state_queue_next(s->state, NULL));
    journal_world_set_logs(w, NULL, 0);
    assert_lines(w, "a", "1 ADDED pods; ");
    assert_null(inf_state_queue_next(s->state, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SAVED(lines_wait_until_they_are_saved),
        SAVED(another_write_of_the_state_does_not_release_lines),
        SAVED(a_stuck_state_delays_lines_for_two_seconds),
        SAVED(a_full_disk_of_the_state_delays_nothing),
        SAVED(lines_are_pending_until_the_log_has_written_them),
        SAVED(a_power_loss_leaves_more_of_the_log_than_of_the_state),
        SAVED(the_end_of_a_log_is_read_within_the_budget),
        SAVED(the_state_before_a_later_version_is_unknown),
        SAVED(a_log_whose_end_cannot_be_read_does_not_hold_its_watches),
        SAVED(objects_that_only_the_log_has_are_a_gap_after_a_list),
        SAVED(a_removed_log_has_no_queue),
    };
    return cmocka_run_group_tests_name("journal_state", tests, NULL, NULL);
}
