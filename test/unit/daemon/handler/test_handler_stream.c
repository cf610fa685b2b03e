/*
 * test_handler_stream.c - handlers with mode: stream in virtual time: a journal, and a program that the test plays.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "changes.h"
#include "daemon/handler/handler_kind.h"
#include "daemon/handler/handlers.h"
#include "fake_spawner.h"
#include "journal_world.h"

enum {
    BACKOFF_MS = 1000,
    TIMEOUT_MS = 60 * 1000,
};

struct world {
    struct journal_world *journal;
    struct fake_spawner spawner;
    struct handlers handlers;
    struct handler_settings settings;
    struct conf_handler conf;
    int drained;
    int version;
};

static char program[] = "/bin/sink", other_program[] = "/bin/other";
static char *argv[] = {program}, *other_argv[] = {other_program};

static void on_log(void *owner, enum inf_log_level level, const char *line)
{
    struct journal_world *w = owner;
    w->journal.log(w, level, line);
}

static void on_drained(struct handlers *handlers)
{
    container_of(handlers, struct world, handlers)->drained++;
}

static int set_up(void **state)
{
    struct world *t = NEW(struct world);
    journal_world_set_up((void **)&t->journal);
    fake_spawner_init(&t->spawner);
    handlers_init(&t->handlers);
    t->handlers.host.clock = &t->journal->sim.clock;
    t->handlers.host.spawner = &t->spawner.spawner;
    t->handlers.host.journal = &t->journal->journal;
    t->handlers.host.owner = t->journal;
    t->handlers.host.log = on_log;
    t->conf.exec = (struct conf_list){.items = argv, .count = 1};
    t->conf.mode = CONF_EXEC_STREAM;
    t->settings = (struct handler_settings){.name = "h",
                                            .kind = &handler_stream,
                                            .conf = &t->conf,
                                            .record.max_line = 16 * 1024,
                                            .queue_bytes = 1024 * 1024,
                                            .concurrency = 3,
                                            .timeout_ms = TIMEOUT_MS,
                                            .retry_max = 1,
                                            .backoff_min_ms = BACKOFF_MS,
                                            .backoff_max_ms = 4 * BACKOFF_MS};
    handlers_set(&t->handlers, &t->settings, 1);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct world *t = *state;
    handlers_drain(&t->handlers, 1, on_drained);
    sim_advance(&t->journal->sim, 10);
    assert_int_equal(t->drained, 1);
    sim_run(&t->journal->sim);
    fake_spawner_done(&t->spawner);
    journal_world_tear_down((void **)&t->journal);
    free(t);
    return 0;
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* A change of the pod shop/@name; their sequence numbers count from 1. */
static void change(struct world *t, const char *name)
{
    char *after = xasprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'shop','name':"
                            "'%s','uid':'u','resourceVersion':'%d'}}",
                            name, ++t->version);
    struct sample sample;
    sample_make(&sample, NULL, after);
    journal_event(&t->journal->journal, &t->journal->pods, &sample.event, NULL);
    sample_free(&sample);
    free(after);
    journal_world_flush(t->journal);
    sim_run(&t->journal->sim);
}

static struct handler_status status(struct world *t)
{
    struct handler_status s;
    handler_status(container_of(t->handlers.handlers.next, struct handler, node), &s);
    return s;
}

/* The sequence numbers of the lines that the program has got: "1 2 ". */
static void assert_sent(struct world *t, const char *expected)
{
    struct buf seqs = {0};
    const char *at;
    buf_putc(&t->spawner.input, '\0');
    at = t->spawner.input.bytes;
    while ((at = strstr(at, "\"seq\":"))) {
        at += strlen("\"seq\":");
        buf_printf(&seqs, "%llu ", strtoull(at, NULL, 10));
    }
    t->spawner.input.len--;
    buf_putc(&seqs, '\0');
    assert_string_equal(seqs.bytes, expected);
    buf_free(&seqs);
}

static void output(struct world *t, const char *text)
{
    fake_spawner_output(&t->spawner, text);
    sim_run(&t->journal->sim);
}

static void end(struct world *t, enum child_fate fate, const char *how)
{
    fake_spawner_end(&t->spawner, &(struct child_end){.fate = fate, .code = 1, .how = how});
    sim_run(&t->journal->sim);
}

static void advance(struct world *t, uint64_t ms)
{
    sim_advance(&t->journal->sim, ms);
    sim_run(&t->journal->sim);
}

/* ---- delivery ---- */

static void the_first_record_starts_the_program(void **state)
{
    struct world *t = *state;
    assert_int_equal(t->spawner.runs, 0);
    change(t, "a");
    assert_int_equal(t->spawner.runs, 1);
    assert_string_equal(t->spawner.argv.bytes, "/bin/sink");
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_HANDLER=h\n"));
    assert_sent(t, "1 ");
    output(t, "ACK 1\n");
    assert_int_equal(status(t).length, 0);
    change(t, "b");
    assert_int_equal(t->spawner.runs, 1);
    assert_sent(t, "1 2 ");
    output(t, "2\n");
}

static void records_in_flight_are_limited_and_one_for_each_object(void **state)
{
    struct world *t = *state;
    change(t, "a");
    change(t, "a");
    change(t, "b");
    change(t, "c");
    change(t, "d");
    assert_sent(t, "1 3 4 ");
    output(t, "ACK 3\nAC"); /* in any order, and in pieces */
    assert_sent(t, "1 3 4 5 ");
    output(t, "K 1\nACK 4\nACK 5\n");
    assert_sent(t, "1 3 4 5 2 ");
    output(t, "ACK 2\n");
    assert_int_equal(status(t).length, 0);
}

static void a_negative_acknowledgement_is_repeated_then_parked(void **state)
{
    struct world *t = *state;
    change(t, "a");
    change(t, "b");
    output(t, "NAK 1 does not parse\n");
    assert_logged(t->journal, "2 handler h: Pod shop/a: does not parse; repeated in 1.0 s");
    output(t, "RETRY 2\n");
    assert_logged(t->journal,
                  "2 handler h: Pod shop/b: a temporary problem of the program; repeated in 1.0 s");
    advance(t, BACKOFF_MS);
    assert_sent(t, "1 2 1 2 ");
    output(t, "NAK 1\nRETRY 2\n");
    assert_int_equal(status(t).parked, 1);
    advance(t, 4 * BACKOFF_MS);
    assert_sent(t, "1 2 1 2 2 ");
    output(t, "ACK 2\n");
    assert_int_equal(status(t).length, 0);
}

static void a_full_pipe_holds_lines_back(void **state)
{
    struct world *t = *state;
    change(t, "a");
    t->spawner.room = 10;
    change(t, "b");
    change(t, "c");
    assert_int_equal(status(t).running, 3);
    fake_spawner_read(&t->spawner, SIZE_MAX);
    sim_run(&t->journal->sim);
    assert_sent(t, "1 2 3 ");
    output(t, "1\n2\n3\n");
}

/* ---- the end of the program ---- */

static void the_back_off_grows_until_an_acknowledgement(void **state)
{
    struct world *t = *state;
    change(t, "a");
    change(t, "b");
    end(t, CHILD_EXITED, "exit code 1");
    assert_logged(t->journal,
                  "2 handler h: the program has ended: exit code 1; started again in 1.0 s");
    assert_string_equal(status(t).state, "failing");
    advance(t, BACKOFF_MS - 1);
    assert_int_equal(t->spawner.runs, 1);
    advance(t, 1);
    assert_int_equal(t->spawner.runs, 2);
    end(t, CHILD_UNSTARTED, "No such file or directory");
    assert_logged(t->journal, "2 handler h: the program cannot be started: No such file or "
                              "directory; started again in 2.0 s");
    advance(t, 2 * BACKOFF_MS);
    output(t, "ACK 1\nACK 2\n");
    end(t, CHILD_EXITED, "exit code 1");
    change(t, "c");
    assert_int_equal(t->spawner.runs, 3);
    advance(t, BACKOFF_MS);
    assert_int_equal(t->spawner.runs, 4);
    output(t, "ACK 3\n");
}

static void of_several_records_the_one_that_ends_the_program_alone_has_failed(void **state)
{
    struct world *t = *state;
    change(t, "a");
    change(t, "bad");
    change(t, "c");
    end(t, CHILD_KILLED, "killed by SIGSEGV");
    advance(t, BACKOFF_MS);
    assert_sent(t, "1 "); /* one at a time */
    output(t, "ACK 1\n");
    assert_sent(t, "1 2 ");
    end(t, CHILD_KILLED, "killed by SIGSEGV");
    assert_logged(t->journal, "Pod shop/bad: the program has ended: killed by SIGSEGV; repeated");
    advance(t, 2 * BACKOFF_MS);
    assert_sent(t, "3 ");
    output(t, "ACK 3\n");
    advance(t, 4 * BACKOFF_MS);
    assert_sent(t, "3 2 ");
    end(t, CHILD_KILLED, "killed by SIGSEGV");
    assert_int_equal(status(t).parked, 1);
    assert_int_equal(status(t).length, 0);
}

static void acknowledgements_before_the_end_count(void **state)
{
    struct world *t = *state;
    change(t, "a");
    change(t, "b");
    fake_spawner_output(&t->spawner, "ACK 1\nACK 2\n");
    end(t, CHILD_EXITED, "exit code 0");
    assert_int_equal(status(t).length, 0);
    assert_int_equal(status(t).counters.failures, 0);
}

static void a_record_without_acknowledgement_ends_the_program(void **state)
{
    struct world *t = *state;
    change(t, "a");
    advance(t, TIMEOUT_MS - 1);
    output(t, "ACK 1\n");
    change(t, "b");
    advance(t, TIMEOUT_MS - 1);
    assert_string_equal(t->spawner.stopped, "");
    advance(t, 1);
    assert_string_equal(t->spawner.stopped, "a record was not acknowledged within 60 s");
    change(t, "c"); /* waits for the next program */
    assert_sent(t, "1 2 ");
    end(t, CHILD_STOPPED, "a record was not acknowledged within 60 s");
    advance(t, 2 * BACKOFF_MS);
    assert_sent(t, "3 2 ");
    output(t, "3\n2\n");
}

static void other_lines_end_the_program(void **state)
{
    static const char *const lines[] = {"hello\n", "ACK\n",    "ACK x\n", "ACK 1 more\n1 x\n",
                                        "\n",      "NAK 1x\n", "1 \n"};
    struct world *t = *state;
    change(t, "a");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        assert_string_equal(t->spawner.stopped, "");
        output(t, lines[i]);
        if (strncmp(lines[i], "ACK 1 ", 6) == 0) { /* a comment after the number is allowed */
            change(t, "a");
        }
        assert_non_null(strstr(t->spawner.stopped, "unexpected line on its stdout"));
        end(t, CHILD_EXITED, "exit code 0");
        handlers_set(&t->handlers, &t->settings, 1); /* delivers a parked record again */
        advance(t, 8 * BACKOFF_MS);
    }
    output(t, "ACK 1\nACK 2\n");
}

static void an_unknown_number_is_logged_and_ignored(void **state)
{
    struct world *t = *state;
    change(t, "a");
    output(t, "ACK 7\nACK 1\nACK 1\n");
    assert_logged(t->journal,
                  "2 handler h: acknowledges record 7, which was not sent or is settled");
    assert_string_equal(t->spawner.stopped, "");
    assert_int_equal(status(t).length, 0);
}

static void lines_of_stderr_are_logged(void **state)
{
    struct world *t = *state;
    change(t, "a");
    fake_spawner_errors(&t->spawner, "one\ntw");
    assert_logged(t->journal, "2 handler h: stderr: one");
    assert_not_logged(t->journal, "stderr: tw");
    fake_spawner_errors(&t->spawner, "o\nrest");
    assert_logged(t->journal, "2 handler h: stderr: two");
    end(t, CHILD_EXITED, "exit code 0");
    assert_logged(t->journal, "2 handler h: stderr: rest");
}

/* ---- reload and stop ---- */

static void new_settings_replace_the_program_when_it_has_no_records(void **state)
{
    struct world *t = *state;
    change(t, "a");
    t->conf.exec.items = other_argv;
    handlers_set(&t->handlers, &t->settings, 1);
    sim_run(&t->journal->sim);
    change(t, "b");
    assert_sent(t, "1 ");
    assert_string_equal(t->spawner.stopped, "");
    output(t, "ACK 1\n");
    assert_string_equal(t->spawner.stopped, "it has new settings");
    end(t, CHILD_STOPPED, "it has new settings");
    assert_int_equal(t->spawner.runs, 2); /* without back-off */
    assert_string_equal(t->spawner.argv.bytes, "/bin/other");
    assert_sent(t, "2 ");
    output(t, "ACK 2\n");
}

static void draining_waits_for_acknowledgements_and_closes_the_program(void **state)
{
    struct world *t = *state;
    change(t, "a");
    change(t, "b");
    handlers_drain(&t->handlers, 0, on_drained);
    change(t, "c");
    assert_sent(t, "1 2 ");
    output(t, "ACK 2\n");
    assert_int_equal(t->drained, 0);
    output(t, "ACK 1\nACK 2\nnot evaluated any more\n");
    assert_int_equal(t->drained, 1);
    assert_null(t->spawner.running);
    t->drained = 0; /* for the end of the test */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(the_first_record_starts_the_program),
        IN_WORLD(records_in_flight_are_limited_and_one_for_each_object),
        IN_WORLD(a_negative_acknowledgement_is_repeated_then_parked),
        IN_WORLD(a_full_pipe_holds_lines_back),
        IN_WORLD(the_back_off_grows_until_an_acknowledgement),
        IN_WORLD(of_several_records_the_one_that_ends_the_program_alone_has_failed),
        IN_WORLD(acknowledgements_before_the_end_count),
        IN_WORLD(a_record_without_acknowledgement_ends_the_program),
        IN_WORLD(other_lines_end_the_program),
        IN_WORLD(an_unknown_number_is_logged_and_ignored),
        IN_WORLD(lines_of_stderr_are_logged),
        IN_WORLD(new_settings_replace_the_program_when_it_has_no_records),
        IN_WORLD(draining_waits_for_acknowledgements_and_closes_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
