/*
 * durable.h - a small file replaced whole, so that after a crash it is the old one or the new one.
 *
 *     file.new: write, sync -> rename to file -> sync the directory
 */
#ifndef DAEMON_JOURNAL_DURABLE_H
#define DAEMON_JOURNAL_DURABLE_H

#include "base/str.h"
#include "daemon/journal/disk.h"

enum {
    DURABLE_MAX = 128, /* bytes of such a file */
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
    char *dir, *path, *temp; /* owned while under way */
    char bytes[DURABLE_MAX];
    size_t len, written;
    int mode;
    int fd;    /* -1: none */
    int error; /* 0, or what went wrong first, of libuv */
    void (*done)(struct durable *durable, int error);
};

/* Puts a file called @name with these @bytes (at most DURABLE_MAX; copied) into @dir. One at a time.
 * @done gets 0 or a negative error of libuv, and may begin the next. */
void durable_write(struct durable *durable, struct disk *disk, const char *dir, const char *name,
                   int mode, struct str bytes, void (*done)(struct durable *durable, int error));

#endif
