/*
 * log.h - diagnostic messages. The library never writes to a file: it calls a hook.
 *
 * The daemon's hook prints logfmt on stderr; a story's hook collects the lines and compares them.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level {
    LOG_DEBUG,
    LOG_INFO,
    LOG_WARN,
    LOG_ERROR,
};

/* The first member of every receiver of messages. */
struct log {
    enum log_level level; /* messages below this level are not formatted */
    void (*emit)(struct log *log, enum log_level level, const char *line);
};

/* Whether @log (NULL is allowed) receives messages of @level. */
static inline bool log_has(const struct log *log, enum log_level level)
{
    return log && level >= log->level;
}

/* Formats a line and passes it to @log (NULL is allowed). The line is valid only during the call to
 * emit; lines over 1 KiB are cut. */
__attribute__((format(printf, 3, 4))) void log_line(struct log *log, enum log_level level,
                                                    const char *fmt, ...);

#endif
