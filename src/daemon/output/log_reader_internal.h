/*
 * log_reader_internal.h - shared by log_reader.c (reading), log_reader_gzip.c (of compressed files) and
 * log_reader_find.c (which file); not for other files.
 */
#ifndef DAEMON_OUTPUT_LOG_READER_INTERNAL_H
#define DAEMON_OUTPUT_LOG_READER_INTERNAL_H

#include "base/buf.h"
#include "daemon/output/log_reader.h"
#include "daemon/output/log_rotated.h"

struct gunzip;

struct log_reader {
    struct log_reader_user *user; /* NULL: closed */
    struct disk *disk;
    struct log_reader_gate *gate;
    char *path;
    char *log;
    struct log_rotated rotated;
    struct log_position from;

    struct disk_op op;
    void (*start)(struct log_reader *r); /* begins the operation of the current step */
    void (*after)(struct log_reader *r, int64_t result);
    struct list node; /* waiting in the gate */
    bool busy;        /* a step is waiting, in flight or at its end */
    bool opens;       /* the operation returns a descriptor */

    int fd; /* of the file that is read; -1: none */
    struct disk_stat file;
    uint64_t offset;
    bool leaving; /* the file was rotated: it is read to its end for the last time */

    /* Of a compressed file: */
    bool is_gzip;
    bool damaged; /* it can't be read on: the next file follows */
    struct gunzip *gunzip;
    char *packed; /* LOG_READER_PACKED bytes */

    struct buf bytes; /* of the file, from its last complete line on */
    size_t taken;     /* of `bytes` */
    bool skipping;    /* the rest of a line that is too long */

    /* The name that the current step is about: */
    unsigned number; /* log_rotated.h; 0: the log itself */
    enum log_form form;
    bool exists;    /* some form of the number */
    char *name;     /* its path */
    bool listed;    /* the directory was read for this search */
    unsigned found; /* the file that is read: its number and form */
    enum log_form found_form;
    char *newest; /* the newest date when it was found; NULL: none */
    unsigned retries;
    int next_fd; /* of the file that is examined; -1: none */
    struct disk_stat next_file;
    bool next_is_gzip;
    bool has_first; /* the first record of the file that was opened last: */
    bool first_is_ours;
    uint64_t first_seq;
    int64_t first_us;

    uint64_t last_seq; /* of the last record of `log` that was taken; 0: none */
    uint64_t gap;
    int error;
};

/* ---- log_reader.c ---- */

/* Runs @start, which begins one operation of `op`, when the gate allows it; its end calls @after. */
void log_reader_step(struct log_reader *r, void (*start)(struct log_reader *r),
                     void (*after)(struct log_reader *r, int64_t result));

/* Ends a log_reader_more(). */
void log_reader_report(struct log_reader *r, enum log_reader_result result);
void log_reader_fail(struct log_reader *r, int64_t error);

/* Reads the next piece. */
void log_reader_read(struct log_reader *r);

/* Starts with the first byte of `fd`. */
void log_reader_rewind(struct log_reader *r);

/* Whether @record comes before the position. */
bool log_reader_is_before(const struct log_reader *r, const struct record_line *record);

/* ---- log_reader_gzip.c ---- */

/* Starts with the first byte of a file. Has no effect on `bytes`. */
void log_reader_gzip_begin(struct log_reader *r);
void log_reader_gzip_end(struct log_reader *r);

/*
 * Appends to `bytes` what the first @len bytes of `packed` contain, or a part of it. @len is 0 at the end of the
 * file. Returns how many bytes were used, or -1 if the file is damaged.
 */
ssize_t log_reader_inflate(struct log_reader *r, size_t len);

/* ---- log_reader_find.c ---- */

/* Opens the file to start with. */
void log_reader_find_first(struct log_reader *r);

/* Opens the file after the current one, which was rotated and is read. */
void log_reader_find_next(struct log_reader *r);

#endif
