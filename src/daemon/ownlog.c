#include "daemon/ownlog.h"

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
void ownlog_line(void *format, enum inf_log_level level, const char *line)
{
    struct buf out = {0};
    ssize_t ignored;
    ownlog_put(&out, format ? *(const enum conf_log_format *)format : CONF_LOGFMT, now_us(), level,
               line);
    ignored = write(STDERR_FILENO, out.bytes, out.len);
    (void)ignored;
    buf_free(&out);
}
