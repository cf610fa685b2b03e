/*
 * test_path.c - parsing field paths and their canonical spelling. The values that they select
 * are in test_path_walk.c.
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
#include "base/rng.h"
#include "builders.h"
#include "core/object/path.h"

static const struct {
    const char *text;
    const char *canonical; /* NULL: the same */
} good[] = {
    {"kind", NULL},
    {"spec.nodeName", NULL},
    {"status.conditions[type=Ready].status", NULL},
    {"metadata.ownerReferences[*].uid", NULL},
    {"metadata.annotations[\"a.b/c\"]", NULL},
    {"spec.containers[name=web].image", NULL},
    {"spec.containers[0].ports[containerPort=8080].name", NULL},
    {"a[*][*][2][\"b c\"][d=e]", NULL},
    {"x-y_z.0.-", NULL},
    {"[*]", NULL},
    {"[\"a b\"].c", NULL},
    {"a[\"\"]", NULL},
    {"a[\"]\"][b=\"]\"]", NULL},
    {"a[b=x.y/z:1+2@3%4]", NULL},
    {"a[b=\"\"]", NULL},
    {"a[b=\"x y\"]", NULL},
    {"a[\"b.c\"=d]", NULL},
    {"a[\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u007f\"]", NULL},
    {"a[\"\\u0000\"]", NULL},
    {"a[\"\xc3\xa4\"]", NULL},
    {"a[\"\xff\"]", NULL}, /* not UTF-8: selects nothing */
    /* quotes are removed where possible */
    {"[\"a\"]", "a"},
    {"a[\"b\"]", "a.b"},
    {"a[\"b\"=\"c\"]", "a[b=c]"},
    {"a[007]", "a[7]"},
    {"a[7=7]", NULL},
    {"a[\"\\u0062\\/\"]", "a[\"b/\"]"},
    {"a[\"\\u00e4\\ud83d\\ude00\"]", "a[\"\xc3\xa4\xf0\x9f\x98\x80\"]"},
};

static void parses_paths_and_spells_them_canonically(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct inf_path *path = path_from(good[i].text), *again = path_from(inf_path_text(path));
        assert_string_equal(inf_path_text(path),
                            good[i].canonical ? good[i].canonical : good[i].text);
        assert_string_equal(inf_path_text(again), inf_path_text(path));
        inf_path_free(path);
        inf_path_free(again);
    }
}

static void a_path_without_wildcards_selects_one_value(void **state)
{
    static const struct {
        const char *text;
        bool single;
    } rows[] = {
        {"spec.nodeName", true},
        {"spec.containers[0].image", true},
        {"metadata.labels[\"[*]\"]", true},
        {"spec.containers[*].image", false},
        {"status.conditions[type=Ready].status", false},
        {"a[7=7]", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct inf_path *path = path_from(rows[i].text);
        assert_int_equal(inf_path_is_single(path), rows[i].single);
        inf_path_free(path);
    }
}

#define QUOTE_IT "quote a key that contains this character: [\"a.b/c\"]"
#define BRACKETS "expected *, a number, a key in double quotes, or key=value"

static const struct {
    const char *text;
    const char *complaint; /* after "path 'TEXT': " */
} bad[] = {
    {"", "column 1: empty path; name a field, for example spec.nodeName"},
    {".spec.nodeName", "column 1: remove the leading '.': write spec.nodeName"},
    {"$.spec", "column 1: remove the leading '$': write spec.nodeName"},
    {"{.spec}", "column 1: remove the braces: write spec.nodeName"},
    {"spec.", "column 6: missing name after the last '.'"},
    {"spec..x", "column 6: missing name between two dots; '..' is not supported"},
    {"spec.*", "column 6: write [*] for every item, without a dot"},
    {"spec.[0]", "column 6: remove the '.' before '['"},
    {"*", "column 1: write [*] for every item, without a dot"},
    {" a", "column 1: " QUOTE_IT ", without a dot"},
    {"a. b", "column 3: " QUOTE_IT ", without a dot"},
    {"a/b", "column 2: " QUOTE_IT},
    {"a b", "column 2: " QUOTE_IT},
    {"a=b", "column 2: " QUOTE_IT},
    {"a]", "column 2: " QUOTE_IT},
    {"a[0]b", "column 5: " QUOTE_IT},
    {"metadata.labels.app.kubernetes.io/name", "column 34: " QUOTE_IT},
    {"\xc3\xa4\xc3\xb6.b", "column 1: " QUOTE_IT ", without a dot"},
    {"a[\"\xc3\xa4\"].", "column 8: missing name after the last '.'"},
    {"a[", "column 3: " BRACKETS},
    {"a[]", "column 3: " BRACKETS},
    {"a[=b]", "column 3: " BRACKETS},
    {"a[b.c=d]", "column 4: " BRACKETS},
    {"a[?(@.type==\"Ready\")]", "column 3: write a filter as [type=Ready]"},
    {"a['b']", "column 3: write a quoted key as [\"a.b/c\"]"},
    {"a[b]", "column 3: quote the key: [\"b\"]"},
    {"a[-1]", "column 3: negative indexes are not supported; [0] is the first item"},
    {"a[1:2]", "column 4: expected ']'"},
    {"a[0", "column 4: expected ']'"},
    {"a[*", "column 4: expected ']'"},
    {"a[1000000]", "column 3: an index is at most 999999"},
    {"a[99999999999999999999999999]", "column 3: an index is at most 999999"},
    {"a[b=]", "column 5: missing value; write an empty value as [key=\"\"]"},
    {"a[b=", "column 5: expected ']'"},
    {"a[b=c", "column 6: expected ']'"},
    {"a[b==c]", "column 5: use a single '='"},
    {"a[b=c d]", "column 6: quote a value that contains this character: [key=\"...\"]"},
    {"a[b=\"c\"d]", "column 8: expected ']'"},
    {"a[\"b]", "column 3: missing closing '\"'"},
    {"a[\"b\\", "column 5: invalid escape; write a backslash as \\\\"},
    {"a[\"\\x\"]", "column 4: invalid escape; write a backslash as \\\\"},
    {"a[\"\\u12\"]", "column 4: invalid escape; write a backslash as \\\\"},
    {"a[\"\\ud800\"]", "column 4: invalid escape; write a backslash as \\\\"},
};

static void explains_an_invalid_path(void **state)
{
    struct inf_error err;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *expected = xasprintf("path '%s': %s", bad[i].text, bad[i].complaint);
        assert_null(inf_path_parse(bad[i].text, &err));
        assert_string_equal(err.text, expected);
        assert_int_equal(err.code, INF_EINVAL);
        assert_null(inf_path_parse(bad[i].text, NULL));
        free(expected);
    }
    assert_null(inf_path_parse("a[\"\n\"]", &err));
    assert_string_equal(err.text, "path 'a[\" \"]': column 4: write a control character as an "
                                  "escape, for example \\n or \\u001b");
}

static void sizes_have_limits(void **state)
{
    char text[PATH_TEXT_MAX + 2];
    struct inf_error err;
    (void)state;
    memset(text, 'a', sizeof(text));
    text[PATH_TEXT_MAX + 1] = '\0';
    assert_null(inf_path_parse(text, &err));
    assert_string_equal(strstr(err.text, "aaa...'"),
                        "aaa...': column 1: a path has at most 1024 bytes");
    text[PATH_TEXT_MAX] = '\0';
    inf_path_free(path_from(text));
    for (size_t i = 1; i < PATH_TEXT_MAX; i += 2)
        text[i] = '.';
    text[2 * PATH_STEPS_MAX + 1] = '\0';
    assert_null(inf_path_parse(text, &err));
    assert_non_null(strstr(err.text, "column 64: a path has at most 32 steps"));
    text[2 * PATH_STEPS_MAX - 1] = '\0';
    inf_path_free(path_from(text));
    inf_path_free(NULL);
}

/* A long text is truncated between characters, and the reason follows. */
static void an_error_shows_a_long_text_in_part(void **state)
{
    struct inf_error err;
    (void)state;
    for (int before = 100; before < 104; before++) {
        char *text =
            xasprintf("%0*d/\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
                      "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
                      before, 0);
        char *reason = xasprintf("\x9f\x98\x80...': column %d: " QUOTE_IT, before + 1);
        assert_null(inf_path_parse(text, &err));
        assert_non_null(strstr(err.text, reason));
        free(text);
        free(reason);
    }
}

/* Parses a text in memory of its exact size; the canonical spelling of a valid path must parse to
 * the same path. */
static void try_path(struct str text)
{
    char *copy = xstrndup(text.at, text.len);
    struct inf_error err = {.code = 0};
    struct inf_path *path = inf_path_parse(copy, &err);
    if (path) {
        struct inf_path *again = path_from(inf_path_text(path));
        assert_string_equal(inf_path_text(again), inf_path_text(path));
        assert_true(strlen(inf_path_text(path)) <= strlen(copy));
        assert_int_equal(again->count, path->count);
        inf_path_free(again);
    } else {
        assert_int_equal(err.code, INF_EINVAL);
    }
    inf_path_free(path);
    free(copy);
}

static void no_prefix_or_mutation_confuses_the_parser(void **state)
{
    static const char bytes[] = ".[]*=\"\\'$?{}:/ -0a\nu\x7f\xff";
    struct rng rng = {.state = 1};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        size_t len = strlen(good[i].text);
        for (size_t cut = 0; cut <= len; cut++)
            try_path((struct str){good[i].text, cut});
        for (size_t round = 0; round < 500; round++) {
            char *copy = xstrdup(good[i].text);
            for (size_t k = 0; k <= round % 3; k++)
                copy[rng_below(&rng, len)] = bytes[rng_below(&rng, sizeof(bytes) - 1)];
            try_path((struct str){copy, len});
            free(copy);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_paths_and_spells_them_canonically),
        cmocka_unit_test(a_path_without_wildcards_selects_one_value),
        cmocka_unit_test(explains_an_invalid_path),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(an_error_shows_a_long_text_in_part),
        cmocka_unit_test(no_prefix_or_mutation_confuses_the_parser),
    };
    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
