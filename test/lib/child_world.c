#include "child_world.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"

static int count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* ---- the runner ---- */

static void collect(struct buf *to, struct str bytes)
{
    if (bytes.len)
        buf_put(to, bytes.at, bytes.len);
    buf_putc(to, '\0');
    to->len--;
}

static void on_end(struct child_user *user, const struct child_end *end)
{
    struct runner *r = container_of(user, struct runner, user);
    assert_non_null(r->child); /* neither inside spawn nor after close */
    assert_int_equal(r->ended, 0);
    r->ended++;
    if (r->close_in_end)
        runner_close(r); /* lent data stays valid until this returns */
    r->fate = end->fate;
    r->code = end->code;
    snprintf(r->how, sizeof(r->how), "%s", end->how);
    collect(&r->output, end->output);
    collect(&r->errors, end->errors);
}

static const struct child_user_ops runner_ops = {.on_end = on_end};

void runner_init(struct runner *r)
{
    *r = (struct runner){.user = {&runner_ops}};
}

void runner_close(struct runner *r)
{
    struct child *child = r->child;
    r->child = NULL;
    if (child)
        child_close(child);
}

void runner_done(struct runner *r)
{
    runner_close(r);
    buf_free(&r->output);
    buf_free(&r->errors);
}

/* ---- the world ---- */

int child_world_group_setup(void **state)
{
    struct real_loop rl;
    (void)state;
    real_loop_init(&rl);
    real_loop_done(&rl);
    return 0;
}

int child_world_setup(void **state)
{
    struct child_world *w = NEW(struct child_world);
    w->fds_before = count_fds();
    real_loop_init(&w->rl);
    child_spawner_init(&w->spawner, &w->rl.loop);
    w->spec = (struct child_spec){.output_max = 64 * 1024, .errors_max = 4 * 1024};
    runner_init(&w->runner);
    *state = w;
    return 0;
}

int child_world_teardown(void **state)
{
    struct child_world *w = *state;
    runner_done(&w->runner);
    real_loop_done(&w->rl);
    assert_int_equal(w->spawner.running, 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(count_fds(), w->fds_before);
    free(w);
    return 0;
}

void child_world_spawn(struct child_world *w, struct runner *r)
{
    r->child = spawner_spawn(&w->spawner.spawner, &w->spec, &r->user);
}

void child_world_script(struct child_world *w, struct runner *r, const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    w->spec.argv = argv;
    child_world_spawn(w, r);
    w->spec.argv = NULL;
}

void child_world_run(struct child_world *w, const char *script)
{
    child_world_script(w, &w->runner, script);
    RUN_UNTIL(&w->rl, w->runner.ended);
}

void child_world_next_timer(struct child_world *w)
{
    struct clock *clock = &w->rl.loop.clock;
    timers_fire(&clock->timers, timers_next_due(&clock->timers));
}
