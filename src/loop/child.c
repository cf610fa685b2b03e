/*
 * child.c - a running program: its output and its end.
 *
 *     running -> [stopping] -> ended -> closed        stopping or running -> abandoned -> closed
 *
 * Normal path: loop/spawn.c starts the process; its two pipes are read into the loop's buffer as
 * they fill; its pidfd becomes readable when it has ended; it is reaped, the rest of the pipes is
 * read, and on_end is called.
 *
 * The end of the pipes is not awaited: a process that the program started may keep them open
 * forever. All output of the program itself is in the pipes when it ends.
 *
 * A streamed program (seam/child.h, rule 4) has a third pipe, which is polled while it is full.
 *
 * A program that is stopped (timeout, too much output, closed) gets SIGTERM, then SIGKILL, and ends in
 * the same way. If it was closed before its end, it is abandoned: it is freed then.
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
#include "base/sm.h"
#include "loop/spawn.h"

enum {
    REST_READS_MAX = 16, /* LIMIT: reads of 64 KiB after its end: the size of a full pipe */
};

enum program_state {
    PROGRAM_RUNNING,
    PROGRAM_STOPPING,  /* it was sent SIGTERM; `fate` is set */
    PROGRAM_ABANDONED, /* the same, closed by the user: no callback follows */
    PROGRAM_ENDED,     /* not running; on_end is scheduled or was called */
    PROGRAM_CLOSED,
};

/* clang-format off */
static const struct sm_state program_states[] = {
    [PROGRAM_RUNNING]   = {"running",   SM_TO(PROGRAM_STOPPING) | SM_TO(PROGRAM_ABANDONED) |
                                        SM_TO(PROGRAM_ENDED)},
    [PROGRAM_STOPPING]  = {"stopping",  SM_TO(PROGRAM_ABANDONED) | SM_TO(PROGRAM_ENDED)},
    [PROGRAM_ABANDONED] = {"abandoned", SM_TO(PROGRAM_CLOSED)},
    [PROGRAM_ENDED]     = {"ended",     SM_TO(PROGRAM_CLOSED)},
    [PROGRAM_CLOSED]    = {"closed",    0},
};
/* clang-format on */

/* A descriptor that is polled. */
struct polled_fd {
    int fd;          /* -1: closed */
    uv_poll_t *poll; /* NULL: not yet, or closed */
};

struct program {
    struct child child;
    struct sm sm;
    struct loop *loop;
    struct child_spawner *spawner;
    struct deferred_free deferred_free;
    struct io_task io_task;

    pid_t pid; /* also of its group; 0: it was reaped */
    struct polled_fd life, output, errors;
    struct polled_fd input; /* of a streamed program */
    bool streamed;
    struct buf stdout_text, stderr_text;
    size_t output_max, errors_max;
    bool errors_bounded;
    uint64_t timeout_ms;
    struct timer timer; /* the timeout; while stopping, the delay until SIGKILL */

    enum child_fate fate;
    int code;
    char how[128];
};

/* ---- descriptors ---- */

static int polled_fd_watch(struct program *p, struct polled_fd *polled, int events, uv_poll_cb on)
{
    uv_poll_t *poll = NEW(uv_poll_t);
    int rc = uv_poll_init(p->loop->uv, poll, polled->fd);
    if (rc < 0) { /* UNTESTED: the kernel refuses to watch another descriptor */
        free(poll);
        return rc;
    }
    poll->data = p;
    polled->poll = poll;
    return uv_poll_start(poll, events, on);
}

static void polled_fd_close(struct program *p, struct polled_fd *polled)
{
    if (polled->poll)
        loop_discard(p->loop, (uv_handle_t *)polled->poll);
    if (polled->fd >= 0)
        close(polled->fd);
    *polled = (struct polled_fd){.fd = -1};
}

/* ---- the end ---- */

static void program_free_deferred(struct deferred_free *deferred_free)
{
    struct program *p = container_of(deferred_free, struct program, deferred_free);
    loop_unref(p->loop);
    buf_free(&p->stdout_text);
    buf_free(&p->stderr_text);
    free(p);
}

__attribute__((format(printf, 4, 5))) static void program_set_fate(struct program *p,
                                                                   enum child_fate fate, int code,
                                                                   const char *fmt, ...)
{
    va_list args;
    p->fate = fate;
    p->code = code;
    va_start(args, fmt);
    vsnprintf(p->how, sizeof(p->how), fmt, args);
    va_end(args);
}

static void program_close_free(struct program *p)
{
    sm_move(&p->sm, PROGRAM_CLOSED, "released");
    clock_free_later(&p->loop->clock, &p->deferred_free, program_free_deferred);
}

/* The process has ended: on_end is called at the end of this phase, unless it is abandoned. */
static void program_end(struct program *p)
{
    timer_stop(&p->loop->clock, &p->timer);
    polled_fd_close(p, &p->life);
    polled_fd_close(p, &p->output);
    polled_fd_close(p, &p->errors);
    polled_fd_close(p, &p->input);
    if (p->sm.state == PROGRAM_ABANDONED) {
        program_close_free(p);
    } else {
        sm_move(&p->sm, PROGRAM_ENDED, "%s", p->how);
        loop_schedule(p->loop, &p->io_task);
    }
}

static void program_report_end(struct io_task *task)
{
    struct program *p = container_of(task, struct program, io_task);
    struct child_end end = {.fate = p->fate,
                            .code = p->code,
                            .how = p->how,
                            .output = {p->stdout_text.bytes, p->stdout_text.len},
                            .errors = {p->stderr_text.bytes, p->stderr_text.len}};
    p->child.user->ops->on_end(p->child.user, &end);
}

/* Ends the program early; @next is STOPPING or ABANDONED. The first reason determines its fate. */
static void program_stop(struct program *p, enum program_state next, const char *why)
{
    bool running = p->sm.state == PROGRAM_RUNNING;
    sm_move(&p->sm, (int)next, "%s", why);
    if (!running)
        return; /* SIGTERM was sent */
    if (p->pid)
        kill(-p->pid, SIGTERM);
    timer_start(&p->loop->clock, &p->timer, CHILD_GRACE_MS);
}

static void program_on_timer(struct timer *timer)
{
    struct program *p = container_of(timer, struct program, timer);
    if (p->sm.state != PROGRAM_RUNNING) {
        kill(-p->pid, SIGKILL);
        return;
    }
    program_set_fate(p, CHILD_TIMED_OUT, 0, "timed out after %g s", (double)p->timeout_ms / 1000);
    program_stop(p, PROGRAM_STOPPING, p->how);
}

/* ---- output ---- */

static void program_stop_writing(struct program *p, struct polled_fd *polled, size_t max)
{
    polled_fd_close(p, polled); /* so that the program notices */
    if (p->sm.state != PROGRAM_RUNNING)
        return;
    program_set_fate(p, CHILD_TOO_MUCH, 0, "more than %zu bytes of output", max);
    program_stop(p, PROGRAM_STOPPING, p->how);
}

/* Nothing is passed on after close. */
static void program_pass_on(struct program *p, const struct polled_fd *polled, struct str bytes)
{
    struct child_user *user = p->child.user;
    if (p->sm.state == PROGRAM_ABANDONED)
        return;
    if (polled == &p->errors)
        user->ops->on_errors(user, bytes);
    else
        user->ops->on_output(user, bytes);
}

/* Reads once. Returns false if nothing is available now, or the pipe has ended. */
static bool program_read(struct program *p, struct polled_fd *polled)
{
    char *bytes = p->loop->read_buffer;
    ssize_t n;
    loop_busy(p->loop);
    n = read(polled->fd, bytes, sizeof(p->loop->read_buffer));
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            polled_fd_close(p, polled);
        return false;
    }
    if (p->streamed) {
        program_pass_on(p, polled, (struct str){bytes, (size_t)n});
    } else if (polled == &p->errors) {
        buf_put(&p->stderr_text, bytes, (size_t)n);
        if (p->stderr_text.len > p->errors_max) {
            buf_consume(&p->stderr_text, p->stderr_text.len - p->errors_max);
            if (p->errors_bounded)
                program_stop_writing(p, polled, p->errors_max);
        }
    } else if (buf_append(&p->stdout_text, bytes, (size_t)n, p->output_max) < 0) {
        program_stop_writing(p, polled, p->output_max);
    }
    secret_wipe(bytes, (size_t)n);
    return true;
}

static void program_on_output(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    (void)status, (void)events; /* reading finds errors */
    program_read(p, &p->output);
}

static void program_on_errors(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    (void)status, (void)events;
    program_read(p, &p->errors);
}

static void program_read_rest(struct program *p, struct polled_fd *polled)
{
    for (int i = 0; i < REST_READS_MAX && polled->fd >= 0; i++)
        if (!program_read(p, polled))
            return;
}

/* ---- input of a streamed program ---- */

/* An error, too, is reported by the next write. */
static void program_on_writable(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    (void)status, (void)events;
    loop_busy(p->loop);
    uv_poll_stop(poll);
    if (p->sm.state == PROGRAM_RUNNING)
        p->child.user->ops->on_writable(p->child.user);
}

static void program_wait_writable(struct program *p)
{
    int rc = p->input.poll ? uv_poll_start(p->input.poll, UV_WRITABLE, program_on_writable)
                           : polled_fd_watch(p, &p->input, UV_WRITABLE, program_on_writable);
    if (rc < 0) /* UNTESTED: as in polled_fd_watch() */
        child_stop(&p->child, "its stdin can't be watched");
}

static size_t program_write(struct child *child, struct str bytes)
{
    struct program *p = container_of(child, struct program, child);
    ssize_t n = -1;
    if (p->sm.state != PROGRAM_RUNNING)
        return bytes.len;
    do {
        n = write(p->input.fd, bytes.at, bytes.len);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN) {
        child_stop(child, "it closed its stdin");
        return bytes.len;
    }
    if (n < (ssize_t)bytes.len)
        program_wait_writable(p);
    return n < 0 ? 0 : (size_t)n;
}

static void program_stop_for_user(struct child *child, const char *why)
{
    struct program *p = container_of(child, struct program, child);
    if (p->sm.state != PROGRAM_RUNNING)
        return;
    program_set_fate(p, CHILD_STOPPED, 0, "%s", why);
    program_stop(p, PROGRAM_STOPPING, p->how);
}

/* ---- start and end ---- */

/* Kills the group before the process is reaped: until then the group's number can't be reused. */
static int program_reap(struct program *p, siginfo_t *ret_info)
{
    id_t pidfd = (id_t)p->life.fd;
    int rc = waitid(P_PIDFD, pidfd, ret_info, WEXITED | WNOHANG | WNOWAIT);
    if (rc == 0) {
        kill(-p->pid, SIGKILL);
        rc = waitid(P_PIDFD, pidfd, ret_info, WEXITED | WNOHANG);
    }
    p->pid = 0;
    p->spawner->running--;
    return rc;
}

static void program_on_exit(uv_poll_t *poll, int status, int events)
{
    struct program *p = poll->data;
    siginfo_t info = {0};
    int rc = program_reap(p, &info);
    (void)status, (void)events;
    program_read_rest(p, &p->output); /* may still exceed the limit */
    program_read_rest(p, &p->errors);
    if (p->sm.state == PROGRAM_RUNNING) {
        const char *signal_name = sigabbrev_np(info.si_status);
        if (rc < 0)
            program_set_fate(p, CHILD_LOST, 0, "its exit status was collected by other code");
        else if (info.si_code == CLD_EXITED)
            program_set_fate(p, CHILD_EXITED, info.si_status, "exit code %d", info.si_status);
        else
            program_set_fate(p, CHILD_KILLED, info.si_status, "killed by SIG%s",
                             signal_name ? signal_name : "?");
    }
    program_end(p);
}

/* ---- seam/child.h ---- */

static void program_close(struct child *child)
{
    struct program *p = container_of(child, struct program, child);
    list_remove(&p->io_task.node);
    if (p->sm.state == PROGRAM_ENDED)
        program_close_free(p);
    else
        program_stop(p, PROGRAM_ABANDONED, "closed by its user");
}

static const struct child_ops program_ops = {
    .close = program_close,
    .write = program_write,
    .stop = program_stop_for_user,
};

/* Returns 0, or an errno: then it does not run. */
static int program_start(struct program *p, const struct child_spec *spec)
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
    p->input.fd = s.input;
    p->spawner->running++;
    rc = polled_fd_watch(p, &p->life, UV_READABLE, program_on_exit);
    rc = rc ? rc : polled_fd_watch(p, &p->output, UV_READABLE, program_on_output);
    rc = rc ? rc : polled_fd_watch(p, &p->errors, UV_READABLE, program_on_errors);
    if (rc < 0) { /* UNTESTED: as in polled_fd_watch() */
        kill(-p->pid, SIGKILL);
        waitid(P_PID, (id_t)p->pid, &info,
               WEXITED | WNOWAIT); /* the pidfd may be non-blocking by now */
        program_reap(p, &info);
    }
    return -rc; /* libuv's errors are negated errnos */
}

static struct child *program_spawn(struct spawner *spawner, const struct child_spec *spec,
                                   struct child_user *user)
{
    struct program *p = NEW(struct program);
    int rc;
    p->child = (struct child){.ops = &program_ops, .user = user};
    p->spawner = container_of(spawner, struct child_spawner, spawner);
    p->loop = p->spawner->loop;
    p->stdout_text.secret = p->stderr_text.secret = true; /* output may contain credentials */
    p->life.fd = p->output.fd = p->errors.fd = p->input.fd = -1;
    p->streamed = spec->streamed;
    p->output_max = spec->output_max;
    p->errors_max = spec->errors_max;
    p->errors_bounded = spec->errors_bounded;
    p->timeout_ms = spec->timeout_ms;
    p->timer.fire = program_on_timer;
    p->io_task.run = program_report_end;
    list_init(&p->io_task.node);
    sm_init(&p->sm, program_states, PROGRAM_RUNNING, "child", NULL);
    loop_ref(p->loop);
    rc = program_start(p, spec);
    if (rc) {
        program_set_fate(p, CHILD_UNSTARTED, rc, "%s", strerror(rc));
        program_end(p);
    } else if (spec->timeout_ms) {
        timer_start(&p->loop->clock, &p->timer, spec->timeout_ms);
    }
    return &p->child;
}

void child_spawner_init(struct child_spawner *spawner, struct loop *loop)
{
    *spawner = (struct child_spawner){.spawner = {program_spawn}, .loop = loop};
}
