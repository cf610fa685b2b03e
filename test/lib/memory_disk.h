/*
 * memory_disk.h - a disk in virtual time whose files are in memory, with crashes and power losses.
 *
 * Each operation takes effect at once and ends in a later tick. A file has two contents: what a process
 * reads, and what has surely reached the platter: everything up to the last sync. The same holds
 * for the directory: files that were created or removed since it was synced may exist or not after a
 * power loss.
 *
 * One directory; paths are what follows the last slash. The directory itself can be opened.
 */
#ifndef TEST_MEMORY_DISK_H
#define TEST_MEMORY_DISK_H

#include "base/buf.h"
#include "base/rng.h"
#include "seam/disk.h"
#include "sim.h"

enum memory_call {
    MEMORY_OPEN,
    MEMORY_CLOSE,
    MEMORY_READ,
    MEMORY_WRITE,
    MEMORY_SYNC,
    MEMORY_REMOVE,
    MEMORY_TRUNCATE,
    MEMORY_STAT,
    MEMORY_MAKE_DIR,
    MEMORY_LIST,
    MEMORY_CALLS,
};

struct memory_disk {
    struct disk disk;
    struct sim_io io;
    struct list files;           /* in the directory, or open, or on the platter */
    struct list pending;         /* operations in flight */
    bool stuck;                  /* no operation ends */
    enum memory_call stuck_call; /* calls of this type do not end; MEMORY_CALLS: none */
    int fail[MEMORY_CALLS];      /* 0, or the error of such a call */
    uint64_t space;              /* bytes that may still be written */
    size_t read_max;             /* bytes that one read returns at most; 0: no limit */
    unsigned calls[MEMORY_CALLS];
    void (*on_sync)(struct memory_disk *disk); /* a file was synced; may be NULL */
    void *data;                                /* for the user */
    int open_files;
};

void memory_disk_init(struct memory_disk *disk, struct sim *sim);

/* No operation may be in flight, and no file open. */
void memory_disk_done(struct memory_disk *disk);

/* @to gets the files that @from has when its process is killed now. Of a write in flight only the
 * bytes up to a random one were written; with @rng NULL all. @to has no open files. @from goes on. */
void memory_disk_crash(struct memory_disk *to, struct memory_disk *from, struct rng *rng);

/* The power fails: of each file everything that was synced remains. What was written
 * after that remains in part: blocks of 512 bytes, each by chance, others are zero, and the file
 * ends anywhere after its synced size. Files that were created or removed since the last sync of
 * the directory exist by chance. No file is open. */
void memory_disk_power_loss(struct memory_disk *disk, struct rng *rng);

/* The operating system has written everything to the platter. */
void memory_disk_settle(struct memory_disk *disk);

/* The contents of a file; NULL if it does not exist. It may be changed. */
struct buf *memory_disk_file(struct memory_disk *disk, const char *name);

/* Creates or replaces a file, synced. */
void memory_disk_put(struct memory_disk *disk, const char *name, const char *bytes, size_t len);
void memory_disk_remove(struct memory_disk *disk, const char *name);

/* Whether a file exists. */
bool memory_disk_has(struct memory_disk *disk, const char *name);

/* Bytes of all files. */
uint64_t memory_disk_size(struct memory_disk *disk);

#endif
