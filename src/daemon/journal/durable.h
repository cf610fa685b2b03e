/*
 * durable.h - replaces a small file atomically and durably: after a crash it has either the old or
 * the new contents.
 *
 *     write file.new, sync -> rename to file -> sync the directory
 */
#ifndef DAEMON_JOURNAL_DURABLE_H
#define DAEMON_JOURNAL_DURABLE_H

#include "base/str.h"
#include "seam/disk.h"

enum {
    DURABLE_MAX = 4096, /* LIMIT: bytes of the file; a certificate has about 700 */
};

enum durable_step {
    DURABLE_OPEN,
    DURABLE_WRITE,
    DURABLE_SYNC,
    DURABLE_CLOSE,
    DURABLE_RENAME,
    DURABLE_OPEN_DIR,
    DURABLE_SYNC_DIR,
    DURABLE_CLOSE_DIR,
    DURABLE_DONE,
};

struct durable {
    struct disk *disk;
    struct disk_op op;
    enum durable_step step;
    char *dir, *path, *temp; /* owned while an operation is in flight */
    char bytes[DURABLE_MAX];
    size_t len, written;
    int mode;
    int fd;    /* -1: none */
    int error; /* 0, or the first libuv error */
    void (*done)(struct durable *durable, int error);
};

/* Writes @bytes (at most DURABLE_MAX; copied) to the file @name in @dir. One operation at a
 * time. @done gets 0 or a negative libuv error, and may start the next operation. */
void durable_write(struct durable *durable, struct disk *disk, const char *dir, const char *name,
                   int mode, struct str bytes, void (*done)(struct durable *durable, int error));

#endif
