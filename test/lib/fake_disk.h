/*
 * fake_disk.h - real files, but a disk that fails when a test says so, in virtual time.
 *
 * Each operation is done at once and told in a later tick, so that there is always something in
 * flight. Writes succeed until `space` is used up: the last one is short, as on a disk that is
 * full, and then come errors.
 */
#ifndef TEST_FAKE_DISK_H
#define TEST_FAKE_DISK_H

#include "daemon/journal/disk.h"
#include "sim.h"

enum fake_call {
    FAKE_OPEN,
    FAKE_CLOSE,
    FAKE_READ,
    FAKE_WRITE, /* also polled ones */
    FAKE_SYNC,
    FAKE_RENAME,
    FAKE_REMOVE,
    FAKE_LOOK,
    FAKE_LOCK,
    FAKE_CALLS,
};

struct fake_disk {
    struct disk disk;
    struct disk real; /* done at once */
    struct sim_io io;
    struct list told_later;      /* of ends to tell */
    bool frozen;                 /* nothing is told */
    size_t space;                /* bytes that may be written */
    int space_error;             /* afterwards; UV_ENOSPC unless set */
    const struct disk_op *stuck; /* of this operation nothing is told */
    enum fake_call stuck_all;    /* the same of such calls; FAKE_CALLS: none */
    int fail[FAKE_CALLS];        /* 0, or what such a call fails with */
    unsigned skip[FAKE_CALLS];   /* calls that succeed before `fail` takes effect */
    unsigned times[FAKE_CALLS];  /* calls that fail then; 0: all */
    size_t read_max;             /* bytes that one read returns at most; 0: no limit */
    void (*before_call)(struct fake_disk *disk, enum fake_call call); /* NULL: nothing happens */
    unsigned calls[FAKE_CALLS];
};

void fake_disk_init(struct fake_disk *disk, struct sim *sim);
void fake_disk_done(struct fake_disk *disk); /* nothing is in flight */

#endif
