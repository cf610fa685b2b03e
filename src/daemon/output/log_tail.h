/*
 * log_tail.h - reads the last bytes of a log file, across rotations: if the file is shorter than that, the rest comes
 * from the rotated files (log_rotated.h), from the newest on. One that is compressed already is not read.
 */
#ifndef DAEMON_OUTPUT_LOG_TAIL_H
#define DAEMON_OUTPUT_LOG_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "daemon/output/log_rotated.h"
#include "seam/disk.h"

struct log_tail {
    struct disk *disk;
    struct disk_op op;
    void (*after)(struct log_tail *tail, int64_t result); /* the step in flight; NULL: none */
    struct log_rotated rotated;
    unsigned number;    /* of the file being read: 0 is the log */
    unsigned first;     /* of the newest rotated file */
    enum log_form form; /* of the name that is being opened */
    int fd;             /* -1: none */
    int error;
    size_t wanted;
    char *bytes;  /* owned: `wanted` bytes, filled from the end */
    size_t len;   /* bytes read, from complete files */
    size_t piece; /* bytes to read of the current file ... */
    size_t got;   /* ... and read so far */
    uint64_t size;

    /* 0 or a negative errno value. A file that does not exist, or is not regular, is empty. */
    void (*done)(struct log_tail *tail, int error);
};

/* Reads at most @wanted bytes of @path (borrowed), of which informerd keeps @keep rotated files. done() may free the
 * result. */
void log_tail_read(struct log_tail *tail, struct disk *disk, const char *path, unsigned keep,
                   size_t wanted, void (*done)(struct log_tail *tail, int error));

/* The bytes that were read. */
struct str log_tail_bytes(const struct log_tail *tail);
void log_tail_free(struct log_tail *tail);

#endif
