/*
 * test_diff_life.c - the diffs of a recorded pod, from state to state, must be short and readable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/json/json.h"
#include "builders.h"
#include "patch.h"
#include "recording.h"

/* clang-format off */
static const char *const life[] = {
    "+ spec.nodeName 'node-1'\n"
    "+ status.conditions [{'type':'PodScheduled','status':'True','lastProbeTime':null,'lastTransitionTime':'2026-11-15T23:24:36Z'}]",
    "+ status.conditions[type=Initialized] @0 {'type':'Initialized','status':'True','lastProbeTime':null,'lastTransitionTime':null}\n"
    "+ status.conditions[type=Ready] @1 {'type':'Ready','status':'False','lastProbeTime':null,'lastTransitionTime':null,'reason':'ContainersNotReady','message':'containers with unready status: [curlpod]'}\n"
    "+ status.conditions[type=ContainersReady] @2 {'type':'ContainersReady','status':'False','lastProbeTime':null,'lastTransitionTime':null,'reason':'ContainersNotReady'}\n"
    "+ status.hostIP '192.168.65.3'\n"
    "+ status.containerStatuses [{'name':'curlpod','state':{'waiting':{'reason':'ContainerCreating'}},'lastState':{},'ready':false,'restartCount':0,'image':'radial/busyboxplus:curl','imageID':'','started':false}]",
    "~ status.phase 'Pending' -> 'Running'\n"
    "~ status.conditions[type=Ready].status 'False' -> 'True'\n"
    "- status.conditions[type=Ready].reason 'ContainersNotReady'\n"
    "- status.conditions[type=Ready].message 'containers with unready status: [curlpod]'\n"
    "~ status.conditions[type=ContainersReady].status 'False' -> 'True'\n"
    "- status.conditions[type=ContainersReady].reason 'ContainersNotReady'\n"
    "- status.containerStatuses[name=curlpod].state.waiting {'reason':'ContainerCreating'}\n"
    "+ status.containerStatuses[name=curlpod].state.running {'startedAt':'2026-11-15T16:10:09Z'}\n"
    "~ status.containerStatuses[name=curlpod].ready false -> true\n"
    "~ status.containerStatuses[name=curlpod].imageID '' -> 'docker-pullable://radial/busyboxplus@sha256:a68c05ab1112fd90ad7b14985a48520e9d26dbbe00cb9c09aa79fdc0ef46b372'\n"
    "~ status.containerStatuses[name=curlpod].started false -> true\n"
    "+ status.podIP '10.1.0.102'\n"
    "+ status.podIPs [{'ip':'10.1.0.102'}]",
    "~ metadata.generation 1 -> 2\n"
    "+ metadata.deletionTimestamp '2026-11-15T23:25:11Z'\n"
    "+ metadata.deletionGracePeriodSeconds 30",
    "~ metadata.deletionTimestamp '2026-11-15T23:25:11Z' -> '2026-11-15T23:24:42Z'\n"
    "~ metadata.deletionGracePeriodSeconds 30 -> 0",
    "",
};
/* clang-format on */

/* The object of a watch event; NULL for a bookmark. */
static struct inf_object *object_of(struct str line)
{
    struct json_walk walk;
    struct json_member member;
    struct inf_object *object = NULL;
    char *text;
    json_walk_start(&walk, line);
    while (json_walk_next(&walk, &member)) {
        if (str_eq(member.value, STR("\"BOOKMARK\"")))
            return NULL;
        if (!json_key_is(member.key, "object"))
            continue;
        text = xstrndup(member.value.at, member.value.len);
        object = object_from(text);
        free(text);
    }
    return object;
}

static struct str text_of(const struct inf_object *object)
{
    struct str text;
    text.at = inf_object_json(object, &text.len);
    return text;
}

static void assert_changes(struct inf_object *before, struct inf_object *after,
                           const char *expected)
{
    struct inf_diff *diff = inf_diff_make(before, after, NULL, NULL);
    char *got = patch_lines(diff), *wanted = patch_json(expected);
    assert_string_equal(got, wanted);
    inf_diff_free(diff);
    diff = inf_diff_make(before, after, &(struct inf_diff_options){.all = true}, NULL);
    patch_assert(diff, text_of(before), text_of(after));
    inf_diff_free(diff);
    free(got);
    free(wanted);
}

static void the_diffs_of_a_recorded_pod_are_short(void **state)
{
    struct inf_object *before = NULL, *after;
    struct recording r;
    struct str line;
    size_t step = 0;
    (void)state;
    recording_open(&r, "pods-watch-lifecycle");
    while (recording_next(&r, &line) && (after = object_of(line))) {
        if (before) {
            assert_true(step < ARRAY_LEN(life));
            assert_changes(before, after, life[step++]);
        }
        inf_object_unref(before);
        before = after;
    }
    assert_int_equal(step, ARRAY_LEN(life));
    inf_object_unref(before);
    recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_diffs_of_a_recorded_pod_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
