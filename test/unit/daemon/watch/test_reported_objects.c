/*
 * test_reported_objects.c - what was told of a namespace, in the order of names, each once and as last told.
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

static void note(struct reported_objects *told, const char *name, int before, int after)
{
    char *old = before ? text_of(name, before) : NULL, *new = after ? text_of(name, after) : NULL;
    struct sample sample;
    sample_make(&sample, old, new);
    reported_objects_note(told, &sample.event);
    sample_free(&sample);
    free(old);
    free(new);
}

static void takes(struct reported_objects *told, const char *name, const char *version)
{
    const struct inf_object *object = reported_objects_take(told);
    assert_non_null(object);
    assert_string_equal(inf_object_name(object), name);
    assert_string_equal(inf_object_resource_version(object), version);
    inf_object_unref(object);
}

static void each_once_as_last_told(void **state)
{
    struct reported_objects told;
    (void)state;
    reported_objects_init(&told);
    assert_true(reported_objects_is_empty(&told));
    note(&told, "b", 0, 1);
    note(&told, "c", 0, 2);
    note(&told, "a", 0, 3);
    note(&told, "b", 1, 4);
    note(&told, "c", 2, 0);
    note(&told, "d", 5, 0); /* of nothing */
    takes(&told, "a", "3");
    takes(&told, "b", "4");
    assert_true(reported_objects_is_empty(&told));
    assert_null(reported_objects_take(&told));
    note(&told, "e", 0, 6);
    reported_objects_free(&told);
    assert_true(reported_objects_is_empty(&told));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_once_as_last_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
