/*
 * spawn.c - prepares descriptors and environment, and starts a process with posix_spawn().
 *
 * Every function returns 0 or an errno. On failure everything that was opened is closed, and no
 * process runs.
 */
#include "loop/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

/* Both ends of all descriptors while the process is started; -1: not open. */
struct plumbing {
    int input;
    int output[2];
    int errors[2];
};

/* ---- descriptors ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int release_fd(int *fd)
{
    int given = *fd;
    *fd = -1;
    return given;
}

static void plumbing_close(struct plumbing *p)
{
    close_fd(&p->input);
    close_fd(&p->output[0]);
    close_fd(&p->output[1]);
    close_fd(&p->errors[0]);
    close_fd(&p->errors[1]);
}

/* Moves @fd above the three standard descriptors, which are replaced: if our own stdin is closed, a
 * new descriptor may have its number. */
static int move_fd_up(int *fd)
{
    int high;
    if (*fd > STDERR_FILENO)
        return 0;
    high = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (high < 0)
        return errno;
    close(*fd);
    *fd = high;
    return 0;
}

static int write_all(int fd, struct str bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.at, bytes.len);
        if (n < 0 && errno != EINTR)
            return errno; /* UNTESTED: out of memory */
        if (n > 0)
            bytes = (struct str){bytes.at + n, bytes.len - (size_t)n};
    }
    return lseek(fd, 0, SEEK_SET) < 0 ? errno : 0;
}

static int open_input(struct plumbing *p, struct str input)
{
    int rc;
    p->input = input.len ? memfd_create("stdin", MFD_CLOEXEC) : open("/dev/null", O_CLOEXEC);
    if (p->input < 0)
        return errno;
    rc = move_fd_up(&p->input);
    return rc || !input.len ? rc : write_all(p->input, input);
}

static int open_pipe(int ends[2])
{
    int rc;
    if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
        return errno;
    rc = move_fd_up(&ends[0]);
    return rc ? rc : move_fd_up(&ends[1]);
}

static int plumbing_open(struct plumbing *p, struct str input)
{
    int rc = open_input(p, input);
    rc = rc ? rc : open_pipe(p->output);
    return rc ? rc : open_pipe(p->errors);
}

/* ---- environment ---- */

static bool same_name(const char *a, const char *b)
{
    size_t len = strcspn(a, "=");
    return strncmp(a, b, len) == 0 && b[len] == '=';
}

static bool is_replaced(const char *variable, const char *const *extra)
{
    for (; *extra; extra++)
        if (same_name(*extra, variable))
            return true;
    return false;
}

static size_t count_strings(const char *const *strings)
{
    size_t n = 0;
    while (strings[n])
        n++;
    return n;
}

/* The caller frees the array; the strings are borrowed. */
static const char **make_environment(const char *const *extra)
{
    static const char *const none[] = {NULL};
    const char *const *ours = environ ? (const char *const *)environ : none;
    const char **all;
    size_t n = 0;
    extra = extra ? extra : none;
    all = xcalloc(count_strings(ours) + count_strings(extra) + 1, sizeof(*all));
    for (; *ours; ours++)
        if (!is_replaced(*ours, extra))
            all[n++] = *ours;
    for (; *extra; extra++)
        all[n++] = *extra;
    return all;
}

/* ---- the process ---- */

/* These fail only if out of memory. */
static int connect_descriptors(posix_spawn_file_actions_t *actions, const struct plumbing *p)
{
    int rc = posix_spawn_file_actions_adddup2(actions, p->input, STDIN_FILENO);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, p->output[1], STDOUT_FILENO);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, p->errors[1], STDERR_FILENO);
    return rc ? rc : posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
}

static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setpgroup(attributes, 0); /* a new group */
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETSIGMASK);
}

/* posix_spawn() lacks const: it does not modify the strings. */
static char *const *without_const(const char *const *strings)
{
    return (char *const *)(uintptr_t)strings;
}

static int spawn_start(const struct child_spec *spec, const struct plumbing *p, pid_t *ret_pid)
{
    const char **environment = make_environment(spec->env);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes);
    rc = connect_descriptors(&actions, p);
    if (rc == 0)
        rc = posix_spawnp(ret_pid, spec->argv[0], &actions, &attributes, without_const(spec->argv),
                          without_const(environment));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return rc;
}

/* Without a pidfd its end could not be detected: kills it. */
static int open_pidfd(pid_t pid, int *ret_pidfd)
{
    int fd = pidfd_open(pid, 0), why = errno;
    if (fd < 0) {
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return why;
    }
    *ret_pidfd = fd;
    return 0;
}

int spawn_process(const struct child_spec *spec, struct spawned *ret)
{
    struct plumbing p = {-1, {-1, -1}, {-1, -1}};
    pid_t pid = 0;
    int pidfd = -1, rc = plumbing_open(&p, spec->input);
    rc = rc ? rc : spawn_start(spec, &p, &pid);
    rc = rc ? rc : open_pidfd(pid, &pidfd);
    if (rc == 0)
        *ret = (struct spawned){pid, pidfd, release_fd(&p.output[0]), release_fd(&p.errors[0])};
    plumbing_close(&p);
    return rc;
}
