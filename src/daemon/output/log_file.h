/*
 * log_file.h - an append-only file: opened at its end, repaired if its last line is incomplete,
 * checked whether its path still names it, and rotated.
 *
 *     log_file_open -> log_file_write ... -> log_file_rotate -> log_file_write ... -> log_file_close
 *
 * One operation at a time. Each ends with done(), called from the loop or, with a disk that has no
 * loop, before the function returns.
 *
 * An incomplete line, which a crash in the middle of a write leaves, is overwritten with blanks in
 * place and ended with a newline. The file is never truncated: `tail -F` would take the shorter
 * file for a new one and show all of it again. Complete lines are never modified: the end is read
 * from, and overwritten in, the file that was opened, even if the path names another one by then.
 *
 * The file is locked while it is open (see loop/disk_lock.h). A file that another process, or another
 * log of this process, has locked is not opened: -EBUSY, and `holder` is the process.
 */
#ifndef DAEMON_OUTPUT_LOG_FILE_H
#define DAEMON_OUTPUT_LOG_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seam/disk.h"

enum {
    LOG_FILE_PIECE = 4096,                      /* bytes read and blanked at a time */
    LOG_FILE_INCOMPLETE_MAX = 64 * 1024 * 1024, /* LIMIT: bytes of an incomplete line; of a longer
                                                   one only the end is blanked */
    LOG_FILE_REOPENS_MAX = 3, /* LIMIT: restarts of one log_file_open() because the
                                                  path names another file meanwhile */
    LOG_FILE_MOVED = -ESTALE, /* error: the path names another file */
};

struct log_file {
    struct disk *disk;
    struct disk_op op;
    void (*after)(struct log_file *file, int64_t result); /* the step in flight; NULL: none */
    const char *path;                                     /* borrowed */
    int fd;                                               /* -1: not open */
    uint64_t size;
    uint64_t unfinished;   /* bytes of an incomplete line that we wrote at its end */
    uint64_t continues;    /* before opening: an incomplete line of this length is ours and is kept;
                              afterwards 0 unless that was so */
    const char *bytes;     /* being written */
    struct disk_stat stat; /* when it was opened: its identity */
    bool is_local;         /* the number of its names is known without waiting */
    int error;             /* of opening or closing, kept while the file is closed */
    unsigned reopens;
    pid_t holder; /* of the lock, after -EBUSY; 0: unknown */

    int second_fd; /* the same file opened for reading, or a rotated one to test its lock; -1: none */
    uint64_t incomplete;  /* offset of the incomplete line, as far as it is known */
    size_t piece_len;     /* bytes read into `piece` */
    uint64_t blanked;     /* offset up to which the incomplete line is blanked */
    unsigned keep;        /* rotated files to keep */
    unsigned free_number; /* unused; the next file to rename gets it */
    unsigned first_free;  /* free_number before the first rename */
    int rotate_error;
    char piece[LOG_FILE_PIECE];

    /* @result: 0 or more, or a negative errno value. May start the next operation. */
    void (*done)(struct log_file *file, int64_t result);
};

/* For @path (borrowed). The owner sets done() before each operation. */
void log_file_init(struct log_file *file, struct disk *disk, const char *path);

bool log_file_is_open(const struct log_file *file);
bool log_file_is_busy(const struct log_file *file);

/* Opens the file at its end. Creates it if it does not exist; its directory must exist. */
void log_file_open(struct log_file *file);

/* done() gets the number of bytes written, possibly fewer than @len. Files that are not regular
 * are polled and occupy no thread of the pool. */
void log_file_write(struct log_file *file, const char *bytes, size_t len);

/* A write that has ended but is not reported yet: calls done() before it returns. A write in progress:
 * done() is called as soon as it ends. */
void log_file_collect_write(struct log_file *file);

/* Cancels a write that has not started, if possible: done() gets -ECANCELED, possibly before
 * this returns. */
void log_file_cancel_write(struct log_file *file);

/* Checks whether the path still names this file: done() gets 1 if so, 0 if it was moved or
 * removed. */
void log_file_check_same(struct log_file *file);

/* Checks whether the open file still has any name: done() gets 0 if it was removed, else 1. */
void log_file_check_name(struct log_file *file);

/*
 * Renames path -> path.1 -> ... -> path.@keep and opens a new file. If renaming fails,
 * `rotate_error` has the error, nothing has changed, and the file stays open. LOG_FILE_MOVED: the
 * path names another file or none; the caller should close and reopen it. done() gets an error only
 * if the new file could not be opened.
 */
void log_file_rotate(struct log_file *file, unsigned keep);

/* The name of the @number-th rotated file of @path if @keep of them are kept. Number @keep + 1
 * exists only during a rotation. The caller frees the result. */
char *log_file_rotated_name(const char *path, unsigned number, unsigned keep);

/*
 * Closes the file. If only a part of the last line was written, overwrites it with blanks first:
 * through the descriptor, because the path may name another file, and in place, because the disk
 * may be full. done() gets an error if that failed; the file is closed in any case.
 */
void log_file_close(struct log_file *file);

/* ---- for log_file_rotate.c ---- */

/* Begins a step: @after gets its result. Returns the operation to pass to the disk. */
struct disk_op *log_file_step(struct log_file *file,
                              void (*after)(struct log_file *file, int64_t result));

/* Ends the operation: done() gets @result. */
void log_file_end(struct log_file *file, int64_t result);

/* Whether both are the same file. */
bool log_file_is_same(const struct disk_stat *a, const struct disk_stat *b);

/* The first step of opening; the last one ends the operation. */
void log_file_start_opening(struct log_file *file);

#endif
