/*
 * test_jsonl_format.c - the lines of an event log in the format jsonl.
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
#include "daemon/format/record_format.h"
#include "daemon/rule/level_rules.h"

static const struct watch_id pods = {
    .cluster = "prod", .name = "pods", .group = "", .version = "v1", .resource = "pods"};

/* In place of an enum record_object: RECORD_DIFF, and the whole object. */
enum {
    WHOLE = RECORD_DIFF + 1
};

static const struct watch_id nameless = {.name = NULL};

/* Compares with @expected, which has ' for ". */
static void assert_line(struct buf *line, const char *expected)
{
    char *text = with_quotes(expected);
    buf_putc(line, '\0');
    assert_string_equal(line->bytes, text);
    free(text);
    buf_free(line);
}

static void assert_record(const struct sample *sample, const struct watch_id *watch,
                          unsigned object, const char *expected)
{
    const struct record_options options = {.object = object == WHOLE ? RECORD_DIFF : object,
                                           .object_verbs = object == WHOLE ? RECORD_ALL_VERBS : 0,
                                           .max_line = RECORD_LINE_DEFAULT};
    struct change change;
    struct buf line = {0};
    struct level_rules *levels = level_rules_make(NULL, 0, NULL);
    sample_change(&change, watch, &sample->event, sample->diff);
    level_rules_apply(levels, &change);
    change.stamp.seq = 42;
    change.stamp.log = "c0ffee";
    jsonl_format.put_change(&line, &change, &options);
    level_rules_free(levels);
    assert_line(&line, expected);
}

#define HEAD(type, origin)                                                        \
    "{'time':'2026-01-01T12:04:31.000042Z','seq':42,'log':'c0ffee','type':'" type \
    "','origin':'" origin "',"
#define POD                                                                                     \
    "'cluster':'prod','watch':'pods','group':'','version':'v1','resource':'pods','kind':'Pod'," \
    "'namespace':'shop','name':'web-0','uid':'u-1',"
#define WHO ",'manager':'kubelet','subresource':'status','changed_at':'2026-01-01T12:04:30Z'"

static void writes_a_modified_object(void **state)
{
    struct sample sample;
    (void)state;
    sample_pod(&sample, "'status':{'phase':'Pending'}",
               "'status':{'phase':'Running','podIP':'10.1.2.3'}");
    assert_record(
        &sample, &pods, RECORD_DIFF,
        HEAD("MODIFIED", "live") POD
        "'rv':'8','old_rv':'7','level':'info','msg':'Pod shop/web-0 changed: status.phase Pending -> "
        "Running, status.podIP -> 10.1.2.3 by kubelet'" WHO
        ",'changed':['status.phase','status.podIP'],'diff':[{'op':'replace','path':'status.phase',"
        "'old':'Pending','new':'Running'},{'op':'add','path':'status.podIP','new':'10.1.2.3'}]}\n");
    assert_record(&sample, &pods, RECORD_NONE,
                  HEAD("MODIFIED", "live") POD
                  "'rv':'8','old_rv':'7','level':'info','msg':'Pod shop/web-0 changed: "
                  "status.phase, status.podIP by kubelet'" WHO
                  ",'changed':['status.phase','status.podIP']}\n");
    sample_free(&sample);
}

static void writes_an_added_object(void **state)
{
    struct sample sample;
    (void)state;
    sample_make(&sample, NULL,
                "{'kind':'Deployment','apiVersion':'apps/v1','metadata':{'name':'web',"
                "'namespace':'shop','uid':'u-2','resourceVersion':'9'},'spec':{'n':1e2}}");
    sample.event.origin = INF_INITIAL;
    assert_record(
        &sample, &nameless, RECORD_DIFF,
        HEAD("ADDED",
             "initial") "'group':'apps','version':'v1','kind':'Deployment',"
                        "'namespace':'shop','name':'web','uid':'u-2','rv':'9','level':'info',"
                        "'msg':'Deployment shop/web added'}\n");
    assert_record(
        &sample, &nameless, WHOLE,
        HEAD(
            "ADDED",
            "initial") "'group':'apps','version':'v1','kind':'Deployment',"
                       "'namespace':'shop','name':'web','uid':'u-2','rv':'9','level':'info',"
                       "'msg':'Deployment shop/web added','object':{'kind':'Deployment',"
                       "'apiVersion':'apps/v1','metadata':{'name':'web','namespace':'shop','uid':'u-2',"
                       "'resourceVersion':'9'},'spec':{'n':1e2}}}\n");
    sample_free(&sample);
}

static void writes_a_deleted_object(void **state)
{
    struct sample sample;
    (void)state;
    sample_pod(&sample, "", NULL);
    sample.event.origin = INF_RELIST;
    sample.event.final = false;
    assert_record(&sample, &pods, RECORD_DIFF,
                  HEAD("DELETED", "relist") POD
                  "'rv':'7','final':false,'level':'info',"
                  "'msg':'Pod shop/web-0 deleted, last state unknown'}\n");
    sample_free(&sample);
}

static void writes_an_event_object(void **state)
{
    struct sample sample;
    (void)state;
    sample_make(&sample, NULL,
                "{'kind':'Event','apiVersion':'v1','metadata':{'name':'web-0.17',"
                "'namespace':'shop','uid':'u-3','resourceVersion':'5'},'involvedObject':"
                "{'kind':'Pod','namespace':'shop','name':'web-0','uid':'u-1','apiVersion':'v1'},"
                "'reason':'BackOff','message':'a\\u001b[2J','count':12,'type':'Warning',"
                "'lastTimestamp':'2026-01-01T10:00:00Z'}");
    assert_record(
        &sample, &nameless, RECORD_NONE,
        HEAD("ADDED",
             "live") "'group':'','version':'v1','kind':'Event',"
                     "'namespace':'shop','name':'web-0.17','uid':'u-3','rv':'5','level':'warn',"
                     "'rule':'warning-event',"
                     "'msg':'Pod shop/web-0: BackOff: a\\u001b[2J (x12)','reason':'BackOff',"
                     "'event_type':'Warning','event_time':'2026-01-01T10:00:00.000000Z','count':12,"
                     "'message':'a\\u001b[2J','involved':{'kind':'Pod','namespace':'shop',"
                     "'name':'web-0','uid':'u-1','apiVersion':'v1'}}\n");
    sample_free(&sample);
}

/* ---- context ---- */

#define OWNED_POD                                                                          \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0','namespace':'shop','uid':" \
    "'u-1','resourceVersion':'7','labels':{'app':'web','pod-template-hash':'7d9c'},"       \
    "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web-7d9c',"    \
    "'uid':'u-9','controller':true}]},'spec':{'containers':[{'name':'a','image':'web:1'}," \
    "{'name':'b','image':'proxy:2'}],'nodeName':'node-1'}}"
#define LABELS "'labels':{'app':'web','pod-template-hash':'7d9c'},"
#define OWNER                                                      \
    "'owner':{'kind':'ReplicaSet','name':'web-7d9c','uid':'u-9'}," \
    "'workload':{'kind':'Deployment','name':'web'},"
#define END "'level':'info','msg':'Pod shop/web-0 deleted'}\n"

static void assert_context(unsigned context, const struct inf_index *fields, size_t n_fields,
                           const char *expected)
{
    struct record_options options = {.context = context, .max_line = RECORD_LINE_DEFAULT};
    struct record_fields *made = record_fields_make(fields, n_fields, NULL);
    struct sample sample;
    struct change change;
    struct buf line = {0};
    options.fields = made;
    sample_make(&sample, OWNED_POD, NULL);
    sample_change(&change, &pods, &sample.event, NULL);
    change.stamp.seq = 42;
    change.stamp.log = "c0ffee";
    jsonl_format.put_change(&line, &change, &options);
    assert_line(&line, expected);
    sample_free(&sample);
    record_fields_free(made);
}

static void writes_the_context_that_a_log_has(void **state)
{
    (void)state;
    assert_context(CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE, NULL, 0,
                   HEAD("DELETED", "live") POD "'rv':'7','final':true," LABELS OWNER
                                               "'node':'node-1'," END);
    assert_context(CONTEXT_OWNER, NULL, 0,
                   HEAD("DELETED", "live") POD "'rv':'7','final':true," OWNER END);
    assert_context(0, NULL, 0, HEAD("DELETED", "live") POD "'rv':'7','final':true," END);
}

static void writes_configured_fields(void **state)
{
    static const struct inf_index fields[] = {
        {.name = "image", .path = "spec.containers[*].image"},
        {.name = "b", .path = "spec.containers[name=b].image"},
        {.name = "first", .path = "spec.containers[0]"},
        {.name = "none", .path = "spec.containers[*].command"},
        {.name = "missing", .path = "status.podIP"},
        {.name = "app", .path = "metadata.labels[\"app\"]"},
    };
    (void)state;
    assert_context(0, fields, ARRAY_LEN(fields),
                   HEAD("DELETED", "live") POD
                   "'rv':'7','final':true,'fields':{'image':['web:1','proxy:2'],'b':['proxy:2'],"
                   "'first':{'name':'a','image':'web:1'},'app':'web'}," END);
    assert_context(0, fields + 3, 2, HEAD("DELETED", "live") POD "'rv':'7','final':true," END);
}

static void reports_the_field_with_an_invalid_path(void **state)
{
    static const struct inf_index fields[] = {{.name = "a", .path = "spec.nodeName"},
                                              {.name = "b", .path = "spec..x"}};
    struct inf_error err = {0};
    (void)state;
    assert_null(record_fields_make(fields, 2, &err));
    assert_non_null(strstr(err.text, "fields: b"));
}

/* ---- notes ---- */

static void writes_notes(void **state)
{
    static const struct {
        struct note note;
        const struct watch_id *watch;
        const char *line;
    } rows[] = {
        {{NOTE_START, INF_LOG_INFO, "seq-skipped", "started", "0.1.0", -1, NULL},
         NULL,
         "'type':'START','informerd':'0.1.0','reason':'seq-skipped','level':'info',"
         "'msg':'started'}\n"},
        {{NOTE_SYNCED, INF_LOG_INFO, NULL, "all", "812", 3, NULL},
         &pods,
         "'type':'SYNCED','cluster':'prod','watch':'pods','group':'','version':'v1',"
         "'resource':'pods','rv':'812','objects':3,'level':'info','msg':'all'}\n"},
        {{NOTE_GAP, INF_LOG_WARN, "dropped", "slow", NULL, 7, "shop"},
         &pods,
         "'type':'GAP','cluster':'prod','watch':'pods','group':'','version':'v1',"
         "'resource':'pods','namespace':'shop','reason':'dropped','dropped':7,'level':'warn','msg':'slow'}\n"},
        {{NOTE_STALE, INF_LOG_ERROR, NULL, "x", NULL, -1, NULL},
         &nameless,
         "'type':'STALE','level':'error','msg':'x'}\n"},
        {{NOTE_CONFIG, INF_LOG_DEBUG, NULL, "x", NULL, -1, NULL},
         NULL,
         "'type':'CONFIG','level':'debug','msg':'x'}\n"},
    };
    const struct record_options options = {.max_line = RECORD_LINE_MIN};
    const struct stamp stamp = {.time_us = INT64_C(1767269071000042), .seq = 1, .log = "c0ffee"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char expected[512];
        struct buf line = {0};
        snprintf(expected, sizeof(expected),
                 "{'time':'2026-01-01T12:04:31.000042Z','seq':1,'log':'c0ffee',%s", rows[i].line);
        jsonl_format.put_note(&line, &rows[i].note, &stamp, rows[i].watch, &options);
        assert_line(&line, expected);
    }
    assert_string_equal(note_type_name(NOTE_STOP), "STOP");
    assert_string_equal(note_type_name(NOTE_RELIST), "RELIST");
    assert_string_equal(note_type_name(NOTE_RECOVERED), "RECOVERED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_modified_object),
        cmocka_unit_test(writes_an_added_object),
        cmocka_unit_test(writes_a_deleted_object),
        cmocka_unit_test(writes_an_event_object),
        cmocka_unit_test(writes_the_context_that_a_log_has),
        cmocka_unit_test(writes_configured_fields),
        cmocka_unit_test(reports_the_field_with_an_invalid_path),
        cmocka_unit_test(writes_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
