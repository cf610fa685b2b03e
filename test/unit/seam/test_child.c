/*
 * test_child.c - the input of a program, its output, and how its end is reported.
 *
 * Timeouts, and closing in each state, are in test_child_end.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "child_world.h"

static void assert_end(const struct child_world *w, enum child_fate fate, int code, const char *how)
{
    assert_string_equal(w->runner.how, how);
    assert_int_equal(w->runner.fate, fate);
    assert_int_equal(w->runner.code, code);
}

/* @script writes exactly this to stdout and ends with code 0. */
static void assert_output(struct child_world *w, const char *script, const char *output)
{
    child_world_run(w, script);
    assert_string_equal(w->runner.errors.bytes, "");
    assert_string_equal(w->runner.output.bytes, output);
    assert_end(w, CHILD_EXITED, 0, "exit code 0");
}

/* ---- the end ---- */

static void test_reports_success(void **state)
{
    assert_output(*state, "echo hello", "hello\n");
}

static void test_reports_an_exit_code(void **state)
{
    struct child_world *w = *state;
    child_world_run(w, "echo half; echo sorry >&2; exit 3");
    assert_end(w, CHILD_EXITED, 3, "exit code 3");
    assert_string_equal(w->runner.output.bytes, "half\n");
    assert_string_equal(w->runner.errors.bytes, "sorry\n");
}

static void test_reports_a_signal(void **state)
{
    struct child_world *w = *state;
    child_world_run(w, "kill -USR1 $$");
    assert_end(w, CHILD_KILLED, SIGUSR1, "killed by SIGUSR1");
}

static void test_reports_a_missing_program(void **state)
{
    struct child_world *w = *state;
    w->spec.argv = (const char *const[]){"no-such-program-anywhere", NULL};
    child_world_spawn(w, &w->runner);
    assert_int_equal(w->runner.ended, 0); /* never inside the call */
    RUN_UNTIL(&w->rl, w->runner.ended);
    assert_end(w, CHILD_UNSTARTED, ENOENT, "No such file or directory");
}

static void test_reports_a_file_that_is_not_executable(void **state)
{
    struct child_world *w = *state;
    w->spec.argv = (const char *const[]){"/dev/null", NULL};
    child_world_spawn(w, &w->runner);
    RUN_UNTIL(&w->rl, w->runner.ended);
    assert_end(w, CHILD_UNSTARTED, EACCES, "Permission denied");
}

/* As a program does that waits for any of its children. */
static void test_reports_an_exit_status_collected_by_other_code(void **state)
{
    struct child_world *w = *state;
    child_world_script(w, &w->runner, "echo gone; exit 3");
    assert_true(waitpid(-1, NULL, 0) > 0);
    RUN_UNTIL(&w->rl, w->runner.ended);
    assert_end(w, CHILD_LOST, 0, "its exit status was collected by other code");
    assert_string_equal(w->runner.output.bytes, "gone\n");
}

/* ---- input ---- */

static void test_passes_stdin(void **state)
{
    struct child_world *w = *state;
    w->spec.input = STR("one\ntwo\n");
    assert_output(w, "read a; read b; echo $b $a; cat", "two one\n");
}

static void test_passes_an_empty_stdin(void **state)
{
    assert_output(*state, "cat; echo done", "done\n");
}

static void test_passes_a_large_stdin(void **state)
{
    struct child_world *w = *state;
    size_t len = 1024 * 1024;
    char *bytes = xmalloc(len);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i % 251);
    w->spec.input = (struct str){bytes, len};
    w->spec.output_max = len;
    child_world_run(w, "cat");
    assert_int_equal(w->runner.output.len, len);
    assert_memory_equal(w->runner.output.bytes, bytes, len);
    free(bytes);
}

static void test_accepts_that_stdin_is_not_read(void **state)
{
    struct child_world *w = *state;
    w->spec.input = STR("unread");
    assert_output(w, "exit 0", "");
}

static void test_passes_the_environment(void **state)
{
    struct child_world *w = *state;
    setenv("CHILD_TEST_KEPT", "kept", 1);
    setenv("CHILD_TEST", "old", 1);
    setenv("CHILD_TEST_LONGER", "too", 1); /* a name that only begins like it */
    w->spec.env = (const char *const[]){"CHILD_TEST=new", "CHILD_TEST_ADDED=a=b", NULL};
    assert_output(w,
                  "echo $CHILD_TEST_KEPT $CHILD_TEST $CHILD_TEST_LONGER $CHILD_TEST_ADDED; env | "
                  "grep -c ^CHILD_TEST=",
                  "kept new too a=b\n1\n");
}

static void test_passes_a_clean_environment(void **state)
{
    struct child_world *w = *state;
    setenv("CHILD_TEST_KEPT", "secret", 1);
    setenv("TZ", "UTC", 1);
    w->spec.clean_env = true;
    w->spec.env = (const char *const[]){"CHILD_TEST=new", NULL};
    child_world_run(w, "echo $CHILD_TEST_KEPT,$CHILD_TEST,$TZ,${PATH:+path}");
    assert_string_equal(w->runner.output.bytes, ",new,UTC,path\n");
}

static void test_passes_only_the_standard_descriptors(void **state)
{
    struct child_world *w = *state;
    char env[32];
    int leaky = open("/dev/null", O_RDONLY); /* not close-on-exec, as others may do */
    assert_true(leaky > 2);
    snprintf(env, sizeof(env), "LEAKY=%d", leaky);
    w->spec.env = (const char *const[]){env, NULL};
    assert_output(
        w, "for fd in 0 1 2 $LEAKY; do test -e /proc/$$/fd/$fd && echo open || echo closed; done",
        "open\nopen\nopen\nclosed\n");
    close(leaky);
}

static void test_creates_a_process_group(void **state)
{
    assert_output(*state,
                  "read pid name state parent group rest < /proc/$$/stat; "
                  "test $group = $$ && echo own",
                  "own\n");
}

static void test_resets_signals(void **state)
{
    struct child_world *w = *state;
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGPIPE, SIG_IGN);
    /* the last seven digits: 32 and above are reserved by libc */
    assert_output(w, "exec sed -n 's/^Sig[BI].*\\(.......\\)$/\\1/p' /proc/self/status",
                  "0000000\n0000000\n");
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* A daemon may have closed its stdin. */
static void test_works_without_our_own_stdin(void **state)
{
    struct child_world *w = *state;
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    close(STDIN_FILENO);
    w->spec.input = STR("in\n");
    child_world_run(w, "cat; echo err >&2");
    dup2(kept, STDIN_FILENO);
    close(kept);
    assert_string_equal(w->runner.output.bytes, "in\n");
    assert_string_equal(w->runner.errors.bytes, "err\n");
}

/* ---- output ---- */

static void test_accepts_output_of_exactly_the_limit(void **state)
{
    struct child_world *w = *state;
    w->spec.output_max = 6;
    assert_output(w, "echo hello", "hello\n");
}

static void test_reports_one_byte_over_the_limit(void **state)
{
    struct child_world *w = *state;
    w->spec.output_max = 5;
    child_world_run(w, "echo hello");
    assert_end(w, CHILD_TOO_MUCH, 0, "more than 5 bytes of output");
    assert_string_equal(w->runner.output.bytes, "");
}

static void test_stops_a_program_with_endless_output(void **state)
{
    struct child_world *w = *state;
    child_world_run(w, "while :; do echo words and words and words; done");
    assert_end(w, CHILD_TOO_MUCH, 0, "more than 65536 bytes of output");
    assert_true(w->runner.output.len <= w->spec.output_max);
}

static void test_stops_a_program_with_endless_bounded_stderr(void **state)
{
    struct child_world *w = *state;
    w->spec.errors_bounded = true;
    child_world_run(w, "yes >&2");
    assert_int_equal(w->runner.fate, CHILD_TOO_MUCH);
    assert_string_equal(w->runner.how, "more than 4096 bytes of output");
}

static void test_keeps_the_end_of_stderr(void **state)
{
    struct child_world *w = *state;
    w->spec.errors_max = 8;
    child_world_run(w, "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i + 1)); done >&2; exit 1");
    assert_end(w, CHILD_EXITED, 1, "exit code 1");
    assert_string_equal(w->runner.errors.bytes, "8\n19999\n");
}

/* ---- many programs ---- */

static bool all_ended(const struct runner *runners, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!runners[i].ended)
            return false;
    return true;
}

static void test_runs_fifty_programs_at_once(void **state)
{
    struct child_world *w = *state;
    struct runner runners[50];
    char script[64], expected[16];
    for (int i = 0; i < 50; i++) {
        runner_init(&runners[i]);
        snprintf(script, sizeof(script), "echo %d; exit %d", i, i);
        child_world_script(w, &runners[i], script);
    }
    assert_int_equal(w->spawner.running, 50);
    RUN_UNTIL(&w->rl, all_ended(runners, 50));
    for (int i = 0; i < 50; i++) {
        snprintf(expected, sizeof(expected), "%d\n", i);
        assert_string_equal(runners[i].output.bytes, expected);
        assert_int_equal(runners[i].code, i);
        runner_done(&runners[i]);
    }
}

static void test_limits_the_number_of_programs(void **state)
{
    struct child_world *w = *state;
    struct runner runners[CHILDREN_MAX];
    for (int i = 0; i < CHILDREN_MAX; i++) {
        runner_init(&runners[i]);
        child_world_script(w, &runners[i], "exec sleep 1000");
    }
    child_world_run(w, "exit 0");
    assert_int_equal(w->runner.fate, CHILD_UNSTARTED);
    assert_int_equal(w->runner.code, EAGAIN);
    for (int i = 0; i < CHILDREN_MAX; i++)
        runner_done(&runners[i]);
}

/* Whichever descriptor the kernel refuses, the others are closed: the teardown counts them. */
static void test_reports_that_no_descriptors_are_left(void **state)
{
    struct child_world *w = *state;
    struct rlimit before, few;
    int lowest_free = dup(0), enough = 0;
    close(lowest_free);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int more = 0; !enough; more++) {
        struct runner r;
        runner_init(&r);
        few = (struct rlimit){(rlim_t)(lowest_free + more), before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        child_world_script(w, &r, "exit 0");
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        RUN_UNTIL(&w->rl, r.ended);
        if (r.fate == CHILD_UNSTARTED)
            assert_int_equal(r.code, EMFILE);
        enough = r.fate == CHILD_EXITED;
        runner_done(&r);
        assert_in_range(more, 0, 20);
    }
}

/* ---- the context ---- */

static void test_sets_directory_and_umask(void **state)
{
    struct child_world *w = *state;
    w->spec.context = (struct child_context){.directory = "/usr", .has_umask = true, .umask = 0051};
    assert_output(w, "pwd; umask", "/usr\n0051\n");
}

static void test_reports_a_directory_that_does_not_exist(void **state)
{
    struct child_world *w = *state;
    w->spec.context.directory = "/nonexistent";
    child_world_run(w, "true");
    assert_end(w, CHILD_UNSTARTED, ENOENT, strerror(ENOENT));
}

static void test_sets_limits(void **state)
{
    struct child_world *w = *state;
    w->spec.context.limits = (struct child_limits){
        .cpu_s = 7, .memory = 100 * 1024 * 1024, .files = 17, .processes = 10000};
    child_world_run(w, "ulimit -t; ulimit -Ht; ulimit -v; ulimit -n; ulimit -Hn; "
                       "awk '/^Max processes/ {print $3, $4}' /proc/self/limits");
    assert_string_equal(w->runner.output.bytes, "7\n7\n102400\n17\n17\n10000 10000\n");
}

static void test_reduces_a_limit_to_our_own(void **state)
{
    struct child_world *w = *state;
    struct rlimit ours;
    char *expected;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &ours), 0);
    w->spec.context.limits.files = UINT64_MAX / 2;
    child_world_run(w, "ulimit -n");
    expected = xasprintf("%llu\n", (unsigned long long)ours.rlim_max);
    assert_string_equal(w->runner.output.bytes, expected);
    free(expected);
}

static void test_ends_a_program_that_uses_too_much_cpu(void **state)
{
    struct child_world *w = *state;
    w->spec.context.limits.cpu_s = 1;
    child_world_run(w, "while :; do :; done");
    assert_int_equal(w->runner.fate, CHILD_KILLED); /* SIGXCPU or, at the hard limit, SIGKILL */
}

/* Also that it keeps no capability, and that we stay dumpable. */
static void test_changes_user_and_groups(void **state)
{
    struct child_world *w = *state;
    struct child_identity id = {
        .uid = 12345, .gid = 12346, .n_groups = 2, .groups = {12346, 12347}};
    int dumpable = prctl(PR_GET_DUMPABLE);
    if (geteuid() != 0)
        skip();
    w->spec.context.identity = &id;
    assert_output(w, "id -u; id -g; id -G; grep CapEff /proc/self/status",
                  "12345\n12346\n12346 12347\nCapEff:\t0000000000000000\n");
    assert_int_equal(prctl(PR_GET_DUMPABLE), dumpable);
}

static void test_reports_that_the_user_cannot_be_changed(void **state)
{
    struct child_world *w = *state;
    struct child_identity id = {.uid = 12345, .gid = 12346};
    if (geteuid() != 0)
        skip();
    w->spec.context.identity = &id;
    assert_int_equal(seteuid(54321), 0);
    child_world_script(w, &w->runner, "true");
    assert_int_equal(seteuid(0), 0);
    RUN_UNTIL(&w->rl, w->runner.ended);
    assert_end(w, CHILD_UNSTARTED, EPERM, strerror(EPERM));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, child_world_setup, child_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_reports_success),
        CASE(test_reports_an_exit_code),
        CASE(test_reports_a_signal),
        CASE(test_reports_a_missing_program),
        CASE(test_reports_a_file_that_is_not_executable),
        CASE(test_reports_an_exit_status_collected_by_other_code),
        CASE(test_passes_stdin),
        CASE(test_passes_an_empty_stdin),
        CASE(test_passes_a_large_stdin),
        CASE(test_accepts_that_stdin_is_not_read),
        CASE(test_passes_the_environment),
        CASE(test_passes_a_clean_environment),
        CASE(test_passes_only_the_standard_descriptors),
        CASE(test_creates_a_process_group),
        CASE(test_resets_signals),
        CASE(test_works_without_our_own_stdin),
        CASE(test_accepts_output_of_exactly_the_limit),
        CASE(test_reports_one_byte_over_the_limit),
        CASE(test_stops_a_program_with_endless_output),
        CASE(test_stops_a_program_with_endless_bounded_stderr),
        CASE(test_keeps_the_end_of_stderr),
        CASE(test_runs_fifty_programs_at_once),
        CASE(test_limits_the_number_of_programs),
        CASE(test_reports_that_no_descriptors_are_left),
        CASE(test_sets_directory_and_umask),
        CASE(test_reports_a_directory_that_does_not_exist),
        CASE(test_sets_limits),
        CASE(test_reduces_a_limit_to_our_own),
        CASE(test_ends_a_program_that_uses_too_much_cpu),
        CASE(test_changes_user_and_groups),
        CASE(test_reports_that_the_user_cannot_be_changed),
    };
    return cmocka_run_group_tests_name("child", tests, child_world_group_setup, NULL);
}
