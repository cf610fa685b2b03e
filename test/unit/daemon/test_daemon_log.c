/*
 * test_daemon_log.c - the two ways in which the daemon writes about itself, a reader that does not read,
 * and the progress on a terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/daemon_log.h"
#include "sim.h"

enum {
    AT_S = 1763254691,
};

static void assert_line(enum conf_log_format format, enum inf_log_level level, const char *line,
                        const char *expected)
{
    struct buf out = {0};
    daemon_log_put(&out, format, (int64_t)AT_S * 1000000 + 204131, level, line);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
}

static void writes_logfmt(void **state)
{
    (void)state;
    assert_line(
        CONF_LOGFMT, INF_LOG_WARN, "the answer is \"no\"\n",
        "time=2025-11-16T00:58:11.204131Z level=warn msg=\"the answer is \\\"no\\\"\\n\"\n");
}

static void writes_json(void **state)
{
    (void)state;
    assert_line(CONF_JSON, INF_LOG_ERROR, "the answer is \"no\"\n",
                "{\"time\":\"2025-11-16T00:58:11.204131Z\",\"level\":\"error\","
                "\"msg\":\"the answer is \\\"no\\\"\\n\"}\n");
}

/* ---- a reader that does not read ---- */

struct world {
    struct sim sim;
    struct daemon_log log;
    int pipe[2];
    struct buf read;
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    assert_int_equal(pipe(w->pipe), 0);
    daemon_log_init(&w->log, &w->sim.clock, INF_LOG_INFO, CONF_LOGFMT);
    w->log.fd = w->pipe[1];
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    daemon_log_free(&w->log);
    sim_done(&w->sim);
    close(w->pipe[0]);
    close(w->pipe[1]);
    buf_free(&w->read);
    free(w);
    return 0;
}

/* More than the pipe and the log hold. */
static size_t log_too_much(struct world *w)
{
    char *line = malloc(10000);
    size_t n = 0;
    memset(line, 'x', 9999);
    line[9999] = '\0';
    for (; !w->log.dropped; n++)
        daemon_log_line(&w->log, INF_LOG_INFO, line);
    free(line);
    return n;
}

/* Reads until the log has written everything. */
static void read_all(struct world *w)
{
    char chunk[4096];
    while (w->log.waiting.len) {
        ssize_t n = read(w->pipe[0], chunk, sizeof(chunk));
        buf_put(&w->read, chunk, (size_t)n);
        sim_advance(&w->sim, DAEMON_LOG_AGAIN_MS);
    }
    daemon_log_line(&w->log, INF_LOG_INFO, "the end");
    while (!w->read.len || !memmem(w->read.bytes, w->read.len, "the end", 7)) {
        ssize_t n = read(w->pipe[0], chunk, sizeof(chunk));
        buf_put(&w->read, chunk, (size_t)n);
    }
    buf_putc(&w->read, '\0');
}

static size_t count_lines(const struct world *w, const char *with)
{
    size_t n = 0;
    for (const char *at = w->read.bytes; (at = strstr(at, with)); at++)
        n++;
    return n;
}

static void does_not_wait_for_a_full_pipe(void **state)
{
    struct world *w = *state;
    size_t logged = log_too_much(w);
    assert_in_range(w->log.waiting.len, DAEMON_LOG_MAX, DAEMON_LOG_MAX + 11000);
    daemon_log_line(&w->log, INF_LOG_INFO, "one more");
    read_all(w);
    assert_int_equal(count_lines(w, "msg=\"xxx"), logged - 1);
    assert_int_equal(count_lines(w, "xxx\"\n"), logged - 1);
    assert_int_equal(count_lines(w, "one more"), 0);
    assert_int_equal(count_lines(w, "2 lines of this log were dropped"), 1);
    assert_int_equal(w->log.dropped, 0);
}

static void frees_lines_that_were_not_written(void **state)
{
    struct world *w = *state;
    log_too_much(w);
    daemon_log_leave_clock(&w->log);
    daemon_log_line(&w->log, INF_LOG_INFO, "no timer is left");
}

/* There is no place to report that. */
static void drops_lines_if_stderr_cannot_be_written(void **state)
{
    struct world *w = *state;
    daemon_log_line(&w->log, INF_LOG_INFO, "heard");
    close(w->pipe[1]);
    w->pipe[1] = w->log.fd = dup(w->pipe[0]); /* a descriptor that is not open for writing */
    daemon_log_line(&w->log, INF_LOG_INFO, "lost");
    assert_int_equal(w->log.waiting.len, 0);
}

/* ---- progress ---- */

static void assert_written(const struct world *w, const char *expected)
{
    char bytes[512];
    ssize_t n = read(w->pipe[0], bytes, sizeof(bytes) - 1);
    assert_true(n > 0);
    bytes[n] = '\0';
    assert_string_equal(bytes, expected);
}

static void replaces_and_erases_progress(void **state)
{
    struct world *w = *state;
    daemon_log_progress(&w->log, "pods: 10 objects");
    assert_written(w, "\rpods: 10 objects\033[K");
    daemon_log_progress(&w->log, "pods: 9 objects");
    assert_written(w, "\rpods: 9 objects\033[K");
    daemon_log_progress(&w->log, NULL);
    assert_written(w, "\r\033[K");
    daemon_log_progress(&w->log, NULL); /* nothing is shown */
    daemon_log_progress(&w->log, "x");
    assert_written(w, "\rx\033[K");
}

/* The line erases the progress that was shown, and nothing else does so again. */
static void assert_erased_first(struct world *w)
{
    char bytes[512];
    ssize_t n = read(w->pipe[0], bytes, sizeof(bytes) - 1);
    assert_true(n > 0);
    bytes[n] = '\0';
    assert_memory_equal(bytes, "\r\033[K", 4);
    assert_null(strchr(bytes + 1, '\r'));
    assert_non_null(strstr(bytes, "news"));
    assert_int_equal(bytes[n - 1], '\n');
}

static void erases_progress_before_each_kind_of_line(void **state)
{
    struct world *w = *state;
    daemon_log_progress(&w->log, "x");
    assert_written(w, "\rx\033[K");
    daemon_log_line(&w->log, INF_LOG_INFO, "news");
    assert_erased_first(w);

    daemon_log_progress(&w->log, "x");
    assert_written(w, "\rx\033[K");
    daemon_log_status(&w->log, "OFFLINE", "news");
    assert_erased_first(w);

    daemon_log_hold(&w->log);
    daemon_log_line(&w->log, INF_LOG_WARN, "news; retrying in 1s");
    daemon_log_progress(&w->log, "x");
    assert_written(w, "\rx\033[K");
    daemon_log_release(&w->log, false);
    assert_erased_first(w);
}

static void a_line_that_is_not_logged_leaves_the_progress(void **state)
{
    struct world *w = *state;
    daemon_log_progress(&w->log, "x");
    assert_written(w, "\rx\033[K");
    daemon_log_line(&w->log, INF_LOG_DEBUG, "detail");
    daemon_log_progress(&w->log, NULL);
    assert_written(w, "\r\033[K");
}

static void shows_no_progress_while_stderr_is_not_read(void **state)
{
    struct world *w = *state;
    log_too_much(w);
    daemon_log_progress(&w->log, "pods: 10 objects");
    read_all(w);
    assert_int_equal(count_lines(w, "pods: 10 objects"), 0);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_logfmt),
        cmocka_unit_test(writes_json),
        IN_WORLD(does_not_wait_for_a_full_pipe),
        IN_WORLD(frees_lines_that_were_not_written),
        IN_WORLD(drops_lines_if_stderr_cannot_be_written),
        IN_WORLD(replaces_and_erases_progress),
        IN_WORLD(erases_progress_before_each_kind_of_line),
        IN_WORLD(a_line_that_is_not_logged_leaves_the_progress),
        IN_WORLD(shows_no_progress_while_stderr_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
