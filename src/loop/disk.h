/*
 * disk.h - the real file system behind seam/disk.h.
 */
#ifndef LOOP_DISK_H
#define LOOP_DISK_H

#include "loop/loop.h"
#include "seam/disk.h"

struct disk_appends;

struct loop_disk {
    struct disk disk;
    struct loop *loop;
    struct disk_appends *appends; /* NULL: none yet, or io_uring is not available */
    bool has_tried_ring;
};

/* Operations run on libuv's pool, appends through io_uring if possible, and done() is called from the
 * loop. With @loop NULL each operation blocks, and done() is called before it returns: for small files
 * at startup. */
void loop_disk_init(struct loop_disk *disk, struct loop *loop);

/* No operation may be in flight. To be called before loop_close(). Harmless if it has no loop. */
void loop_disk_close(struct loop_disk *disk);

#endif
