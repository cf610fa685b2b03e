/*
 * daemon_log.c - formats lines and writes them to stderr without blocking.
 *
 * Each line is appended to a buffer, which is written while poll(2) reports room. What remains is
 * retried by a timer. A write error can't be reported anywhere, so such a line is dropped silently.
 */
#include "daemon/daemon_log.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json_string.h"
#include "base/timestamp.h"
#include "daemon/journal/note.h"

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void daemon_log_put(struct buf *out, enum conf_log_format format, int64_t at_us,
                    enum inf_log_level level, const char *line)
{
    char time[TIMESTAMP_SIZE];
    bool json = format == CONF_JSON;
    timestamp_format(at_us, time);
    buf_printf(out,
               json ? "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":" : "time=%s level=%s msg=", time,
               note_level_name(level));
    json_put_string(out, str_of(line));
    buf_puts(out, json ? "}\n" : "\n");
}

/* ---- writing ---- */

/* A pipe, socket or terminal that polls as writable accepts PIPE_BUF bytes without blocking. One
 * line is written at a time, so that lines of several processes don't mix. */
static size_t next_piece(const struct buf *waiting)
{
    const char *end = memchr(waiting->bytes, '\n', waiting->len);
    size_t len = end ? (size_t)(end - waiting->bytes) + 1 : waiting->len;
    return len < PIPE_BUF ? len : PIPE_BUF;
}

static bool takes_more(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    return poll(&ready, 1, 0) != 0; /* an error is returned by write(2) */
}

/* Returns the bytes written; 0: none now. Bytes that fail count as written. */
static size_t write_some(const struct daemon_log *log)
{
    int fd = log->fd ? log->fd : STDERR_FILENO;
    size_t len = next_piece(&log->waiting);
    ssize_t n = takes_more(fd) ? write(fd, log->waiting.bytes, len) : 0;
    if (n >= 0)
        return (size_t)n;
    return errno == EAGAIN || errno == EINTR ? 0 : len;
}

static void log_dropped(struct daemon_log *log)
{
    char line[96];
    if (!log->dropped)
        return;
    snprintf(line, sizeof(line),
             "%" PRIu64 " lines of this log were dropped because stderr was not read",
             log->dropped);
    log->dropped = 0;
    daemon_log_put(&log->waiting, log->format, now_us(), INF_LOG_WARN, line);
}

static void send_waiting(struct daemon_log *log)
{
    size_t out;
    while (log->waiting.len && (out = write_some(log))) {
        buf_consume(&log->waiting, out);
        if (!log->waiting.len)
            log_dropped(log);
    }
    if (log->waiting.len && log->clock)
        timer_start(log->clock, &log->again, DAEMON_LOG_AGAIN_MS);
}

static void on_again(struct timer *timer)
{
    send_waiting(container_of(timer, struct daemon_log, again));
}

void daemon_log_line(void *ctx, enum inf_log_level level, const char *line)
{
    struct daemon_log *log = ctx;
    if (level < log->level)
        return;
    if (log->dropped || log->waiting.len >= DAEMON_LOG_MAX)
        log->dropped++;
    else
        daemon_log_put(&log->waiting, log->format, now_us(), level, line);
    send_waiting(log);
}

void daemon_log_printf(struct daemon_log *log, enum inf_log_level level, const char *fmt, ...)
{
    struct buf line = {0};
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&line, fmt, args);
    va_end(args);
    buf_putc(&line, '\0');
    daemon_log_line(log, level, line.bytes);
    buf_free(&line);
}

/* ---- life ---- */

void daemon_log_init(struct daemon_log *log, struct clock *clock, enum inf_log_level level,
                     enum conf_log_format format)
{
    *log = (struct daemon_log){
        .level = level, .format = format, .clock = clock, .again.fire = on_again};
}

void daemon_log_change(struct daemon_log *log, enum inf_log_level level,
                       enum conf_log_format format)
{
    log->level = level;
    log->format = format;
}

void daemon_log_leave_clock(struct daemon_log *log)
{
    if (log->clock)
        timer_stop(log->clock, &log->again);
    log->clock = NULL;
}

void daemon_log_free(struct daemon_log *log)
{
    daemon_log_leave_clock(log);
    buf_free(&log->waiting);
}
