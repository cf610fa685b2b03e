#include "daemon/ownlog.h"

#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json_string.h"
#include "base/timestamp.h"

static const char *level_name(enum inf_log_level level)
{
    switch (level) {
    case INF_LOG_DEBUG: return "debug";
    case INF_LOG_INFO: return "info";
    case INF_LOG_WARN: return "warn";
    case INF_LOG_ERROR: return "error";
    }
    return "?";
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* One write a line, so that lines of several processes don't mix. What can't be written can't be
 * reported either. */
void ownlog_line(void *ctx, enum inf_log_level level, const char *line)
{
    char time[TIMESTAMP_SIZE];
    struct buf out = {0};
    ssize_t ignored;
    (void)ctx;
    timestamp_format(now_us(), time);
    buf_printf(&out, "time=%s level=%s msg=", time, level_name(level));
    json_put_string(&out, str_of(line));
    buf_putc(&out, '\n');
    ignored = write(STDERR_FILENO, out.bytes, out.len);
    (void)ignored;
    buf_free(&out);
}
