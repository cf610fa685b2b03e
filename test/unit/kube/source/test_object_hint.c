/*
 * test_object_hint.c - the name of an object that can't be decoded, and no other part of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kube/source/object_hint.h"

#define OBJECT                                                                         \
    "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\",\"labels\":{\"name\":\"no\"}," \
    "\"namespace\":\"shop\"},\"data\":{\"name\":\"hush\"}}"

/* In memory of the exact size of the text. */
static void assert_hint(struct str object, const char *kind, const char *expected)
{
    char *block = xmalloc(object.len), *hint;
    memcpy(block, object.at, object.len);
    hint = hint_of((struct str){block, object.len}, str_of(kind));
    if (expected)
        assert_string_equal(hint, expected);
    else
        assert_null(hint);
    free(hint);
    free(block);
}

static void names_an_object_by_kind_namespace_and_name(void **state)
{
    (void)state;
    assert_hint(STR(OBJECT), "", "Secret shop/db");
    assert_hint(STR(OBJECT), "Pod", "Secret shop/db"); /* its own kind takes precedence */
    assert_hint(STR("{\"metadata\":{\"name\":\"n-1\"}}"), "Node", "Node n-1");
    assert_hint(STR("{\"metadata\":{\"name\":\"n-1\"}}"), "", "n-1");
}

static void gives_no_hint_without_a_name(void **state)
{
    (void)state;
    assert_hint(STR(""), "Pod", NULL);
    assert_hint(STR("null"), "Pod", NULL);
    assert_hint(STR("{\"kind\":\"Pod\"}"), "Pod", NULL);
    assert_hint(STR("{\"metadata\":{\"name\":7}}"), "Pod", NULL);
    assert_hint(STR("{\"metadata\":[\"name\"]}"), "Pod", NULL);
}

/* For every prefix: a truncated name is not used, and no secret is shown. */
static void accepts_a_text_without_its_end(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof(OBJECT); len++) {
        size_t name_end = strlen("{\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\"");
        size_t all = (size_t)(strstr(OBJECT, "shop") - OBJECT) + strlen("shop\"");
        assert_hint((struct str){OBJECT, len}, "",
                    len < name_end ? NULL
                    : len < all    ? "Secret db"
                                   : "Secret shop/db");
    }
}

static void shortens_long_names(void **state)
{
    char *name = xmalloc(5001), *object;
    (void)state;
    memset(name, 'x', 5000);
    name[5000] = '\0';
    object = xasprintf("{\"metadata\":{\"name\":\"%s\"}}", name);
    name[100] = '\0';
    assert_hint(str_of(object), "", name);
    free(object);
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_an_object_by_kind_namespace_and_name),
        cmocka_unit_test(gives_no_hint_without_a_name),
        cmocka_unit_test(accepts_a_text_without_its_end),
        cmocka_unit_test(shortens_long_names),
    };
    return cmocka_run_group_tests_name("hint", tests, NULL, NULL);
}
