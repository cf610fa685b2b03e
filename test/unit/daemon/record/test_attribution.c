/*
 * test_attribution.c - the manager of a change, as a table of managedFields before and after, and for a recorded pod.
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
#include "base/buf.h"
#include "builders.h"
#include "changes.h"
#include "daemon/record/attribution.h"
#include "recording.h"

#define T0 "2026-01-01T12:00:00Z"
#define T1 "2026-01-01T12:00:01Z"
#define T2 "2026-01-01T12:00:02Z"

/* An entry of managedFields. */
#define BY(manager, subresource, time)                                                            \
    "{'manager':'" manager "','operation':'Update','subresource':'" subresource "','time':'" time \
    "','fieldsV1':{'f:x':{}}}"
#define KCM(time)        BY("kube-controller-manager", "", time)
#define KCM_STATUS(time) BY("kube-controller-manager", "status", time)
#define KUBELET(time)    BY("kubelet", "status", time)
#define KUBECTL(time)    BY("kubectl", "", time)
#define SCALE(time)      BY("kube-controller-manager", "scale", time)

#define STATUS(n)  "'status':{'n':" n "}"
#define SPEC(n)    "'spec':{'n':" n "}"
#define META(rest) ",'annotations':{" rest "}"

struct state {
    const char *entries, *metadata, *rest;
};

static const struct row {
    const char *what;
    struct state before, after;
    const char *expected; /* "manager/subresource time" */
} rows[] = {
    {"a newer status entry",
     {KCM(T0) "," KUBELET(T1), "", STATUS("1")},
     {KCM(T0) "," KUBELET(T2), "", STATUS("2")},
     "kubelet/status " T2},
    {"a first status entry",
     {KCM(T0), "", STATUS("1")},
     {KCM(T0) "," KUBELET(T1), "", STATUS("2")},
     "kubelet/status " T1},
    {"a second write to the status within the second, by its only writer",
     {KCM(T0) "," KUBELET(T1), "", STATUS("1")},
     {KCM(T0) "," KUBELET(T1), "", STATUS("2")},
     "kubelet/status " T1},
    {"the same, in the second of another write",
     {KUBECTL(T1) "," KCM(T1) "," KCM_STATUS(T1), "", STATUS("1")},
     {KUBECTL(T1) "," KCM(T1) "," KCM_STATUS(T1), "", STATUS("2")},
     "kube-controller-manager/status " T1},
    {"a second write within the second, where the status has two writers",
     {BY("kube-scheduler", "status", T0) "," KUBELET(T1), "", STATUS("1")},
     {BY("kube-scheduler", "status", T0) "," KUBELET(T1), "", STATUS("2")},
     ""},
    {"a status entry of the same manager by apply",
     {BY("web", "status", T0) "," BY("web", "status", T1), "", STATUS("1")},
     {BY("web", "status", T0) "," BY("web", "status", T1), "", STATUS("2")},
     "web/status " T1},
    {"scaling does not write to the status",
     {SCALE(T0) "," KCM_STATUS(T1), "", STATUS("1")},
     {SCALE(T0) "," KCM_STATUS(T1), "", STATUS("2")},
     "kube-controller-manager/status " T1},
    {"an approval may write to the status",
     {BY("kubectl", "approval", T0) "," KCM_STATUS(T1), "", STATUS("1")},
     {BY("kubectl", "approval", T0) "," KCM_STATUS(T1), "", STATUS("2")},
     ""},
    {"the status lost a field within the second: removals are not recorded",
     {KUBELET(T1), "", "'status':{'n':1,'m':1}"},
     {KUBELET(T1), "", "'status':{'n':1}"},
     ""},
    {"an eviction adds a condition that is not recorded",
     {KUBELET(T1), "", "'status':{'conditions':[{'type':'Ready'}]}"},
     {KUBELET(T1), "", "'status':{'conditions':[{'type':'Ready'},{'type':'DisruptionTarget'}]}"},
     ""},
    {"a second write to the rest within the second, by its only writer",
     {KCM(T1), "", SPEC("1")},
     {KCM(T1), "", SPEC("2")},
     "kube-controller-manager/ " T1},
    {"the rest, in the second of a write to the status",
     {KCM(T1) "," KUBELET(T1), "", SPEC("1")},
     {KCM(T1) "," KUBELET(T1), "", SPEC("2")},
     "kube-controller-manager/ " T1},
    {"the rest is newer, in the second of a write to the status",
     {KUBECTL(T0) "," KCM(T0) "," KCM_STATUS(T1), "", SPEC("1")},
     {KUBECTL(T0) "," KCM(T1) "," KCM_STATUS(T1), "", SPEC("2")},
     "kube-controller-manager/ " T1},
    {"a second write within the second, where the rest has two writers",
     {KUBECTL(T0) "," KCM(T1), "", SPEC("1")},
     {KUBECTL(T0) "," KCM(T1), "", SPEC("2")},
     ""},
    {"two writers of the rest within the second",
     {KUBECTL(T1) "," KCM(T0), "", SPEC("1")},
     {KUBECTL(T1) "," KCM(T1), "", SPEC("2")},
     ""},
    {"a change of the spec is not the status writer's",
     {KUBELET(T1), "", SPEC("1")},
     {KUBELET(T1), "", SPEC("2")},
     ""},
    {"a change of the status is not of the manager of the rest",
     {KCM(T1), "", STATUS("1")},
     {KCM(T1), "", STATUS("2")},
     ""},
    {"both parts at once, nothing newer",
     {KCM(T1) "," KUBELET(T1), "", SPEC("1") "," STATUS("1")},
     {KCM(T1) "," KUBELET(T1), "", SPEC("2") "," STATUS("2")},
     ""},
    {"a deletion is not recorded",
     {KCM(T1), "", SPEC("1")},
     {KCM(T1), ",'deletionGracePeriodSeconds':30,'deletionTimestamp':'" T1 "'", SPEC("1")},
     ""},
    {"a deletion together with another change",
     {KCM(T1), "", SPEC("1")},
     {KCM(T1), ",'deletionTimestamp':'" T1 "'", SPEC("2")},
     ""},
    {"the removal of a finalizer is not recorded",
     {KCM(T1), ",'finalizers':['a','b']", SPEC("1")},
     {KCM(T1), ",'finalizers':['a']", SPEC("1")},
     ""},
    {"metadata alone within the second: either part's writer may have done it",
     {KCM(T1), META("'a':'1'"), SPEC("1")},
     {KCM(T1), META("'a':'2'"), SPEC("1")},
     ""},
    {"metadata alone with a newer entry",
     {KCM(T0), META("'a':'1'"), SPEC("1")},
     {KCM(T1), META("'a':'2'"), SPEC("1")},
     "kube-controller-manager/ " T1},
    {"the generation alone proves nothing",
     {KCM(T1), ",'generation':1", SPEC("1")},
     {KCM(T1), ",'generation':2", SPEC("1")},
     ""},
    {"a binding",
     {KCM(T1), "", "'spec':{},'status':{}"},
     {KCM(T1), META("'a':'1'"),
      "'spec':{'nodeName':'n1'},'status':{'conditions':[{'type':'PodScheduled','status':'True'}]}"},
     "/binding "},
    {"a binding together with an unknown change",
     {KCM(T1), "", "'spec':{},'status':{}"},
     {KCM(T1), "", "'spec':{'nodeName':'n1'},'status':{'phase':'Running'}"},
     ""},
    {"nothing is recorded at all", {"", "", STATUS("1")}, {"", "", STATUS("2")}, ""},
};

static char *text_of(const struct state *s)
{
    return xasprintf(
        "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0','namespace':'shop',"
        "'uid':'u'%s,'managedFields':[%s]},%s}",
        s->metadata, s->entries, s->rest);
}

static void put_manager(struct buf *out, const struct inf_event *event, const struct inf_diff *diff)
{
    struct inf_writer who;
    if (attribution_find(event, diff, &who))
        buf_printf(out, "%s/%s %s", who.manager, who.subresource, who.time);
}

static void each_change_has_the_manager_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *before = text_of(&rows[i].before), *after = text_of(&rows[i].after);
        struct sample sample;
        struct buf who = {0};
        sample_make(&sample, before, after);
        put_manager(&who, &sample.event, sample.diff);
        buf_putc(&who, '\0');
        if (strcmp(who.bytes, rows[i].expected) != 0)
            fail_msg("%s: '%s', not '%s'", rows[i].what, who.bytes, rows[i].expected);
        buf_free(&who);
        sample_free(&sample);
        free(before);
        free(after);
    }
}

/* {"type":"MODIFIED","object":{...}} */
static struct inf_object *object_in(struct str line)
{
    static const char key[] = "\"object\":";
    const char *at = memmem(line.at, line.len, key, sizeof(key) - 1);
    struct str text = {at + sizeof(key) - 1, line.len - (size_t)(at - line.at) - sizeof(key)};
    char *copy = xstrndup(text.at, text.len);
    struct inf_object *object = object_from(copy);
    free(copy);
    return object;
}

/* Bound, started, running, deletion requested, containers ended. */
static void a_recorded_pod_has_the_expected_managers(void **state)
{
    struct recording r;
    struct str line;
    struct inf_object *before = NULL;
    struct buf managers = {0};
    (void)state;
    recording_open(&r, "pods-watch-lifecycle");
    while (recording_next(&r, &line) && !memmem(line.at, line.len, "BOOKMARK", 8)) {
        struct inf_object *after = object_in(line);
        struct inf_event event = {
            .verb = before ? INF_MODIFIED : INF_ADDED, .old_object = before, .new_object = after};
        struct inf_diff *diff = before ? inf_diff_make(before, after, NULL, NULL) : NULL;
        put_manager(&managers, &event, diff);
        buf_putc(&managers, '\n');
        inf_diff_free(diff);
        inf_object_unref(before);
        before = after;
    }
    buf_putc(&managers, '\0');
    assert_string_equal(managers.bytes, "kube-controller-manager/ 2026-11-15T23:24:36Z\n"
                                        "/binding \n"
                                        "kubelet/status 2026-11-15T23:24:40Z\n"
                                        "kubelet/status 2026-11-15T23:24:41Z\n"
                                        "\n"
                                        "\n"
                                        "\n");
    inf_object_unref(before);
    buf_free(&managers);
    recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_has_the_manager_in_the_table),
        cmocka_unit_test(a_recorded_pod_has_the_expected_managers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
