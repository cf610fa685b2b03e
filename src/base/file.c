/*
 * file.c - opens a file, gets its size, reads it, and checks that its size is still the same.
 *
 * The size is read first and memory is allocated once, so that no partial copy of a secret is left in
 * freed memory. A file that changes meanwhile is an error: the caller may try again.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
static int open_to_read(const char *path, struct inf_error *err)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR); /* UNTESTED: only some network file systems do this */
    if (fd >= 0)
        return fd;
    return err_set(err, errno == ENOENT ? INF_ENOTFOUND : INF_EIO, "%s", strerror(errno));
}

/* Fails if the file does not end after @size bytes: it is being written. */
static int read_whole(int fd, size_t size, char **ret_text, struct inf_error *err)
{
    char *text = xcalloc(1, size + 1);
    size_t len = 0;
    ssize_t n = 1;
    int rc = 0;
    while (n != 0 && len <= size) { /* one more byte, to notice that the file grew */
        n = read(fd, text + len, size + 1 - len);
        if (n < 0 && errno == EINTR)
            continue; /* UNTESTED: as above */
        if (n < 0)
            break;
        len += (size_t)n;
    }
    if (n < 0)
        rc = err_set(err, INF_EIO, "%s", strerror(errno));
    else if (len != size)
        rc = err_set(err, INF_EIO, "changed while it was read");
    if (rc) {
        explicit_bzero(text, size + 1);
        free(text);
        return rc;
    }
    *ret_text = text;
    return 0;
}

int file_read_unnamed(const char *path, size_t limit, char **ret_text, size_t *ret_len,
                      struct inf_error *err)
{
    struct stat st;
    int fd = open_to_read(path, err);
    int rc;
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0) /* UNTESTED: fstat of an open file */
        rc = err_set(err, INF_EIO, "%s", strerror(errno));
    else if (S_ISDIR(st.st_mode))
        rc = err_set(err, INF_EIO, "is a directory");
    else if (!S_ISREG(st.st_mode))
        rc = err_set(err, INF_EIO, "is not a regular file");
    else if ((size_t)st.st_size > limit)
        rc = err_set(err, INF_ETOOBIG, "larger than %zu bytes", limit);
    else
        rc = read_whole(fd, (size_t)st.st_size, ret_text, err);
    if (!rc)
        *ret_len = (size_t)st.st_size;
    close(fd);
    return rc;
}

int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len,
              struct inf_error *err)
{
    int rc = file_read_unnamed(path, limit, ret_text, ret_len, err);
    if (rc && err)
        err_wrap(err, "file '%s'", path);
    return rc;
}

char *path_beside(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    int dir_len = slash ? (int)(slash - file) + 1 : 0;
    char *cwd, *whole;
    if (path[0] == '/')
        return xstrdup(path);
    cwd = file[0] == '/' ? NULL : getcwd(NULL, 0); /* relative if it cannot be determined */
    whole = xasprintf("%s%s%.*s%s", cwd ? cwd : "", cwd ? "/" : "", dir_len, file, path);
    free(cwd);
    return whole;
}
