/*
 * test_filter.c - which changes a filter accepts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "changes.h"
#include "daemon/journal/filter.h"
#include "daemon/rule/condition.h"

static bool accepts(const struct filter_settings *settings, const struct sample *sample)
{
    struct inf_error err;
    struct filter *filter = filter_make(settings, &err);
    bool taken;
    if (!filter)
        fail_msg("%s", err.text);
    taken = filter_accepts(filter, &sample->event);
    filter_free(filter);
    return taken;
}

static void selects_watches_by_name(void **state)
{
    const char *names[] = {"pods", "nodes"};
    struct filter *all = filter_make(&(struct filter_settings){.n_watches = 0}, NULL);
    struct filter *some =
        filter_make(&(struct filter_settings){.watches = names, .n_watches = 2}, NULL);
    (void)state;
    assert_true(filter_accepts_watch(all, "x"));
    assert_true(filter_accepts_watch(some, "nodes"));
    assert_false(filter_accepts_watch(some, "node"));
    filter_free(all);
    filter_free(some);
    filter_free(NULL);
}

static void selects_namespaces_by_pattern(void **state)
{
    static const struct {
        const char *pattern;
        bool taken;
    } rows[] = {{"shop", true},   {"sh*", true},  {"s?op", true},  {"*", true},
                {"shops", false}, {"sho", false}, {"[!s]*", false}};
    struct sample sample;
    (void)state;
    sample_pod(&sample, NULL, "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *names[] = {"other", rows[i].pattern};
        struct filter_settings s = {.namespaces = names, .n_namespaces = 2};
        assert_int_equal(accepts(&s, &sample), rows[i].taken);
    }
    sample_free(&sample);
}

/* The name of the sample is web-0. */
static void selects_names_by_regular_expression(void **state)
{
    static const struct {
        const char *regex;
        bool taken;
    } rows[] = {{"web", true}, {"^web-[0-9]+$", true}, {"^eb", false},
                {"b$", false}, {"(api|web)", true},    {"web{2}", false}};
    const char *broken[] = {"web", "web-["};
    struct filter_settings invalid = {.names = broken, .n_names = 2};
    struct inf_error err;
    struct sample sample;
    (void)state;
    sample_pod(&sample, NULL, "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *names[] = {"^other$", rows[i].regex};
        struct filter_settings s = {.names = names, .n_names = 2};
        assert_int_equal(accepts(&s, &sample), rows[i].taken);
    }
    sample_free(&sample);
    assert_null(filter_make(&invalid, &err));
    assert_memory_equal(err.text, "names: 'web-[' is not a regular expression: ", 44);
}

static void selects_verbs_and_initial_objects(void **state)
{
    struct filter_settings s = {.verbs = 1u << INF_ADDED | 1u << INF_DELETED};
    struct sample added, changed;
    (void)state;
    sample_pod(&added, NULL, "");
    sample_pod(&changed, "'a':1", "'a':2");
    assert_true(accepts(&s, &added));
    assert_false(accepts(&s, &changed));
    s.verbs = 0;
    assert_true(accepts(&s, &changed));
    added.event.origin = INF_INITIAL;
    assert_false(accepts(&s, &added));
    s.initial = true;
    assert_true(accepts(&s, &added));
    sample_free(&added);
    sample_free(&changed);
}

#define ITEM(name, n) "{'name':'" name "','restartCount':" n "}"

static void selects_changes_of_the_given_paths(void **state)
{
    static const struct {
        const char *path, *before, *after;
        bool taken;
    } rows[] = {
        {"status.phase", "'status':{'phase':'A'}", "'status':{'phase':'B'}", true},
        {"status.phase", "'status':{'phase':'A'}", "'status':{'phase':'A','x':1}", false},
        {"status.phase", "'status':{}", "'status':{'phase':'A'}", true},
        {"status.phase", "'status':{'phase':'A'}", "'spec':{}", true},        /* a parent */
        {"status", "'status':{'phase':'A'}", "'status':{'phase':'B'}", true}, /* a child */
        {"l[*].restartCount", "'l':[" ITEM("a", "1") "," ITEM("b", "1") "]",
         "'l':[" ITEM("a", "1") "," ITEM("b", "2") "]", true},
        {"l[name=a].restartCount", "'l':[" ITEM("a", "1") "," ITEM("b", "1") "]",
         "'l':[" ITEM("a", "1") "," ITEM("b", "2") "]", false},
        {"l[1].restartCount", "'l':[" ITEM("a", "1") "," ITEM("b", "1") "]",
         "'l':[" ITEM("a", "1") "," ITEM("b", "2") "]", true},
        {"l[*].restartCount", "'l':[" ITEM("a", "1") "]", "'l':[" ITEM("a", "1") ",{'name':'c'}]",
         false}, /* an item was added, but none that is selected */
        {"l[*].restartCount", "'l':[" ITEM("a", "1") "," ITEM("b", "1") "]",
         "'l':[" ITEM("a", "1") "]", true},
        {"metadata.resourceVersion", "'a':1", "'a':1", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *paths[] = {"spec.never", rows[i].path};
        struct filter_settings s = {.changed = paths, .n_changed = 2};
        struct sample sample;
        sample_pod(&sample, rows[i].before, rows[i].after);
        if (accepts(&s, &sample) != rows[i].taken)
            fail_msg("%s: %s -> %s", rows[i].path, rows[i].before, rows[i].after);
        sample_free(&sample);
    }
}

static void a_condition_must_begin_with_a_change_or_hold(void **state)
{
    static const struct {
        const char *before, *after;
        bool taken;
    } rows[] = {
        {"'status':{'phase':'Running'}", "'status':{'phase':'Failed'}", true},
        {"'status':{'phase':'Failed'}", "'status':{'phase':'Failed','n':1}", false},
        {"'status':{'phase':'Failed'}", "'status':{'phase':'Running'}", false},
        {NULL, "'status':{'phase':'Failed'}", true},
        {NULL, "'status':{'phase':'Running'}", false},
        {"'status':{'phase':'Failed'}", NULL, true},
        {"'status':{'phase':'Running'}", NULL, false},
    };
    struct filter_settings s = {.when = "status.phase=Failed"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sample sample;
        sample_pod(&sample, rows[i].before, rows[i].after);
        assert_int_equal(accepts(&s, &sample), rows[i].taken);
        sample_free(&sample);
    }
}

static void changed_paths_apply_to_modified_only(void **state)
{
    const char *paths[] = {"status.phase"};
    struct filter_settings s = {.changed = paths, .n_changed = 1};
    struct sample sample;
    (void)state;
    sample_pod(&sample, NULL, "'spec':{}");
    assert_true(accepts(&s, &sample));
    sample_free(&sample);
}

#define LABELLED(app) \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'x','labels':{'app':'" app "'}}}"

static void selects_by_labels_before_or_after_the_change(void **state)
{
    static const struct {
        const char *before, *after;
        bool taken;
    } rows[] = {
        {NULL, LABELLED("web"), true},           {NULL, LABELLED("db"), false},
        {LABELLED("web"), NULL, true},           {LABELLED("db"), NULL, false},
        {LABELLED("web"), LABELLED("db"), true}, /* the change by which it stops matching is accepted */
        {LABELLED("db"), LABELLED("db"), false},
    };
    struct filter_settings s = {.labels = "app in (web, api)"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sample sample;
        sample_make(&sample, rows[i].before, rows[i].after);
        assert_int_equal(accepts(&s, &sample), rows[i].taken);
        sample_free(&sample);
    }
}

static void refuses_paths_and_selectors_that_can_t_be_parsed(void **state)
{
    const char *paths[] = {"status.phase", "$.status"};
    struct inf_error err;
    (void)state;
    assert_null(filter_make(&(struct filter_settings){.changed = paths, .n_changed = 2}, &err));
    assert_memory_equal(err.text, "changed: ", 9);
    assert_null(filter_make(&(struct filter_settings){.labels = "app in web"}, &err));
    assert_memory_equal(err.text, "label_selector: ", 16);
    assert_null(filter_make(&(struct filter_settings){.when = "status.phase"}, &err));
    assert_memory_equal(err.text, "when: ", 6);
    assert_null(filter_make(&(struct filter_settings){.labels = "app in web"}, NULL));
    assert_null(filter_make(&(struct filter_settings){.changed = paths, .n_changed = 2}, NULL));
}

static void covers_what_a_reader_needs(void **state)
{
    const char *pods[] = {"pods"}, *both[] = {"pods", "nodes"}, *shops[] = {"shop-*"};
    const char *any[] = {".*"}, *path[] = {"spec"};
    const struct {
        struct filter_settings settings;
        struct filter_need need;
        bool covers;
    } rows[] = {
        {{.n_watches = 0}, {.n_watches = 0}, true},
        {{.verbs = 7}, {.verbs = 0}, true},
        {{.verbs = 1u << INF_ADDED}, {.verbs = 0}, false},
        {{.verbs = 1u << INF_ADDED}, {.verbs = 1u << INF_ADDED}, true},
        {{.verbs = 1u << INF_ADDED}, {.verbs = 1u << INF_DELETED}, false},
        {{.watches = pods, .n_watches = 1}, {.n_watches = 0}, false},
        {{.watches = pods, .n_watches = 1}, {.watches = pods, .n_watches = 1}, true},
        {{.watches = pods, .n_watches = 1}, {.watches = both, .n_watches = 2}, false},
        {{.watches = both, .n_watches = 2}, {.watches = pods, .n_watches = 1}, true},
        {{.namespaces = shops, .n_namespaces = 1}, {.ns = NULL}, false},
        {{.namespaces = shops, .n_namespaces = 1}, {.ns = "shop-1"}, true},
        {{.namespaces = shops, .n_namespaces = 1}, {.ns = "default"}, false},
        {{.level = INF_LOG_WARN}, {.level = INF_LOG_INFO}, false},
        {{.level = INF_LOG_WARN}, {.level = INF_LOG_ERROR}, true},
        {{.names = any, .n_names = 1}, {.n_watches = 0}, false},
        {{.changed = path, .n_changed = 1}, {.n_watches = 0}, false},
        {{.labels = "app"}, {.n_watches = 0}, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct filter *filter = filter_make(&rows[i].settings, NULL);
        if (filter_covers(filter, &rows[i].need) != rows[i].covers)
            fail_msg("row %zu", i);
        filter_free(filter);
    }
}

static void when_may_have_a_level(void **state)
{
    static const struct {
        const char *text;
        enum inf_log_level level;
        bool condition, valid;
    } rows[] = {
        {"level>=warn", INF_LOG_WARN, false, true},
        {" level >= error ", INF_LOG_ERROR, false, true},
        {"level>=warn, status.phase=Failed", INF_LOG_WARN, true, true},
        {"status.phase=Failed", INF_LOG_INFO, true, true},
        {"level=5", INF_LOG_INFO, true, true}, /* a field of the object */
        {"level>=5", INF_LOG_INFO, true, true},
        {"level>=fatal", INF_LOG_INFO, false, false},
        {"level>=warn,", INF_LOG_INFO, false, false},
        {"level>=warn status.phase=Failed", INF_LOG_INFO, false, false},
        {"status.phase=Failed, level>=warn", INF_LOG_INFO, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct filter_settings settings = {.when = rows[i].text};
        struct inf_error err;
        struct filter *filter = filter_make(&settings, &err);
        struct condition *condition = NULL;
        enum inf_log_level level;
        assert_int_equal(filter != NULL, rows[i].valid);
        if (!filter)
            continue;
        assert_false(filter_accepts_level(filter, rows[i].level - 1));
        assert_true(filter_accepts_level(filter, rows[i].level));
        assert_int_equal(filter_when_parse(rows[i].text, &level, &condition, &err), 0);
        assert_int_equal(condition != NULL, rows[i].condition);
        condition_free(condition);
        filter_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when_may_have_a_level),
        cmocka_unit_test(selects_watches_by_name),
        cmocka_unit_test(selects_namespaces_by_pattern),
        cmocka_unit_test(selects_names_by_regular_expression),
        cmocka_unit_test(selects_verbs_and_initial_objects),
        cmocka_unit_test(selects_changes_of_the_given_paths),
        cmocka_unit_test(a_condition_must_begin_with_a_change_or_hold),
        cmocka_unit_test(changed_paths_apply_to_modified_only),
        cmocka_unit_test(selects_by_labels_before_or_after_the_change),
        cmocka_unit_test(refuses_paths_and_selectors_that_can_t_be_parsed),
        cmocka_unit_test(covers_what_a_reader_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
