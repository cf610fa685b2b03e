/*
 * dump.c - writes a temporary file and renames it, so that readers never see an incomplete dump.
 */
#include "daemon/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

static int write_all(int fd, const struct buf *dump)
{
    size_t at = 0;
    while (at < dump->len) {
        ssize_t n = write(fd, dump->bytes + at, dump->len - at);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int dump_write(const char *path, const struct buf *dump, struct inf_error *err)
{
    char *temp = xasprintf("%s.new", path);
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = fd < 0 ? -1 : write_all(fd, dump);
    if (fd >= 0 && close(fd) < 0)
        rc = -1;
    if (rc == 0)
        rc = rename(temp, path);
    if (rc < 0) {
        err_set(err, INF_EIO, "%s: %s", path, strerror(errno));
        unlink(temp);
    }
    free(temp);
    return rc < 0 ? -INF_EIO : 0;
}
