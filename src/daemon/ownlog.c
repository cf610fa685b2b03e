#include "daemon/ownlog.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "base/json_string.h"
#include "base/timestamp.h"
#include "daemon/note.h"

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void ownlog_put(struct buf *out, enum conf_log_format format, int64_t at_us,
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

/* One write a line, so that lines of several processes don't mix. What can't be written can't be
 * reported either. */
void ownlog_line(void *ctx, enum inf_log_level level, const char *line)
{
    const struct ownlog *log = ctx;
    struct buf out = {0};
    ssize_t ignored;
    if (level < log->level)
        return;
    ownlog_put(&out, log->format, now_us(), level, line);
    ignored = write(STDERR_FILENO, out.bytes, out.len);
    (void)ignored;
    buf_free(&out);
}

void ownlog_printf(struct ownlog *log, enum inf_log_level level, const char *fmt, ...)
{
    struct buf line = {0};
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&line, fmt, args);
    va_end(args);
    buf_putc(&line, '\0');
    ownlog_line(log, level, line.bytes);
    buf_free(&line);
}
