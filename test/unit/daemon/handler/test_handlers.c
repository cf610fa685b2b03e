/*
 * test_handlers.c - handlers in virtual time: a journal, and programs that the test plays.
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
#include "daemon/replica/positions.h"
#include "fake_spawner.h"
#include "journal_world.h"

enum {
    BACKOFF_MS = 1000,
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

static char page[] = "/bin/page", verbose[] = "-v", other_page[] = "/bin/other";
static char *argv[] = {page, verbose};

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
    t->conf.exec = (struct conf_list){.items = argv, .count = ARRAY_LEN(argv)};
    t->settings = (struct handler_settings){.name = "h",
                                            .kind = &handler_exec,
                                            .conf = &t->conf,
                                            .record.max_line = 16 * 1024,
                                            .queue_bytes = 1024 * 1024,
                                            .concurrency = 1,
                                            .timeout_ms = 500,
                                            .retry_max = 2,
                                            .backoff_min_ms = BACKOFF_MS,
                                            .backoff_max_ms = 4 * BACKOFF_MS};
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct world *t = *state;
    handlers_drain(&t->handlers, 1, on_drained);
    sim_advance(&t->journal->sim, 10);
    assert_true(t->drained);
    sim_run(&t->journal->sim);
    fake_spawner_done(&t->spawner);
    journal_world_tear_down((void **)&t->journal);
    free(t);
    return 0;
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void apply(struct world *t, size_t n)
{
    handlers_set(&t->handlers, &t->settings, n);
    sim_run(&t->journal->sim);
}

/* A change of the pod shop/@name. */
static void change(struct world *t, const char *name)
{
    char *after = xasprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'shop','name':"
                            "'%s','uid':'u','resourceVersion':'%d'}}",
                            name, ++t->version);
    struct sample sample;
    sample_make(&sample, NULL, after);
    sample.event.received_us = clock_wall_us(&t->journal->sim.clock);
    journal_event(&t->journal->journal, &t->journal->pods, &sample.event, NULL);
    sample_free(&sample);
    free(after);
    journal_world_flush(t->journal);
}

static struct handler_status status(struct world *t)
{
    struct handler_status s;
    handler_status(container_of(t->handlers.handlers.next, struct handler, node), &s);
    return s;
}

static void end(struct world *t, enum child_fate fate, int code, const char *how)
{
    fake_spawner_end(&t->spawner, &(struct child_end){.fate = fate, .code = code, .how = how});
    sim_run(&t->journal->sim);
}

static void assert_runs(struct world *t, int runs, const char *name)
{
    char *variable = name ? xasprintf("INFORMERD_NAME=%s\n", name) : NULL;
    assert_int_equal(t->spawner.runs, runs);
    assert_int_equal(t->spawner.running != NULL, name != NULL);
    if (name)
        assert_non_null(strstr(t->spawner.env.bytes, variable));
    free(variable);
}

/* ---- delivery ---- */

static void a_record_is_delivered_and_leaves_the_queue(void **state)
{
    struct world *t = *state;
    apply(t, 1);
    change(t, "web");
    assert_runs(t, 1, "web");
    assert_string_equal(t->spawner.argv.bytes, "/bin/page -v");
    assert_int_equal(t->spawner.timeout_ms, 500);
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_ATTEMPT=1\n"));
    assert_int_equal(status(t).running, 1);
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_runs(t, 1, NULL);
    assert_int_equal(status(t).length, 0);
    assert_string_equal(status(t).state, "idle");
}

static void records_of_one_object_are_delivered_in_order(void **state)
{
    struct world *t = *state;
    t->settings.concurrency = 8;
    apply(t, 1);
    for (int i = 0; i < 3; i++)
        change(t, "web");
    for (int i = 1; i <= 3; i++) {
        char *seq = xasprintf("INFORMERD_SEQ=%d\n", i);
        assert_runs(t, i, "web");
        assert_non_null(strstr(t->spawner.env.bytes, seq));
        end(t, CHILD_EXITED, 0, "exit code 0");
        free(seq);
    }
    assert_runs(t, 3, NULL);
}

static void latest_delivers_the_newest_record_that_waits(void **state)
{
    struct world *t = *state;
    t->settings.deliver = HANDLER_LATEST;
    apply(t, 1);
    for (int i = 0; i < 5; i++)
        change(t, "web");
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_runs(t, 2, "web");
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_SEQ=5\n"));
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_int_equal(status(t).counters.coalesced, 3);
    assert_int_equal(status(t).length, 0);
}

static void latest_replaces_a_record_that_waits_for_its_repetition(void **state)
{
    struct world *t = *state;
    t->settings.deliver = HANDLER_LATEST;
    apply(t, 1);
    change(t, "web");
    end(t, CHILD_EXITED, 1, "exit code 1");
    change(t, "web");
    assert_runs(t, 1, NULL); /* the delay is that of the object */
    sim_advance(&t->journal->sim, BACKOFF_MS);
    assert_runs(t, 2, "web");
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_SEQ=2\n"));
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_int_equal(status(t).length, 0);
}

/* ---- failures ---- */

static void a_failed_run_is_repeated_with_growing_delays_then_parked(void **state)
{
    struct world *t = *state;
    apply(t, 1);
    change(t, "bad");
    end(t, CHILD_TIMED_OUT, 0, "timed out after 0.5 s");
    assert_logged(t->journal,
                  "2 handler h: Pod shop/bad: timed out after 0.5 s; repeated in 1.0 s");
    assert_string_equal(status(t).state, "failing");
    assert_string_equal(status(t).reason, "timed out after 0.5 s");
    sim_advance(&t->journal->sim, BACKOFF_MS - 1);
    assert_runs(t, 1, NULL);
    sim_advance(&t->journal->sim, 1);
    assert_runs(t, 2, "bad");
    end(t, CHILD_KILLED, 11, "killed by SIGSEGV");
    sim_advance(&t->journal->sim, 2 * BACKOFF_MS);
    assert_runs(t, 3, "bad");
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_ATTEMPT=3\n"));
    end(t, CHILD_EXITED, 3, "exit code 3");
    assert_logged(t->journal, "3 handler h: Pod shop/bad: exit code 3; given up after 3 runs");
    sim_advance(&t->journal->sim, 100 * BACKOFF_MS);
    assert_runs(t, 3, NULL);
    assert_int_equal(status(t).parked, 1);
    assert_int_equal(status(t).length, 0);
    assert_int_equal(status(t).counters.failures, 3);
    assert_int_equal(status(t).counters.retries, 2);
}

static void a_temporary_failure_is_never_parked(void **state)
{
    struct world *t = *state;
    apply(t, 1);
    change(t, "web");
    for (int i = 0; i < 10; i++) {
        bool unstarted = i % 2;
        end(t, unstarted ? CHILD_UNSTARTED : CHILD_EXITED, unstarted ? EAGAIN : 75, "75");
        sim_advance(&t->journal->sim, 4 * BACKOFF_MS);
        assert_runs(t, i + 2, "web");
    }
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_int_equal(status(t).counters.parked, 0);
}

static void a_failing_object_does_not_delay_others_and_keeps_its_order(void **state)
{
    struct world *t = *state;
    apply(t, 1);
    change(t, "bad");
    change(t, "bad");
    change(t, "good");
    end(t, CHILD_EXITED, 1, "exit code 1");
    assert_runs(t, 2, "good");
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_runs(t, 2, NULL); /* the second record of `bad` waits for the first one */
    sim_advance(&t->journal->sim, BACKOFF_MS);
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_SEQ=1\n"));
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_SEQ=2\n"));
    end(t, CHILD_EXITED, 0, "exit code 0");
}

static void a_reload_delivers_parked_records_with_the_new_settings(void **state)
{
    struct world *t = *state;
    char *other[] = {other_page};
    t->settings.retry_max = 0;
    apply(t, 1);
    change(t, "bad");
    end(t, CHILD_EXITED, 1, "exit code 1");
    assert_int_equal(status(t).parked, 1);
    t->conf.exec = (struct conf_list){.items = other, .count = 1};
    apply(t, 1);
    assert_runs(t, 2, "bad");
    assert_string_equal(t->spawner.argv.bytes, "/bin/other");
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_int_equal(status(t).parked, 0);
}

static void log_lines_are_limited_and_their_number_is_logged(void **state)
{
    struct world *t = *state;
    apply(t, 1);
    change(t, "web");
    for (int i = 0; i < 5; i++) {
        fake_spawner_end(&t->spawner,
                         &(struct child_end){
                             .fate = CHILD_EXITED,
                             .code = 75,
                             .how = "exit code 75",
                             .output = STR("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n"
                                           "17\n18\n19\n20\nlast\n"),
                         });
        sim_advance(&t->journal->sim, 4 * BACKOFF_MS);
    }
    assert_not_logged(t->journal, "last");
    assert_not_logged(t->journal, "were not logged");
    assert_logged(t->journal, "stdout: 5 further bytes are not logged");
    sim_advance(&t->journal->sim, 60 * 1000);
    end(t, CHILD_EXITED, 75, "exit code 75");
    assert_logged(t->journal, "further lines of the last minute were not logged");
    sim_advance(&t->journal->sim, 4 * BACKOFF_MS);
    end(t, CHILD_EXITED, 0, "");
}

/* ---- a full queue ---- */

static void fill(struct world *t, int changes)
{
    apply(t, 1);
    for (int i = 0; i < changes; i++) {
        char name[16];
        snprintf(name, sizeof(name), "web-%d", i % 4);
        change(t, name);
    }
}

static void a_gap_drops_the_oldest_records_but_not_the_running_one(void **state)
{
    struct world *t = *state;
    t->settings.queue_bytes = 20000;
    fill(t, 100);
    assert_logged(t->journal, "2 handler h: GAP: the queue is full (20000 bytes)");
    assert_true(status(t).bytes <= 20000);
    assert_int_equal(status(t).length + status(t).counters.skipped, 100);
    assert_true(status(t).counters.gaps > 0);
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_SEQ=1\n"));
    for (uint64_t left = status(t).length; left; left--)
        end(t, CHILD_EXITED, 0, "exit code 0");
    assert_runs(t, (int)(100 - status(t).counters.skipped), NULL);
}

static void coalesce_keeps_the_newest_record_of_each_object(void **state)
{
    struct world *t = *state;
    t->settings.queue_bytes = 20000;
    t->settings.overflow = HANDLER_COALESCE;
    fill(t, 100);
    assert_int_equal(status(t).counters.skipped, 0);
    assert_int_equal(status(t).length + status(t).counters.coalesced, 100);
    while (t->spawner.running)
        end(t, CHILD_EXITED, 0, "exit code 0");
    assert_non_null(strstr(t->spawner.env.bytes, "INFORMERD_SEQ=")); /* the last run */
    assert_int_equal(status(t).length, 0);
}

static void wait_holds_the_watch_until_a_quarter_is_free(void **state)
{
    struct world *t = *state;
    bool is_log = true;
    t->settings.queue_bytes = 20000;
    t->settings.overflow = HANDLER_WAIT;
    fill(t, 100);
    assert_true(t->journal->pods.held);
    assert_string_equal(journal_holder(&t->journal->journal, "pods", &is_log), "h");
    assert_false(is_log);
    assert_string_equal(status(t).state, "full");
    assert_int_equal(status(t).length, 100);
    while (t->journal->pods.held)
        end(t, CHILD_EXITED, 0, "exit code 0");
    assert_in_range(status(t).bytes, 1, 15000);
    assert_int_equal(status(t).counters.skipped, 0);
}

/* Long names, because there is room for many records. */
static void parked_records_are_bounded_and_the_oldest_are_dropped(void **state)
{
    enum {
        NAME = 900,
        RECORDS = 2000
    };
    struct world *t = *state;
    struct handler_status s;
    char *name = xcalloc(1, NAME + 8);
    const char *seq;
    t->settings.retry_max = 0;
    t->settings.record.max_line = 64 * 1024;
    apply(t, 1);
    for (int i = 0; i < RECORDS; i++) {
        memset(name, 'x', NAME);
        snprintf(name + NAME, 8, "%d", i);
        change(t, name);
        end(t, CHILD_EXITED, 1, "exit code 1");
    }
    s = status(t);
    assert_int_equal(s.counters.parked, RECORDS);
    assert_in_range(s.parked, 100, RECORDS - 100);
    assert_int_equal(s.parked + s.counters.forgotten, RECORDS);
    t->settings.retry_max = 1; /* a reload delivers those that were kept: the newest ones */
    apply(t, 1);
    seq = strstr(t->spawner.env.bytes, "INFORMERD_SEQ=");
    assert_int_equal(atoi(seq + strlen("INFORMERD_SEQ=")), s.counters.forgotten + 1);
    free(name);
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_int_equal(status(t).parked, 0);
    assert_int_equal(status(t).length, s.parked - 1);
}

/* ---- what is reported ---- */

/* The age is that of the change, not of the run. */
static void the_oldest_record_has_an_age_until_it_is_delivered(void **state)
{
    struct world *t = *state;
    t->settings.timeout_ms = 60 * 1000;
    apply(t, 1);
    assert_int_equal(status(t).oldest_ms, 0);
    change(t, "web");
    sim_advance(&t->journal->sim, 300);
    change(t, "web");
    sim_advance(&t->journal->sim, 200);
    assert_in_range(status(t).oldest_ms, 500, 600);
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_in_range(status(t).oldest_ms, 200, 300);
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_int_equal(status(t).oldest_ms, 0);
}

static void each_run_is_in_the_group_of_its_duration(void **state)
{
    static const uint64_t ms[] = {10, 11, 400, 500, 501, 20 * 1000, 400 * 1000};
    static const uint64_t expected[HANDLER_DURATION_BOUNDS + 1] = {1, 1, 0, 2, 1, 0, 0, 1, 0, 0, 1};
    struct world *t = *state;
    struct handler_status s;
    uint64_t sum = 0;
    t->settings.timeout_ms = 3600 * 1000;
    apply(t, 1);
    for (size_t i = 0; i < ARRAY_LEN(ms); i++) {
        change(t, "web");
        sim_advance(&t->journal->sim, ms[i]);
        end(t, CHILD_EXITED, 0, "exit code 0");
        sum += ms[i];
    }
    s = status(t);
    assert_int_equal(s.counters.runs, ARRAY_LEN(ms));
    assert_int_equal(s.counters.durations.sum_ms, sum);
    assert_memory_equal(s.counters.durations.counts, expected, sizeof(expected));
}

/* ---- the end ---- */

static void a_removed_handler_finishes_its_run(void **state)
{
    struct world *t = *state;
    apply(t, 1);
    change(t, "web");
    change(t, "web");
    apply(t, 0);
    assert_logged(t->journal, "handler h: it was removed from the configuration; 1 records");
    assert_runs(t, 1, "web");
    change(t, "web");
    end(t, CHILD_EXITED, 0, "exit code 0");
    assert_runs(t, 1, NULL);
    assert_true(list_empty(&t->handlers.leaving));
}

static void draining_waits_for_the_run_and_starts_no_other(void **state)
{
    struct world *t = *state;
    apply(t, 1);
    change(t, "web");
    change(t, "db");
    handlers_drain(&t->handlers, 0, on_drained);
    sim_advance(&t->journal->sim, 1000 * 1000);
    assert_int_equal(t->drained, 0);
    end(t, CHILD_EXITED, 1, "exit code 1"); /* not repeated */
    assert_int_equal(t->drained, 1);
    assert_runs(t, 1, NULL);
}

static void draining_ends_a_run_that_takes_too_long(void **state)
{
    struct world *t = *state;
    apply(t, 1);
    change(t, "web");
    handlers_drain(&t->handlers, 8000, on_drained);
    sim_advance(&t->journal->sim, 7999);
    assert_int_equal(t->drained, 0);
    sim_advance(&t->journal->sim, 1);
    assert_int_equal(t->drained, 1);
    assert_runs(t, 1, NULL);
    assert_logged(t->journal,
                  "handler h: stopped before 1 runs have ended; their records are lost");
}

static void a_condition_that_is_invalid_is_refused(void **state)
{
    struct world *t = *state;
    struct inf_error err;
    t->settings.filter.when = "status.phase";
    assert_int_equal(handlers_check(&t->settings, 1, &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, "handler 'h': when: "));
}

static bool never_leads(const struct handler_host *host)
{
    (void)host;
    return false;
}

static size_t count_tracks(const struct handler *h)
{
    size_t n = 0;
    list_for_each(node, &h->queue.tracks->list)
        n++;
    return n;
}

/* Each namespace is a stream, and its position stays in the Lease for a while. */
static void a_standby_forgets_streams_that_have_ended(void **state)
{
    struct world *t = *state;
    t->handlers.host.replicated = true;
    t->handlers.host.leads = never_leads;
    apply(t, 1);
    for (int n = 0; n < 20; n++) {
        char *note = xasprintf("h\tc\tpods\tns-%d 0a\t%d\n", n, 100 + n);
        positions_publish(note, &t->handlers);
        free(note);
        sim_advance(&t->journal->sim, 4 * 60 * 1000);
    }
    assert_int_equal(count_tracks(handlers_find(&t->handlers, "h")), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_record_is_delivered_and_leaves_the_queue),
        IN_WORLD(records_of_one_object_are_delivered_in_order),
        IN_WORLD(latest_delivers_the_newest_record_that_waits),
        IN_WORLD(latest_replaces_a_record_that_waits_for_its_repetition),
        IN_WORLD(a_failed_run_is_repeated_with_growing_delays_then_parked),
        IN_WORLD(a_temporary_failure_is_never_parked),
        IN_WORLD(a_failing_object_does_not_delay_others_and_keeps_its_order),
        IN_WORLD(a_reload_delivers_parked_records_with_the_new_settings),
        IN_WORLD(log_lines_are_limited_and_their_number_is_logged),
        IN_WORLD(a_gap_drops_the_oldest_records_but_not_the_running_one),
        IN_WORLD(coalesce_keeps_the_newest_record_of_each_object),
        IN_WORLD(wait_holds_the_watch_until_a_quarter_is_free),
        IN_WORLD(parked_records_are_bounded_and_the_oldest_are_dropped),
        IN_WORLD(the_oldest_record_has_an_age_until_it_is_delivered),
        IN_WORLD(each_run_is_in_the_group_of_its_duration),
        IN_WORLD(a_removed_handler_finishes_its_run),
        IN_WORLD(draining_waits_for_the_run_and_starts_no_other),
        IN_WORLD(draining_ends_a_run_that_takes_too_long),
        IN_WORLD(a_condition_that_is_invalid_is_refused),
        IN_WORLD(a_standby_forgets_streams_that_have_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
