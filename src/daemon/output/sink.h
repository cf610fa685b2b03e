/*
 * sink.h - the destination of an event log's lines.
 *
 *     sink_file.c         a file, FIFO or terminal that is opened by its path
 *     sink_descriptor.c   the standard output of the process
 *
 * A new sink is one file with a struct sink_type, and one row of the table in sink.c. Operations are
 * asynchronous and one at a time; each ends with one call of on_done(), from the loop or before the
 * operation returns.
 */
#ifndef DAEMON_OUTPUT_SINK_H
#define DAEMON_OUTPUT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/informer.h"

#include "base/str.h"
#include "seam/clock.h"
#include "seam/disk.h"

struct sink;

/* A type ignores the settings that do not apply to it. */
struct sink_settings {
    const char *target;   /* "stdout" or a path; identifies the sink, and names it in messages */
    int fd;               /* stdout: the descriptor */
    uint64_t rotate_size; /* file: bytes; 0: never */
    unsigned keep;        /* file: rotated files; 0 counts as 1: a file in use is never truncated */
};

/* The files of a sink, for readers (log_reader.h). Borrowed. */
struct sink_files {
    const char *path;
    unsigned keep;
    bool is_open;
    struct disk_stat current; /* if it is open: the file that is written */
};

struct sink_type {
    bool (*accepts)(const char *target);
    bool
        inherited; /* open from the start. It can't be opened again, so its first failure is final */
    bool on_pool;  /* an operation may occupy a thread of the pool: see daemon/pool.h */

    /* @target is borrowed as long as the sink exists. */
    struct sink *(*make)(const char *target, struct clock *clock, struct disk *disk);
    void (*free)(struct sink *sink); /* it is closed and has no operation in flight */

    /* Applies new settings with the same target; also called once after make(). */
    void (*configure)(struct sink *sink, const struct sink_settings *settings);

    /* Makes it ready for writing: on_done() gets 0 or a negative errno value. NULL if inherited. */
    void (*open)(struct sink *sink);

    /*
     * Writes whole lines, or what remains of one; @bytes are borrowed. on_done() gets the number of
     * bytes written, possibly fewer than @len, or a negative errno value. -EAGAIN: it is full for a
     * moment, which is not a failure.
     */
    void (*write)(struct sink *sink, const char *bytes, size_t len);

    /* Closes it, also if that fails: `open` is false in on_done(). NULL if inherited. */
    void (*close)(struct sink *sink);

    /* ---- optional: NULL if there is no such thing ---- */

    /* The end of a write may be reported late. This calls on_done() before it returns if the write has
     * ended, and otherwise makes sure that it is called as soon as it ends. */
    void (*collect_write)(struct sink *sink);

    /* Cancels a write that has not started: on_done() gets -ECANCELED, possibly before this
     * returns. */
    void (*cancel_write)(struct sink *sink);

    /* Whether check() has to run now; @writing: lines are about to be written. */
    bool (*check_due)(const struct sink *sink, bool writing);

    /* Finds out whether lines still arrive. on_done() gets the number of lines that were written
     * but are lost. Sets `reopen` if it has to be opened again. */
    void (*check)(struct sink *sink);

    /* How many bytes of @rest to write now; 0: rotate() has to run first. @mid_line: the beginning
     * of the first line is written already. */
    size_t (*room)(const struct sink *sink, struct str rest, bool mid_line);

    /* Continues in a new file. on_done() gets 0, or a negative errno value if it is not open. */
    void (*rotate)(struct sink *sink);

    /* Before open(): finds out how many of the first bytes of @lines the target has at its end, which
     * were written before a crash. @lines are borrowed. on_done() gets the number, or a negative errno
     * value. If they end in the middle of a line, open() keeps that part and sets `continued`. */
    void (*recall)(struct sink *sink, const char *lines, size_t len);

    /* The files with the lines; false: they can't be read back. NULL: they never can. */
    bool (*files)(const struct sink *sink, struct sink_files *ret);

    /* Message for an error; NULL: that of strerror(). */
    const char *(*error_text)(const struct sink *sink, int error);
};

/* The first member of every sink. */
struct sink {
    const struct sink_type *type;
    const char *name; /* borrowed: the target */
    bool open;
    bool reopen;        /* to be closed and opened again before the next write */
    bool continued;     /* by the last open(): the incomplete line that recall() found was kept */
    size_t tail_more;   /* bytes that recall() reads before its lines, for on_tail() */
    uint64_t rotations; /* counter */

    void *owner;
    void (*on_done)(struct sink *sink, int64_t result);
    void (*on_log)(struct sink *sink, enum inf_log_level level, const char *line);
    /* From recall(), if `tail_more` is set: the end of the target, without blank lines. @cut: there is
     * more before it. Called in the pump; if it returns true, again in the next tick with what it has left
     * of @tail. */
    bool (*on_tail)(struct sink *sink, struct str *tail, bool cut);
};

/* The type for @target. There is always one: any other target is a path. */
const struct sink_type *sink_type_for(const char *target);

/* Calls on_log() with "event log NAME: " and the message. */
__attribute__((format(printf, 3, 4))) void sink_log(struct sink *sink, enum inf_log_level level,
                                                    const char *fmt, ...);

/* Newlines in @bytes. */
uint64_t sink_count_lines(const char *bytes, size_t len);

extern const struct sink_type sink_descriptor;
extern const struct sink_type sink_file;

#endif
