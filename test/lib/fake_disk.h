/*
 * fake_disk.h - a disk in virtual time: real files, with failures that a test chooses.
 *
 * Each operation takes effect at once and ends in a later tick, so that there is always one in
 * flight. Writes succeed until `space` is used up: the last one is short, as on a full disk, and
 * the following ones fail.
 */
#ifndef TEST_FAKE_DISK_H
#define TEST_FAKE_DISK_H

#include "loop/disk.h"
#include "sim.h"

enum fake_call {
    FAKE_OPEN,
    FAKE_CLOSE,
    FAKE_READ,
    FAKE_WRITE, /* also polled ones */
    FAKE_SYNC,
    FAKE_RENAME,
    FAKE_REMOVE,
    FAKE_STAT,
    FAKE_TRUNCATE,
    FAKE_MAKE_DIR,
    FAKE_LIST,
    FAKE_LOCK,
    FAKE_CALLS,
};

struct fake_disk {
    struct disk disk;
    struct loop_disk real; /* synchronous */
    struct sim_io io;
    struct list pending;         /* operations in flight */
    bool frozen;                 /* no operation ends */
    size_t space;                /* bytes that may be written */
    int space_error;             /* afterwards; default: -ENOSPC */
    const struct disk_op *stuck; /* this operation does not end */
    enum fake_call stuck_all;    /* calls of this type do not end; FAKE_CALLS: none */
    int fail[FAKE_CALLS];        /* 0, or the error of such a call */
    unsigned skip[FAKE_CALLS];   /* calls that succeed before `fail` takes effect */
    unsigned times[FAKE_CALLS];  /* calls that fail then; 0: all */
    bool local;                  /* links() is available; default: it is not */
    bool lazy;                   /* appends end when they are collected */
    size_t read_max;             /* bytes that one read returns at most; 0: no limit */
    void (*before_call)(struct fake_disk *disk, enum fake_call call); /* may be NULL */
    unsigned calls[FAKE_CALLS];
};

void fake_disk_init(struct fake_disk *disk, struct sim *sim);

/* No operation may be in flight. */
void fake_disk_done(struct fake_disk *disk);

#endif
