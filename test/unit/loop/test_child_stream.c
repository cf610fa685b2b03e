/*
 * test_child_stream.c - programs whose input and output are streams.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "child_world.h"

enum {
    MUCH = 4 * 1024 * 1024, /* more than a pipe takes */
};

struct streamer {
    struct child_user user;
    struct child *child;
    struct buf output, errors; /* not terminated */
    size_t to_write, written;
    int writable, ended;
    bool close_at_output;
    enum child_fate fate;
    char how[128];
};

struct world {
    struct child_world *w;
    struct streamer s;
};

static void write_much(struct streamer *s)
{
    static char blank[64 * 1024];
    while (s->written < s->to_write) {
        size_t rest = s->to_write - s->written, n = rest < sizeof(blank) ? rest : sizeof(blank);
        size_t accepted = child_write(s->child, (struct str){blank, n});
        s->written += accepted;
        if (accepted < n)
            return;
    }
}

static void on_output(struct child_user *user, struct str bytes)
{
    struct streamer *s = container_of(user, struct streamer, user);
    assert_non_null(s->child);
    assert_true(bytes.len > 0);
    buf_put(&s->output, bytes.at, bytes.len);
    if (s->close_at_output) {
        child_close(s->child);
        s->child = NULL;
    }
}

static void on_errors(struct child_user *user, struct str bytes)
{
    struct streamer *s = container_of(user, struct streamer, user);
    buf_put(&s->errors, bytes.at, bytes.len);
}

static void on_writable(struct child_user *user)
{
    struct streamer *s = container_of(user, struct streamer, user);
    s->writable++;
    write_much(s);
}

static void on_end(struct child_user *user, const struct child_end *end)
{
    struct streamer *s = container_of(user, struct streamer, user);
    s->ended++;
    s->fate = end->fate;
    snprintf(s->how, sizeof(s->how), "%s", end->how);
}

static const struct child_user_ops ops = {on_end, on_output, on_errors, on_writable};

static int set_up(void **state)
{
    struct world *t = NEW(struct world);
    signal(SIGPIPE, SIG_IGN); /* as in informerd */
    if (child_world_setup((void **)&t->w) < 0)
        return -1;
    t->s.user.ops = &ops;
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct world *t = *state;
    int rc;
    if (t->s.child)
        child_close(t->s.child);
    buf_free(&t->s.output);
    buf_free(&t->s.errors);
    rc = child_world_teardown((void **)&t->w);
    free(t);
    return rc;
}

static void start(struct world *t, const char *script)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct child_spec spec = {.argv = argv, .streamed = true};
    t->s.child = spawner_spawn(&t->w->spawner.spawner, &spec, &t->s.user);
}

static void wait_output(struct world *t, const char *expected)
{
    size_t len = strlen(expected);
    RUN_UNTIL(&t->w->rl, t->s.output.len >= len);
    assert_int_equal(t->s.output.len, len);
    assert_memory_equal(t->s.output.bytes, expected, len);
}

static void wait_end(struct world *t, enum child_fate fate, const char *how)
{
    RUN_UNTIL(&t->w->rl, t->s.ended);
    assert_string_equal(t->s.how, how);
    assert_int_equal(t->s.fate, fate);
}

/* ---- cases ---- */

static void passes_input_and_output_while_it_runs(void **state)
{
    struct world *t = *state;
    start(t, "while read -r line; do echo \"got $line\"; echo \"err $line\" >&2; done");
    assert_int_equal(child_write(t->s.child, STR("1\n")), 2);
    wait_output(t, "got 1\n");
    assert_int_equal(child_write(t->s.child, STR("2\n3\n")), 4);
    wait_output(t, "got 1\ngot 2\ngot 3\n");
    RUN_UNTIL(&t->w->rl, t->s.errors.len == strlen("err 1\nerr 2\nerr 3\n"));
    child_stop(t->s.child, "enough");
    wait_end(t, CHILD_STOPPED, "enough");
    assert_int_equal(child_write(t->s.child, STR("4\n")), 2); /* discarded */
}

static void reports_an_exit(void **state)
{
    struct world *t = *state;
    start(t, "read -r line; echo last; exit 3");
    child_write(t->s.child, STR("1\n"));
    wait_end(t, CHILD_EXITED, "exit code 3");
    wait_output(t, "last\n");
}

static void reports_a_missing_program(void **state)
{
    struct world *t = *state;
    const char *const argv[] = {"/nonexistent/program", NULL};
    struct child_spec spec = {.argv = argv, .streamed = true};
    t->s.child = spawner_spawn(&t->w->spawner.spawner, &spec, &t->s.user);
    assert_int_equal(child_write(t->s.child, STR("1\n")), 2);
    wait_end(t, CHILD_UNSTARTED, strerror(ENOENT));
}

static void continues_when_a_slow_program_reads(void **state)
{
    struct world *t = *state;
    char expected[32];
    start(t, "read -r go; echo ready; head -c 4194304 | wc -c; cat >/dev/null");
    child_write(t->s.child, STR("go\n"));
    wait_output(t, "ready\n");
    t->s.to_write = MUCH;
    write_much(&t->s);
    snprintf(expected, sizeof(expected), "ready\n%d\n", MUCH);
    wait_output(t, expected);
    assert_true(t->s.writable > 0);
    assert_int_equal(t->s.written, MUCH);
}

static void a_program_that_does_not_read_blocks_nothing(void **state)
{
    struct world *t = *state;
    start(t, "echo ready; sleep 1000");
    wait_output(t, "ready\n");
    t->s.to_write = MUCH;
    write_much(&t->s);
    assert_true(t->s.written < MUCH);
    assert_int_equal(t->s.writable, 0);
    child_stop(t->s.child, "does not read");
    wait_end(t, CHILD_STOPPED, "does not read");
}

static void ends_a_program_that_closes_its_stdin(void **state)
{
    struct world *t = *state;
    start(t, "exec <&-; echo closed; sleep 1000");
    wait_output(t, "closed\n");
    child_write(t->s.child, STR("1\n"));
    wait_end(t, CHILD_STOPPED, "it closed its stdin");
}

static void notices_a_closed_stdin_while_it_waits(void **state)
{
    struct world *t = *state;
    start(t, "echo ready; read -r line; exec <&-; sleep 1000");
    wait_output(t, "ready\n");
    t->s.to_write = MUCH;
    child_write(t->s.child, STR("1\n"));
    write_much(&t->s);
    wait_end(t, CHILD_STOPPED, "it closed its stdin");
}

static void kills_a_program_that_ignores_sigterm(void **state)
{
    struct world *t = *state;
    start(t, "trap '' TERM; echo ready; while :; do sleep 1000; done");
    wait_output(t, "ready\n");
    child_stop(t->s.child, "first reason");
    child_stop(t->s.child, "second reason");
    child_world_next_timer(t->w);
    wait_end(t, CHILD_STOPPED, "first reason");
}

static void makes_no_callback_after_it_was_closed_in_one(void **state)
{
    struct world *t = *state;
    t->s.close_at_output = true;
    start(t, "trap 'echo more; exit' TERM; echo first; while :; do sleep 0.01; done");
    RUN_UNTIL(&t->w->rl, !t->s.child);
    RUN_UNTIL(&t->w->rl, !t->w->spawner.running);
    wait_output(t, "first\n");
    assert_int_equal(t->s.ended, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(passes_input_and_output_while_it_runs),
        CASE(reports_an_exit),
        CASE(reports_a_missing_program),
        CASE(continues_when_a_slow_program_reads),
        CASE(a_program_that_does_not_read_blocks_nothing),
        CASE(ends_a_program_that_closes_its_stdin),
        CASE(notices_a_closed_stdin_while_it_waits),
        CASE(kills_a_program_that_ignores_sigterm),
        CASE(makes_no_callback_after_it_was_closed_in_one),
    };
    return cmocka_run_group_tests_name("child_stream", tests, child_world_group_setup, NULL);
}
