/*
 * disk_lock.h - locks on open files, so that two processes, or two logs of one process, never write
 * the same file.
 *
 * A lock belongs to the open file: it is released when that is closed, also when the process dies.
 */
#ifndef LOOP_DISK_LOCK_H
#define LOOP_DISK_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether the kernel handles locks on such a file system (f_type of statfs(2)) locally, so that
 * requesting one never waits for a server or for another process. */
bool disk_lock_is_local(uint64_t file_system);

/*
 * Locks @fd exclusively or shared, without waiting. Returns 0, also if the file system has no
 * locks, or -EBUSY with the process that has the lock in *@ret_holder; 0: unknown.
 */
int disk_lock_take(int fd, bool exclusive, pid_t *ret_holder);

#endif
