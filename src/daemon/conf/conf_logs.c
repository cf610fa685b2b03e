/*
 * conf_logs.c - detects event logs that share a file.
 *
 * Normal path: determine the location of each log (its path without "." and empty parts and, if
 * files are examined, device and inode of the file and its directory), then compare each log with
 * all earlier ones: the files themselves, and the names that the rotation of one gives to its old
 * files.
 *
 * A file or directory that cannot be examined is compared by path; opening the log reports the
 * error. Files are examined in a child process, because stat() on a hanging disk blocks the
 * process. After a timeout the result of the child is not awaited, and shared files are detected
 * when logs are locked.
 */
#include "daemon/conf/conf_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "daemon/conf/conf_error.h"
#include "daemon/conf/conf_finalize.h"
#include "daemon/output/log_file.h"
#include "daemon/output/sink.h"

struct file_id {
    bool known;
    dev_t device;
    ino_t inode;
};

/* The location of a log, which need not exist. */
struct log_location {
    char *path;       /* owned; NULL: not a file */
    const char *name; /* last part of the path */
    struct file_id dir;
    struct file_id file;
    unsigned keep;           /* rotated files to keep; 0: no rotation */
    struct file_id *rotated; /* owned; rotated files that exist; NULL: not examined */
};

static bool same_file_id(const struct file_id *a, const struct file_id *b)
{
    return a->known && b->known && a->device == b->device && a->inode == b->inode;
}

static struct file_id file_id_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return (struct file_id){.known = false};
    return (struct file_id){.known = true, .device = st.st_dev, .inode = st.st_ino};
}

/* Removes "." and empty parts. ".." stays: after a symbolic link it does not cancel the part
 * before it. */
static char *plain_path(const char *path)
{
    struct buf out = {0};
    while (*path) {
        size_t len;
        path += strspn(path, "/");
        len = strcspn(path, "/");
        if (len && !(len == 1 && *path == '.')) {
            buf_putc(&out, '/');
            buf_put(&out, path, len);
        }
        path += len;
    }
    if (!out.len)
        buf_putc(&out, '/');
    buf_putc(&out, '\0');
    return out.bytes;
}

static void location_init(struct log_location *location, const struct conf_event_log *log,
                          bool examine)
{
    char *dir;
    if (!log->path || sink_type_for(log->path) != &sink_file)
        return;
    location->path = plain_path(log->path);
    location->name = strrchr(location->path, '/') + 1;
    if (log->rotate.size)
        location->keep = log->rotate.keep ? (unsigned)log->rotate.keep : 1;
    if (!examine)
        return;
    dir = xstrndup(location->path, (size_t)(location->name - location->path));
    location->dir = file_id_of(dir);
    location->file = file_id_of(location->path);
    free(dir);
    if (!location->keep)
        return;
    location->rotated = xcalloc(location->keep + 1, sizeof(*location->rotated));
    for (unsigned i = 0; i <= location->keep; i++) {
        char *path = log_file_rotated_name(location->path, i + 1, location->keep);
        location->rotated[i] = file_id_of(path);
        free(path);
    }
}

/* ---- comparing ---- */

static bool same_dir(const struct log_location *a, const struct log_location *b)
{
    size_t len = (size_t)(a->name - a->path);
    return same_file_id(&a->dir, &b->dir) ||
           (len == (size_t)(b->name - b->path) && memcmp(a->path, b->path, len) == 0);
}

static bool same_location(const struct log_location *a, const struct log_location *b)
{
    return same_file_id(&a->file, &b->file) || (same_dir(a, b) && strcmp(a->name, b->name) == 0);
}

/* Whether the rotation of @log would rename a file to the name of @other, or @other is a link to a
 * rotated file of @log. */
static bool rotation_conflicts(const struct log_location *log, const struct log_location *other)
{
    bool found = false;
    if (log->keep && same_dir(log, other) &&
        strncmp(other->name, log->name, strlen(log->name)) == 0)
        for (unsigned n = 1; n <= log->keep + 1 && !found; n++) {
            char *name = log_file_rotated_name(log->name, n, log->keep);
            found = strcmp(name, other->name) == 0;
            free(name);
        }
    for (unsigned i = 0; log->rotated && i <= log->keep && !found; i++)
        found = same_file_id(&log->rotated[i], &other->file);
    return found;
}

static void report_conflict(struct conf_reader *reader, const struct conf *conf, size_t first,
                            size_t second, const char *relation)
{
    const struct yaml_node *entry = conf->event_logs[first].head.node;
    const struct yaml_node *path = yaml_get(entry, "path");
    const struct yaml_node *at = path ? path : entry;
    conf_entry_error(reader, conf, "event_logs", conf->event_logs[second].head.node, "path",
                     "is %s the event log at %s:%zu:%zu; each event log needs its own file",
                     relation, at->file, at->line, at->column);
}

static void compare_two(struct conf_reader *reader, const struct conf *conf,
                        const struct log_location *locations, size_t first, size_t second)
{
    const struct log_location *a = &locations[first], *b = &locations[second];
    if (!a->path || !b->path ||
        strcmp(conf->event_logs[first].path, conf->event_logs[second].path) == 0)
        return; /* conf_finalize() reports equal paths */
    if (same_location(a, b))
        report_conflict(reader, conf, first, second, "the same file as");
    else if (rotation_conflicts(a, b))
        report_conflict(reader, conf, first, second, "a rotated file of");
    else if (rotation_conflicts(b, a))
        report_conflict(reader, conf, second, first, "a rotated file of");
}

static void compare_all(struct conf_reader *reader, const struct conf *conf, bool examine)
{
    struct log_location *locations = xcalloc(conf->n_event_logs + 1, sizeof(*locations));
    for (size_t i = 0; i < conf->n_event_logs; i++)
        location_init(&locations[i], &conf->event_logs[i], examine);
    for (size_t i = 0; i < conf->n_event_logs; i++)
        for (size_t k = 0; k < i; k++)
            compare_two(reader, conf, locations, k, i);
    for (size_t i = 0; i < conf->n_event_logs; i++) {
        free(locations[i].path);
        free(locations[i].rotated);
    }
    free(locations);
}

void conf_logs_compare(struct conf_reader *reader, const struct conf *conf)
{
    compare_all(reader, conf, false);
}

/* ---- in a child process ---- */

/* In the child: writes all error lines to @to and exits. */
static void send_errors(const struct conf *conf, int to)
{
    struct conf_errors errors = {0};
    struct conf_reader reader = {.errors = &errors};
    ssize_t n;
    compare_all(&reader, conf, true);
    conf_errors_close(&errors);
    for (size_t sent = 0; sent < errors.text.len; sent += (size_t)n) {
        n = write(to, errors.text.bytes + sent, errors.text.len - sent);
        if (n <= 0)
            break;
    }
    _exit(0); /* a copy of the parent: frees nothing, runs no exit handlers */
}

/* Reads until end of file. Returns false if the child takes too long. */
static bool receive_errors(int from, struct buf *text)
{
    struct pollfd ready = {.fd = from, .events = POLLIN};
    ssize_t n = 1;
    while (n > 0) {
        int found = poll(&ready, 1, CONF_LOGS_TIMEOUT_MS);
        if (found < 0 && errno == EINTR)
            continue;
        if (found <= 0)
            return false; /* UNTESTED: needs a hanging disk */
        n = read(from, buf_room(text, PIPE_BUF), PIPE_BUF);
        text->len += n > 0 ? (size_t)n : 0;
    }
    return true;
}

int conf_logs_check(const struct conf *conf, struct conf_errors *errors)
{
    int ends[2];
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return 0;
    child = fork();
    if (child == 0)
        send_errors(conf, ends[1]);
    close(ends[1]);
    if (child > 0 && receive_errors(ends[0], &errors->text))
        waitpid(child, NULL, 0);
    else if (child > 0)
        kill(child, SIGKILL); /* not awaited: it may stay blocked by the disk */
    close(ends[0]);
    errors->count += errors->text.len > 0;
    return errors->count ? -INF_ECONF : 0;
}
