/*
 * state.c - reads, creates and checks the files of the state directory, synchronously.
 *
 * Every error names the file and, where there is one, the remedy; the daemon does not start then.
 */
#include "daemon/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/file.h"
#include "daemon/journal/durable.h"
#include "loop/disk.h"

/* Error for a directory that can't be created or written to, from errno. */
static int report_unusable(const char *dir, struct inf_error *err)
{
    bool denied = errno == EACCES || errno == EPERM || errno == EROFS;
    return err_set(err, denied ? INF_EFORBIDDEN : INF_EIO,
                   "state_dir '%s': %s; create it writable by informerd, or set another state_dir",
                   dir, strerror(errno));
}

int state_create(const char *dir, bool parents, struct inf_error *err)
{
    char *path = xstrdup(dir);
    struct stat st;
    int rc = 0;
    if (stat(dir, &st) < 0) {
        for (char *slash = path; parents && (slash = strchr(slash + 1, '/'));) {
            *slash = '\0';
            (void)mkdir(path, 0700); /* most exist; a failure shows below */
            *slash = '/';
        }
        rc = mkdir(dir, 0700) == 0 ? 1 : report_unusable(dir, err);
    }
    free(path);
    return rc;
}

/* A lock of fcntl(2) belongs to the process. That of flock(2) would also belong to a child that has
 * not executed its program yet, and would outlive a killed daemon as long as that child exists. */
int state_take(const char *dir, struct inf_error *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = xasprintf("%s/lock", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = fd;
    free(path);
    if (fd < 0)
        return report_unusable(dir, err);
    if (fcntl(fd, F_SETLK, &lock) < 0) {
        if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
            lock.l_pid = 0; /* unknown */
        rc = err_set(err, INF_ECONF,
                     "state_dir '%s': in use by another informerd (process %d); "
                     "stop it, or set another state_dir",
                     dir, (int)lock.l_pid);
        close(fd);
    }
    return rc;
}

struct sync_write {
    struct durable durable;
    int error;
};

static void on_written(struct durable *durable, int error)
{
    container_of(durable, struct sync_write, durable)->error = error;
}

int state_write(const char *dir, const char *name, struct str bytes, struct inf_error *err)
{
    struct sync_write w = {.error = 0};
    struct loop_disk now;
    loop_disk_init(&now, NULL);
    durable_write(&w.durable, &now.disk, dir, name, 0600, bytes, on_written);
    secret_wipe(w.durable.bytes, sizeof(w.durable.bytes));
    if (w.error)
        return err_set(err, INF_EIO, "file '%s/%s': %s", dir, name, strerror(-w.error));
    return 0;
}

int state_overwrite(const char *dir, const char *name, struct str line, struct inf_error *err)
{
    char *path = xasprintf("%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), rc = 0;
    if (fd < 0 || pwrite(fd, line.at, line.len, 0) != (ssize_t)line.len || fsync(fd) < 0)
        rc = err_set(err, INF_EIO, "file '%s': %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

int state_read_text(const char *dir, const char *name, char *ret, size_t size,
                    struct inf_error *err)
{
    char *path = xasprintf("%s/%s", dir, name), *text = NULL;
    size_t len;
    int rc = file_read(path, size - 1, &text, &len, err);
    free(path);
    if (rc < 0)
        return rc;
    text[strcspn(text, "\n")] = '\0';
    memcpy(ret, text, strlen(text) + 1);
    free(text);
    return 0;
}

static void random_bytes(unsigned char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = getrandom(bytes + done, len - done, 0);
        done += n > 0 ? (size_t)n : 0; /* it fails only when a signal interrupts it */
    }
}

void state_make_id(char ret[STATE_ID_SIZE])
{
    unsigned char bytes[STATE_ID_SIZE / 2];
    random_bytes(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- the key ---- */

static int check_private(const char *path, struct inf_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && st.st_mode & 077)
        return err_set(err, INF_EIO,
                       "file '%s': readable by other users (mode %04o), who could use it to guess "
                       "hashed values; chmod 600 it, or remove it to create a new key",
                       path, (unsigned)st.st_mode & 07777);
    return 0;
}

static int load_key(const char *path, unsigned char ret[STATE_KEY_SIZE], struct inf_error *err)
{
    char *text = NULL;
    size_t len;
    int rc = file_read(path, STATE_KEY_SIZE, &text, &len, err);
    if (rc < 0)
        return rc;
    if (len == STATE_KEY_SIZE)
        memcpy(ret, text, STATE_KEY_SIZE);
    else
        rc = err_set(err, INF_EIO,
                     "file '%s': %zu bytes instead of %d; remove it to create a new key", path, len,
                     STATE_KEY_SIZE);
    secret_wipe(text, len);
    free(text);
    return rc;
}

int state_find_key(const char *dir, unsigned char ret[STATE_KEY_SIZE], struct inf_error *err)
{
    char *path = xasprintf("%s/key", dir);
    int rc = check_private(path, err);
    if (rc == 0)
        rc = load_key(path, ret, err);
    free(path);
    return rc;
}

int state_read_key(const char *dir, unsigned char ret[STATE_KEY_SIZE], struct inf_error *err)
{
    int rc = state_find_key(dir, ret, err);
    if (rc == -INF_ENOTFOUND) {
        random_bytes(ret, STATE_KEY_SIZE);
        rc = state_write(dir, "key", (struct str){(const char *)ret, STATE_KEY_SIZE}, err);
    }
    return rc;
}
