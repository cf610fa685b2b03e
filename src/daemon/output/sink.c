/*
 * sink.c - the table of sinks, and what they share.
 */
#include "daemon/output/sink.h"

#include <stdarg.h>
#include <string.h>

#include "base/base.h"
#include "base/buf.h"

/* The first row that accepts the target. The last one accepts any. */
static const struct sink_type *const types[] = {
    &sink_descriptor,
    &sink_file,
};

const struct sink_type *sink_type_for(const char *target)
{
    size_t i = 0;
    while (i + 1 < ARRAY_LEN(types) && !types[i]->accepts(target))
        i++;
    return types[i];
}

void sink_log(struct sink *sink, enum inf_log_level level, const char *fmt, ...)
{
    struct buf line = {0};
    va_list args;
    buf_printf(&line, "event log %s: ", sink->name);
    va_start(args, fmt);
    buf_vprintf(&line, fmt, args);
    va_end(args);
    buf_putc(&line, '\0');
    sink->on_log(sink, level, line.bytes);
    buf_free(&line);
}

uint64_t sink_count_lines(const char *bytes, size_t len)
{
    const char *end = bytes + len;
    uint64_t lines = 0;
    for (const char *at = bytes; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines;
}
