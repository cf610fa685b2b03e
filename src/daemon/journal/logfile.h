/*
 * logfile.h - a file that only grows: opened at its end, mended if its last line was torn, checked
 * for still being the one that its path names, and rotated.
 *
 *     logfile_open -> logfile_write ... -> logfile_rotate -> logfile_write ... -> logfile_close
 *
 * One operation at a time. Each ends in done(), called from the loop or, by a disk without one,
 * before the function returns.
 *
 * A torn line, which a crash in the middle of a write leaves, is overwritten with blanks where it
 * is and ended by a newline. It is never cut off: `tail -F` would take the smaller file for a new
 * one and show all of it again. Complete lines are never touched: the tail is read from, and blanked
 * in, the file that was opened, whatever the path names by then.
 *
 * While it is open the file is locked (see daemon/journal/disk_lock.h). One that another process, or another log,
 * has locked is not opened: UV_EBUSY, and `holder` is the process.
 */
#ifndef DAEMON_JOURNAL_LOGFILE_H
#define DAEMON_JOURNAL_LOGFILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/journal/disk.h"

enum {
    LOGFILE_PIECE = 4096,                /* bytes looked at and blanked at a time */
    LOGFILE_TORN_MAX = 64 * 1024 * 1024, /* LIMIT: bytes of a torn line; of a longer one only the
                                            end is blanked */
    LOGFILE_REOPENS_MAX = 3,             /* LIMIT: times that one opening starts again because the
                                            path names another file meanwhile */
    LOGFILE_MOVED = -ESTALE,             /* error: the path names another file */
};

enum logfile_step {
    LOGFILE_IDLE,
    LOGFILE_OPEN,
    LOGFILE_LOOK,
    LOGFILE_LOCK,
    LOGFILE_LOCK_LOOK,
    LOGFILE_MEND_OPEN,
    LOGFILE_MEND_LOOK,
    LOGFILE_MEND_READ,
    LOGFILE_MEND_BLANK,
    LOGFILE_MEND_END,
    LOGFILE_MEND_CLOSE,
    LOGFILE_WRITE,
    LOGFILE_CHECK,
    LOGFILE_NAMES,
    LOGFILE_ROTATE_CHECK,
    LOGFILE_ROTATE_SEEK,
    LOGFILE_ROTATE_TEST,
    LOGFILE_ROTATE_TEST_CLOSE,
    LOGFILE_ROTATE_SHIFT,
    LOGFILE_ROTATE_UNDO,
    LOGFILE_ROTATE_REMOVE,
    LOGFILE_ROTATE_CLOSE,
    LOGFILE_CLOSE_LOOK,
    LOGFILE_CLOSE_BLANK,
    LOGFILE_CLOSE,
};

struct logfile {
    struct disk *disk;
    struct disk_op op;
    const char *path; /* lent; NULL: somebody else's descriptor, which is never closed */
    int fd;           /* -1: not open */
    uint64_t size;
    uint64_t unfinished;   /* bytes at its end that we wrote of a line whose rest is not written */
    const char *bytes;     /* being written */
    struct disk_file file; /* which one it is */
    enum logfile_step step;
    int error; /* of opening, kept while what was opened is closed again */
    unsigned reopens;
    pid_t holder; /* of the lock, after UV_EBUSY; 0: not known */

    int mend_fd;      /* the same file, to read, or an old one, to test; -1: none */
    uint64_t torn;    /* where the torn line begins, as far as is known */
    size_t piece_len; /* bytes of the piece that were read */
    uint64_t blanked;
    unsigned keep;        /* of a rotation */
    unsigned free_number; /* no file has it; the next file to rename gets it */
    unsigned first_free;  /* what it was before the first rename */
    int rotate_error;
    char piece[LOGFILE_PIECE];

    /* 0 or more, or a negative error of libuv. May begin the next operation. */
    void (*done)(struct logfile *file, int64_t result);
};

/* For @path (lent), or for @fd if that is NULL: then it is open already. */
void logfile_init(struct logfile *file, struct disk *disk, const char *path, int fd,
                  void (*done)(struct logfile *file, int64_t result));

bool logfile_is_open(const struct logfile *file);
bool logfile_is_busy(const struct logfile *file);

/* Opens the file at its end, and makes it if it is not there; its directory must be. */
void logfile_open(struct logfile *file);

/* done() gets how many bytes were written, maybe fewer than @len. What is not a regular file is polled and occupies no thread
 * of the pool, but for a descriptor of another process's, on which O_NONBLOCK can't be set. */
void logfile_write(struct logfile *file, const char *bytes, size_t len);

/* Ends a write that waits, if it can be ended: done() gets UV_ECANCELED, perhaps before this returns. */
void logfile_cancel_write(struct logfile *file);

/* Whether the path still names this file: done() gets 1 if so, 0 if it was moved or removed. */
void logfile_check(struct logfile *file);

/* Whether the file still has a name, that or another: done() gets 0 if it was removed. */
void logfile_look(struct logfile *file);

/*
 * path -> path.1 -> ... -> path.@keep, and a new file is opened. If that fails, `rotate_error` says
 * why, nothing has changed, and the file stays open. LOGFILE_MOVED: the path names another file, or none;
 * close it and open it again. done() gets an error only if the new file could not be opened.
 */
void logfile_rotate(struct logfile *file, unsigned keep);

/* What the @number-th old file of the log @path is called, if @keep of them are kept: the one after those is
 * set aside while a rotation is under way. The caller frees it. */
char *logfile_rotated_name(const char *path, unsigned number, unsigned keep);

/*
 * If only a part of the last line was written, blanks it through the descriptor, whatever has the
 * path by now, and in place, for the disk may be full. done() gets an error if that failed; the file
 * is closed either way.
 */
void logfile_close(struct logfile *file);

#endif
