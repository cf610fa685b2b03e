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

static int check_kind(int fd, size_t limit, size_t *ret_size, struct inf_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0) /* UNTESTED: fstat of an open file */
        return err_set(err, INF_EIO, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(err, INF_EIO, "is a directory");
    if (!S_ISREG(st.st_mode))
        return err_set(err, INF_EIO, "is not a regular file");
    if ((size_t)st.st_size > limit)
        return err_set(err, INF_ETOOBIG, "larger than %zu bytes", limit);
    *ret_size = (size_t)st.st_size;
    return 0;
}

/* Reads until @size bytes were read or the file ends. Returns the number of bytes, or -1 with errno. */
static ssize_t read_full(int fd, char *bytes, size_t size)
{
    size_t len = 0;
    while (len < size) {
        ssize_t n = read(fd, bytes + len, size - len);
        if (n < 0 && errno == EINTR)
            continue; /* UNTESTED: as above */
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

static int read_whole(int fd, size_t size, char **ret_text, struct inf_error *err)
{
    char *text = xcalloc(1, size + 1);
    ssize_t n = read_full(fd, text, size + 1); /* one more byte, to notice that the file grew */
    int rc = 0;
    if (n < 0)
        rc = err_set(err, INF_EIO, "%s", strerror(errno));
    else if ((size_t)n != size)
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
    size_t size = 0;
    int fd = open_to_read(path, err);
    int rc;
    if (fd < 0)
        return fd;
    rc = check_kind(fd, limit, &size, err);
    if (!rc)
        rc = read_whole(fd, size, ret_text, err);
    if (!rc)
        *ret_len = size;
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

/* The working directory with a slash, or "" if it cannot be determined. */
static char *working_directory(void)
{
    char *cwd = getcwd(NULL, 0);
    char *dir = cwd ? xasprintf("%s/", cwd) : xstrdup("");
    free(cwd);
    return dir;
}

char *path_beside(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    int dir_len = slash ? (int)(slash - file) + 1 : 0;
    char *base, *whole;
    if (path[0] == '/')
        return xstrdup(path);
    base = file[0] == '/' ? xstrdup("") : working_directory();
    whole = xasprintf("%s%.*s%s", base, dir_len, file, path);
    free(base);
    return whole;
}
