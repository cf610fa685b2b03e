/*
 * test_heartbeat.c - which updates are heartbeats, as a table.
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
#include "daemon/journal/heartbeat.h"

#define T1     "'2026-01-01T00:00:00Z'"
#define T2     "'2026-01-01T00:00:10.123456Z'"
#define LEADER "'control-plane.alpha.kubernetes.io/leader':"
#define RECORD(who, time) \
    LEADER "'{\\'holderIdentity\\':\\'" who "\\',\\'renewTime\\':\\'" time "\\',\\'n\\':1}'"

static const struct row {
    const char *kind, *before, *after;
    bool beat;
} rows[] = {
    {"Lease", "'spec':{'renewTime':" T1 "}", "'spec':{'renewTime':" T2 "}", true},
    {"Lease", "'spec':{'renewTime':" T1 ",'holderIdentity':'a'}",
     "'spec':{'renewTime':" T2 ",'holderIdentity':'b'}", false},
    {"Lease", "'spec':{'acquireTime':" T1 "}", "'spec':{'acquireTime':" T2 "}", false},
    {"Lease", "'spec':{}", "'spec':{'renewTime':" T2 "}",
     false}, /* its first time is a real change */
    {"Pod", "'spec':{'renewTime':" T1 "}", "'spec':{'renewTime':" T2 "}", false},
    {"Node", "'status':{'conditions':[{'type':'Ready','lastHeartbeatTime':" T1 "}]}",
     "'status':{'conditions':[{'type':'Ready','lastHeartbeatTime':" T2 "}]}", true},
    {"Node",
     "'status':{'conditions':[{'type':'Ready','lastHeartbeatTime':" T1 ",'status':'True'}]}",
     "'status':{'conditions':[{'type':'Ready','lastHeartbeatTime':" T2 ",'status':'False'}]}",
     false},
    {"Pod", "'status':{'conditions':[{'type':'Ready','lastProbeTime':" T1 "}]}",
     "'status':{'conditions':[{'type':'Ready','lastProbeTime':" T2 "}]}", true},
    {"Pod", "'status':{'conditions':[{'type':'Ready','lastProbeTime':null}]}",
     "'status':{'conditions':[{'type':'Ready','lastProbeTime':" T2 "}]}", false},
    {"Widget", "'status':{'checked':" T1 ",'phase':'A'}", "'status':{'checked':" T2 ",'phase':'B'}",
     false},
    {"Widget", "'status':{'checked':'yesterday'}", "'status':{'checked':'today'}", false},
    {"Widget", "'statuses':{'checked':" T1 "}", "'statuses':{'checked':" T2 "}", false},
    {"Widget", "'status':{'checked':" T1 ",'observedGeneration':1}",
     "'status':{'checked':" T2 ",'observedGeneration':2}", true},
    {"Widget", "'status':{'observedGeneration':1}", "'status':{'observedGeneration':2}", false},
    {"Widget", "'spec':{}", "'spec':{}", true}, /* no kept field changed */
    {"Widget", "'status':{'checked':" T1 "}", "'status':{'checked':'2026-01-01T00:00:0xZ'}", false},
    {"Widget", "'status':{'checked':" T1 "}", "'status':{'checked':'2026-01-01T00:00:00.Zx'}",
     false},
    {"Widget", "'status':{'checked':" T1 "}", "'status':{'checked':'2026-01-01T00:00:00'}", false},
};

static bool is_heartbeat(const char *kind, const char *before, const char *after,
                         const char *notes[2])
{
    static const char form[] =
        "{'kind':'%s','apiVersion':'v1','metadata':{'name':'x','annotations':{%s}},%s}";
    char *old_text = xasprintf(form, kind, notes[0], before); /* NOLINT: a constant */
    char *new_text = xasprintf(form, kind, notes[1], after);
    struct sample sample;
    bool beat;
    sample_make(&sample, old_text, new_text);
    beat = heartbeat_is(kind, sample.diff);
    sample_free(&sample);
    free(old_text);
    free(new_text);
    return beat;
}

static void each_update_is_a_heartbeat_or_not_as_in_the_table(void **state)
{
    const char *none[2] = {"", ""};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (is_heartbeat(rows[i].kind, rows[i].before, rows[i].after, none) != rows[i].beat)
            fail_msg("%s: %s -> %s", rows[i].kind, rows[i].before, rows[i].after);
    }
}

/* Otherwise a handler of leases would cause a change of the Lease with each delivery. */
static void positions_of_replicas_are_heartbeats(void **state)
{
    const char *notes[2] = {"'informerd/positions':'1'", "'informerd/positions':'2'"};
    const char *added[2] = {"", "'informerd/positions':'2'"};
    (void)state;
    assert_true(
        is_heartbeat("Lease", "'spec':{'renewTime':" T1 "}", "'spec':{'renewTime':" T2 "}", notes));
    assert_false(is_heartbeat("ConfigMap", "'data':{}", "'data':{}", notes));
    assert_false(is_heartbeat("Lease", "'spec':{}", "'spec':{}", added));
}

/* The record is JSON in a string. with_quotes() makes \' of it \", which is what a server sends. */
static void renewals_of_a_leader_annotation_are_heartbeats(void **state)
{
    const char *renewed[2] = {RECORD("a", "2026-01-01T00:00:00Z"),
                              RECORD("a", "2026-01-01T00:00:02Z")};
    const char *lost[2] = {RECORD("a", "2026-01-01T00:00:00Z"),
                           RECORD("b", "2026-01-01T00:00:02Z")};
    const char *odd[2] = {LEADER "'x'", LEADER "'y'"};
    (void)state;
    assert_true(is_heartbeat("ConfigMap", "'data':{}", "'data':{}", renewed));
    assert_false(is_heartbeat("ConfigMap", "'data':{}", "'data':{}", lost));
    assert_false(is_heartbeat("ConfigMap", "'data':{}", "'data':{}", odd));
    assert_false(is_heartbeat("ConfigMap", "'data':{}", "'data':{'a':'b'}", renewed));
}

static void a_truncated_diff_is_no_heartbeat(void **state)
{
    struct sample sample;
    struct inf_diff *cut;
    (void)state;
    sample_pod(&sample, "'status':{'a':" T1 ",'b':" T1 "}", "'status':{'a':" T2 ",'b':" T2 "}");
    assert_true(heartbeat_is("Pod", sample.diff));
    cut = inf_diff_make(sample.before, sample.after, &(struct inf_diff_options){.bytes_max = 10},
                        NULL);
    assert_false(heartbeat_is("Pod", cut));
    inf_diff_free(cut);
    sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_update_is_a_heartbeat_or_not_as_in_the_table),
        cmocka_unit_test(positions_of_replicas_are_heartbeats),
        cmocka_unit_test(renewals_of_a_leader_annotation_are_heartbeats),
        cmocka_unit_test(a_truncated_diff_is_no_heartbeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
