/*
 * child.c - a running program: its output and its end.
 *
 * Normal path: loop/spawn.c starts the process; its two pipes are read into the loop's buffer as
 * they fill; its pidfd becomes readable when it has ended; it is reaped, the rest of the pipes is
 * read, and on_end is called.
 *
 * The end of the pipes is not awaited: a process that the program started may keep them open
 * forever. All output of the program itself is in the pipes when it ends.
 *
 * A child that is doomed (timeout, too much output, closed) gets SIGTERM, then SIGKILL, and ends in
 * the same way. If it was closed, it is freed then.
 */
#include "loop/child.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "loop/spawn.h"

enum {
    REST_READS_MAX = 16, /* LIMIT: reads of 64 KiB after its end: the size of a full pipe */
};

/* A descriptor that is polled. */
struct outlet {
    int fd;          /* -1: closed */
    uv_poll_t *poll; /* NULL: not yet, or closed */
};

struct program {
    struct child child;
    struct loop *loop;
    struct child_spawner *spawner;
    struct deferred_free deferred_free;
    struct again again;

    pid_t pid; /* also of its group; 0: not running */
    struct outlet life, output, errors;
    struct buf stdout_text, stderr_text;
    size_t output_max, errors_max;
    uint64_t timeout_ms;
    struct timer timer; /* the timeout; of a doomed child, the delay until SIGKILL */
    bool doomed;        /* it is being ended, and `fate` is already set */
    bool closed;

    enum child_fate fate;
    int code;
    char how[128];
};

/* ---- descriptors ---- */

static int outlet_watch(struct program *p, struct outlet *outlet, uv_poll_cb on_readable)
{
    uv_poll_t *poll = NEW(uv_poll_t);
    int rc = uv_poll_init(p->loop->uv, poll, outlet->fd);
    if (rc < 0) { /* UNTESTED: the kernel refuses to watch another descriptor */
        free(poll);
        return rc;
    }
    poll->data = p;
    outlet->poll = poll;
    return uv_poll_start(poll, UV_READABLE, on_readable);
}

static void outlet_close(struct program *p, struct outlet *outlet)
{
    if (outlet->poll)
        loop_discard(p->loop, (uv_handle_t *)outlet->poll);
    if (outlet->fd >= 0)
        close(outlet->fd);
    *outlet = (struct outlet){.fd = -1};
}

/* ---- the end ---- */

static void program_free_deferred(struct deferred_free *deferred_free)
{
    struct program *p = container_of(deferred_free, struct program, deferred_free);
    loop_drop(p->loop);
    buf_free(&p->stdout_text);
    buf_free(&p->stderr_text);
    free(p);
}

__attribute__((format(printf, 4, 5))) static void set_fate(struct program *p, enum child_fate fate,
                                                           int code, const char *fmt, ...)
{
    va_list args;
    p->fate = fate;
    p->code = code;
    va_start(args, fmt);
    vsnprintf(p->how, sizeof(p->how), fmt, args);
    va_end(args);
}

/* The process has ended: on_end is called at the end of this phase. */
static void child_ended(struct program *p)
{
    timer_stop(&p->loop->clock, &p->timer);
    outlet_close(p, &p->life);
    outlet_close(p, &p->output);
    outlet_close(p, &p->errors);
    if (p->closed)
        clock_free_later(&p->loop->clock, &p->deferred_free, program_free_deferred);
    else
        loop_again(p->loop, &p->again);
}

static void child_on_again(struct again *again)
{
    struct program *p = container_of(again, struct program, again);
    struct child_end end = {.fate = p->fate,
                            .code = p->code,
                            .how = p->how,
                            .output = {p->stdout_text.bytes, p->stdout_text.len},
                            .errors = {p->stderr_text.bytes, p->stderr_text.len}};
    p->child.user->ops->on_end(p->child.user, &end);
}

static void signal_group(struct program *p, int signal)
{
    if (p->pid)
        kill(-p->pid, signal);
}

/* Ends the program early. The first reason determines its fate. */
static void child_doom(struct program *p)
{
    p->doomed = true;
    signal_group(p, SIGTERM);
    timer_start(&p->loop->clock, &p->timer, CHILD_GRACE_MS);
}

static void child_on_timer(struct timer *timer)
{
    struct program *p = container_of(timer, struct program, timer);
    if (p->doomed) {
        signal_group(p, SIGKILL);
        return;
    }
    set_fate(p, CHILD_TIMED_OUT, 0, "timed out after %g s", (double)p->timeout_ms / 1000);
    child_doom(p);
}

/* ---- output ---- */

/* The output exceeds its limit: closes the pipe, so that the program notices, and ends it. */
static void child_exceeded_output(struct program *p)
{
    outlet_close(p, &p->output);
    if (p->doomed)
        return;
    set_fate(p, CHILD_TOO_MUCH, 0, "more than %zu bytes of output", p->output_max);
    child_doom(p);
}

static void child_keep_output(struct program *p, struct outlet *from, const char *bytes, size_t len)
{
    if (from == &p->output) {
        if (buf_append(&p->stdout_text, bytes, len, p->output_max) < 0)
            child_exceeded_output(p);
        return;
    }
    buf_put(&p->stderr_text, bytes, len);
    if (p->stderr_text.len > p->errors_max)
        buf_consume(&p->stderr_text, p->stderr_text.len - p->errors_max);
}

/* Reads once. Returns false if nothing is available now, or the pipe has ended. */
static bool child_read(struct program *p, struct outlet *outlet)
{
    ssize_t n;
    loop_busy(p->loop);
    n = read(outlet->fd, p->loop->read_buffer, sizeof(p->loop->read_buffer));
    if (n > 0) {
        child_keep_output(p, outlet, p->loop->read_buffer, (size_t)n);
        secret_wipe(p->loop->read_buffer, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        outlet_close(p, outlet);
    return n > 0;
}

static void child_on_output(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    (void)status, (void)events; /* reading finds errors */
    child_read(p, &p->output);
}

static void child_on_errors(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    (void)status, (void)events;
    child_read(p, &p->errors);
}

static void child_read_rest(struct program *p, struct outlet *outlet)
{
    for (int i = 0; i < REST_READS_MAX && outlet->fd >= 0; i++)
        if (!child_read(p, outlet))
            return;
}

/* ---- start and end ---- */

static void set_fate_of(struct program *p, const siginfo_t *info)
{
    const char *signal_name = sigabbrev_np(info->si_status);
    if (info->si_code == CLD_EXITED)
        set_fate(p, CHILD_EXITED, info->si_status, "exit code %d", info->si_status);
    else
        set_fate(p, CHILD_KILLED, info->si_status, "killed by SIG%s",
                 signal_name ? signal_name : "?");
}

/* Kills the group before the process is reaped: until then the group's number can't be reused. */
static int child_reap(struct program *p, siginfo_t *ret_info)
{
    id_t pidfd = (id_t)p->life.fd;
    int rc = waitid(P_PIDFD, pidfd, ret_info, WEXITED | WNOHANG | WNOWAIT);
    if (rc == 0) {
        signal_group(p, SIGKILL);
        rc = waitid(P_PIDFD, pidfd, ret_info, WEXITED | WNOHANG);
    }
    p->pid = 0;
    p->spawner->running--;
    return rc;
}

static void child_on_exit(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    siginfo_t info = {0};
    int rc = child_reap(p, &info);
    (void)status, (void)events;
    child_read_rest(p, &p->output); /* may still exceed the limit */
    child_read_rest(p, &p->errors);
    if (!p->doomed && rc < 0)
        set_fate(p, CHILD_LOST, 0, "its exit status was collected by other code");
    else if (!p->doomed)
        set_fate_of(p, &info);
    child_ended(p);
}

/* ---- seam/child.h ---- */

static void program_close(struct child *child)
{
    struct program *p = container_of(child, struct program, child);
    p->closed = true;
    list_remove(&p->again.node);
    if (!p->pid)
        clock_free_later(&p->loop->clock, &p->deferred_free, program_free_deferred);
    else if (!p->doomed)
        child_doom(p);
}

static const struct child_ops program_ops = {
    .close = program_close,
};

static int child_watch_all(struct program *p)
{
    int rc = outlet_watch(p, &p->life, child_on_exit);
    rc = rc ? rc : outlet_watch(p, &p->output, child_on_output);
    return rc ? rc : outlet_watch(p, &p->errors, child_on_errors);
}

/* Returns 0, or an errno: then it does not run. */
static int child_start(struct program *p, const struct child_spec *spec)
{
    siginfo_t info;
    struct spawned s;
    int rc = p->spawner->running < CHILDREN_MAX ? spawn_process(spec, &s) : EAGAIN;
    if (rc)
        return rc;
    p->pid = s.pid;
    p->life.fd = s.pidfd;
    p->output.fd = s.output;
    p->errors.fd = s.errors;
    p->spawner->running++;
    rc = child_watch_all(p);
    if (rc < 0) { /* UNTESTED: as in outlet_watch() */
        signal_group(p, SIGKILL);
        waitid(P_PID, (id_t)p->pid, &info,
               WEXITED | WNOWAIT); /* the pidfd may be non-blocking by now */
        child_reap(p, &info);
    }
    return -rc; /* libuv's errors are negated errnos */
}

static struct child *child_spawn(struct spawner *spawner, const struct child_spec *spec,
                                 struct child_user *user)
{
    struct program *p = NEW(struct program);
    int rc;
    p->child = (struct child){.ops = &program_ops, .user = user};
    p->spawner = container_of(spawner, struct child_spawner, spawner);
    p->loop = p->spawner->loop;
    p->stdout_text.secret = p->stderr_text.secret = true; /* output may contain credentials */
    p->life.fd = p->output.fd = p->errors.fd = -1;
    p->output_max = spec->output_max;
    p->errors_max = spec->errors_max;
    p->timeout_ms = spec->timeout_ms;
    p->timer.fire = child_on_timer;
    p->again.run = child_on_again;
    list_init(&p->again.node);
    loop_keep(p->loop);
    rc = child_start(p, spec);
    if (rc) {
        set_fate(p, CHILD_UNSTARTED, rc, "%s", strerror(rc));
        child_ended(p);
    } else if (spec->timeout_ms) {
        timer_start(&p->loop->clock, &p->timer, spec->timeout_ms);
    }
    return &p->child;
}

void child_spawner_init(struct child_spawner *spawner, struct loop *loop)
{
    *spawner = (struct child_spawner){.spawner = {child_spawn}, .loop = loop};
}
