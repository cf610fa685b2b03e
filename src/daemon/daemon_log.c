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
#include "base/text/json_string.h"
#include "base/text/timestamp.h"
#include "base/text/utf8.h"
#include "daemon/record/note.h"

/* A control sequence: erases the line from the cursor on. */
#define ERASE_TO_END "\033[K"

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* "12:04:31 WARN     line", with the columns of text_format.c. */
static void put_text_line(struct buf *out, int64_t at_us, const char *word, const char *line)
{
    time_t seconds = (time_t)(at_us / 1000000);
    char time[16] = "--:--:--";
    struct tm tm;
    if (localtime_r(&seconds, &tm))
        strftime(time, sizeof(time), "%H:%M:%S", &tm);
    buf_printf(out, "%s %-8s ", time, word);
    utf8_put_visible(out, str_of(line));
    buf_putc(out, '\n');
}

void daemon_log_put(struct buf *out, enum conf_log_format format, int64_t at_us,
                    enum inf_log_level level, const char *line)
{
    static const char *const words[] = {"DEBUG", "INFO", "WARN", "ERROR"};
    char time[TIMESTAMP_SIZE];
    bool json = format == CONF_JSON;
    if (format == CONF_LOG_TEXT) {
        put_text_line(out, at_us, words[level], line);
        return;
    }
    timestamp_format(at_us, time);
    buf_printf(out,
               json ? "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":" : "time=%s level=%s msg=", time,
               note_level_name(level));
    json_put_string(out, str_of(line));
    buf_puts(out, json ? "}\n" : "\n");
}

/* ---- writing ---- */

/*
 * Writes at most one line, so that lines of several processes don't mix, and at most PIPE_BUF bytes
 * of it: so much a pipe, socket or terminal that polls as writable accepts without blocking.
 *
 * Returns the bytes written; 0: none now. Bytes that fail count as written.
 */
static size_t write_some(const struct daemon_log *log)
{
    const struct buf *waiting = &log->waiting;
    const char *end = memchr(waiting->bytes, '\n', waiting->len);
    size_t len = end ? (size_t)(end - waiting->bytes) + 1 : waiting->len;
    struct pollfd ready = {.fd = log->fd ? log->fd : STDERR_FILENO, .events = POLLOUT};
    ssize_t n;
    if (len > PIPE_BUF)
        len = PIPE_BUF;
    if (poll(&ready, 1, 0) == 0) /* an error of poll(2) is returned by write(2) too */
        return 0;
    n = write(ready.fd, waiting->bytes, len);
    if (n >= 0)
        return (size_t)n;
    return errno == EAGAIN || errno == EINTR ? 0 : len;
}

static void log_dropped(struct daemon_log *log)
{
    char line[96];
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
        if (!log->waiting.len && log->dropped)
            log_dropped(log);
    }
    if (log->waiting.len && log->clock)
        timer_start(log->clock, &log->again, DAEMON_LOG_AGAIN_MS);
}

static void on_again(struct timer *timer)
{
    send_waiting(container_of(timer, struct daemon_log, again));
}

static void erase_progress(struct daemon_log *log)
{
    if (log->progress)
        buf_puts(&log->waiting, "\r" ERASE_TO_END);
    log->progress = false;
}

void daemon_log_progress(struct daemon_log *log, const char *text)
{
    if (!text) {
        erase_progress(log);
    } else if (!log->waiting.len) {
        buf_printf(&log->waiting, "\r%s" ERASE_TO_END, text);
        log->progress = true;
    }
    send_waiting(log);
}

void daemon_log_line(void *ctx, enum inf_log_level level, const char *line)
{
    struct daemon_log *log = ctx;
    bool retries = (log->holding || log->quiet_retries) && strstr(line, "; retrying in ");
    if (level < log->level || (retries && log->quiet_retries))
        return;
    if (retries) {
        if (log->held.len < DAEMON_LOG_MAX)
            daemon_log_put(&log->held, log->format, now_us(), level, line);
        return;
    }
    erase_progress(log);
    if (log->dropped || log->waiting.len >= DAEMON_LOG_MAX)
        log->dropped++;
    else
        daemon_log_put(&log->waiting, log->format, now_us(), level, line);
    send_waiting(log);
}

void daemon_log_hold(struct daemon_log *log)
{
    log->holding = true;
}

void daemon_log_release(struct daemon_log *log, bool discard)
{
    log->holding = false;
    if (!discard && log->held.len)
        erase_progress(log);
    if (!discard)
        buf_put(&log->waiting, log->held.bytes, log->held.len);
    buf_free(&log->held);
    send_waiting(log);
}

/* Formats a line as a C string in @out. */
__attribute__((format(printf, 2, 0))) static void format_line(struct buf *out, const char *fmt,
                                                              va_list args)
{
    buf_vprintf(out, fmt, args);
    buf_putc(out, '\0');
}

void daemon_log_status(struct daemon_log *log, const char *status, const char *fmt, ...)
{
    struct buf line = {0};
    va_list args;
    va_start(args, fmt);
    format_line(&line, fmt, args);
    va_end(args);
    erase_progress(log);
    put_text_line(&log->waiting, now_us(), status, line.bytes);
    buf_free(&line);
    send_waiting(log);
}

void daemon_log_printf(struct daemon_log *log, enum inf_log_level level, const char *fmt, ...)
{
    struct buf line = {0};
    va_list args;
    va_start(args, fmt);
    format_line(&line, fmt, args);
    va_end(args);
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
    buf_free(&log->held);
    buf_free(&log->waiting);
}
