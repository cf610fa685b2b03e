/*
 * test_jsonpath.c - kubectl's JSONPath: its values on a tree, templates, what is refused, and the paths
 * that are also field paths. The expected texts are those that kubectl 1.36 prints.
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
#include "daemon/format/jsonpath.h"
#include "daemon/format/jsonpath_fields.h"

#define LIST                                                                                   \
    "{\"kind\":\"List\",\"items\":[{\"metadata\":{\"name\":\"a\",\"labels\":{\"x.y/z\":"       \
    "\"1\",\"app\":\"web\"}},\"spec\":{\"on\":true,\"n\":3,\"none\":null,\"ports\":["          \
    "{\"name\":\"http\",\"port\":80},{\"name\":\"tls\",\"port\":443},{\"name\":\"dns\","       \
    "\"port\":53}]}},{\"metadata\":{\"name\":\"b\"},\"spec\":{\"on\":false,\"n\":4.5,\"tags\"" \
    ":[]}}]}"

/* What @template prints, or the error. The caller frees it. */
static char *fill_in(const char *template)
{
    struct arena arena = {0};
    struct jsonpath *path = NULL;
    struct inf_error err = {0};
    struct buf out = {0};
    if (jsonpath_parse_template(str_of(template), &path, &err) < 0 ||
        jsonpath_put(&out, path, json_tree_make(&arena, str_of(LIST)), &err) < 0) {
        buf_clear(&out);
        buf_printf(&out, "error: %s", err.text);
    }
    buf_putc(&out, '\0');
    jsonpath_free(path);
    arena_free(&arena);
    return out.bytes;
}

static void fills_in_templates(void **state)
{
    static const struct {
        const char *template, *text;
    } rows[] = {
        {"{.kind}", "List"},
        {"{$.kind} {@.kind} {kind}", "List List List"},
        {"{.items[*].metadata.name}", "a b"},
        {"{.items..name}", "a http tls dns b"},
        {"{.items[0].metadata.labels}", "{\"app\":\"web\",\"x.y/z\":\"1\"}"},
        {"{.items[0].metadata.labels.x\\.y/z}", "1"},
        {"{.items[0].metadata.labels['x.y/z']}", "1"},
        {"{.items[0].metadata.labels['x\\.y/z']}", "1"},
        {"{.items[0].metadata.labels[\"x.y/z\"]}", "1"},
        {"{.items[0].metadata.labels['app','x.y/z']}", "web 1"},
        {"{.items[0].metadata.labels.*}", "web 1"},
        {"{.items[-1].metadata.name}", "b"},
        {"{.items[0].spec.ports[0:2].port}", "80 443"},
        {"{.items[0].spec.ports[1:].port}", "443 53"},
        {"{.items[0].spec.ports[:-1].port}", "80 443"},
        {"{.items[0].spec.ports[::2].port}", "80 53"},
        {"{.items[0].spec.ports[0,2].port}", "80 53"},
        {"{.items[0].spec.ports[?(@.port>60)].name}", "http tls"},
        {"{.items[0].spec.ports[?(@.port<=80)].name}", "http dns"},
        {"{.items[0].spec.ports[?(@.name==\"tls\")].port}", "443"},
        {"{.items[0].spec.ports[?( @.name != 'tls' )].port}", "80 53"},
        {"{.items[?(@.spec.on==true)].metadata.name}", "a"},
        {"{.items[?(@.spec.n>=4)].metadata.name}", "b"},
        {"{.items[?(@.spec.ports)].metadata.name}", "a"},
        {"{.items[?(@.spec.ports[0].port==80)].metadata.name}", "a"},
        {"{.items[*].spec.n} {.items[*].spec.on} {.items[0].spec.none}", "3 4.5 true false null"},
        {"{.items[1].spec.tags}{.items[*].gone}", "[]"},
        {"{range .items[*]}{.metadata.name}={.spec.n}{\"\\n\"}{end}", "a=3\nb=4.5\n"},
        {"<{range .items[*]}{.metadata.name}:{range .spec.ports[*]} {.port}{end};{end}>",
         "<a: 80 443 53;b:;>"},
        {"{range .items[?(@.metadata.name==\"c\")]}{.x}{end}none", "none"},
        {"{.items[*]['metadata.name']}", ""},
        {"{'it\\'s'} {.kind}", "it's List"},
        {"{1} {-2.5} {true} {.kind}", "1 -2.5 true List"},
        {"{.items[5].x}", "error: array index out of bounds: index 5, length 2"},
        {"{.items[0:5].x}", "error: array index out of bounds: index 4, length 2"},
        {"{.items[1:0].x}", "error: starting index 1 is greater than ending index 0"},
        {"{.kind[0]}", "error: an index needs a list, and a scalar value is not one"},
        {"{.items[0].spec[?(@.x)]}", "error: a filter needs a list, and a map is not one"},
        {"{.items[?(@.metadata.name==1)]}", "error: incompatible types for comparison"},
        {"{.items[?(@.spec.on<true)]}", "error: incompatible types for comparison"},
        {"{.items[?(@.spec.*==1)]}", "error: can only compare one element at a time"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *text = fill_in(rows[i].template);
        if (strcmp(text, rows[i].text) != 0)
            fail_msg("%s: '%s' instead of '%s'", rows[i].template, text, rows[i].text);
        free(text);
    }
}

static void errors_can_be_ignored(void **state)
{
    struct arena arena = {0};
    struct jsonpath *path = NULL;
    struct buf out = {0};
    (void)state;
    assert_int_equal(jsonpath_parse_template(str_of("{.items[5]}{.kind[0]}{.kind}"), &path, NULL),
                     0);
    assert_int_equal(jsonpath_put(&out, path, json_tree_make(&arena, str_of(LIST)), NULL), 0);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, "List");
    buf_free(&out);
    jsonpath_free(path);
    arena_free(&arena);
}

static void refuses_wrong_templates(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "the JSONPath template has no field; write it like {.metadata.name}"},
        {"{}", "column 2: the path is empty"},
        {"{.a", "column 4: '}' is missing"},
        {"{\"a}", "column 5: '}' is missing"},
        {"{.a.}", "column 5: a field name is missing"},
        {"{.a b}", "column 5: unexpected word"},
        {"{.a&b.c&&}", NULL},
        {"{.a[?(@.b==1&&@.c==2)]}", "column 13: unexpected character"},
        {"{...a}", "column 4: unexpected '.' after '..'"},
        {"{.a[x]}", "column 5: write an index, a slice, a quoted key or a filter here"},
        {"{.a[]}", "column 5: write an index, a slice, a quoted key or a filter here"},
        {"{.a[1:2:3:4]}", "column 5: write an index, a slice, a quoted key or a filter here"},
        {"{.a[::0]}", "column 5: the step of a slice must be positive"},
        {"{.a[99999999999999999999]}", "column 5: this index is not a number that a list can have"},
        {"{.a[0}", "column 5: ']' is missing"},
        {"{.a['b' c]}", "column 8: unexpected text after the key"},
        {"{.a[?(@.b==1]}", "column 7: ')]' is missing"},
        {"{.a[?(@.b=1)]}", "column 10: use ==, !=, <, <=, > or >= and a value here"},
        {"{1.2.3}", "column 2: this is not a number"},
        {"{range .a}", "JSONPath template: {range ...} needs {end}"},
        {"{.a}{end}", "JSONPath template: {end} needs {range ...} before it"},
        {"{range .a}{end x}", "column 15: unexpected text after end"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct jsonpath *path = NULL;
        struct inf_error err = {0};
        int rc = jsonpath_parse_template(str_of(rows[i].text), &path, &err);
        if (rows[i].error && (rc != -INF_EINVAL || !strstr(err.text, rows[i].error)))
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_int_equal(rc == 0, !rows[i].error);
        jsonpath_free(path);
    }
}

/* A filter in a filter in a filter ...: the parser must not recurse without limit. */
static void limits_nesting_and_size(void **state)
{
    struct jsonpath *path = NULL;
    struct inf_error err = {0};
    struct buf text = {0};
    (void)state;
    for (int i = 0; i < 100; i++)
        buf_puts(&text, ".a[?(@");
    for (int i = 0; i < 100; i++)
        buf_puts(&text, ")]");
    assert_int_equal(jsonpath_parse((struct str){text.bytes, text.len}, &path, &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, "too many filters within filters"));
    buf_clear(&text);
    while (text.len < 70000)
        buf_puts(&text, ".a");
    assert_int_equal(jsonpath_parse((struct str){text.bytes, text.len}, &path, &err), -INF_EINVAL);
    assert_string_equal(err.text, "JSONPath: more than 65536 bytes");
    buf_free(&text);
}

/* ---- field paths ---- */

static void translates_paths(void **state)
{
    static const struct {
        const char *text, *path;
    } rows[] = {
        {".metadata.name", "metadata.name"},
        {"metadata.name", "metadata.name"},
        {"{.metadata.name}", "metadata.name"},
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
        if (jsonpath_fields_parse(str_of(rows[i].text), &path, &err) < 0)
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
        assert_int_equal(jsonpath_fields_parse(str_of(texts[i]), &path, NULL), 0);
        assert_null(path);
    }
}

static void refuses_what_is_no_field_path(void **state)
{
    static const char *const texts[] = {
        "..name",       ".a[-1]",     ".a[0:2]", ".a[0,1]",         ".a[?(@.b.c==1)]",
        ".a[?(@.b>1)]", ".a[?(@.b)]", "'text'",  ".a[?(@.b==@.c)]",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct inf_path *path = NULL;
        struct inf_error err = {0};
        assert_int_equal(jsonpath_fields_parse(str_of(texts[i]), &path, &err), -INF_EINVAL);
        assert_null(path);
        if (!strstr(err.text, "is not supported here; supported: .field"))
            fail_msg("%s: %s", texts[i], err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_templates),
        cmocka_unit_test(errors_can_be_ignored),
        cmocka_unit_test(refuses_wrong_templates),
        cmocka_unit_test(limits_nesting_and_size),
        cmocka_unit_test(translates_paths),
        cmocka_unit_test(a_dot_is_the_whole_object),
        cmocka_unit_test(refuses_what_is_no_field_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
