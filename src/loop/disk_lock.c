/*
 * disk_lock.c - flock(2) without waiting, and /proc/locks to find the process that has the lock.
 *
 * Only on local file systems, where the kernel responds at once: these calls are made on the loop,
 * since libuv has none for its pool. A network file system sends a request to its server, which may
 * hang, so files there are not locked. The holder is unknown if /proc is not mounted or the process
 * is in another PID namespace.
 */
#include "loop/disk_lock.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/base.h"

/* File systems that are missing in linux/magic.h of older systems, or are not part of Linux. */
enum {
    FS_XFS = 0x58465342,
    FS_ZFS = 0x2fc12fc1,
    FS_JFS = 0x3153464a,
    FS_EXFAT = 0x2011bab0,
    FS_NTFS3 = 0x7366746e,
};

bool disk_lock_is_local(uint64_t file_system)
{
    static const uint32_t local[] = {
        EXT4_SUPER_MAGIC,
        FS_XFS,
        BTRFS_SUPER_MAGIC,
        TMPFS_MAGIC,
        RAMFS_MAGIC,
        OVERLAYFS_SUPER_MAGIC,
        F2FS_SUPER_MAGIC,
        FS_ZFS,
        FS_JFS,
        REISERFS_SUPER_MAGIC,
        MSDOS_SUPER_MAGIC,
        FS_EXFAT,
        FS_NTFS3,
        ECRYPTFS_SUPER_MAGIC,
    };
    for (size_t i = 0; i < ARRAY_LEN(local); i++)
        if ((uint32_t)file_system == local[i]) /* it is signed on some systems */
            return true;
    return false;
}

/* "7: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF": the process, if the line is about this
 * file. */
static pid_t holder_in(const char *line, const struct stat *st)
{
    unsigned major_number, minor_number;
    uint64_t inode;
    int pid;
    if (sscanf(line, "%*u: FLOCK %*s %*s %d %x:%x:%" SCNu64, &pid, &major_number, &minor_number,
               &inode) != 4)
        return 0;
    return inode == st->st_ino && major_number == major(st->st_dev) &&
                   minor_number == minor(st->st_dev) && pid > 0
               ? pid
               : 0;
}

static pid_t find_holder(int fd)
{
    FILE *locks = fopen("/proc/locks", "re");
    char line[256];
    struct stat st;
    pid_t pid = 0;
    if (locks && fstat(fd, &st) == 0)
        while (!pid && fgets(line, sizeof(line), locks))
            pid = holder_in(line, &st);
    if (locks)
        fclose(locks);
    return pid;
}

int disk_lock_take(int fd, bool exclusive, pid_t *ret_holder)
{
    if (flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    *ret_holder = find_holder(fd);
    return -EBUSY;
}
