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

#include "changes.h"
#include "daemon/journal/core_event.h"

#define META "'metadata':{'name':'web-0.17','namespace':'shop'}"

static bool read_text(const char *text, struct core_event *ret)
{
    struct sample sample;
    bool is_one;
    sample_make(&sample, NULL, text);
    is_one = core_event_read(sample.after, ret);
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
        cmocka_unit_test(ignores_counts_that_are_not_numbers),
        cmocka_unit_test(other_kinds_are_not_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
