/*
 * test_jsonpath.c - kubectl's JSONPath as field paths, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/format/jsonpath.h"

static void translates_paths(void **state)
{
    static const struct {
        const char *text, *path;
    } rows[] = {
        {".metadata.name", "metadata.name"},
        {"metadata.name", "metadata.name"},
        {"$.metadata.name", "metadata.name"},
        {"@.metadata.name", "metadata.name"},
        {".metadata.labels.app\\.kubernetes\\.io/name",
         "metadata.labels[\"app.kubernetes.io/name\"]"},
        {".metadata.labels['app.kubernetes.io/name']",
         "metadata.labels[\"app.kubernetes.io/name\"]"},
        {".metadata.labels[\"app\"]", "metadata.labels.app"},
        {".spec.containers[*].image", "spec.containers[*].image"},
        {".spec.containers[0].image", "spec.containers[0].image"},
        {".metadata.labels.*", "metadata.labels[*]"},
        {".status.conditions[?(@.type==\"Ready\")].status", "status.conditions[type=Ready].status"},
        {".status.conditions[?( @.type == 'Ready' )].status",
         "status.conditions[type=Ready].status"},
        {".spec.ports[?(@.port==80)].name", "spec.ports[port=80].name"},
        {".spec.x[?(@.name==\"a b\")]", "spec.x[name=\"a b\"]"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct inf_path *path = NULL;
        struct inf_error err = {0};
        if (jsonpath_parse(str_of(rows[i].text), &path, &err) < 0)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_string_equal(inf_path_text(path), rows[i].path);
        inf_path_free(path);
    }
}

static void a_dot_is_the_whole_object(void **state)
{
    static const char *const texts[] = {".", "$", "@", "$."};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct inf_path *path = (struct inf_path *)1;
        assert_int_equal(jsonpath_parse(str_of(texts[i]), &path, NULL), 0);
        assert_null(path);
    }
}

static void refuses_what_is_not_supported(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "the path is empty"},
        {"..name", "column 2: '..' is not supported"},
        {".spec.containers[-1]", "column 18: this index is not supported"},
        {".spec.containers[0:2]", "column 18: this index is not supported"},
        {".spec.containers[0,1]", "column 18: this index is not supported"},
        {".spec.containers[0", "column 18: this index is not supported"},
        {".spec['x", "column 7: this index is not supported"},
        {".a[?(@.b.c==1)]", "column 6: this filter is not supported"},
        {".a[?(@.b>1)]", "column 6: this filter is not supported"},
        {".a[?(@.b==", "column 6: this filter is not supported"},
        {".a b", "column 3: unexpected character"},
        {".a.", "column 4: a field name is missing"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct inf_path *path = NULL;
        struct inf_error err = {0};
        assert_int_equal(jsonpath_parse(str_of(rows[i].text), &path, &err), -INF_EINVAL);
        assert_null(path);
        if (!strstr(err.text, rows[i].error) || !strstr(err.text, "supported: .field"))
            fail_msg("%s: %s", rows[i].text, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(translates_paths),
        cmocka_unit_test(a_dot_is_the_whole_object),
        cmocka_unit_test(refuses_what_is_not_supported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
