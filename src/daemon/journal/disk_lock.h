/*
 * disk_lock.h - locks on open files, so that two processes, or two logs of one, never write one file.
 *
 * A lock belongs to the open file: it ends when that is closed, also by the death of the process.
 */
#ifndef DAEMON_JOURNAL_DISK_LOCK_H
#define DAEMON_JOURNAL_DISK_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether the kernel grants locks on such a file system (f_type of statfs(2)) by itself, so that asking for
 * one does not wait for a server or for another process. */
bool disk_lock_is_local(uint64_t file_system);

/*
 * Locks @fd, for this open file alone or (not @exclusive) together with others that do not want it alone.
 * Never waits. Returns 0, also if the file system has no locks, or UV_EBUSY and in *@ret_holder the process
 * that has the lock; 0: not known.
 */
int disk_lock_take(int fd, bool exclusive, pid_t *ret_holder);

#endif
