/*
 * test_path_walk.c - the values that a path selects. Following several paths at once is in
 * test_path_set.c.
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
#include "base/json/json_text.h"
#include "base/rng.h"
#include "builders.h"
#include "core/object/path.h"
#include "recording.h"

/* Every value, each followed by a blank. The caller frees it. */
static char *named(const char *text, struct str json)
{
    struct inf_path *path = path_from(text);
    struct path_walk walk;
    struct str value;
    struct buf out = {0};
    path_walk_start(&walk, path, json);
    while (path_walk_next(&walk, &value)) {
        buf_put(&out, value.at, value.len);
        buf_putc(&out, ' ');
    }
    assert_false(path_walk_next(&walk, &value));
    buf_putc(&out, '\0');
    inf_path_free(path);
    return out.bytes;
}

#define LIST \
    "[{\"k\":\"a\",\"v\":1},{\"v\":2},3,{\"k\":\"b\",\"v\":[4]},{\"k\":\"a\",\"v\":null},[]]"

static const struct {
    const char *json;
    const char *path;
    const char *named;
} matches[] = {
    {"{\"a\":1}", "a", "1 "},
    {"{\"a\":1}", "b", ""},
    {"{\"a\":{\"b\":\"x\"}}", "a.b", "\"x\" "},
    {"{\"a\":{\"b\":\"x\"}}", "a", "{\"b\":\"x\"} "},
    {"{\"a\":{\"b\":\"x\"}}", "b", ""}, /* only at its position */
    {"{\"a\":\"b\"}", "a.b", ""},
    {"{\"a\":null}", "a", "null "},
    {"{\"a\":1e2}", "a", "1e2 "}, /* spelling is kept */
    {"{\"a\":\"\\u0041\"}", "a", "\"\\u0041\" "},
    /* keys are compared unescaped */
    {"{\"\\u0061\":1}", "a", "1 "},
    {"{\"a.b/c\":1,\"a\":2}", "[\"a.b/c\"]", "1 "},
    {"{\"a\\/b\":1}", "[\"a/b\"]", "1 "},
    {"{\"\\u00e4\":1}", "[\"\xc3\xa4\"]", "1 "},
    {"{\"\xc3\xa4\":1}", "[\"\\u00e4\"]", "1 "},
    {"{\"\\ud83d\\ude00\":1}", "[\"\xf0\x9f\x98\x80\"]", "1 "},
    {"{\"\\n\":1,\"n\":2}", "[\"\\n\"]", "1 "},
    {"{\"\\u0000\":1}", "[\"\\u0000\"]", "1 "},
    {"{\"\":1}", "[\"\"]", "1 "},
    {"{\"\\\\u0061\":1,\"a\":2}", "a", "2 "},
    {"{\"a\":1,\"a\":2}", "a", "1 "}, /* the first of two */
    {"{\"a\":1,\"a\":{\"b\":2}}", "a.b", ""},
    /* lists */
    {LIST, "[*].v", "1 2 [4] null "},
    {LIST, "[*].v[*]", "4 "},
    {LIST, "[k=a].v", "1 null "},
    {LIST, "[k=b].v", "[4] "},
    {LIST, "[k=c].v", ""},
    {LIST, "[v=2]", "{\"v\":2} "}, /* numbers are compared by their spelling */
    {LIST, "[v=null].k", "\"a\" "},
    {LIST, "[0].k", "\"a\" "},
    {LIST, "[2]", "3 "},
    {LIST, "[5]", "[] "},
    {LIST, "[6]", ""},
    {LIST, "k", ""}, /* a list has no members */
    {"[{\"k\":\"\\u0061\"}]", "[k=a]", "{\"k\":\"\\u0061\"} "},
    {"[{\"k\":\"1\"},{\"k\":1},{\"k\":1.0}]", "[k=1]", "{\"k\":\"1\"} {\"k\":1} "},
    {"[{\"k\":\"\"},{}]", "[k=\"\"]", "{\"k\":\"\"} "},
    {"[[1,2],[],[3,[4]]]", "[*][*]", "1 2 3 [4] "},
    {"[[1,2],[],[3]]", "[*][0]", "1 3 "},
    /* maps: every member, but no items */
    {"{\"a\":1,\"b\":[2]}", "[*]", "1 [2] "},
    {"{\"a\":1,\"b\":[2]}", "[*][*]", "2 "},
    {"{\"a\":1}", "[0]", ""},
    {"{\"a\":{\"k\":\"x\"}}", "[k=x]", ""},
    /* with blanks, and empty */
    {" { \"a\" : [ 1 , { \"b\" : 2 } ] } ", "a[*].b", "2 "},
    {"{}", "a.b", ""},
    {"[]", "[*]", ""},
    {"", "a", ""},
    /* invalid JSON ends early */
    {"{\"a\":{\"b\":1", "a.b", "1 "},
    {"[1,,2]", "[*]", "1 "},
    {"[1 2}", "[*]", "1 2 "},
    {"{\"a\":\"", "a", "\" "},
};

static void paths_select_values_unchanged(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(matches); i++) {
        char *got = named(matches[i].path, str_of(matches[i].json));
        if (strcmp(got, matches[i].named) != 0)
            fail_msg("%s in %s is '%s'", matches[i].path, matches[i].json, got);
        free(got);
    }
}

static struct inf_object *recorded(const char *name)
{
    struct recording r;
    struct str line, text;
    struct inf_object *object;
    char *copy;
    recording_open(&r, name);
    assert_true(recording_next(&r, &line));
    assert_true(json_member_get(line, STR("object"), &text));
    copy = xstrndup(text.at, text.len);
    object = object_from(copy);
    free(copy);
    recording_close(&r);
    return object;
}

static const struct {
    const char *path;
    const char *text; /* NULL: the path does not exist */
} in_pod[] = {
    {"kind", "Pod"},
    {"metadata.name", "web-frontend-66b99d9c48-m42qs"},
    {"metadata.generation", "1"},
    {"metadata.labels[\"app.kubernetes.io/name\"]", "web-frontend"},
    {"metadata.annotations[\"prometheus.io/port\"]", "9102"},
    {"metadata.ownerReferences[*].uid", "eff478c0-eb40-4854-8772-829e1986965f"},
    {"metadata.ownerReferences[controller=true].kind", "ReplicaSet"},
    {"metadata.ownerReferences[controller=false].kind", NULL},
    {"metadata.managedFields", NULL}, /* removed when the object was made */
    {"spec.containers[name=web].ports[containerPort=9102].name", "metrics"},
    {"status.phase", "Running"},
    {"status.conditions[type=Ready].status", "True"},
    {"status.conditions[type=ready].status", NULL},
    {"status.conditions[*].type", "PodReadyToStartContainers"},
};

static void paths_read_a_real_pod(void **state)
{
    struct inf_object *pod = recorded("pods-watchlist");
    char buf[128];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(in_pod); i++) {
        struct inf_path *path = path_from(in_pod[i].path);
        int len = inf_path_string(path, pod, buf, sizeof(buf));
        assert_string_equal(buf, in_pod[i].text ? in_pod[i].text : "");
        assert_int_equal(len, in_pod[i].text ? (int)strlen(in_pod[i].text) : -INF_ENOTFOUND);
        inf_path_free(path);
    }
    inf_object_unref(pod);
}

static void a_text_is_unescaped_and_cut_between_characters(void **state)
{
    struct inf_object *o =
        object_from("{\"metadata\":{\"name\":\"a\"},\"s\":\"1\\u003c\\u00e4\\n\","
                    "\"z\":\"a\\u0000b\",\"e\":\"\",\"o\":{\"x\":\"\\n\"}}");
    struct inf_path *s = path_from("s"), *z = path_from("z"), *e = path_from("e"),
                    *all = path_from("o");
    char buf[16] = "?";
    (void)state;
    assert_int_equal(inf_path_string(s, o, buf, 6), 5);
    assert_string_equal(buf, "1<\xc3\xa4\n");
    assert_int_equal(inf_path_string(s, o, buf, 5), 5);
    assert_string_equal(buf, "1<\xc3\xa4");
    assert_int_equal(inf_path_string(s, o, buf, 4), 5);
    assert_string_equal(buf, "1<");
    assert_int_equal(inf_path_string(s, o, buf, 1), 5);
    assert_string_equal(buf, "");
    assert_int_equal(inf_path_string(s, o, NULL, 0), 5);
    assert_int_equal(inf_path_string(z, o, buf, sizeof(buf)), 3);
    assert_memory_equal(buf, "a\0b", 4);
    assert_int_equal(inf_path_string(e, o, buf, sizeof(buf)), 0);
    assert_string_equal(buf, "");
    assert_int_equal(inf_path_string(all, o, buf, sizeof(buf)), 10);
    assert_string_equal(buf, "{\"x\":\"\\n\"}"); /* values other than strings are kept as written */
    inf_path_free(s);
    inf_path_free(z);
    inf_path_free(e);
    inf_path_free(all);
    inf_object_unref(o);
}

struct reported_objects {
    struct buf text;
    size_t most;
};

static bool report_value(void *ctx, const char *json, size_t len)
{
    struct reported_objects *reported = ctx;
    buf_put(&reported->text, json, len);
    buf_putc(&reported->text, ' ');
    return --reported->most > 0;
}

static void each_calls_back_until_the_callback_stops_it(void **state)
{
    struct inf_object *o = object_from("{\"metadata\":{\"name\":\"a\"},\"n\":[1,\"2\",3]}");
    struct inf_path *path = path_from("n[*]"), *none = path_from("m[*]");
    struct reported_objects reported = {.most = 9};
    (void)state;
    assert_int_equal(inf_path_each(path, o, report_value, &reported), 3);
    reported.most = 2;
    assert_int_equal(inf_path_each(path, o, report_value, &reported), 2);
    assert_int_equal(inf_path_each(none, o, report_value, &reported), 0);
    buf_putc(&reported.text, '\0');
    assert_string_equal(reported.text.bytes, "1 \"2\" 3 1 \"2\" ");
    buf_free(&reported.text);
    inf_path_free(path);
    inf_path_free(none);
    inf_object_unref(o);
}

struct paths_report {
    struct buf texts[4];
    size_t most;
};

static bool report_path_value(void *ctx, size_t path, const char *json, size_t len)
{
    struct paths_report *report = ctx;
    buf_put(&report->texts[path], json, len);
    buf_putc(&report->texts[path], ' ');
    return --report->most > 0;
}

static void several_paths_are_read_in_one_walk(void **state)
{
    struct inf_object *o = object_from(
        "{\"metadata\":{\"name\":\"a\"},\"s\":{\"l\":[{\"t\":\"x\",\"v\":1},{\"t\":\"y\",\"v\":[2]}],"
        "\"p\":\"q\",\"p\":\"r\"}}");
    struct inf_path *paths[4] = {path_from("s.p"), path_from("s.l[*].v"), path_from("s.l[t=y].v"),
                                 path_from("s[*]")};
    static const char *const expected[4] = {
        "\"q\" ", /* of a key that occurs twice, the first one */
        "1 [2] ", "[2] ", "[{\"t\":\"x\",\"v\":1},{\"t\":\"y\",\"v\":[2]}] \"q\" \"r\" "};
    struct paths_report report = {.most = SIZE_MAX};
    (void)state;
    inf_paths_each((const struct inf_path *const *)paths, 4, o, report_path_value, &report);
    for (size_t i = 0; i < 4; i++) {
        buf_putc(&report.texts[i], '\0');
        assert_string_equal(report.texts[i].bytes, expected[i]);
        buf_clear(&report.texts[i]);
    }
    report.most = 2; /* the list itself for the last path, and the first value in it */
    inf_paths_each((const struct inf_path *const *)paths, 4, o, report_path_value, &report);
    assert_int_equal(report.most, 0);
    assert_int_equal(report.texts[1].len, strlen("1 "));
    inf_paths_each(NULL, 0, o, report_path_value, &report);
    for (size_t i = 0; i < 4; i++) {
        buf_free(&report.texts[i]);
        inf_path_free(paths[i]);
    }
    inf_object_unref(o);
}

/* Values are entered without a search for their end: what follows them is found all the same. */
static void several_paths_continue_after_a_value_that_was_entered(void **state)
{
    struct inf_object *o = object_from(
        "{\"metadata\":{\"name\":\"a\"},\"s\":{\"x\":{\"y\":1,\"z\":[{}]},\"l\":[[1],[2,{}]],"
        "\"n\\u0061\":{\"d\":3}},\"s\":{\"na\":{\"d\":9}},\"t\":7,\"u\":{\"v\":\"}\",\"w\":{\"x\":4}}}");
    struct inf_path *paths[4] = {path_from("s.x.y"), path_from("s.na.d"), path_from("t.v"),
                                 path_from("u.w.x")};
    static const char *const expected[4] = {"1 ", "3 ", "", "4 "};
    struct paths_report report = {.most = SIZE_MAX};
    (void)state;
    inf_paths_each((const struct inf_path *const *)paths, 4, o, report_path_value, &report);
    for (size_t i = 0; i < 4; i++) {
        buf_putc(&report.texts[i], '\0');
        assert_string_equal(report.texts[i].bytes, expected[i]);
        buf_free(&report.texts[i]);
        inf_path_free(paths[i]);
    }
    inf_object_unref(o);
}

static void several_paths_select_what_each_selects_alone(void **state)
{
    struct inf_object *pod = recorded("pods-watchlist");
    struct inf_path *all[ARRAY_LEN(in_pod)];
    struct rng rng = {.state = 3};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(in_pod); i++)
        all[i] = path_from(in_pod[i].path);
    for (size_t n = 0; n < 2000; n++) {
        const struct inf_path *paths[4];
        struct paths_report together = {.most = SIZE_MAX};
        for (size_t i = 0; i < 4; i++)
            paths[i] = all[rng_below(&rng, ARRAY_LEN(in_pod))];
        inf_paths_each(paths, 4, pod, report_path_value, &together);
        for (size_t i = 0; i < 4; i++) {
            struct reported_objects alone = {.most = SIZE_MAX};
            inf_path_each(paths[i], pod, report_value, &alone);
            buf_putc(&alone.text, '\0');
            buf_putc(&together.texts[i], '\0');
            assert_string_equal(together.texts[i].bytes, alone.text.bytes);
            buf_free(&alone.text);
            buf_free(&together.texts[i]);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(in_pod); i++)
        inf_path_free(all[i]);
    inf_object_unref(pod);
}

/* Millions of escapes and levels: a walk that is not linear would time out. */
static void cost_is_linear(void **state)
{
    const size_t many = (size_t)2 << 20;
    struct buf text = {0};
    char *got;
    (void)state;
    buf_puts(&text, "{\"script\":\"");
    for (size_t i = 0; i < many; i++)
        buf_puts(&text, "\\n");
    buf_puts(&text, "\",\"deep\":");
    memset(buf_room(&text, 2 * many), '[', many);
    memset(text.bytes + text.len + many, ']', many);
    text.len += 2 * many;
    buf_puts(&text, ",\"a\":[{\"b\":1}]}");
    got = named("a[*].b", (struct str){text.bytes, text.len});
    assert_string_equal(got, "1 ");
    free(got);
    buf_free(&text);
}

/* Looks for a path in a text in memory of its exact size. */
static void look(const struct inf_path *path, struct str text)
{
    char *block = xmalloc(text.len + 1);
    struct path_walk walk;
    struct str value;
    memcpy(block + 1, text.at, text.len);
    path_walk_start(&walk, path, (struct str){block + 1, text.len});
    while (path_walk_next(&walk, &value))
        assert_true(value.at > block && value.at + value.len <= block + 1 + text.len);
    free(block);
}

static void no_prefix_or_mutation_causes_a_read_beyond_the_text(void **state)
{
    static const char *const samples[] = {
        "{\"a\" : [ {\"k\":\"\\u0061\",\"v\":[1,{\"w\":\"]}\\\"\"}]}, {\"k\":1}, \"\\", LIST};
    static const char bytes[] = "{}[]\",:\\ 1u";
    struct inf_path *paths[] = {path_from("a[k=a].v[*].w"), path_from("[*][*][*]"),
                                path_from("[k=a].v")};
    struct rng rng = {.state = 1};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(samples) * ARRAY_LEN(paths); i++) {
        const struct inf_path *path = paths[i % ARRAY_LEN(paths)];
        const char *sample = samples[i / ARRAY_LEN(paths)];
        size_t len = strlen(sample);
        for (size_t cut = 0; cut <= len; cut++)
            look(path, (struct str){sample, cut});
        for (size_t round = 0; round < 2000; round++) {
            char *copy = xstrdup(sample);
            for (size_t k = 0; k <= round % 3; k++)
                copy[rng_below(&rng, len)] = bytes[rng_below(&rng, sizeof(bytes) - 1)];
            look(path, (struct str){copy, len});
            free(copy);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        inf_path_free(paths[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_select_values_unchanged),
        cmocka_unit_test(paths_read_a_real_pod),
        cmocka_unit_test(a_text_is_unescaped_and_cut_between_characters),
        cmocka_unit_test(each_calls_back_until_the_callback_stops_it),
        cmocka_unit_test(several_paths_are_read_in_one_walk),
        cmocka_unit_test(several_paths_continue_after_a_value_that_was_entered),
        cmocka_unit_test(several_paths_select_what_each_selects_alone),
        cmocka_unit_test(cost_is_linear),
        cmocka_unit_test(no_prefix_or_mutation_causes_a_read_beyond_the_text),
    };
    return cmocka_run_group_tests_name("path_walk", tests, NULL, NULL);
}
