/*
 * test_reported_objects.c - the reported objects of a namespace, in the order of names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "changes.h"
#include "daemon/watch/reported_objects.h"

static char *text_of(const char *name, int version)
{
    char *text = xasprintf("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'%s','namespace':"
                           "'shop','uid':'u','resourceVersion':'%d'}}",
                           name, version);
    char *quoted = with_quotes(text);
    free(text);
    return quoted;
}

static void note(struct reported_objects *reported, const char *name, int before, int after)
{
    char *old = before ? text_of(name, before) : NULL, *new = after ? text_of(name, after) : NULL;
    struct sample sample;
    sample_make(&sample, old, new);
    reported_objects_note(reported, &sample.event);
    sample_free(&sample);
    free(old);
    free(new);
}

static void report_object(struct reported_objects *reported, const char *name, const char *version)
{
    const struct inf_object *object = reported_objects_take(reported);
    assert_non_null(object);
    assert_string_equal(inf_object_name(object), name);
    assert_string_equal(inf_object_resource_version(object), version);
    inf_object_unref(object);
}

static void keeps_each_object_once_in_its_last_reported_state(void **state)
{
    struct reported_objects reported;
    (void)state;
    reported_objects_init(&reported);
    assert_true(reported_objects_is_empty(&reported));
    note(&reported, "b", 0, 1);
    note(&reported, "c", 0, 2);
    note(&reported, "a", 0, 3);
    note(&reported, "b", 1, 4);
    note(&reported, "c", 2, 0);
    note(&reported, "d", 5, 0); /* was not reported */
    report_object(&reported, "a", "3");
    report_object(&reported, "b", "4");
    assert_true(reported_objects_is_empty(&reported));
    assert_null(reported_objects_take(&reported));
    note(&reported, "e", 0, 6);
    reported_objects_free(&reported);
    assert_true(reported_objects_is_empty(&reported));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_each_object_once_in_its_last_reported_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
