/*
 * test_noise.c - which updates each preset and a field path cover, as a table.
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
#include "changes.h"
#include "daemon/journal/noise.h"

#define T1     "'2026-01-01T00:00:00Z'"
#define T2     "'2026-01-01T00:00:10Z'"
#define LEADER "'control-plane.alpha.kubernetes.io/leader':"
#define RECORD(who, time) \
    LEADER "'{\\'holderIdentity\\':\\'" who "\\',\\'renewTime\\':\\'" time "\\',\\'n\\':1}'"
#define NOTES(a)         "'metadata':{'name':'x','annotations':{'z':'1'," a "}}"
#define STATUS(s)        "'metadata':{'name':'x'},'status':{" s "}"
#define SPEC(s)          "'metadata':{'name':'x'},'spec':{" s "}"
#define CONDITION(s)     STATUS("'conditions':[{'type':'Ready'," s "}]")
#define GENERATION(n, s) "'metadata':{'name':'x','generation':" n "},'status':{" s "}"

static const struct {
    const char *entries; /* separated by blanks */
    const char *kind, *before, *after;
    bool covered;
} rows[] = {
    {"status-timestamps", "Pod", CONDITION("'lastProbeTime':" T1), CONDITION("'lastProbeTime':" T2),
     true},
    {"status-timestamps", "Pod", CONDITION("'lastProbeTime':null"),
     CONDITION("'lastProbeTime':" T2), true},
    {"status-timestamps", "Pod", CONDITION("'a':1"), CONDITION("'a':1,'lastTransitionTime':" T2),
     true},
    {"status-timestamps", "Pod", CONDITION("'a':1,'at':" T1), CONDITION("'a':1"), true},
    {"status-timestamps", "Pod", CONDITION("'status':'True','lastTransitionTime':" T1),
     CONDITION("'status':'False','lastTransitionTime':" T2), false},
    {"status-timestamps", "Pod", SPEC("'at':" T1), SPEC("'at':" T2), false},
    {"status-timestamps", "Pod", STATUS("'at':" T1), STATUS("'at':'later'"), false},
    {"status-timestamps", "Pod", STATUS("'x':1"), STATUS("'x':1"), false}, /* no change */

    {"observed-generation", "Pod", STATUS("'observedGeneration':1"),
     STATUS("'observedGeneration':2"), true},
    {"observed-generation", "Pod", CONDITION("'observedGeneration':1"),
     CONDITION("'observedGeneration':2"), true},
    {"observed-generation", "Pod", CONDITION("'a':1"), CONDITION("'a':1,'observedGeneration':2"),
     true},
    {"observed-generation", "Pod", GENERATION("1", "'observedGeneration':1"),
     GENERATION("2", "'observedGeneration':2"), true},
    {"observed-generation", "Pod", STATUS("'observedGeneration':1"),
     STATUS("'observedGeneration':'x'"), false},
    {"observed-generation", "Pod", SPEC("'observedGeneration':1"), SPEC("'observedGeneration':2"),
     false},
    {"observed-generation", "Pod", STATUS("'observedGeneration':1,'phase':'a'"),
     STATUS("'observedGeneration':2,'phase':'b'"), false},

    {"resource-quota", "ResourceQuota", STATUS("'used':{'pods':'1'}"),
     STATUS("'used':{'pods':'2'}"), true},
    {"resource-quota", "ResourceQuota", STATUS("'hard':{'pods':'1'}"),
     STATUS("'hard':{'pods':'2'}"), false},
    {"resource-quota", "ResourceQuota", STATUS("'used2':1"), STATUS("'used2':2"), false},
    {"resource-quota", "Pod", STATUS("'used':{'pods':'1'}"), STATUS("'used':{'pods':'2'}"), false},

    {"leader-election", "Lease", SPEC("'renewTime':" T1), SPEC("'renewTime':" T2), true},
    {"leader-election", "Lease", SPEC("'renewTime':" T1 ",'holderIdentity':'a'"),
     SPEC("'renewTime':" T2 ",'holderIdentity':'b'"), false},
    {"leader-election", "Pod", SPEC("'renewTime':" T1), SPEC("'renewTime':" T2), false},
    {"leader-election", "ConfigMap", NOTES(RECORD("a", "1")), NOTES(RECORD("a", "2")), true},
    {"leader-election", "Endpoints", NOTES(RECORD("a", "1")), NOTES(RECORD("b", "2")), false},
    {"leader-election", "Node", STATUS("'at':" T1), STATUS("'at':" T2), false},

    {"managed-metadata", "Deployment", NOTES("'deployment.kubernetes.io/revision':'1'"),
     NOTES("'deployment.kubernetes.io/revision':'2'"), true},
    {"managed-metadata", "Pod", NOTES("'a':'1'"),
     NOTES("'a':'1','kubectl.kubernetes.io/last-applied-configuration':'{}'"), true},
    {"managed-metadata", "Pod", NOTES("'kubectl.kubernetes.io/restartedAt':'1'"),
     NOTES("'kubectl.kubernetes.io/restartedAt':'2'"), false},
    {"managed-metadata", "Pod", NOTES("'deployment.kubernetes.io/revision2':'1'"),
     NOTES("'deployment.kubernetes.io/revision2':'2'"), false},
    {"managed-metadata", "Pod", SPEC("'a':1"), SPEC("'a':2"), false},

    /* field paths */
    {"status.lastScaleTime", "Pod", STATUS("'lastScaleTime':1"), STATUS("'lastScaleTime':2"), true},
    {"status.lastScaleTime", "Pod", STATUS("'lastScaleTimes':1"), STATUS("'lastScaleTimes':2"),
     false},
    {"status.a", "Pod", STATUS("'a':{'b':1}"), STATUS("'a':{'b':2}"), true},
    {"status.a.b", "Pod", STATUS("'x':1"), STATUS("'x':1,'a':{'b':2}"),
     false}, /* more than the path */
    {"status", "Pod", STATUS("'a':{'b':1}"), STATUS("'a':{'b':2}"), true},
    {"status.conditions[*].message", "Pod", CONDITION("'message':'a'"), CONDITION("'message':'b'"),
     true},
    {"status.conditions[type=Ready].message", "Pod", CONDITION("'message':'a'"),
     CONDITION("'message':'b'"), true},
    {"status.conditions[type=Other].message", "Pod", CONDITION("'message':'a'"),
     CONDITION("'message':'b'"), false},
    {"metadata.annotations[*]", "Pod", NOTES("'a.b/c':'1'"), NOTES("'a.b/c':'2'"), true},
    {"metadata.annotations[\"a.b/c\"]", "Pod", NOTES("'a.b/c':'1'"), NOTES("'a.b/c':'2'"), true},
    {"metadata.annotations[\"a.b/c\"]", "Pod", NOTES("'a.b/d':'1'"), NOTES("'a.b/d':'2'"), false},

    /* together */
    {"status-timestamps observed-generation status.n", "Pod",
     STATUS("'at':" T1 ",'observedGeneration':1,'n':1"),
     STATUS("'at':" T2 ",'observedGeneration':2,'n':2"), true},
    {"status-timestamps status.n", "Pod", STATUS("'at':" T1 ",'observedGeneration':1,'n':1"),
     STATUS("'at':" T2 ",'observedGeneration':2,'n':2"), false},
    {"heartbeats status.n", "Lease", SPEC("'renewTime':" T1), SPEC("'renewTime':" T2), true},
    {"heartbeats status.n", "Node", STATUS("'at':" T1 ",'n':1"), STATUS("'at':" T2 ",'n':2"), true},
};

static struct noise *make(const char *entries)
{
    char *copy = xstrdup(entries), *rest = copy, *items[8];
    struct noise *noise;
    size_t n = 0;
    while ((items[n] = strsep(&rest, " "))) {
        struct inf_error err;
        if (noise_check(items[n++], &err) < 0)
            fail_msg("%s", err.text);
    }
    noise = noise_make(items, n);
    free(copy);
    return noise;
}

static void each_update_is_covered_or_not_as_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *before =
            xasprintf("{'kind':'%s','apiVersion':'v1',%s}", rows[i].kind, rows[i].before);
        char *after = xasprintf("{'kind':'%s','apiVersion':'v1',%s}", rows[i].kind, rows[i].after);
        struct noise *noise = make(rows[i].entries);
        struct sample s;
        sample_make(&s, before, after);
        if (noise_is(noise, rows[i].kind, s.diff) != rows[i].covered)
            fail_msg("row %zu: %s: %s -> %s", i, rows[i].entries, before, after);
        sample_free(&s);
        noise_free(noise);
        free(before);
        free(after);
    }
}

static void a_truncated_diff_is_not_covered(void **state)
{
    struct noise *noise = make("status");
    struct sample s;
    (void)state;
    sample_pod(&s, "'status':{'a':'aaaaaaaaaa'}", "'status':{'a':'bbbbbbbbbb'}");
    assert_true(noise_is(noise, "Pod", s.diff));
    inf_diff_free(s.diff);
    s.diff = inf_diff_make(s.before, s.after, &(struct inf_diff_options){.bytes_max = 5}, NULL);
    assert_true(inf_diff_truncated(s.diff));
    assert_false(noise_is(noise, "Pod", s.diff));
    sample_free(&s);
    noise_free(noise);
}

static void heartbeats_and_unchanged_alone_need_no_filter(void **state)
{
    struct sample s;
    (void)state;
    assert_null(make("heartbeats unchanged"));
    assert_null(noise_make(NULL, 0));
    sample_pod(&s, "'a':1", "'a':2");
    assert_false(noise_is(NULL, "Pod", s.diff));
    sample_free(&s);
    noise_free(NULL);
}

static void unknown_presets_and_paths_are_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } wrong[] = {
        {"hartbeats", "unknown value 'hartbeats'; did you mean 'heartbeats'?"},
        {"statustimestamps", "did you mean 'status-timestamps'?"},
        {"everything", "valid values: heartbeats, unchanged, status-timestamps, "},
        {"everything", "or a field path such as status.lastScaleTime"},
        {"status..x", "column 8: missing name between two dots"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct inf_error err;
        assert_int_equal(noise_check(wrong[i].text, &err), -INF_EINVAL);
        if (!strstr(err.text, wrong[i].error))
            fail_msg("%s: %s", wrong[i].text, err.text);
    }
    for (const char *const *name = noise_presets; *name; name++)
        assert_int_equal(noise_check(*name, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_update_is_covered_or_not_as_in_the_table),
        cmocka_unit_test(a_truncated_diff_is_not_covered),
        cmocka_unit_test(heartbeats_and_unchanged_alone_need_no_filter),
        cmocka_unit_test(unknown_presets_and_paths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
