/*
 * test_event_order.c - initial Events appear in a log of the format short in the order of their own
 * times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "changes.h"
#include "daemon/output/event_order.h"
#include "journal_world.h"

static void open_text_log(struct journal_world *w)
{
    struct event_log_settings log = journal_world_settings(w->paths[0]);
    log.format = &text_format;
    journal_world_set_logs(w, &log, 1);
}

/* An Event with the reason @reason, last observed at that second of 10:00. */
static void report(struct journal_world *w, struct journal_watch *watch, const char *reason,
                   int second, enum inf_origin origin)
{
    char *text = xasprintf("{'kind':'Event','apiVersion':'v1','metadata':{'name':'e','namespace':"
                           "'shop'},'involvedObject':{'kind':'Pod','name':'web-0'},'reason':'%s',"
                           "'message':'m','lastTimestamp':'2026-01-01T10:00:%02dZ'}",
                           reason, second);
    struct sample sample;
    sample_make(&sample, NULL, text);
    sample.event.origin = origin;
    journal_event(&w->journal, watch, &sample.event, NULL);
    sample_free(&sample);
    free(text);
}

/* The reasons of Events, and the types of other lines, in the order of the file: "A B SYNCED ". */
static char *order_of(struct journal_world *w)
{
    char *text, *rest, *line;
    struct buf out = {0};
    journal_world_flush(w);
    text = rest = folder_read(&w->folder, "a");
    while ((line = strsep(&rest, "\n")) && *line) {
        const char *event = strstr(line, "event pod web-0");
        const char *word = event ? event + strlen("event pod web-0") : line + strlen("10:00:00 ");
        word += strspn(word, " ");
        buf_printf(&out, "%.*s ", (int)strcspn(word, ": "), word);
    }
    buf_putc(&out, '\0');
    free(text);
    return out.bytes;
}

static void assert_order(struct journal_world *w, const char *expected)
{
    char *order = order_of(w);
    assert_string_equal(order, expected);
    free(order);
}

static void initial_events_are_sorted_by_time_at_the_sync(void **state)
{
    struct journal_world *w = *state;
    open_text_log(w);
    report(w, &w->nodes, "C", 3, INF_INITIAL);
    report(w, &w->nodes, "A", 1, INF_INITIAL);
    journal_world_change(w, &w->pods, NULL, "");
    report(w, &w->nodes, "B", 2, INF_INITIAL);
    report(w, &w->nodes, "b", 2, INF_INITIAL);
    assert_order(w, "ADDED "); /* of the pod, which is not delayed */
    journal_synced(&w->journal, &w->pods, 1, "5");
    assert_order(w, "ADDED SYNCED ");
    journal_synced(&w->journal, &w->nodes, 4, "5");
    assert_order(w, "ADDED SYNCED A B b C SYNCED ");
    report(w, &w->nodes, "D", 9, INF_LIVE);
    report(w, &w->nodes, "E", 1, INF_LIVE);
    assert_order(w, "ADDED SYNCED A B b C SYNCED D E ");
}

static void a_later_change_does_not_overtake_initial_events(void **state)
{
    struct journal_world *w = *state;
    open_text_log(w);
    report(w, &w->nodes, "B", 2, INF_INITIAL);
    report(w, &w->nodes, "A", 1, INF_INITIAL);
    report(w, &w->nodes, "C", 0, INF_LIVE);
    assert_order(w, "A B C ");
}

static void events_do_not_wait_for_ever(void **state)
{
    struct journal_world *w = *state;
    open_text_log(w);
    report(w, &w->nodes, "B", 2, INF_INITIAL);
    report(w, &w->nodes, "A", 1, INF_INITIAL);
    sim_advance(&w->sim, EVENT_ORDER_MS - 1);
    assert_order(w, "");
    sim_advance(&w->sim, 1);
    assert_order(w, "A B ");
    report(w, &w->nodes, "D", 4, INF_INITIAL);
    report(w, &w->nodes, "C", 3, INF_INITIAL);
    assert_order(w, "A B D C ");
}

static void too_many_events_are_written_as_they_come(void **state)
{
    struct journal_world *w = *state;
    char *order, first[8] = "";
    size_t words = 0;
    open_text_log(w);
    report(w, &w->nodes, "Z", 59, INF_INITIAL);
    for (int i = 0; i < EVENT_ORDER_BYTES_MAX / 50; i++)
        report(w, &w->nodes, "A", 1, INF_INITIAL);
    report(w, &w->nodes, "Last", 0, INF_INITIAL);
    order = order_of(w);
    for (const char *c = order; *c; c++)
        words += *c == ' ';
    assert_int_equal(words, EVENT_ORDER_BYTES_MAX / 50 + 2);
    memcpy(first, order, 2);
    assert_string_equal(first, "A ");
    assert_string_equal(order + strlen(order) - 5, "Last ");
    free(order);
}

static void collected_events_are_written_at_the_end(void **state)
{
    struct journal_world *w = *state;
    open_text_log(w);
    report(w, &w->nodes, "B", 2, INF_INITIAL);
    report(w, &w->nodes, "A", 1, INF_INITIAL);
    journal_drain(&w->journal);
    sim_run(&w->sim);
    assert_int_equal(w->drained, 1);
    assert_order(w, "A B ");
}

static void events_of_a_removed_log_are_written(void **state)
{
    struct journal_world *w = *state;
    open_text_log(w);
    report(w, &w->nodes, "B", 2, INF_INITIAL);
    report(w, &w->nodes, "A", 1, INF_INITIAL);
    journal_world_set_logs(w, NULL, 0);
    assert_order(w, "A B ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_JOURNAL_WORLD(initial_events_are_sorted_by_time_at_the_sync),
        IN_JOURNAL_WORLD(a_later_change_does_not_overtake_initial_events),
        IN_JOURNAL_WORLD(events_do_not_wait_for_ever),
        IN_JOURNAL_WORLD(too_many_events_are_written_as_they_come),
        IN_JOURNAL_WORLD(collected_events_are_written_at_the_end),
        IN_JOURNAL_WORLD(events_of_a_removed_log_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
