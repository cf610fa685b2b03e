/*
 * test_core_event.c - the contents of Events of both API groups, and objects that are not Events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "changes.h"
#include "daemon/record/core_event.h"

#define META "'metadata':{'name':'web-0.17','namespace':'shop'}"

static bool read_text(const char *text, struct core_event *ret)
{
    struct core_event_reader reader;
    struct sample sample;
    bool is_one;
    sample_make(&sample, NULL, text);
    core_event_reader_init(&reader);
    is_one = core_event_read(&reader, sample.after, ret);
    core_event_reader_done(&reader);
    sample_free(&sample);
    return is_one;
}

/* Compares all fields: "reason, message, count, kind, namespace, name, type". */
static void assert_event(const char *text, const char *expected)
{
    struct core_event e;
    char fields[256];
    assert_true(read_text(text, &e));
    snprintf(fields, sizeof(fields), "%.40s, %.40s, %s, %.40s, %.40s, %.40s, %s", e.reason,
             e.message, e.count, e.kind, e.ns, e.name, e.warning ? "Warning" : "Normal");
    assert_string_equal(fields, expected);
}

static void reads_events_of_the_core_group(void **state)
{
    (void)state;
    assert_event("{'kind':'Event','apiVersion':'v1'," META
                 ",'involvedObject':{'kind':'Pod','namespace':'shop','name':'web-0'},"
                 "'reason':'BackOff','message':'a\\nb','count':3,'type':'Warning'}",
                 "BackOff, a\nb, 3, Pod, shop, web-0, Warning");
}

static void reads_events_of_events_k8s_io(void **state)
{
    (void)state;
    assert_event("{'kind':'Event','apiVersion':'events.k8s.io/v1'," META
                 ",'regarding':{'kind':'Node','name':'n1'},'reason':'Up','note':'n',"
                 "'deprecatedCount':2,'series':{'count':9},'type':'Normal'}",
                 "Up, n, 9, Node, , n1, Normal");
}

static void reads_the_identity_of_the_involved_object(void **state)
{
    struct core_event e;
    (void)state;
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META
                          ",'involvedObject':{'uid':'u-1','apiVersion':'apps/v1'}}",
                          &e));
    assert_string_equal(e.uid, "u-1");
    assert_string_equal(e.api_version, "apps/v1");
    assert_string_equal(e.type, "");
    assert_true(read_text("{'kind':'Event','apiVersion':'events.k8s.io/v1'," META
                          ",'regarding':{'uid':'u-2','apiVersion':'v1'},'type':'Odd'}",
                          &e));
    assert_string_equal(e.uid, "u-2");
    assert_string_equal(e.api_version, "v1");
    assert_string_equal(e.type, "Odd");
    assert_false(e.warning);
}

/* All times of the table in one object, from the most preferred on; then without the first one, and
 * so on. */
static void the_time_is_when_the_event_was_last_observed(void **state)
{
    static const char *const times[] = {
        "'series':{'lastObservedTime':'2026-01-01T00:00:07.5Z'}",
        "'lastTimestamp':'2026-01-01T00:00:06Z'",
        "'deprecatedLastTimestamp':'2026-01-01T00:00:05Z'",
        "'eventTime':'2026-01-01T00:00:04.000001Z'",
        "'firstTimestamp':'2026-01-01T00:00:03Z'",
        "'deprecatedFirstTimestamp':'2026-01-01T00:00:02Z'",
        "'metadata':{'name':'e','creationTimestamp':'2026-01-01T00:00:01Z'}",
    };
    static const int64_t expected[] = {7500000, 6000000, 5000000, 4000001,
                                       3000000, 2000000, 1000000};
    (void)state;
    for (size_t first = 0; first < ARRAY_LEN(times); first++) {
        struct buf text = {0};
        struct core_event e;
        buf_puts(&text, "{'kind':'Event','apiVersion':'v1'");
        for (size_t i = ARRAY_LEN(times); i-- > first;)
            buf_printf(&text, ",%s", times[i]);
        buf_puts(&text, "}");
        buf_putc(&text, '\0');
        assert_true(read_text(text.bytes, &e));
        assert_int_equal(e.time_us - INT64_C(1767225600000000), expected[first]);
        buf_free(&text);
    }
}

static void a_time_that_is_missing_or_invalid_is_skipped(void **state)
{
    struct core_event e;
    (void)state;
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META
                          ",'lastTimestamp':null,'eventTime':'yesterday',"
                          "'firstTimestamp':'2026-01-01T00:00:03Z'}",
                          &e));
    assert_int_equal(e.time_us, INT64_C(1767225603000000));
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META "}", &e));
    assert_int_equal(e.time_us, CORE_EVENT_NO_TIME);
}

/* A count is copied to the record, so it must be a number. */
static void ignores_counts_that_are_not_numbers(void **state)
{
    struct core_event event;
    (void)state;
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META ",'count':'1,2'}", &event));
    assert_string_equal(event.count, "");
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META ",'count':null}", &event));
    assert_string_equal(event.count, "");
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META ",'count':'007'}", &event));
    assert_string_equal(event.count, "");
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META ",'count':0}", &event));
    assert_string_equal(event.count, "0");
}

static void other_kinds_are_not_events(void **state)
{
    struct core_event event;
    (void)state;
    assert_false(read_text("{'kind':'Pod','apiVersion':'v1'," META ",'reason':'x'}", &event));
    assert_false(read_text("{'kind':'Event','apiVersion':'example.com/v1'," META "}", &event));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_events_of_the_core_group),
        cmocka_unit_test(reads_events_of_events_k8s_io),
        cmocka_unit_test(reads_the_identity_of_the_involved_object),
        cmocka_unit_test(the_time_is_when_the_event_was_last_observed),
        cmocka_unit_test(a_time_that_is_missing_or_invalid_is_skipped),
        cmocka_unit_test(ignores_counts_that_are_not_numbers),
        cmocka_unit_test(other_kinds_are_not_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
