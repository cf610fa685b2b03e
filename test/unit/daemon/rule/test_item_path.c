/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "builders.h"
#include "daemon/rule/item_path.h"

/* The identities of the values of @path in an object whose list is @list. */
static void assert_identities(const char *path, const char *list, const char *expected)
{
    struct item_path *parsed = item_path_parse(path, NULL);
    struct buf text = {0}, ids = {0};
    struct inf_object *object;
    struct item_values values;
    assert_non_null(parsed);
    buf_printf(&text, "{\"kind\":\"X\",\"metadata\":{\"name\":\"x\"},\"list\":%s}", list);
    buf_putc(&text, '\0');
    object = object_from(text.bytes);
    item_values_collect(&values, parsed, object, NULL, NULL);
    for (size_t i = 0; i < values.count; i++) {
        buf_put(&ids, values.ids.bytes + values.at[i].id, values.at[i].id_len);
        buf_putc(&ids, ' ');
    }
    buf_putc(&ids, '\0');
    assert_string_equal(ids.bytes, expected);
    item_values_free(&values);
    inf_object_unref(object);
    item_path_free(parsed);
    buf_free(&text);
    buf_free(&ids);
}

static void an_item_is_named_by_its_first_key(void **state)
{
    (void)state;
    assert_identities("list[*].n",
                      "[{\"n\":1,\"name\":\"a\"},{\"uid\":\"u\",\"type\":\"t\",\"n\":2}]",
                      "name=\"a\"; type=\"t\"; ");
    assert_identities("list[*].n", "[{\"n\":1},{\"n\":2}]", "0; 1; ");
    assert_identities("list[*]", "[\"a\",7]", "\"a\"; 7; ");
    assert_identities("list[*].n", "{\"a\":{\"n\":1},\"b\":{\"n\":2}}", "\"a\"; \"b\"; ");
    assert_identities("list[*].l[*].n", "[{\"name\":\"a\",\"l\":[{\"ip\":\"1.2\",\"n\":1}]}]",
                      "name=\"a\";ip=\"1.2\"; ");
}

static void names_are_found_after_values_of_every_kind(void **state)
{
    (void)state;
    assert_identities(
        "list[*].n",
        "[{\"n\":1,\"o\":{\"name\":\"inner\",\"l\":[{\"name\":\"x\"},[]]},\"name\":\"a\"},"
        "{\"n\":2,\"a\\\\\":\"}\\\\\",\"b\\\"name\":\"]\\\"\",\"name\":\"b\"},"
        "{\"n\":3,\"t\":true,\"f\":-1.5e3,\"z\":null,\"e\":{},\"name\":\"c\"}]",
        "name=\"a\"; name=\"b\"; name=\"c\"; ");
    /* a key that is no scalar does not name it */
    assert_identities("list[*].n", "[{\"n\":1,\"name\":{\"x\":1},\"type\":\"t\"}]", "type=\"t\"; ");
}

static const struct {
    const char *path, *changed;
    bool touches;
} touched_paths[] = {
    {"status.phase", "status.phase", true},
    {"status.phase", "status", true},
    {"status.phase", ".", true},
    {"status.phase", "status.phase.reason", true},
    {"status.phase", "status.phase[0]", true},
    {"status.phase", "status.phases", false},
    {"status.phase", "status.phas", false},
    {"status.phase", "state.phase", false},
    {"status.phase", "phase", false},
    {"status.list[*].n", "status.list", true},
    {"status.list[*].n", "status.list[name=web].n", true},
    {"status.list[*].n", "status.list.web.n", true},
    {"status.list[*].n", "status.list[0]", true},
    {"status.list[*].n", "status.list[0].m", false},
    {"status.list[*].n", "status.lists[0].n", false},
    {"status.list[type=Ready].n", "status.list[name=web].n", true},
    {"metadata.annotations[\"a.b/c\"]", "metadata.annotations", true},
    {"metadata.annotations[\"a.b/c\"]", "metadata.annotations[\"a.b/c\"]", true},
    {"metadata.annotations[\"a.b/c\"]", "metadata.annotations[\"a.b/d\"]", false},
    {"[\"a.b\"].n", "[\"a.b\"].n", true},
    {"[\"a.b\"].n", "[\"a.c\"].n", false},
};

static void a_path_is_touched_by_changes_of_it_and_of_what_contains_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(touched_paths); i++) {
        struct item_path *path = item_path_parse(touched_paths[i].path, NULL);
        assert_non_null(path);
        if (item_path_touches(path, touched_paths[i].changed) != touched_paths[i].touches)
            fail_msg("%s, %s", touched_paths[i].path, touched_paths[i].changed);
        item_path_free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_is_named_by_its_first_key),
        cmocka_unit_test(names_are_found_after_values_of_every_kind),
        cmocka_unit_test(a_path_is_touched_by_changes_of_it_and_of_what_contains_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
