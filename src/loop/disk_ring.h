/*
 * disk_ring.h - appends to files through io_uring, without libuv's pool.
 *
 * One system call hands over a write, and none is needed to learn its result: the kernel writes it to
 * memory that it shares with us. File systems that can write without waiting (XFS, btrfs) do it inside
 * that call; for all others the kernel uses a thread of its own for each file, so that a disk that
 * hangs delays neither the caller nor other files.
 *
 * Not available before Linux 5.15, where containers or the administrator forbid it, and if the
 * environment has UV_USE_IO_URING=0, as libuv's own use of it.
 */
#ifndef LOOP_DISK_RING_H
#define LOOP_DISK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DISK_RING_WRITES = 64, /* LIMIT: writes in flight */
};

struct disk_ring;

/* NULL: not available. */
struct disk_ring *disk_ring_new(void);

/* No write may be in flight. */
void disk_ring_free(struct disk_ring *ring);

/* A descriptor that becomes readable with each result, until it is cleared. After that, take all
 * results. */
int disk_ring_event_fd(const struct disk_ring *ring);
void disk_ring_clear_event(struct disk_ring *ring);

/* Starts a write at the end of @fd, which is open with O_APPEND. @bytes are borrowed until its result
 * was taken. Returns false if it could not be started: too many are in flight, or the kernel
 * refuses. */
bool disk_ring_append(struct disk_ring *ring, int fd, const char *bytes, size_t len, void *data);

/* Takes the next result, with the data of its write: the number of bytes written or a negative errno
 * value. Returns false if there is none. */
bool disk_ring_take(struct disk_ring *ring, void **ret_data, int64_t *ret_result);

#endif
