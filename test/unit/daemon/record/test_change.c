/*
 * test_change.c - the text of `msg`, and the parts it is made of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "changes.h"
#include "daemon/record/change.h"

static const struct watch_id nameless = {.name = "pods"};

static void assert_message(const struct sample *sample, bool values, const char *expected)
{
    struct change change;
    struct buf out = {0};
    sample_change(&change, &nameless, &sample->event, sample->diff);
    change_put_sentence(&out, &change, values, 200);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
}

static void assert_pod_message(const char *before, const char *after, const char *expected)
{
    struct sample sample;
    sample_pod(&sample, before, after);
    assert_message(&sample, true, expected);
    sample_free(&sample);
}

static void added_and_deleted_objects_have_a_sentence(void **state)
{
    struct sample sample;
    (void)state;
    assert_pod_message(NULL, "'spec':{}", "Pod shop/web-0 added");
    assert_pod_message("'spec':{}", NULL, "Pod shop/web-0 deleted");
    sample_pod(&sample, "'spec':{}", NULL);
    sample.event.final = false;
    assert_message(&sample, true, "Pod shop/web-0 deleted, last state unknown");
    sample_free(&sample);
    sample_make(&sample, NULL, "{'kind':'Node','apiVersion':'v1','metadata':{'name':'n1'}}");
    assert_message(&sample, true, "Node n1 added");
    sample_free(&sample);
}

/* As a binding: spec.nodeName is set, and no manager is recorded for it. */
static void a_change_without_a_manager_names_none(void **state)
{
    struct sample sample;
    char *before = pod_text(7, "'spec':{}"), *after = pod_text(7, "'spec':{'nodeName':'n1'}");
    (void)state;
    sample_make(&sample, before, after);
    assert_message(&sample, true, "Pod shop/web-0 changed: spec.nodeName -> n1");
    sample_free(&sample);
    free(before);
    free(after);
}

static void a_modified_object_shows_old_and_new_values(void **state)
{
    static const struct {
        const char *before, *after, *says;
    } rows[] = {
        {"'status':{'phase':'Pending'}", "'status':{'phase':'Running'}",
         "status.phase Pending -> Running"},
        {"'status':{}", "'status':{'podIP':'10.1.2.3'}", "status.podIP -> 10.1.2.3"},
        {"'status':{'podIP':'10.1.2.3'}", "'status':{}", "status.podIP removed"},
        {"'spec':{'replicas':2}", "'spec':{'replicas':3}", "spec.replicas 2 -> 3"},
        {"'a':{'b':null}", "'a':{'b':''}", "a.b null -> \"\""},
        {"'a':'say \\'hi\\'\\n\\u0041\\u001b'", "'a':[1,2]", "a say \"hi\" A\\u001b -> [1,2]"},
        {"'l':[{'name':'a'},{'name':'b'}]", "'l':[{'name':'b'},{'name':'a'}]", "l reordered"},
        {"'m':1", "'m':'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeee\xc3\xbc'",
         "m 1 -> aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeee\xe2\x80\xa6"},
        {"'m':{}", "'m':{'big':{'a':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}}",
         "m.big added"},
        {"'m':{}", "'m':{'big':{'reason':'Error','a':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}}",
         "m.big added (Error)"},
        {"'m':{}", "'m':{'big':{'reason':'','a':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}}",
         "m.big added"},
        {"'m':[{'a':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}]", "'m':7",
         "m changed"},
        {"'s':'hmac:a052701ab9e29d81'", "'s':'hmac:04c2837a3e0f4be8'", "s changed"},
        {"'s':null", "'s':'hmac:04c2837a3e0f4be8'", "s null -> hmac:04c2837a3e0f4be8"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char says[256];
        snprintf(says, sizeof(says), "Pod shop/web-0 changed: %s by kubelet", rows[i].says);
        assert_pod_message(rows[i].before, rows[i].after, says);
    }
}

static void the_most_important_change_comes_first(void **state)
{
    (void)state;
    assert_pod_message(
        "'metadata2':1,'status':{'startTime':'2026-01-01T00:00:00Z','phase':'Pending',"
        "'conditions':[{'type':'Ready','status':'False','lastTransitionTime':'x'}]},"
        "'spec':{'nodeName':'n1','containers':[{'name':'a','image':'a:1'}]}",
        "'metadata2':2,'status':{'startTime':'2026-01-01T00:00:01Z','phase':'Running',"
        "'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'y'}]},"
        "'spec':{'nodeName':'n2','containers':[{'name':'a','image':'a:2'}]}",
        "Pod shop/web-0 changed: status.phase Pending -> Running, "
        "status.conditions[type=Ready].status False -> True, "
        "spec.containers[name=a].image a:1 -> a:2, spec.nodeName n1 -> n2, metadata2 1 -> 2, 2 more "
        "by kubelet");
    assert_pod_message(
        "'status':{'containerStatuses':[{'name':'a','state':{'terminated':{'exitCode':1}}}]}",
        "'status':{'containerStatuses':[{'name':'a','state':{'waiting':{'reason':"
        "'CrashLoopBackOff','message':'back-off 10s restarting failed container'}}}]}",
        "Pod shop/web-0 changed: status.containerStatuses[name=a].state.waiting added "
        "(CrashLoopBackOff), status.containerStatuses[name=a].state.terminated removed by kubelet");
}

static void without_values_only_paths_are_written(void **state)
{
    struct sample sample;
    (void)state;
    sample_pod(&sample, "'data':{'a':'secret','b':'x'}", "'data':{'a':'hidden'}");
    assert_message(&sample, false, "Pod shop/web-0 changed: data.a, data.b removed by kubelet");
    sample_free(&sample);
}

static void an_update_of_no_kept_field_has_its_own_sentence(void **state)
{
    (void)state;
    assert_pod_message("'a':1", "'a':1", "Pod shop/web-0 updated, but no kept field changed");
}

#define EVENT_META "'metadata':{'name':'web-0.17','namespace':'shop'}"

static void an_event_object_shows_its_message(void **state)
{
    struct sample sample;
    (void)state;
    sample_make(&sample, NULL,
                "{'kind':'Event','apiVersion':'v1'," EVENT_META
                ",'involvedObject':{'kind':'Pod','namespace':'shop','name':'web-0'},"
                "'reason':'BackOff','message':'Back-off restarting','count':12,'type':'Warning'}");
    assert_message(&sample, true, "Pod shop/web-0: BackOff: Back-off restarting (x12)");
    sample_free(&sample);
    sample_make(&sample, NULL,
                "{'kind':'Event','apiVersion':'events.k8s.io/v1'," EVENT_META
                ",'regarding':{'kind':'Node','name':'n1'},'reason':'Ready','note':'is up'}");
    assert_message(&sample, true, "Node n1: Ready: is up");
    sample_free(&sample);
}

static void the_kind_of_metadata_only_objects_comes_from_the_watch(void **state)
{
    const struct watch_id id = {
        .name = "d", .group = "apps", .version = "v1", .kind = "Deployment"};
    struct change change;
    struct sample sample;
    (void)state;
    sample_make(&sample, NULL,
                "{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1',"
                "'metadata':{'name':'web'}}");
    sample_change(&change, &id, &sample.event, NULL);
    assert_string_equal(change.kind, "Deployment");
    assert_true(str_eq(change.group, STR("apps")));
    sample_change(&change, &nameless, &sample.event, NULL);
    assert_string_equal(change.kind, "PartialObjectMetadata");
    assert_true(str_eq(change.group, STR("meta.k8s.io")));
    assert_true(str_eq(change.version, STR("v1")));
    sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_and_deleted_objects_have_a_sentence),
        cmocka_unit_test(a_change_without_a_manager_names_none),
        cmocka_unit_test(a_modified_object_shows_old_and_new_values),
        cmocka_unit_test(the_most_important_change_comes_first),
        cmocka_unit_test(without_values_only_paths_are_written),
        cmocka_unit_test(an_update_of_no_kept_field_has_its_own_sentence),
        cmocka_unit_test(an_event_object_shows_its_message),
        cmocka_unit_test(the_kind_of_metadata_only_objects_comes_from_the_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
