/*
 * spawn.c - prepares descriptors, environment and paths, and starts a process with clone().
 *
 * The parent prepares everything that needs memory; the new process, which shares our memory until it
 * executes the program, only makes system calls. Every function returns 0 or an errno. On failure
 * everything that was opened is closed, and no process runs.
 *
 * The parent waits until the program is executed, but not for ever: once the new process has the identity of
 * another user, that user can stop it, and a file system may not answer. After START_MAX_MS it is killed, ETIME.
 */
#include "loop/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"

/* On 32-bit systems the calls with these names take 16-bit numbers. */
#ifdef SYS_setresuid32
#define CALL_SETGROUPS SYS_setgroups32
#define CALL_SETRESGID SYS_setresgid32
#define CALL_SETRESUID SYS_setresuid32
#else
#define CALL_SETGROUPS SYS_setgroups
#define CALL_SETRESGID SYS_setresgid
#define CALL_SETRESUID SYS_setresuid
#endif

enum {
    STACK_SIZE = 64 * 1024,  /* of the new process, before it executes the program */
    START_MAX_MS = 1000,     /* LIMIT: until it has executed the program */
    FEED_SIZE = 1024 * 1024, /* of the pipe to a streamed program */
};

/* The variables that a program with a clean environment has, if we have them. */
static const char *const kept_variables[] = {"PATH", "HOME", "LANG", "TZ"};

/* Both ends of all descriptors while the process is started; -1: not open. */
struct stdio_fds {
    int input;
    int feed; /* the other end of the input */
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

/* The pipe has room for many records, so that the program rarely waits for us. */
static int open_feed(struct stdio_fds *fds)
{
    int ends[2], rc;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    fds->input = ends[0];
    fds->feed = ends[1];
    rc = move_fd_up(&fds->input);
    rc = rc ? rc : move_fd_up(&fds->feed);
    (void)fcntl(fds->feed, F_SETPIPE_SZ, FEED_SIZE); /* fails above the limit for its user */
    return rc ? rc : fcntl(fds->feed, F_SETFL, O_NONBLOCK) < 0 ? errno : 0;
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
    const struct child_context *context;
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

static int set_limit(__rlimit_resource_t resource, uint64_t value)
{
    struct rlimit limit;
    if (!value || getrlimit(resource, &limit) < 0)
        return 0;
    limit.rlim_max = limit.rlim_max < value ? limit.rlim_max : (rlim_t)value;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit);
}

static int set_limits(const struct child_limits *limits)
{
    int rc = set_limit(RLIMIT_CPU, limits->cpu_s);
    rc = rc < 0 ? rc : set_limit(RLIMIT_AS, limits->memory);
    rc = rc < 0 ? rc : set_limit(RLIMIT_NOFILE, limits->files);
    return rc < 0 ? rc : set_limit(RLIMIT_NPROC, limits->processes);
}

/* System calls: the functions of glibc would signal the threads of our own process. Capabilities
 * that programs would inherit are dropped for all programs: between two users other than root the kernel
 * keeps them. */
static int set_identity(const struct child_identity *id)
{
    errno = EINVAL;
    if (id && (id->uid == CHILD_NO_USER || id->gid == (gid_t)-1))
        return -1; /* the calls would change nothing */
    if (id && (syscall(CALL_SETGROUPS, id->n_groups, id->groups) < 0 ||
               syscall(CALL_SETRESGID, id->gid, id->gid, id->gid) < 0 ||
               syscall(CALL_SETRESUID, id->uid, id->uid, id->uid) < 0))
        return -1;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* fails only where there are none */
    return 0;
}

/* The kernel kills the process when we die; we may have died before this call. Another identity resets
 * the signal, so this comes after it; then the directory, with the permissions of the program. */
static int enter_context(const struct process_plan *plan)
{
    const struct child_context *context = plan->context;
    if (context->has_umask)
        umask(context->umask);
    if (set_limits(&context->limits) < 0 || set_identity(context->identity) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != plan->parent)
        return -1;
    return context->directory ? chdir(context->directory) : 0;
}

/* A new process group, default signal handlers, an empty signal mask, and no descriptors other than
 * 0, 1 and 2. */
static int run_process(void *arg)
{
    struct process_plan *plan = arg;
    const struct stdio_fds *fds = plan->fds;
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &by_default, NULL);
    if (setpgid(0, 0) < 0 || dup2(fds->input, STDIN_FILENO) < 0 ||
        dup2(fds->output[1], STDOUT_FILENO) < 0 || dup2(fds->errors[1], STDERR_FILENO) < 0 ||
        close_range(STDERR_FILENO + 1, ~0U, 0) < 0 || enter_context(plan) < 0) {
        plan->error = errno;
    } else {
        sigprocmask(SIG_SETMASK, &none, NULL);
        plan->error = execute_first(plan);
    }
    _exit(127);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The kernel sets @pid to 0 and wakes us when the process no longer uses our memory: it has executed the program,
 * or has ended. Both threads use one errno, so that it says nothing here. Returns whether the process was killed. */
static bool wait_until_executed(pid_t *pid)
{
    int64_t limit = now_ns() + START_MAX_MS * INT64_C(1000000), left;
    bool killed = false;
    for (pid_t value; (value = __atomic_load_n(pid, __ATOMIC_ACQUIRE)) != 0;) {
        struct timespec wait = {0};
        left = limit - now_ns();
        if (left <= 0 && !killed) {
            killed = true;
            kill(value, SIGKILL);
        }
        wait.tv_sec = left / 1000000000;
        wait.tv_nsec = left % 1000000000;
        syscall(SYS_futex, pid, FUTEX_WAIT, value, killed ? NULL : &wait, NULL, 0);
    }
    return killed;
}

/* As vfork(), with a stack of its own: we continue when the program is executed, or could not be. No
 * signal handler of ours may run meanwhile in the new process. If it changes its user, the kernel makes
 * the memory that it shares with us undumpable: that is undone. */
static int clone_process(struct process_plan *plan, pid_t *ret_pid)
{
    char *stack = xmalloc(STACK_SIZE);
    sigset_t all, before;
    int rc = 0, dumpable = prctl(PR_GET_DUMPABLE);
    pid_t pid = 0;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    *ret_pid = clone(run_process, stack + STACK_SIZE,
                     CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, plan, &pid,
                     NULL, &pid);
    if (*ret_pid < 0)
        rc = errno;
    else if (wait_until_executed(&pid))
        plan->error = ETIME;
    if (plan->context->identity && dumpable == 1)
        prctl(PR_SET_DUMPABLE, 1);
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(stack);
    return rc;
}

static int start_process(const struct child_spec *spec, const struct stdio_fds *s, pid_t *ret_pid)
{
    const char **environment = make_environment(spec->env, spec->clean_env);
    char *paths = make_paths(spec->argv[0]);
    struct process_plan plan = {.argv = spec->argv,
                                .environment = environment,
                                .paths = paths,
                                .fds = s,
                                .context = &spec->context,
                                .parent = getpid()};
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
    struct stdio_fds s = {-1, -1, {-1, -1}, {-1, -1}};
    pid_t pid = 0;
    int pidfd = -1, rc = spec->streamed ? open_feed(&s) : open_input(&s.input, spec->input);
    rc = rc ? rc : open_pipe(s.output);
    rc = rc ? rc : open_pipe(s.errors);
    rc = rc ? rc : start_process(spec, &s, &pid);
    rc = rc ? rc : open_pidfd(pid, &pidfd);
    if (rc == 0) {
        *ret = (struct spawned){pid, pidfd, s.output[0], s.errors[0], s.feed};
        s.output[0] = s.errors[0] = s.feed = -1; /* owned by the caller now */
    }
    const int rest[] = {s.input, s.feed, s.output[0], s.output[1], s.errors[0], s.errors[1]};
    for (size_t i = 0; i < ARRAY_LEN(rest); i++)
        if (rest[i] >= 0)
            close(rest[i]);
    return rc;
}
