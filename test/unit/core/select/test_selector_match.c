/*
 * test_selector_match.c - what selectors select.
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
#include "builders.h"
#include "core/select/selector.h"
#include "recording.h"

static const struct {
    const char *selector;
    const char *labels;
    bool matches;
} labels[] = {
    {"", "{}", true},
    {"", "{\"x\":\"y\"}", true},
    {"x=y", "{\"x\":\"y\"}", true},
    {"x=y,z=w", "{\"x\":\"y\",\"z\":\"w\"}", true},
    {"x=y,z=w", "{\"x\":\"y\",\"z\":\"v\"}", false},
    {"x=y,z=w", "{\"x\":\"y\"}", false},
    {"x==y", "{\"x\":\"y\"}", true},
    {"x=y", "{\"x\":\"Y\"}", false},
    {"x=y", "{\"x\":\"yy\"}", false},
    {"x=y", "{}", false},
    {"x=", "{\"x\":\"\"}", true},
    {"x=", "{}", false}, /* a missing label is not an empty one */
    {"x!=y", "{\"x\":\"z\"}", true},
    {"x!=y", "{\"x\":\"y\"}", false},
    {"x!=y", "{}", true}, /* a missing label has another value */
    {"x!=", "{\"x\":\"\"}", false},
    {"x in (a,b)", "{\"x\":\"b\"}", true},
    {"x in (a,b)", "{\"x\":\"c\"}", false},
    {"x in (a,b)", "{}", false},
    {"x in ()", "{\"x\":\"\"}", true},
    {"x in (a,)", "{\"x\":\"\"}", true},
    {"x notin (a,b)", "{\"x\":\"b\"}", false},
    {"x notin (a,b)", "{\"x\":\"c\"}", true},
    {"x notin (a,b)", "{}", true},
    {"x", "{\"x\":\"\"}", true},
    {"x", "{\"y\":\"\"}", false},
    {"!x", "{\"y\":\"\"}", true},
    {"!x", "{\"x\":\"\"}", false},
    {"x,!x", "{\"x\":\"\"}", false},
    {"x>1", "{\"x\":\"2\"}", true},
    {"x>1", "{\"x\":\"1\"}", false},
    {"x>1", "{\"x\":\"0\"}", false},
    {"x>1", "{}", false},
    {"x>1", "{\"x\":\"a\"}", false},
    {"x>1", "{\"x\":\"\"}", false},
    {"x>1", "{\"x\":\"10\"}", true}, /* as numbers, not as text */
    {"x>9", "{\"x\":\"10\"}", true},
    {"x<1", "{\"x\":\"-1\"}", true},
    {"x<1", "{\"x\":\"+0\"}", true},
    {"x<1", "{\"x\":\"-\"}", false},
    {"x<1", "{\"x\":\"-9223372036854775808\"}", true},
    {"x<1", "{\"x\":\"-9223372036854775809\"}", false},
    {"x<9223372036854775807", "{\"x\":\"9223372036854775806\"}", true},
    {"x>0", "{\"x\":\"9223372036854775807\"}", true},
    {"x>0", "{\"x\":\"9223372036854775808\"}", false},
    {"x>0", "{\"x\":\"18446744073709551617\"}", false},
    {"x>0", "{\"x\":\"\\u0031\"}", true},
    {"x>0", "{\"x\":\"1.5\"}", false},
    {"x>0,x<3", "{\"x\":\"2\"}", true},
    {"x>0,x<3", "{\"x\":\"3\"}", false},
    {"a.b/c=d", "{\"a.b\\/c\":\"\\u0064\"}", true}, /* escapes are decoded */
    {"in in (notin)", "{\"in\":\"notin\"}", true},
    {"!x", "null", true},
    {"x", "null", false},
};

static void labels_match_as_in_kubernetes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        struct inf_selector *s = selector_from(inf_selector_parse_labels, labels[i].selector);
        char *object = xasprintf("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":%s}}",
                                 labels[i].labels);
        if (selector_matches_labels(s, str_of(labels[i].labels)) != labels[i].matches)
            fail_msg("%s on %s", labels[i].selector, labels[i].labels);
        assert_int_equal(selector_matches_text(s, str_of(object)), labels[i].matches);
        inf_selector_free(s);
        free(object);
    }
}

#define OBJECT                                                                              \
    "{\"metadata\":{\"name\":\"a\",\"x.y\":\"1\"},\"spec\":{\"n\":3,\"f\":1.0,\"on\":true," \
    "\"nil\":null,\"empty\":\"\",\"text\":\"a,b=c\\\\\",\"esc\":\"\\u003c\",\"map\":{}},"   \
    "\"list\":[{\"k\":\"p\",\"v\":\"1\"},{\"k\":\"q\",\"v\":\"2\"}]}"

static const struct {
    const char *selector;
    bool matches;
} fields[] = {
    {"", true},
    {"metadata.name=a", true},
    {"metadata.name==a", true},
    {"metadata.name!=a", false},
    {"metadata.name=b", false},
    {"metadata.name!=b", true},
    {"metadata.name=a,spec.n=3", true},
    {"metadata.name=a,spec.n=4", false},
    {"metadata.name=", false},
    /* a missing field is empty */
    {"metadata.namespace=", true},
    {"metadata.namespace!=", false},
    {"metadata.namespace=a", false},
    {"metadata.namespace!=a", true},
    {"metadata.name.deeper=", true},
    {"spec.empty=", true},
    {"spec.nil=", true},
    {"spec.nil!=", false},
    {"spec.nil=null", false},
    /* numbers and booleans are compared by their spelling */
    {"spec.n=3", true},
    {"spec.n=3.0", false},
    {"spec.f=1.0", true},
    {"spec.f=1", false},
    {"spec.on=true", true},
    {"spec.on!=true", false},
    {"spec.map={}", true},
    {"spec.text=a\\,b\\=c\\\\", true},
    {"spec.esc=<", true},
    {"metadata[\"x.y\"]=1", true},
    /* one of several, none of several */
    {"list[*].v=2", true},
    {"list[*].v=3", false},
    {"list[*].v!=2", false},
    {"list[*].v!=3", true},
    {"list[*].v=", false},
    {"list[*].w=", true},
    {"list[k=q].v=2", true},
    {"list[k=p].v=2", false},
    {"list[7].v=", true},
};

static void fields_match_on_any_path(void **state)
{
    struct inf_object *object = object_from(OBJECT);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct inf_selector *s = selector_from(inf_selector_parse_fields, fields[i].selector);
        if (inf_selector_matches(s, object) != fields[i].matches)
            fail_msg("%s", fields[i].selector);
        inf_selector_free(s);
    }
    inf_object_unref(object);
}

static void labels_match_without_an_object(void **state)
{
    const char text[] = "{\"app\":\"web\"}";
    struct inf_selector *web = selector_from(inf_selector_parse_labels, "app=web");
    struct inf_selector *absent = selector_from(inf_selector_parse_labels, "!app");
    struct inf_selector *field = selector_from(inf_selector_parse_fields, "a!=b");
    (void)state;
    assert_true(inf_selector_matches_labels(web, text, strlen(text)));
    assert_false(inf_selector_matches_labels(web, "", 0));
    assert_false(inf_selector_matches_labels(absent, text, strlen(text)));
    assert_true(inf_selector_matches_labels(absent, "", 0));
    assert_true(inf_selector_matches_labels(NULL, text, strlen(text)));
    assert_false(inf_selector_matches_labels(field, text, strlen(text)));
    inf_selector_free(web);
    inf_selector_free(absent);
    inf_selector_free(field);
}

static void has_selectors_for_everything_and_nothing(void **state)
{
    struct inf_object *object = object_from(OBJECT);
    struct inf_selector *all = selector_from(inf_selector_parse_labels, " ");
    struct inf_selector *some = selector_from(inf_selector_parse_labels, "!x");
    struct inf_selector *none = inf_selector_nothing();
    (void)state;
    assert_true(inf_selector_matches(NULL, object));
    assert_true(inf_selector_matches(all, object));
    assert_true(inf_selector_matches(some, object)); /* an object without labels */
    assert_false(inf_selector_matches(none, object));
    assert_false(selector_matches_labels(none, STR("{}")));
    assert_true(selector_is_everything(all) && selector_is_everything(NULL));
    assert_false(selector_is_everything(none) || selector_is_everything(some));
    assert_true(selector_is_nothing(none));
    assert_false(selector_is_nothing(all) || selector_is_nothing(NULL));
    assert_string_equal(inf_selector_text(none), "(nothing)");
    assert_null(inf_selector_parse_labels(inf_selector_text(none), NULL));
    assert_null(inf_selector_parse_fields(inf_selector_text(none), NULL));
    inf_selector_free(all);
    inf_selector_free(some);
    inf_selector_free(none);
    inf_object_unref(object);
}

/* The number of recorded objects that a selector selects. */
static size_t taken(const char *name, const struct inf_selector *selector)
{
    struct recording r;
    struct str line, text;
    size_t count = 0;
    recording_open(&r, name);
    while (recording_next(&r, &line))
        if (json_member_get(line, STR("object"), &text))
            count += selector_matches_text(selector, text);
    recording_close(&r);
    return count;
}

static const struct {
    const char *recording;
    const char *labels; /* or */
    const char *fields;
    size_t taken;
} recorded[] = {
    /* a pod, and the bookmark that ends the list: an object without labels */
    {"pods-watchlist", "", NULL, 2},
    {"pods-watchlist", "app.kubernetes.io/name=web-frontend, tier in (frontend, backend)", NULL, 1},
    {"pods-watchlist", "app.kubernetes.io/name notin (web-frontend)", NULL, 1},
    {"pods-watchlist", "tier,!canary", NULL, 1},
    {"pods-watchlist", NULL, "spec.nodeName=node-1,status.phase!=Pending", 1},
    {"pods-watchlist", NULL, "metadata.annotations[\"prometheus.io/port\"]=9102", 1},
    {"pods-watchlist", NULL, "spec.nodeName=", 1},
    /* a pod in seven events, and a bookmark */
    {"pods-watch-lifecycle", "app=curlpod", NULL, 7},
    {"pods-watch-lifecycle", NULL, "status.phase=Pending", 3},
    {"pods-watch-lifecycle", NULL, "status.phase=Pending,spec.nodeName!=", 2},
    {"pods-watch-lifecycle", NULL, "status.conditions[type=Ready].status=False", 1},
    {"pods-watch-lifecycle", NULL, "status.conditions[type=Ready].status=True", 4},
    {"pods-watch-lifecycle", NULL, "status.conditions[type=Ready].status=", 3},
    {"pods-watch-lifecycle", NULL, "status.conditions[*].type=Initialized", 5},
    /* three custom resources, and a bookmark */
    {"widgets-watchlist", "color=red", NULL, 3},
    {"widgets-watchlist", NULL, "spec.color=red,spec.size!=2", 2},
};

static void selects_recorded_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
        struct inf_selector *s = recorded[i].labels
                                     ? selector_from(inf_selector_parse_labels, recorded[i].labels)
                                     : selector_from(inf_selector_parse_fields, recorded[i].fields);
        size_t count = taken(recorded[i].recording, s);
        if (count != recorded[i].taken)
            fail_msg("%s takes %zu", inf_selector_text(s), count);
        inf_selector_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_match_as_in_kubernetes),
        cmocka_unit_test(fields_match_on_any_path),
        cmocka_unit_test(labels_match_without_an_object),
        cmocka_unit_test(has_selectors_for_everything_and_nothing),
        cmocka_unit_test(selects_recorded_objects),
    };
    return cmocka_run_group_tests_name("selector_match", tests, NULL, NULL);
}
