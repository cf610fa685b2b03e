/*
 * listen_socket.c - creates and binds listening sockets.
 *
 * TCP: parses the address and binds. Unix: checks path and group, removes a stale socket file, and
 * binds with mode and group set; or uses the socket that the service manager has opened at the path
 * (socket activation). Fails with INF_ECONF for invalid settings and with INF_EIO for errors of the
 * system.
 */
#include "loop/listen_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/group.h"

enum {
    HOST_MAX = 64,       /* LIMIT: longer than any address */
    INHERITED_FIRST = 3, /* descriptor, by sd_listen_fds(3) */
    INHERITED_MAX = 64,  /* LIMIT: inherited descriptors; with more, none is used */
};

union any_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un un;
};

/* ---- TCP ---- */

/* "127.0.0.1:80" and "[::1]:80" into host and port; -1 if it is neither. The port is decimal, 0 to
 * 65535, without trailing characters. */
static int split_address(const char *text, char host[static HOST_MAX])
{
    const char *colon = strrchr(text, ':'), *end = colon;
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    int port;
    if (!digits || digits > 5 || colon[1 + digits])
        return -1;
    if (*text == '[') {
        if (colon[-1] != ']')
            return -1;
        text++;
        end--;
    } else if (memchr(text, ':', (size_t)(colon - text))) {
        return -1; /* an IPv6 address without brackets is ambiguous */
    }
    if (end <= text || end - text >= HOST_MAX)
        return -1;
    memcpy(host, text, (size_t)(end - text));
    host[end - text] = '\0';
    port = atoi(colon + 1);
    return port <= UINT16_MAX ? port : -1;
}

static bool parse_address(const char *text, union any_address *ret)
{
    char host[HOST_MAX];
    int port = split_address(text, host);
    union any_address a = {.any = {.sa_family = AF_INET}};
    if (port < 0)
        return false;
    if (*text == '[') {
        a.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
        if (inet_pton(AF_INET6, host, &a.v6.sin6_addr) != 1)
            return false;
    } else {
        a.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                      &a.v4.sin_addr) != 1)
            return false;
    }
    *ret = a;
    return true;
}

int listen_socket_tcp(const char *address, struct inf_error *err)
{
    union any_address a;
    socklen_t len;
    int fd, on = 1;
    if (!parse_address(address, &a))
        return err_set(
            err, INF_ECONF,
            "listen address '%s': must be like 127.0.0.1:9470, [::1]:9470 or localhost:9470",
            address);
    len = a.any.sa_family == AF_INET6 ? sizeof(a.v6) : sizeof(a.v4);
    fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(fd, &a.any, len) == 0)
        return fd;
    err_set(err, INF_EIO, "listen address '%s': %s", address, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -INF_EIO;
}

/* ---- Unix ---- */

enum {
    OWN_GROUP = -1,
};

static int find_group(const char *name, gid_t *ret_gid, struct inf_error *err)
{
    *ret_gid = (gid_t)OWN_GROUP;
    if (name && !group_find(name, ret_gid))
        return err_set(err, INF_ECONF, "socket group '%s': no such group", name);
    return 0;
}

/* Returns 0 if another process listens there, otherwise an errno. Never blocks: a full queue also
 * means that a process listens. */
static int probe_socket(const union any_address *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = fd < 0 || connect(fd, &a->any, sizeof(a->un)) < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return rc == EAGAIN ? 0 : rc;
}

/* Removes a stale socket file, which no process listens on. */
static int clear_path(const char *path, const union any_address *a, struct inf_error *err)
{
    struct stat st;
    int why;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0
                               : err_set(err, INF_EIO, "socket '%s': %s", path, strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return err_set(
            err, INF_EIO,
            "socket '%s': the file exists and is not a socket; remove it or choose another path",
            path);
    why = probe_socket(a);
    if (why == 0)
        return err_set(err, INF_EIO, "socket '%s': another process is listening on it", path);
    if (why != ECONNREFUSED || unlink(path) < 0)
        return err_set(err, INF_EIO, "socket '%s': can't remove the stale socket: %s", path,
                       strerror(why != ECONNREFUSED ? why : errno));
    return 0;
}

/* Mode and group are set between bind and listen, when no client can connect yet. lchown() is called
 * only if needed: a service may be forbidden to use it (SystemCallFilter). */
static int bind_unix(int fd, const struct listen_options *o, const union any_address *a, gid_t gid,
                     struct stat *ret_file, struct inf_error *err)
{
    if (fd < 0 || bind(fd, &a->any, sizeof(a->un)) < 0)
        return err_set(err, INF_EIO, "socket '%s': %s", o->path, strerror(errno));
    if ((gid == (gid_t)OWN_GROUP || lchown(o->path, (uid_t)-1, gid) == 0) &&
        chmod(o->path, o->mode ? o->mode : 0600) == 0 && lstat(o->path, ret_file) == 0)
        return 0;
    err_set(err, INF_EIO, "socket '%s': setting mode and group: %s", o->path, strerror(errno));
    unlink(o->path);
    return -INF_EIO;
}

/* Whether @fd is a Unix socket for connections at @path, bound by the service manager. */
static bool is_listening_at(int fd, const char *path)
{
    union any_address a = {0};
    socklen_t len = sizeof(a), type_len = sizeof(int);
    int type = 0;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) == 0 && type == SOCK_STREAM &&
           getsockname(fd, &a.any, &len) == 0 && a.any.sa_family == AF_UNIX &&
           strncmp(a.un.sun_path, path, sizeof(a.un.sun_path)) == 0;
}

/* A copy of the socket that the service manager has passed to this process for @path; -1: none. The
 * original stays open, for a reload that closes and opens the path again. */
static int inherit_unix(const char *path)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    long n = count ? strtol(count, NULL, 10) : 0;
    int copy;
    if (!pid || strtol(pid, NULL, 10) != (long)getpid())
        return -1;
    for (int fd = INHERITED_FIRST; fd < INHERITED_FIRST + n && n <= INHERITED_MAX; fd++) {
        if (!is_listening_at(fd, path))
            continue;
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (copy >= 0)
            (void)fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) | O_NONBLOCK);
        return copy;
    }
    return -1;
}

int listen_socket_unix(const struct listen_options *o, struct stat *ret_file,
                       bool *ret_is_inherited, struct inf_error *err)
{
    union any_address a = {.un = {.sun_family = AF_UNIX}};
    size_t len = strlen(o->path);
    gid_t gid;
    int fd, rc;
    if (!len || len >= sizeof(a.un.sun_path))
        return err_set(err, INF_ECONF, "socket '%s': the path must be 1 to %zu bytes long", o->path,
                       sizeof(a.un.sun_path) - 1);
    memcpy(a.un.sun_path, o->path, len);
    fd = inherit_unix(o->path);
    *ret_is_inherited = fd >= 0;
    if (fd >= 0) {
        (void)lstat(o->path, ret_file); /* if it was removed, listen_socket_permit() reports that */
        return fd;
    }
    if ((rc = find_group(o->group, &gid, err)) < 0 || (rc = clear_path(o->path, &a, err)) < 0)
        return rc;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = bind_unix(fd, o, &a, gid, ret_file, err);
    if (rc == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return rc;
}

static bool is_still(const char *path, const struct stat *file, struct stat *ret_now)
{
    return lstat(path, ret_now) == 0 && ret_now->st_dev == file->st_dev &&
           ret_now->st_ino == file->st_ino;
}

int listen_socket_permit(const char *path, const struct stat *file, mode_t mode, const char *group,
                         struct inf_error *err)
{
    gid_t gid = getegid();
    struct stat now;
    int rc = group ? find_group(group, &gid, err) : 0;
    if (rc < 0)
        return rc;
    if (!is_still(path, file, &now))
        return err_set(err, INF_EIO, "socket '%s': was removed or replaced", path);
    if ((now.st_gid != gid && lchown(path, (uid_t)-1, gid) < 0) ||
        chmod(path, mode ? mode : 0600) < 0)
        return err_set(err, INF_EIO, "socket '%s': setting mode and group: %s", path,
                       strerror(errno));
    return 0;
}

void listen_socket_remove(const char *path, const struct stat *file)
{
    struct stat now;
    if (is_still(path, file, &now))
        unlink(path);
}
