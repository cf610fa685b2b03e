/*
 * child.c - a running program: what it says, and its end.
 *
 * The happy path: loop/spawn.c makes the process; its two pipes are read into the loop's one buffer
 * as they fill; its pidfd says that it has ended; it is reaped, what is still in the pipes is read,
 * and on_end is told.
 *
 * What is not waited for is the end of the pipes: a process that it left behind may hold them for
 * ever. Whatever the program itself has said is in them when it ends.
 *
 * A child that is doomed (too late, too loud, closed) is sent SIGTERM, then SIGKILL, and goes the
 * same way to its end. Closed before that, it is freed there.
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
    REST_READS_MAX = 16, /* LIMIT: of 64 KiB, when it has ended: as much as a pipe can hold */
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

    pid_t pid; /* also of its group; 0: there is none, or none any more */
    struct outlet life, output, errors;
    struct buf said, complained;
    size_t output_max, errors_max;
    uint64_t timeout_ms;
    struct timer timer; /* until the timeout; of a doomed one, until it is killed */
    bool doomed;        /* `fate` is known before its end */
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
    if (rc < 0) { /* UNTESTED: the kernel has no room to watch one more */
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
    buf_free(&p->said);
    buf_free(&p->complained);
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

/* There is no process any more: that is told at the end of this phase. */
static void ended(struct program *p)
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

static void on_again(struct again *again)
{
    struct program *p = container_of(again, struct program, again);
    struct child_end end = {.fate = p->fate,
                            .code = p->code,
                            .how = p->how,
                            .output = {p->said.bytes, p->said.len},
                            .errors = {p->complained.bytes, p->complained.len}};
    p->child.user->ops->on_end(p->child.user, &end);
}

static void signal_group(struct program *p, int signal)
{
    if (p->pid)
        kill(-p->pid, signal);
}

/* It has to end before its time; why is decided by the first reason. */
static void doom(struct program *p)
{
    p->doomed = true;
    signal_group(p, SIGTERM);
    timer_start(&p->loop->clock, &p->timer, CHILD_GRACE_MS);
}

static void on_timer(struct timer *timer)
{
    struct program *p = container_of(timer, struct program, timer);
    if (p->doomed) {
        signal_group(p, SIGKILL);
        return;
    }
    set_fate(p, CHILD_TIMED_OUT, 0, "timed out after %g s", (double)p->timeout_ms / 1000);
    doom(p);
}

/* ---- what it says ---- */

/* More than is allowed: the rest is of no interest, and whoever says it may know. */
static void too_much(struct program *p)
{
    outlet_close(p, &p->output);
    if (p->doomed)
        return;
    set_fate(p, CHILD_TOO_MUCH, 0, "more than %zu bytes of output", p->output_max);
    doom(p);
}

static void keep(struct program *p, struct outlet *from, const char *bytes, size_t len)
{
    if (from == &p->output) {
        if (buf_append(&p->said, bytes, len, p->output_max) < 0)
            too_much(p);
        return;
    }
    buf_put(&p->complained, bytes, len);
    if (p->complained.len > p->errors_max)
        buf_consume(&p->complained, p->complained.len - p->errors_max);
}

/* Reads once. False: nothing is there now, or will ever be. */
static bool hear(struct program *p, struct outlet *outlet)
{
    ssize_t n;
    loop_busy(p->loop);
    n = read(outlet->fd, p->loop->read_buffer, sizeof(p->loop->read_buffer));
    if (n > 0) {
        keep(p, outlet, p->loop->read_buffer, (size_t)n);
        secret_wipe(p->loop->read_buffer, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        outlet_close(p, outlet);
    return n > 0;
}

static void on_output(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    (void)status, (void)events; /* reading will tell */
    hear(p, &p->output);
}

static void on_errors(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    (void)status, (void)events;
    hear(p, &p->errors);
}

static void hear_the_rest(struct program *p, struct outlet *outlet)
{
    for (int i = 0; i < REST_READS_MAX && outlet->fd >= 0; i++)
        if (!hear(p, outlet))
            return;
}

/* ---- its life ---- */

static void set_fate_of(struct program *p, const siginfo_t *info)
{
    const char *signal_name = sigabbrev_np(info->si_status);
    if (info->si_code == CLD_EXITED)
        set_fate(p, CHILD_EXITED, info->si_status, "exit code %d", info->si_status);
    else
        set_fate(p, CHILD_KILLED, info->si_status, "killed by SIG%s",
                 signal_name ? signal_name : "?");
}

/* Its group is killed before it is reaped: until then the group's number can't be somebody else's. */
static int reap(struct program *p, siginfo_t *ret_info)
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

static void on_life(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    siginfo_t info = {0};
    int rc = reap(p, &info);
    (void)status, (void)events;
    hear_the_rest(p, &p->output); /* which may still be too much */
    hear_the_rest(p, &p->errors);
    if (!p->doomed && rc < 0)
        set_fate(p, CHILD_LOST, 0, "its exit status was collected by other code");
    else if (!p->doomed)
        set_fate_of(p, &info);
    ended(p);
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
        doom(p);
}

static const struct child_ops program_ops = {
    .close = program_close,
};

static int watch(struct program *p)
{
    int rc = outlet_watch(p, &p->life, on_life);
    rc = rc ? rc : outlet_watch(p, &p->output, on_output);
    return rc ? rc : outlet_watch(p, &p->errors, on_errors);
}

/* Returns 0, or an errno: then it does not run. */
static int start(struct program *p, const struct child_spec *spec)
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
    rc = watch(p);
    if (rc < 0) { /* UNTESTED: as in outlet_watch() */
        signal_group(p, SIGKILL);
        waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOWAIT); /* the pidfd may not block by now */
        reap(p, &info);
    }
    return -rc; /* libuv's are errnos, negated */
}

static struct child *child_spawn(struct spawner *spawner, const struct child_spec *spec,
                                 struct child_user *user)
{
    struct program *p = NEW(struct program);
    int rc;
    p->child = (struct child){.ops = &program_ops, .user = user};
    p->spawner = container_of(spawner, struct child_spawner, spawner);
    p->loop = p->spawner->loop;
    p->said.secret = p->complained.secret = true; /* credentials may come this way */
    p->life.fd = p->output.fd = p->errors.fd = -1;
    p->output_max = spec->output_max;
    p->errors_max = spec->errors_max;
    p->timeout_ms = spec->timeout_ms;
    p->timer.fire = on_timer;
    p->again.run = on_again;
    list_init(&p->again.node);
    loop_keep(p->loop);
    rc = start(p, spec);
    if (rc) {
        set_fate(p, CHILD_UNSTARTED, rc, "%s", strerror(rc));
        ended(p);
    } else if (spec->timeout_ms) {
        timer_start(&p->loop->clock, &p->timer, spec->timeout_ms);
    }
    return &p->child;
}

void child_spawner_init(struct child_spawner *spawner, struct loop *loop)
{
    *spawner = (struct child_spawner){.spawner = {child_spawn}, .loop = loop};
}
