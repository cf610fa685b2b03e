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
#include "base/base.h"

/* Both ends of all descriptors while the process is started; -1: not open. */
struct stdio_fds {
    int input;
    int output[2];
    int errors[2];
};

/* ---- descriptors ---- */

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

/* A memory file with @input, or /dev/null. */
static int open_input(int *ret_fd, struct str input)
{
    int rc;
    *ret_fd = input.len ? memfd_create("stdin", MFD_CLOEXEC) : open("/dev/null", O_CLOEXEC);
    if (*ret_fd < 0)
        return errno;
    rc = move_fd_up(ret_fd);
    if (rc)
        return rc;
    while (input.len) {
        ssize_t n = write(*ret_fd, input.at, input.len);
        if (n < 0 && errno != EINTR)
            return errno; /* UNTESTED: out of memory */
        if (n > 0)
            input = (struct str){input.at + n, input.len - (size_t)n};
    }
    return lseek(*ret_fd, 0, SEEK_SET) < 0 ? errno : 0;
}

static int open_pipe(int ends[2])
{
    int rc;
    if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
        return errno;
    rc = move_fd_up(&ends[0]);
    return rc ? rc : move_fd_up(&ends[1]);
}

/* ---- environment ---- */

/* Whether @extra has a variable of the same name. */
static bool is_replaced(const char *variable, const char *const *extra)
{
    for (; *extra; extra++) {
        size_t name_len = strcspn(*extra, "=");
        if (strncmp(*extra, variable, name_len) == 0 && variable[name_len] == '=')
            return true;
    }
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

/* posix_spawn() lacks const: it does not modify the strings. */
static char *const *without_const(const char *const *strings)
{
    return (char *const *)(uintptr_t)strings;
}

/* A new process group, default signal handlers, an empty signal mask, and no descriptors other than
 * 0, 1 and 2. */
static int start_process(const struct child_spec *spec, const struct stdio_fds *s, pid_t *ret_pid)
{
    const char **environment = make_environment(spec->env);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int rc;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions); /* these fail only if out of memory */
    rc = posix_spawn_file_actions_adddup2(&actions, s->input, STDIN_FILENO);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, s->output[1], STDOUT_FILENO);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, s->errors[1], STDERR_FILENO);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
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
    struct stdio_fds s = {-1, {-1, -1}, {-1, -1}};
    pid_t pid = 0;
    int pidfd = -1, rc = open_input(&s.input, spec->input);
    rc = rc ? rc : open_pipe(s.output);
    rc = rc ? rc : open_pipe(s.errors);
    rc = rc ? rc : start_process(spec, &s, &pid);
    rc = rc ? rc : open_pidfd(pid, &pidfd);
    if (rc == 0) {
        *ret = (struct spawned){pid, pidfd, s.output[0], s.errors[0]};
        s.output[0] = s.errors[0] = -1; /* owned by the caller now */
    }
    const int rest[] = {s.input, s.output[0], s.output[1], s.errors[0], s.errors[1]};
    for (size_t i = 0; i < ARRAY_LEN(rest); i++)
        if (rest[i] >= 0)
            close(rest[i]);
    return rc;
}
