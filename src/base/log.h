/*
 * log.h - where lines about ourselves go. The library never writes anywhere: it calls a hook.
 *
 * The daemon's hook prints logfmt on stderr; a story's hook keeps the lines and compares them.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level {
    LOG_DEBUG,
    LOG_INFO,
    LOG_WARN,
    LOG_ERROR,
};

/* Embed as the first thing in whatever takes lines. */
struct log {
    enum log_level level; /* lines below it are not made */
    void (*emit)(struct log *log, enum log_level level, const char *line);
};

/* Makes a line and hands it to @log (NULL is fine). @line is gone after the call; lines over 1 KiB
 * are cut. */
__attribute__((format(printf, 3, 4))) void log_line(struct log *log, enum log_level level,
                                                    const char *fmt, ...);

#endif
