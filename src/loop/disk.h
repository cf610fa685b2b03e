/*
 * disk.h - the real file system behind seam/disk.h.
 */
#ifndef LOOP_DISK_H
#define LOOP_DISK_H

#include "loop/loop.h"
#include "seam/disk.h"

struct loop_disk {
    struct disk disk;
    struct loop *loop;
};

/* Operations run on libuv's pool, and done() is called from the loop. With @loop NULL each operation
 * blocks, and done() is called before it returns: for small files at startup. */
void loop_disk_init(struct loop_disk *disk, struct loop *loop);

#endif
