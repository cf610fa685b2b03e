/*
 * test_real_disk.c - event logs and sequence numbers with real files on a real loop, without simulation.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/journal/seq.h"
#include "daemon/output/log_reader.h"
#include "daemon/pool.h"
#include "event_log_world.h"
#include "folder.h"
#include "loop/disk.h"
#include "real_loop.h"

struct world {
    struct real_loop rl;
    struct loop_disk disk;
    struct folder folder;
    char *path;
    struct event_log log;
    struct event_log_recorder recorder;
    struct seq seq;
    bool seq_closed;
    bool ready;
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    real_loop_init(&w->rl);
    loop_disk_init(&w->disk, &w->rl.loop);
    folder_make(&w->folder);
    w->path = folder_file(&w->folder, "log");
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    loop_disk_close(&w->disk);
    real_loop_done(&w->rl);
    folder_remove(&w->folder);
    buf_free(&w->recorder.logged);
    free(w->path);
    free(w);
    return 0;
}

static void put_lines(struct world *w, const char *lines)
{
    buf_puts(&w->log.collected, lines);
    event_log_flush(&w->log);
    RUN_UNTIL(&w->rl, event_log_is_idle(&w->log));
}

static void open_log(struct world *w, uint64_t rotate_size)
{
    struct event_log_settings settings = {
        .sink = {.target = w->path, .rotate_size = rotate_size, .keep = 2}};
    event_log_init(&w->log, &w->rl.loop.clock, &w->disk.disk, NULL, w->path,
                   &event_log_recorder_events);
    w->log.owner = &w->recorder;
    event_log_configure(&w->log, &settings, NULL, NULL);
    event_log_begin(&w->log);
}

static void close_log(struct world *w)
{
    event_log_close(&w->log);
    RUN_UNTIL(&w->rl, w->recorder.closed);
}

static void repairs_rotates_and_reopens_a_file(void **state)
{
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    folder_write(&w->folder, "log", "old\ntorn");
    open_log(w, 12);
    put_lines(w, "aa\n");
    assert_file(&w->folder, "log", "old\n    \naa\n");
    put_lines(w, "bb\ncc\n");
    assert_file(&w->folder, "log.1", "old\n    \naa\n");
    assert_file(&w->folder, "log", "bb\ncc\n");
    rename(w->path, moved);
    event_log_reopen(&w->log);
    put_lines(w, "dd\n");
    assert_file(&w->folder, "log", "dd\n");
    assert_file(&w->folder, "moved", "bb\ncc\n");
    close_log(w);
    free(moved);
}

/* With a real error in the middle of a line, and a retry after a real second. */
static void a_file_at_its_size_limit_continues_where_it_stopped(void **state)
{
    struct world *w = *state;
    struct rlimit before, small;
    open_log(w, 0);
    put_lines(w, "first\n");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    buf_puts(&w->log.collected, "second\n");
    event_log_flush(&w->log);
    RUN_UNTIL(&w->rl, event_log_is_failing(&w->log));
    assert_file(&w->folder, "log", "first\nseco");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    RUN_UNTIL(&w->rl, event_log_is_idle(&w->log));
    assert_file(&w->folder, "log", "first\nsecond\n");
    assert_false(event_log_is_failing(&w->log));
    close_log(w);
}

/* ---- hanging disks ---- */

struct hung_read {
    struct disk_op op;
    char byte;
    bool done;
};

static void on_read(struct disk_op *op, int64_t result)
{
    (void)result;
    container_of(op, struct hung_read, op)->done = true;
}

/* Every thread that may hang does. A read of an empty pipe stands for a hanging disk. */
static void a_thread_is_left_when_every_other_operation_hangs(void **state)
{
    enum {
        OTHERS = POOL_LOGS + 1
    }; /* all but one of the logs, stdout, the sequence */
    struct world *w = *state;
    struct hung_read reads[OTHERS] = {0};
    int ends[2], done = 0;
    char bytes[OTHERS] = {0};
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < OTHERS; i++) {
        reads[i].op.done = on_read;
        w->disk.disk.ops->read(&w->disk.disk, &reads[i].op, ends[0], &reads[i].byte, 1, -1);
    }
    open_log(w, 0);
    put_lines(w, "1\n");
    assert_file(&w->folder, "log", "1\n");
    close_log(w);
    for (int i = 0; i < OTHERS; i++)
        assert_false(reads[i].done);
    assert_int_equal(write(ends[1], bytes, sizeof(bytes)), OTHERS);
    for (; done < OTHERS; done++)
        RUN_UNTIL(&w->rl, reads[done].done);
    close(ends[0]);
    close(ends[1]);
}

static void the_pool_is_large_enough_for_files_and_lookups(void **state)
{
    (void)state;
    assert_int_equal(pool_threads(1, true), 2 * (POOL_LOGS + 3 + LOG_READER_OPERATIONS));
    assert_int_equal(pool_threads(100, true), 2 * 101); /* half of them may look up names */
    assert_int_equal(pool_threads(5000, true), POOL_MAX);
    assert_int_equal(pool_threads(1, false), POOL_MIN);
}

static void the_environment_may_set_more_threads_but_not_fewer(void **state)
{
    (void)state;
    setenv("UV_THREADPOOL_SIZE", "500", 1);
    pool_prepare(1, true);
    assert_string_equal(getenv("UV_THREADPOOL_SIZE"), "500");
    setenv("UV_THREADPOOL_SIZE", "2", 1);
    pool_prepare(1, true);
    assert_int_equal(atoi(getenv("UV_THREADPOOL_SIZE")), pool_threads(1, true));
}

/* ---- FIFOs ---- */

static char *lines_of(size_t len)
{
    char *lines = calloc(1, len + 1);
    memset(lines, 'x', len);
    lines[len - 1] = '\n';
    return lines;
}

static int open_fifo(struct world *w)
{
    int reader;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(mkfifo(w->path, 0600), 0);
    reader = open(w->path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    open_log(w, 0);
    return reader;
}

static size_t read_all(int fd)
{
    char piece[4096];
    ssize_t n;
    size_t sum = 0;
    while ((n = read(fd, piece, sizeof(piece))) > 0)
        sum += (size_t)n;
    return sum;
}

/* A pipe accepts 64 KB. While it is full, no thread of the pool is occupied. */
static void a_fifo_that_is_not_read_is_polled(void **state)
{
    enum {
        LEN = 200000
    };
    struct world *w = *state;
    char *lines = lines_of(LEN);
    int reader = open_fifo(w);
    size_t seen = 0;
    buf_puts(&w->log.collected, lines);
    event_log_flush(&w->log);
    RUN_UNTIL(&w->rl, w->log.written && w->log.sm.state == EVENT_LOG_WRITING);
    real_loop_settle(&w->rl);
    assert_true(event_log_unwritten(&w->log) > 0);
    while (seen < LEN) {
        seen += read_all(reader);
        real_loop_tick(&w->rl);
    }
    assert_int_equal(seen, LEN);
    RUN_UNTIL(&w->rl, event_log_is_idle(&w->log));
    close_log(w);
    close(reader);
    free(lines);
}

static void a_fifo_that_is_not_read_can_be_closed(void **state)
{
    enum {
        LEN = 200000
    };
    struct world *w = *state;
    char *lines = lines_of(LEN);
    int reader = open_fifo(w);
    buf_puts(&w->log.collected, lines);
    event_log_flush(&w->log);
    RUN_UNTIL(&w->rl, w->log.written && w->log.sm.state == EVENT_LOG_WRITING);
    close_log(w);
    close(reader);
    free(lines);
}

/* Nothing is lost while there is no reader, and the next one gets the rest. */
static void a_fifo_waits_for_its_next_reader(void **state)
{
    struct world *w = *state;
    int reader = open_fifo(w);
    put_lines(w, "1\n");
    assert_int_equal(read_all(reader), 2);
    close(reader);
    buf_puts(&w->log.collected, "2\n");
    event_log_flush(&w->log);
    RUN_UNTIL(&w->rl, event_log_is_failing(&w->log));
    reader = open(w->path, O_RDONLY | O_NONBLOCK);
    RUN_UNTIL(&w->rl, event_log_is_idle(&w->log));
    assert_int_equal(read_all(reader), 2);
    close_log(w);
    close(reader);
}

/* epoll refuses it: written on the pool instead. */
static void a_device_that_can_t_be_polled_is_written(void **state)
{
    struct world *w = *state;
    free(w->path);
    w->path = strdup("/dev/null");
    open_log(w, 0);
    put_lines(w, "1\n");
    assert_int_equal(w->log.bytes, 2);
    close_log(w);
}

static void on_ready(struct seq *seq)
{
    container_of(seq, struct world, seq)->ready = true;
}

static void on_seq_closed(struct seq *seq)
{
    container_of(seq, struct world, seq)->seq_closed = true;
}

static void numbers_are_reserved_on_the_pool(void **state)
{
    struct world *w = *state;
    assert_int_equal(seq_open(&w->seq, &w->rl.loop.clock, &w->disk.disk, w->folder.path, NULL), 0);
    w->seq.on_ready = on_ready;
    for (int i = 0; i < SEQ_BLOCK + 1; i++)
        seq_take(&w->seq);
    assert_false(seq_ready(&w->seq));
    RUN_UNTIL(&w->rl, w->ready);
    seq_close(&w->seq, on_seq_closed);
    RUN_UNTIL(&w->rl, w->seq_closed);
    char expected[64];
    snprintf(expected, sizeof(expected), "%d closed\n", SEQ_BLOCK + 2);
    assert_file(&w->folder, "seq", expected);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(repairs_rotates_and_reopens_a_file),
        IN_WORLD(a_file_at_its_size_limit_continues_where_it_stopped),
        IN_WORLD(numbers_are_reserved_on_the_pool),
        IN_WORLD(a_thread_is_left_when_every_other_operation_hangs),
        IN_WORLD(a_fifo_that_is_not_read_is_polled),
        IN_WORLD(a_fifo_that_is_not_read_can_be_closed),
        IN_WORLD(a_fifo_waits_for_its_next_reader),
        IN_WORLD(a_device_that_can_t_be_polled_is_written),
        cmocka_unit_test(the_pool_is_large_enough_for_files_and_lookups),
        cmocka_unit_test(the_environment_may_set_more_threads_but_not_fewer),
    };
    pool_prepare(1, true); /* as the daemon does, before libuv's first use of it */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
