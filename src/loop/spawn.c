/*
 * spawn.c - prepares descriptors, environment and paths, and starts a process with clone().
 *
 * The parent prepares everything that needs memory; the new process, which shares our memory until it
 * executes the program, only makes system calls. Every function returns 0 or an errno. On failure
 * everything that was opened is closed, and no process runs.
 */
#include "loop/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"

enum {
    STACK_SIZE = 64 * 1024, /* of the new process, before it executes the program */
};

/* The variables that a program with a clean environment has, if we have them. */
static const char *const kept_variables[] = {"PATH", "HOME", "LANG", "TZ"};

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

static bool is_kept(const char *variable)
{
    for (size_t i = 0; i < ARRAY_LEN(kept_variables); i++) {
        size_t len = strlen(kept_variables[i]);
        if (strncmp(variable, kept_variables[i], len) == 0 && variable[len] == '=')
            return true;
    }
    return false;
}

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
static const char **make_environment(const char *const *extra, bool clean)
{
    static const char *const none[] = {NULL};
    const char *const *ours = environ ? (const char *const *)environ : none;
    const char **all;
    size_t n = 0;
    extra = extra ? extra : none;
    all = xcalloc(count_strings(ours) + count_strings(extra) + 1, sizeof(*all));
    for (; *ours; ours++)
        if (!is_replaced(*ours, extra) && (!clean || is_kept(*ours)))
            all[n++] = *ours;
    for (; *extra; extra++)
        all[n++] = *extra;
    return all;
}

/* ---- the program file ---- */

/* The files to try, in order, separated and ended by NUL, with an empty string at the end: the program
 * itself if it has a slash, else in each directory of PATH. The caller frees them. */
static char *make_paths(const char *program)
{
    const char *path = getenv("PATH");
    struct buf out = {0};
    path = path ? path : "/usr/local/bin:/usr/bin:/bin";
    if (strchr(program, '/')) {
        buf_printf(&out, "%s%c", program, '\0');
    } else {
        for (;; path++) {
            size_t len = strcspn(path, ":");
            buf_printf(&out, "%.*s%s%s%c", (int)len, path, len ? "/" : "./", program, '\0');
            path += len;
            if (!*path)
                break;
        }
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

/* ---- the process ---- */

/* What the new process needs. */
struct process_plan {
    const char *const *argv;
    const char *const *environment;
    const char *paths; /* of make_paths() */
    const struct stdio_fds *fds;
    pid_t parent;
    int error; /* set by the new process if it can't execute the program */
};

/* execve() lacks const: it does not modify the strings. */
static char *const *without_const(const char *const *strings)
{
    return (char *const *)(uintptr_t)strings;
}

/* Returns only on failure. A file that may not be executed is reported only if no other one exists. */
static int execute_first(const struct process_plan *plan)
{
    int error = ENOENT;
    for (const char *path = plan->paths; *path; path += strlen(path) + 1) {
        execve(path, without_const(plan->argv), without_const(plan->environment));
        if (errno == EACCES)
            error = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR)
            return errno;
    }
    return error;
}

/* A new process group, default signal handlers, an empty signal mask, and no descriptors other than
 * 0, 1 and 2. The kernel kills it when we die; we may have died before it asked for that. */
static int run_process(void *arg)
{
    struct process_plan *plan = arg;
    const struct stdio_fds *fds = plan->fds;
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &by_default, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != plan->parent || setpgid(0, 0) < 0 ||
        dup2(fds->input, STDIN_FILENO) < 0 || dup2(fds->output[1], STDOUT_FILENO) < 0 ||
        dup2(fds->errors[1], STDERR_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0U, 0) < 0) {
        plan->error = errno; /* UNTESTED: these fail only if out of resources */
    } else {
        sigprocmask(SIG_SETMASK, &none, NULL);
        plan->error = execute_first(plan);
    }
    _exit(127);
}

/* As vfork(), with a stack of its own: we continue when the program is executed, or could not be. No
 * signal handler of ours may run meanwhile in the new process. */
static int clone_process(struct process_plan *plan, pid_t *ret_pid)
{
    char *stack = xmalloc(STACK_SIZE);
    sigset_t all, before;
    int rc = 0;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    *ret_pid = clone(run_process, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, plan);
    if (*ret_pid < 0)
        rc = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(stack);
    return rc;
}

static int start_process(const struct child_spec *spec, const struct stdio_fds *s, pid_t *ret_pid)
{
    const char **environment = make_environment(spec->env, spec->clean_env);
    char *paths = make_paths(spec->argv[0]);
    struct process_plan plan = {spec->argv, environment, paths, s, getpid(), 0};
    int rc = clone_process(&plan, ret_pid);
    if (rc == 0 && plan.error) {
        waitpid(*ret_pid, NULL, 0);
        rc = plan.error;
    }
    free(environment);
    free(paths);
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
