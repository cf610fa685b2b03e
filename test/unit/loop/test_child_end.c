/*
 * test_child_end.c - programs that do not end by themselves, and children closed in each state.
 *
 * Time passes by firing the timer that is due next. A script creates a file to report its progress.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "child_world.h"
#include "loop/spawn.h"

struct world {
    struct child_world *w;
    struct runner *runner;
    char dir[32]; /* $DIR of the scripts */
    char env[40];
    const char *envs[2];
};

static int missed_signals; /* sent to a process or group that does not exist */

/* Replaces the one of libc. */
int kill(pid_t pid, int sig)
{
    int rc = (int)syscall(SYS_kill, pid, sig);
    missed_signals += rc < 0 && errno == ESRCH;
    return rc;
}

static int setup(void **state)
{
    struct world *t = NEW(struct world);
    if (child_world_setup((void **)&t->w) < 0)
        return -1;
    t->runner = &t->w->runner;
    strcpy(t->dir, "/tmp/test_child.XXXXXX");
    assert_non_null(mkdtemp(t->dir));
    snprintf(t->env, sizeof(t->env), "DIR=%s", t->dir);
    t->envs[0] = t->env;
    t->w->spec.env = t->envs;
    *state = t;
    return 0;
}

static char *path_of(const struct world *t, const char *name)
{
    return xasprintf("%s/%s", t->dir, name);
}

static bool is_there(const struct world *t, const char *name)
{
    char *path = path_of(t, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static int teardown(void **state)
{
    static const char *const names[] = {"ready", "pid", "ended"};
    struct world *t = *state;
    int rc = child_world_teardown((void **)&t->w);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = path_of(t, names[i]);
        unlink(path);
        free(path);
    }
    assert_int_equal(rmdir(t->dir), 0);
    free(t);
    return rc;
}

/* Runs until the script has created $DIR/ready. */
static void start(struct world *t, const char *script)
{
    child_world_script(t->w, t->runner, script);
    RUN_UNTIL(&t->w->rl, is_there(t, "ready"));
    assert_int_equal(t->runner->ended, 0);
}

/* Whether the process whose number is in $DIR/pid has ended; it may be a zombie. */
static bool is_dead(const struct world *t)
{
    char *path = path_of(t, "pid"), stat_path[64], line[512];
    const char *name_end;
    FILE *file = fopen(path, "r");
    long pid = 0;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    pid = strtol(line, NULL, 10);
    fclose(file);
    free(path);
    snprintf(stat_path, sizeof(stat_path), "/proc/%ld/stat", pid);
    file = fopen(stat_path, "r");
    if (!file)
        return true;
    name_end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return !name_end || name_end[2] == 'Z' || name_end[2] == 'X'; /* "1 (name) Z ..." */
}

/* The signal was sent; the kernel may need a moment. */
static void wait_until_dead(const struct world *t)
{
    while (!is_dead(t))
        sched_yield();
}

static uint64_t next_timer_in(struct world *t)
{
    struct clock *clock = &t->w->rl.loop.clock;
    return timers_next_due(&clock->timers) - clock_now_ms(clock);
}

static void assert_timed_out(struct world *t, const char *output)
{
    RUN_UNTIL(&t->w->rl, t->runner->ended);
    assert_int_equal(t->runner->fate, CHILD_TIMED_OUT);
    assert_string_equal(t->runner->how, "timed out after 90.5 s");
    assert_string_equal(t->runner->output.bytes, output);
    assert_true(timers_next_due(&t->w->rl.loop.clock.timers) == TIMERS_NONE);
}

/* ---- timeouts ---- */

static void test_reports_a_timeout(void **state)
{
    struct world *t = *state;
    t->w->spec.timeout_ms = 90500;
    start(t, "echo begun; : > $DIR/ready; exec sleep 1000");
    assert_in_range(next_timer_in(t), CHILD_GRACE_MS + 1, 90500);
    child_world_next_timer(t->w);
    assert_timed_out(t, "begun\n");
}

static void test_sends_sigterm_first(void **state)
{
    struct world *t = *state;
    t->w->spec.timeout_ms = 90500;
    start(t, "trap 'echo tidied up; exit 0' TERM; : > $DIR/ready; sleep 1000 & wait");
    child_world_next_timer(t->w);
    assert_timed_out(t, "tidied up\n");
}

static void test_sends_sigkill_after_the_grace_time(void **state)
{
    struct world *t = *state;
    t->w->spec.timeout_ms = 90500;
    start(t, "trap '' TERM; : > $DIR/ready; while :; do sleep 1000; done");
    child_world_next_timer(t->w);
    real_loop_settle(&t->w->rl);
    assert_int_equal(t->runner->ended, 0);
    assert_in_range(next_timer_in(t), 0, CHILD_GRACE_MS);
    child_world_next_timer(t->w);
    assert_timed_out(t, "");
}

static void test_timeout_kills_grandchildren(void **state)
{
    struct world *t = *state;
    t->w->spec.timeout_ms = 90500;
    start(t, "(trap '' TERM; while :; do sleep 1000; done) & echo $! > $DIR/pid; : > $DIR/ready; "
             "wait");
    assert_false(is_dead(t));
    child_world_next_timer(t->w);
    assert_timed_out(t,
                     ""); /* the grandchild that ignored SIGTERM is killed with the program's end */
    wait_until_dead(t);
}

static void test_has_no_effect_if_the_program_ends_in_time(void **state)
{
    struct world *t = *state;
    t->w->spec.timeout_ms = 1000 * 1000;
    child_world_run(t->w, "exit 0");
    assert_int_equal(t->runner->fate, CHILD_EXITED);
    assert_true(timers_next_due(&t->w->rl.loop.clock.timers) == TIMERS_NONE);
}

/* ---- remaining processes ---- */

/* It keeps the pipes open, which delays nothing. */
static void test_kills_a_grandchild_after_the_end(void **state)
{
    struct world *t = *state;
    child_world_run(t->w, "sleep 1000 & echo $! > $DIR/pid; echo done");
    assert_int_equal(t->runner->fate, CHILD_EXITED);
    assert_string_equal(t->runner->output.bytes, "done\n");
    wait_until_dead(t);
}

/* Forked, because it must die: the program it started dies, too. */
static void test_the_kernel_kills_a_program_whose_parent_died(void **state)
{
    struct world *t = *state;
    const char *argv[] = {"sh", "-c",
                          "echo $$ > $DIR/pid; : > $DIR/ready; while :; do sleep 1000; done", NULL};
    pid_t parent = fork();
    if (parent == 0) {
        struct spawned spawned;
        t->w->spec.argv = argv;
        if (spawn_process(&t->w->spec, &spawned) != 0)
            _exit(1);
        while (!is_there(t, "ready"))
            sched_yield();
        _exit(0);
    }
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    wait_until_dead(t);
}

/* A process that starts the program and returns the result as its exit code. It waits to be traced. */
static pid_t fork_starter(const struct child_spec *spec)
{
    pid_t starter = fork();
    if (starter == 0) {
        struct spawned spawned;
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        _exit(spawn_process(spec, &spawned));
    }
    return starter;
}

/* Its tracer keeps the new process stopped before it executes the program, as the user of the program could. */
static void test_a_process_that_is_stopped_before_the_program_is_executed_is_killed(void **state)
{
    const long traced = PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    struct world *t = *state;
    const char *argv[] = {"true", NULL};
    pid_t starter, pid;
    int status;
    t->w->spec.argv = argv;
    starter = fork_starter(&t->w->spec);
    pid = waitpid(starter, &status, WUNTRACED);
    assert_int_equal(pid, starter);
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, starter, NULL, traced), 0);
    do {
        if (pid == starter)
            ptrace(PTRACE_CONT, starter, NULL, NULL);
        pid = waitpid(-1, &status, __WALL);
    } while (pid != starter || WIFSTOPPED(status));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ETIME);
}

static void test_kills_a_program_that_writes_too_much_and_ignores_sigterm(void **state)
{
    struct world *t = *state;
    t->w->spec.output_max = 4;
    child_world_script(t->w, t->runner,
                       "trap '' TERM; trap '' PIPE; : > $DIR/ready; echo loud; "
                       "while :; do sleep 1000; done");
    RUN_UNTIL(&t->w->rl, timers_next_due(&t->w->rl.loop.clock.timers) != TIMERS_NONE);
    child_world_next_timer(t->w);
    RUN_UNTIL(&t->w->rl, t->runner->ended);
    assert_int_equal(t->runner->fate, CHILD_TOO_MUCH);
}

/* ---- closing: no callback, the program ends, everything is released ---- */

static void close_and_run(struct world *t)
{
    runner_close(t->runner);
    RUN_UNTIL(&t->w->rl, t->w->spawner.running == 0);
    assert_int_equal(t->runner->ended, 0);
}

static void test_close_after_the_start(void **state)
{
    struct world *t = *state;
    child_world_script(t->w, t->runner, "exec sleep 1000");
    close_and_run(t);
}

static void test_close_while_running(void **state)
{
    struct world *t = *state;
    start(t, "trap ': > $DIR/ended; exit 0' TERM; : > $DIR/ready; sleep 1000 & wait");
    close_and_run(t);
    assert_true(is_there(t, "ended")); /* it received SIGTERM */
}

static void test_close_a_program_that_ignores_sigterm(void **state)
{
    struct world *t = *state;
    start(t, "trap '' TERM; echo $$ > $DIR/pid; : > $DIR/ready; while :; do sleep 1000; done");
    runner_close(t->runner);
    real_loop_settle(&t->w->rl);
    assert_int_equal(t->w->spawner.running, 1);
    child_world_next_timer(t->w);
    RUN_UNTIL(&t->w->rl, t->w->spawner.running == 0);
    assert_true(is_dead(t));
}

static void test_close_after_a_timeout(void **state)
{
    struct world *t = *state;
    t->w->spec.timeout_ms = 90500;
    start(t, "trap '' TERM; : > $DIR/ready; while :; do sleep 1000; done");
    child_world_next_timer(t->w);
    runner_close(t->runner);
    child_world_next_timer(t->w);
    RUN_UNTIL(&t->w->rl, t->w->spawner.running == 0);
    assert_int_equal(t->runner->ended, 0);
}

static void test_close_before_a_failed_start_is_reported(void **state)
{
    struct world *t = *state;
    t->w->spec.argv = (const char *const[]){"no-such-program-anywhere", NULL};
    child_world_spawn(t->w, t->runner);
    close_and_run(t);
}

static void test_close_inside_on_end(void **state)
{
    struct world *t = *state;
    t->runner->close_in_end = true;
    child_world_run(t->w, "echo still readable");
    assert_string_equal(t->runner->output.bytes, "still readable\n");
}

/* The teardown follows at once; the loop waits for the program. */
static void test_closes_the_loop_with_a_running_program(void **state)
{
    struct world *t = *state;
    start(t, ": > $DIR/ready; exec sleep 1000");
}

/* The number of the group may belong to other processes by then. The program ends before the loop
 * runs, so its end is noticed before its output. */
static void test_sends_no_signal_after_the_program_was_reaped(void **state)
{
    struct world *t = *state;
    siginfo_t info;
    missed_signals = 0;
    t->w->spec.output_max = 5;
    child_world_script(t->w, t->runner, "echo too much");
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    RUN_UNTIL(&t->w->rl, t->runner->ended);
    assert_int_equal(t->runner->fate, CHILD_TOO_MUCH);
    assert_int_equal(missed_signals, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_reports_a_timeout),
        CASE(test_sends_sigterm_first),
        CASE(test_sends_sigkill_after_the_grace_time),
        CASE(test_timeout_kills_grandchildren),
        CASE(test_has_no_effect_if_the_program_ends_in_time),
        CASE(test_kills_a_grandchild_after_the_end),
        CASE(test_the_kernel_kills_a_program_whose_parent_died),
        CASE(test_a_process_that_is_stopped_before_the_program_is_executed_is_killed),
        CASE(test_kills_a_program_that_writes_too_much_and_ignores_sigterm),
        CASE(test_sends_no_signal_after_the_program_was_reaped),
        CASE(test_close_after_the_start),
        CASE(test_close_while_running),
        CASE(test_close_a_program_that_ignores_sigterm),
        CASE(test_close_after_a_timeout),
        CASE(test_close_before_a_failed_start_is_reported),
        CASE(test_close_inside_on_end),
        CASE(test_closes_the_loop_with_a_running_program),
    };
    return cmocka_run_group_tests_name("child_end", tests, child_world_group_setup, NULL);
}
