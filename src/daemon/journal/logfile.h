/*
 * logfile.h - an append-only file: opened at its end, repaired if its last line is incomplete,
 * checked whether its path still names it, and rotated.
 *
 *     logfile_open -> logfile_write ... -> logfile_rotate -> logfile_write ... -> logfile_close
 *
 * One operation at a time. Each ends with done(), called from the loop or, with a disk that has no
 * loop, before the function returns.
 *
 * An incomplete line, which a crash in the middle of a write leaves, is overwritten with blanks in
 * place and ended with a newline. The file is never truncated: `tail -F` would take the shorter
 * file for a new one and show all of it again. Complete lines are never modified: the end is read
 * from, and overwritten in, the file that was opened, even if the path names another one by then.
 *
 * The file is locked while it is open (see loop/disk_lock.h). A file that another
 * process, or another log of this process, has locked is not opened: -EBUSY, and `holder` is the
 * process.
 */
#ifndef DAEMON_JOURNAL_LOGFILE_H
#define DAEMON_JOURNAL_LOGFILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seam/disk.h"

enum {
    LOGFILE_PIECE = 4096,                /* bytes read and blanked at a time */
    LOGFILE_TORN_MAX = 64 * 1024 * 1024, /* LIMIT: bytes of an incomplete line; of a longer
                                            one only the end is blanked */
    LOGFILE_REOPENS_MAX = 3,             /* LIMIT: restarts of one logfile_open() because the path
                                            names another file meanwhile */
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
    const char *path; /* borrowed; NULL: an inherited descriptor, which is never closed */
    int fd;           /* -1: not open */
    uint64_t size;
    uint64_t unfinished;   /* bytes of an incomplete line that we wrote at its end */
    const char *bytes;     /* being written */
    struct disk_stat stat; /* its identity */
    enum logfile_step step;
    int error; /* of opening, kept while the file is closed again */
    unsigned reopens;
    pid_t holder; /* of the lock, after -EBUSY; 0: unknown */

    int mend_fd; /* the same file opened for reading, or a rotated one to test its lock; -1: none */
    uint64_t torn;    /* offset of the incomplete line, as far as it is known */
    size_t piece_len; /* bytes read into `piece` */
    uint64_t blanked;
    unsigned keep;        /* rotated files to keep */
    unsigned free_number; /* unused; the next file to rename gets it */
    unsigned first_free;  /* free_number before the first rename */
    int rotate_error;
    char piece[LOGFILE_PIECE];

    /* @result: 0 or more, or a negative libuv error. May start the next operation. */
    void (*done)(struct logfile *file, int64_t result);
};

/* For @path (borrowed). If it is NULL, for @fd, which is open already. */
void logfile_init(struct logfile *file, struct disk *disk, const char *path, int fd,
                  void (*done)(struct logfile *file, int64_t result));

bool logfile_is_open(const struct logfile *file);
bool logfile_is_busy(const struct logfile *file);

/* Opens the file at its end. Creates it if it does not exist; its directory must exist. */
void logfile_open(struct logfile *file);

/* done() gets the number of bytes written, possibly fewer than @len. Files that are not regular
 * are polled and occupy no thread of the pool, except an inherited descriptor, on which
 * O_NONBLOCK can't be set. */
void logfile_write(struct logfile *file, const char *bytes, size_t len);

/* Cancels a write that has not started, if possible: done() gets -ECANCELED, possibly before
 * this returns. */
void logfile_cancel_write(struct logfile *file);

/* Checks whether the path still names this file: done() gets 1 if so, 0 if it was moved or
 * removed. */
void logfile_check(struct logfile *file);

/* Checks whether the open file still has any name: done() gets 0 if it was removed, else 1. */
void logfile_look(struct logfile *file);

/*
 * Renames path -> path.1 -> ... -> path.@keep and opens a new file. If renaming fails,
 * `rotate_error` has the error, nothing has changed, and the file stays open. LOGFILE_MOVED: the
 * path names another file or none; the caller should close and reopen it. done() gets an error only
 * if the new file could not be opened.
 */
void logfile_rotate(struct logfile *file, unsigned keep);

/* The name of the @number-th rotated file of @path if @keep of them are kept. Number @keep + 1
 * exists only during a rotation. The caller frees the result. */
char *logfile_rotated_name(const char *path, unsigned number, unsigned keep);

/*
 * Closes the file. If only a part of the last line was written, overwrites it with blanks first:
 * through the descriptor, because the path may name another file, and in place, because the disk
 * may be full. done() gets an error if that failed; the file is closed in any case.
 */
void logfile_close(struct logfile *file);

#endif
