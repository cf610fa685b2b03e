/*
 * test_core_event.c - what Events say, in both of their spellings, and what is no Event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

static void the_core_group_s(void **state)
{
    struct core_event told;
    (void)state;
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META
                          ",'involvedObject':{'kind':'Pod','namespace':'shop','name':'web-0'},"
                          "'reason':'BackOff','message':'a\\nb','count':3,'type':'Warning'}",
                          &told));
    assert_string_equal(told.reason, "BackOff");
    assert_string_equal(told.message, "a\nb");
    assert_string_equal(told.count, "3");
    assert_string_equal(told.kind, "Pod");
    assert_string_equal(told.ns, "shop");
    assert_string_equal(told.name, "web-0");
    assert_true(told.warning);
}

static void the_newer_group_s(void **state)
{
    struct core_event told;
    (void)state;
    assert_true(read_text("{'kind':'Event','apiVersion':'events.k8s.io/v1'," META
                          ",'regarding':{'kind':'Node','name':'n1'},'reason':'Up','note':'n',"
                          "'deprecatedCount':2,'series':{'count':9},'type':'Normal'}",
                          &told));
    assert_string_equal(told.message, "n");
    assert_string_equal(told.count, "9");
    assert_string_equal(told.ns, "");
    assert_string_equal(told.name, "n1");
    assert_false(told.warning);
}

/* A count goes into the record as it is: it must be a number. */
static void counts_that_are_none(void **state)
{
    struct core_event told;
    (void)state;
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META ",'count':'1,2'}", &told));
    assert_string_equal(told.count, "");
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META ",'count':null}", &told));
    assert_string_equal(told.count, "");
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META ",'count':'007'}", &told));
    assert_string_equal(told.count, "");
    assert_true(read_text("{'kind':'Event','apiVersion':'v1'," META ",'count':0}", &told));
    assert_string_equal(told.count, "0");
}

static void others_are_none(void **state)
{
    struct core_event told;
    (void)state;
    assert_false(read_text("{'kind':'Pod','apiVersion':'v1'," META ",'reason':'x'}", &told));
    assert_false(read_text("{'kind':'Event','apiVersion':'example.com/v1'," META "}", &told));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_core_group_s),
        cmocka_unit_test(the_newer_group_s),
        cmocka_unit_test(counts_that_are_none),
        cmocka_unit_test(others_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
