/*
 * log.c - formats a line and calls the hook.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    LINE_MAX_BYTES = 1024, /* LIMIT: a longer line is cut */
};

void log_line(struct log *log, enum log_level level, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;
    if (!log_has(log, level))
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    log->emit(log, level, line);
}
