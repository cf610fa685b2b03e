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

#include <cmocka.h>

#include "base/base.h"
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
        SAVED(a_removed_log_has_no_queue),
    };
    return cmocka_run_group_tests_name("journal_state", tests, NULL, NULL);
}
