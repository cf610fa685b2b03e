/*
 * test_seq.c - no number is used twice: across blocks, clean ends, crashes and disk failures.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/journal/seq.h"
#include "fake_disk.h"
#include "folder.h"

struct world {
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    struct seq seq;
    int ready;
    char trouble[64]; /* "-28 0 ": the errors passed to on_trouble() */
    bool closed;
};

static void on_ready(struct seq *seq)
{
    container_of(seq, struct world, seq)->ready++;
}

static void on_trouble(struct seq *seq, int error)
{
    struct world *w = container_of(seq, struct world, seq);
    size_t len = strlen(w->trouble);
    snprintf(w->trouble + len, sizeof(w->trouble) - len, "%d ", error);
}

static void on_closed(struct seq *seq)
{
    container_of(seq, struct world, seq)->closed = true;
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    folder_make(&w->folder);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    fake_disk_done(&w->disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    free(w);
    return 0;
}

static int try_open(struct world *w, struct inf_error *err)
{
    int rc = seq_open(&w->seq, &w->sim.clock, &w->disk.disk, w->folder.path, err);
    w->seq.on_ready = on_ready;
    w->seq.on_trouble = on_trouble;
    w->closed = false;
    return rc;
}

static void open_seq(struct world *w)
{
    struct inf_error err;
    if (try_open(w, &err) < 0)
        fail_msg("%s", err.text);
}

static void close_seq(struct world *w)
{
    seq_close(&w->seq, on_closed);
    sim_run(&w->sim);
    assert_true(w->closed);
}

/* Like a killed process: nothing more is written. */
static void crash(struct world *w)
{
    timer_stop(&w->sim.clock, &w->seq.retry);
    sim_run(&w->sim);
    timer_stop(&w->sim.clock, &w->seq.retry);
    free(w->seq.dir);
}

static void take_numbers(struct world *w, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        seq_take(&w->seq);
}

static void a_clean_end_leaves_no_gap(void **state)
{
    struct world *w = *state;
    char log[STATE_ID_SIZE];
    open_seq(w);
    memcpy(log, w->seq.log, sizeof(log));
    assert_false(w->seq.skipped);
    assert_int_equal(seq_take(&w->seq), 1);
    assert_int_equal(seq_take(&w->seq), 2);
    assert_file(&w->folder, "seq", "16777217 open\n");
    close_seq(w);
    assert_file(&w->folder, "seq", "3 closed\n");
    open_seq(w);
    assert_false(w->seq.skipped);
    assert_string_equal(w->seq.log, log);
    assert_int_equal(seq_take(&w->seq), 3);
    close_seq(w);
}

static void skips_to_the_next_block_after_a_crash(void **state)
{
    struct world *w = *state;
    open_seq(w);
    take_numbers(w, 10);
    crash(w);
    open_seq(w);
    assert_true(w->seq.skipped);
    assert_int_equal(seq_take(&w->seq), 16777217);
    close_seq(w);
}

static void reserves_the_next_block_half_a_block_ahead(void **state)
{
    struct world *w = *state;
    open_seq(w);
    take_numbers(w, SEQ_BLOCK / 2 - 1);
    assert_int_equal(w->disk.calls[FAKE_OPEN], 0);
    take_numbers(w, 1);
    assert_int_equal(w->disk.calls[FAKE_OPEN], 1);
    sim_run(&w->sim);
    assert_file(&w->folder, "seq", "25165825 open\n");
    assert_int_equal(w->ready, 0); /* no caller had to wait */
    close_seq(w);
}

static void is_not_ready_while_numbers_are_not_reserved(void **state)
{
    struct world *w = *state;
    open_seq(w);
    w->disk.frozen = true;
    take_numbers(w, SEQ_BLOCK);
    assert_true(seq_ready(&w->seq));
    take_numbers(w, 1);
    assert_false(seq_ready(&w->seq));
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_true(seq_ready(&w->seq));
    assert_int_equal(w->ready, 1);
    close_seq(w);
}

/* Each step of writing the file fails in turn. */
static void a_failing_disk_is_reported_once_and_retried(void **state)
{
    static const enum fake_call calls[] = {FAKE_OPEN, FAKE_WRITE, FAKE_SYNC, FAKE_RENAME,
                                           FAKE_CLOSE};
    struct world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        open_seq(w);
        w->ready = 0;
        w->trouble[0] = '\0';
        w->disk.fail[calls[i]] = UV_ENOSPC;
        take_numbers(w, SEQ_BLOCK + 1);
        sim_advance(&w->sim, 1000 + 2000 + 4000 + 10);
        assert_false(seq_ready(&w->seq));
        assert_string_equal(w->trouble, "-28 ");
        w->disk.fail[calls[i]] = 0;
        sim_advance(&w->sim, 8000);
        assert_string_equal(w->trouble, "-28 0 ");
        assert_int_equal(w->ready, 1);
        close_seq(w);
    }
}

static void closing_waits_for_a_reservation_in_flight(void **state)
{
    struct world *w = *state;
    open_seq(w);
    take_numbers(w, SEQ_BLOCK / 2);
    seq_close(&w->seq, on_closed);
    assert_false(w->closed);
    sim_run(&w->sim);
    assert_true(w->closed);
    assert_file(&w->folder, "seq", "8388609 closed\n");
}

static void can_be_closed_while_reserving_fails(void **state)
{
    struct world *w = *state;
    open_seq(w);
    w->disk.fail[FAKE_OPEN] = UV_EIO;
    take_numbers(w, SEQ_BLOCK / 2);
    sim_run(&w->sim);
    close_seq(w);
    assert_file(&w->folder, "seq", "16777217 open\n");
}

static void a_missing_file_starts_a_new_sequence(void **state)
{
    struct world *w = *state;
    char log[STATE_ID_SIZE], *path = folder_file(&w->folder, "seq");
    open_seq(w);
    memcpy(log, w->seq.log, sizeof(log));
    take_numbers(w, 5);
    close_seq(w);
    unlink(path);
    open_seq(w);
    assert_string_not_equal(w->seq.log, log);
    assert_int_equal(seq_take(&w->seq), 1);
    close_seq(w);
    free(path);
}

static void damaged_files_are_refused(void **state)
{
    static const char *const bad[] = {
        "",   "x",       "0 closed\n",    "12 shut\n",
        "12", "-5 open", "12 open now\n", "18446744073709551615 open\n"};
    struct world *w = *state;
    struct inf_error err;
    char *path;
    open_seq(w);
    close_seq(w);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        folder_write(&w->folder, "seq", bad[i]);
        assert_int_equal(try_open(w, &err), -INF_EIO);
        assert_non_null(strstr(err.text, "remove"));
    }
    folder_write(&w->folder, "seq", "5 closed\n");
    folder_write(&w->folder, "log-id", "nonsense\n");
    assert_int_equal(try_open(w, &err), -INF_EIO);
    assert_non_null(strstr(err.text, "log-id"));
    path = folder_file(&w->folder, "log-id");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(try_open(w, &err), -INF_EIO);
    assert_non_null(strstr(err.text, "log-id' is missing"));
    free(path);
}

static void without_a_directory_each_run_starts_at_1(void **state)
{
    struct world *w = *state;
    assert_int_equal(seq_open(&w->seq, &w->sim.clock, &w->disk.disk, NULL, NULL), 0);
    take_numbers(w, 3 * SEQ_BLOCK);
    assert_true(seq_ready(&w->seq));
    assert_int_equal(strlen(w->seq.log), 32);
    close_seq(w);
}

/* ---- kill -9 ---- */

/* Writes each number that may be used to @out, until it is killed. The disk has no loop, so that an
 * operation is always in progress. */
static void write_numbers(struct world *w, int out)
{
    struct loop_disk now;
    loop_disk_init(&now, NULL);
    if (seq_open(&w->seq, &w->sim.clock, &now.disk, w->folder.path, NULL) < 0)
        _exit(1);
    for (;;) {
        uint64_t n = seq_take(&w->seq);
        if (n % (SEQ_BLOCK / 64) == 0 && seq_ready(&w->seq) &&
            write(out, &n, sizeof(n)) != sizeof(n))
            _exit(1);
    }
}

/* Reads some numbers, kills the child and reads the rest. All must be above @last. */
static uint64_t run_and_kill(struct world *w, uint64_t last, int numbers)
{
    int ends[2], status;
    uint64_t n;
    pid_t pid;
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0)
        write_numbers(w, ends[1]);
    close(ends[1]);
    for (int i = 0; read(ends[0], &n, sizeof(n)) == sizeof(n); i++) {
        assert_true(n > last);
        last = n;
        if (i == numbers)
            kill(pid, SIGKILL);
    }
    close(ends[0]);
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    return last;
}

static void no_number_is_repeated_if_killed_at_any_time(void **state)
{
    struct world *w = *state;
    uint64_t last = 0;
    for (int round = 0; round < 10; round++)
        last = run_and_kill(w, last, 17 * round);
    open_seq(w);
    assert_true(w->seq.skipped);
    assert_true(seq_take(&w->seq) > last);
    close_seq(w);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_clean_end_leaves_no_gap),
        IN_WORLD(skips_to_the_next_block_after_a_crash),
        IN_WORLD(reserves_the_next_block_half_a_block_ahead),
        IN_WORLD(is_not_ready_while_numbers_are_not_reserved),
        IN_WORLD(a_failing_disk_is_reported_once_and_retried),
        IN_WORLD(closing_waits_for_a_reservation_in_flight),
        IN_WORLD(can_be_closed_while_reserving_fails),
        IN_WORLD(a_missing_file_starts_a_new_sequence),
        IN_WORLD(damaged_files_are_refused),
        IN_WORLD(without_a_directory_each_run_starts_at_1),
        IN_WORLD(no_number_is_repeated_if_killed_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
