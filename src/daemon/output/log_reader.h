/*
 * log_reader.h - reads the records of an event log back from its files, the rotated ones first, while
 * informerd goes on writing and rotating them.
 *
 *     reader = log_reader_new(&files, &from, &user);
 *     log_reader_more(reader);
 *         -> user.on_more(&user, LOG_READER_LINES)
 *     while (log_reader_take(reader, &record)) ...
 *     log_reader_more(reader);                       and so on
 *         -> user.on_more(&user, LOG_READER_END)     everything that is written was read
 *
 * After LOG_READER_END, log_reader_more() continues with what was written since: call it when the log has
 * written something. Each record is returned once, in the order of the files. Lines that are not
 * records are skipped: blanks in the place of a torn line, and a last line that is not complete yet.
 *
 * Files are found by their names (log_rotated.h) and followed by identity: a file that is renamed while it is
 * read is read to its end, and the next newer one follows. If that can't be found, because files were compressed,
 * removed or renamed by others, reading continues at the next record that is kept, after LOG_READER_GAP if some are
 * missing. A compressed file that is damaged is a gap, too.
 *
 * A reader keeps one piece of a file in memory (of a compressed one also 80 KB of zlib), and at most one longer line. All operations are those of
 * the disk: nothing blocks. Readers that share a gate use at most LOG_READER_OPERATIONS threads of the
 * pool, however many there are and however long a disk hangs.
 */
#ifndef DAEMON_OUTPUT_LOG_READER_H
#define DAEMON_OUTPUT_LOG_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "daemon/record/record_line.h"
#include "seam/disk.h"

enum {
    LOG_READER_PIECE = 64 * 1024,                   /* bytes read at a time */
    LOG_READER_PACKED = 8 * 1024,                   /* the same, of a compressed file */
    LOG_READER_LINE_MAX = 16 * 1024 * 1024 + 1,     /* LIMIT: of a line; max_line allows no more */
    LOG_READER_OPERATIONS = 4,                      /* LIMIT: in flight, of all readers of a gate */
    LOG_READER_DISORDER_US = 60 * INT64_C(1000000), /* records may be written this much later */
    LOG_READER_RETRIES_MAX = 16, /* LIMIT: searches for the next file that a rotation disturbs */
};

/* Shared by readers. */
struct log_reader_gate {
    unsigned running;
    struct list waiting; /* of struct log_reader */
};

void log_reader_gate_init(struct log_reader_gate *gate);

/* The first record to read. */
struct log_position {
    enum {
        LOG_FROM_START, /* the oldest that is kept */
        LOG_FROM_SEQ,
        LOG_FROM_TIME,
    } kind;
    uint64_t seq;
    int64_t time_us;
};

/* What is read. Everything is copied, except the disk and the gate. */
struct log_reader_files {
    struct disk *disk;
    struct log_reader_gate *gate;
    const char *path;
    unsigned keep;   /* rotated files */
    const char *log; /* the current sequence of numbers: records of others are older */
};

enum log_reader_result {
    LOG_READER_LINES, /* take them */
    LOG_READER_END,
    LOG_READER_GAP,    /* records may be missing before the next one: see log_reader_gap() */
    LOG_READER_FAILED, /* see log_reader_error() */
};

struct log_reader_user;

struct log_reader_user_ops {
    /* Once for each log_reader_more(), from the loop. May close the reader. */
    void (*on_more)(struct log_reader_user *user, enum log_reader_result result);

    /* Whether the log still writes to this file, although its path names another one. */
    bool (*is_written)(struct log_reader_user *user, const struct disk_stat *file);
};

/* The first member of every user. */
struct log_reader_user {
    const struct log_reader_user_ops *ops;
};

struct log_reader;

/* Starts nothing. */
struct log_reader *log_reader_new(const struct log_reader_files *files,
                                  const struct log_position *from, struct log_reader_user *user);

/* Ends it: on_more is not called any more. Memory is freed when no operation is in flight. NULL is
 * allowed. */
void log_reader_close(struct log_reader *reader);

/* Reads on, when the last on_more has been called and no record is left to take. */
void log_reader_more(struct log_reader *reader);

/* The next record, of which only the head is read; valid until log_reader_more(). Returns false if there
 * is none. */
bool log_reader_take(struct log_reader *reader, struct record_line *ret);

/* After LOG_READER_GAP: the number before the next record. */
uint64_t log_reader_gap(const struct log_reader *reader);

/* After LOG_READER_FAILED: a negative errno value. */
int log_reader_error(const struct log_reader *reader);

#endif
