/*
 * test_disk.c - real files on a real loop: what the other tests play, once with nothing played.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/output.h"
#include "daemon/seq.h"
#include "folder.h"
#include "real_loop.h"

struct world {
    struct real_loop rl;
    struct disk disk;
    struct folder folder;
    char *path;
    struct output output;
    struct seq seq;
    bool closed;
    bool ready;
};

static void on_hold(struct output *output, bool hold)
{
    (void)output;
    (void)hold;
}

static void on_idle(struct output *output)
{
    (void)output;
}

static void on_say(struct output *output, enum inf_log_level level, const char *line)
{
    (void)output;
    (void)level;
    (void)line;
}

static void on_lost(struct output *output, int error)
{
    (void)output;
    fail_msg("lost: %d", error);
}

static void on_closed(struct output *output)
{
    container_of(output, struct world, output)->closed = true;
}

static const struct output_events events = {on_hold, on_idle, on_say, on_lost, on_closed};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    real_loop_init(&w->rl);
    disk_init(&w->disk, &w->rl.loop);
    folder_make(&w->folder);
    w->path = folder_file(&w->folder, "log");
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    real_loop_done(&w->rl);
    folder_remove(&w->folder);
    free(w->path);
    free(w);
    return 0;
}

static void put(struct world *w, const char *lines)
{
    buf_puts(&w->output.collected, lines);
    output_flush(&w->output);
    RUN_UNTIL(&w->rl, output_idle(&w->output));
}

static void open_output(struct world *w, uint64_t rotate_size)
{
    output_init(&w->output, &w->rl.loop.clock, &w->disk,
                &(struct output_settings){.path = w->path, .rotate_size = rotate_size, .keep = 2},
                &events);
}

static void close_output(struct world *w)
{
    output_close(&w->output);
    RUN_UNTIL(&w->rl, w->closed);
}

static void a_log_is_mended_rotated_and_reopened(void **state)
{
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    folder_write(&w->folder, "log", "old\ntorn");
    open_output(w, 12);
    put(w, "aa\n");
    assert_file(&w->folder, "log", "old\n    \naa\n");
    put(w, "bb\ncc\n");
    assert_file(&w->folder, "log.1", "old\n    \naa\n");
    assert_file(&w->folder, "log", "bb\ncc\n");
    rename(w->path, moved);
    output_reopen(&w->output);
    put(w, "dd\n");
    assert_file(&w->folder, "log", "dd\n");
    assert_file(&w->folder, "moved", "bb\ncc\n");
    close_output(w);
    free(moved);
}

/* A real error in the middle of a line, and a real second for the retry. */
static void a_file_at_its_limit_goes_on_where_it_stopped(void **state)
{
    struct world *w = *state;
    struct rlimit before, small;
    open_output(w, 0);
    put(w, "first\n");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    buf_puts(&w->output.collected, "second\n");
    output_flush(&w->output);
    RUN_UNTIL(&w->rl, w->output.failing);
    assert_file(&w->folder, "log", "first\nseco");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    RUN_UNTIL(&w->rl, output_idle(&w->output));
    assert_file(&w->folder, "log", "first\nsecond\n");
    assert_false(w->output.failing);
    close_output(w);
}

static void on_ready(struct seq *seq)
{
    container_of(seq, struct world, seq)->ready = true;
}

static void on_seq_closed(struct seq *seq)
{
    container_of(seq, struct world, seq)->closed = true;
}

static void numbers_are_reserved_on_the_pool(void **state)
{
    struct world *w = *state;
    assert_int_equal(seq_open(&w->seq, &w->rl.loop.clock, &w->disk, w->folder.path, NULL), 0);
    w->seq.on_ready = on_ready;
    for (int i = 0; i < SEQ_BLOCK + 1; i++)
        seq_take(&w->seq);
    assert_false(seq_ready(&w->seq));
    RUN_UNTIL(&w->rl, w->ready);
    seq_close(&w->seq, on_seq_closed);
    RUN_UNTIL(&w->rl, w->closed);
    assert_file(&w->folder, "seq", "65538 closed\n");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_log_is_mended_rotated_and_reopened),
        IN_WORLD(a_file_at_its_limit_goes_on_where_it_stopped),
        IN_WORLD(numbers_are_reserved_on_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
