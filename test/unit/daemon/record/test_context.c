/*
 * test_context.c - the context of an object in records, and the workload of a Pod.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "builders.h"
#include "changes.h"
#include "daemon/record/context.h"

/* ---- workloads ---- */

/* A Pod of 2026-11-17T12:00:00Z, which is minute 29915280, with @labels and this controller. */
static struct inf_object *pod_of(const char *labels, const char *api_version, const char *kind,
                                 const char *name)
{
    char *text =
        xasprintf("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','namespace':'shop',"
                  "'creationTimestamp':'2026-11-17T12:00:00Z','labels':{%s},'ownerReferences':["
                  "{'apiVersion':'example.com/v1','kind':'Bystander','name':'b','uid':'u-0'},"
                  "{'apiVersion':'%s','kind':'%s','name':'%s','uid':'u-9','controller':true}]}}",
                  labels, api_version, kind, name);
    char *json = with_quotes(text);
    struct inf_object *object = object_from(json);
    free(json);
    free(text);
    return object;
}

/* "Kind/name", or "none". */
static void assert_workload(const struct inf_object *pod, const char *labels,
                            const struct inf_object *watched, const char *expected)
{
    char *text = xasprintf("{%s}", labels), *json = with_quotes(text), found[400] = "none";
    struct inf_owner owner;
    struct workload workload;
    assert_int_equal(inf_object_controller(pod, &owner), 0);
    if (workload_find(pod, str_of(json), &owner, watched, &workload))
        snprintf(found, sizeof(found), "%s/%s", workload.kind, workload.name);
    assert_string_equal(found, expected);
    free(json);
    free(text);
}

static void the_workload_is_derived_only_from_evidence(void **state)
{
    static const struct {
        const char *labels, *api_version, *kind, *name, *workload;
    } rows[] = {
        {"'pod-template-hash':'7d9c'", "apps/v1", "ReplicaSet", "web-7d9c", "Deployment/web"},
        {"'pod-template-hash':'7d9c'", "apps/v1beta2", "ReplicaSet", "a-b-7d9c", "Deployment/a-b"},
        {"'pod-template-hash':'7d9c'", "apps/v1", "ReplicaSet", "web-7d9d", "ReplicaSet/web-7d9d"},
        {"'pod-template-hash':'7d9c'", "apps/v1", "ReplicaSet", "web7d9c", "ReplicaSet/web7d9c"},
        {"'pod-template-hash':'7d9c'", "apps/v1", "ReplicaSet", "-7d9c", "ReplicaSet/-7d9c"},
        {"'pod-template-hash':''", "apps/v1", "ReplicaSet", "web-", "ReplicaSet/web-"},
        {"'app':'web'", "apps/v1", "ReplicaSet", "web-7d9c", "ReplicaSet/web-7d9c"},
        {"'pod-template-hash':'7d9c'", "example.com/v1", "ReplicaSet", "web-7d9c",
         "ReplicaSet/web-7d9c"},
        {"'batch.kubernetes.io/job-name':'db-29915280'", "batch/v1", "Job", "db-29915280",
         "CronJob/db"},
        {"'job-name':'db-29915279'", "batch/v1", "Job", "db-29915279", "CronJob/db"},
        {"'job-name':'other'", "batch/v1", "Job", "db-29915280", "Job/db-29915280"},
        {"'app':'db'", "batch/v1", "Job", "db-29915280", "Job/db-29915280"},
        {"'job-name':'db-2991528'", "batch/v1", "Job", "db-2991528", "Job/db-2991528"},
        {"'job-name':'db-20261117'", "batch/v1", "Job", "db-20261117", "Job/db-20261117"},
        {"'job-name':'db-29999999'", "batch/v1", "Job", "db-29999999", "Job/db-29999999"},
        {"'job-name':'db-1794916800'", "batch/v1", "Job", "db-1794916800", "Job/db-1794916800"},
        {"'job-name':'db-29915280x'", "batch/v1", "Job", "db-29915280x", "Job/db-29915280x"},
        {"'job-name':'-29915280'", "batch/v1", "Job", "-29915280", "Job/-29915280"},
        {"", "apps/v1", "StatefulSet", "db", "StatefulSet/db"},
        {"", "apps/v1", "DaemonSet", "agent", "DaemonSet/agent"},
        {"", "v1", "ReplicationController", "old", "ReplicationController/old"},
        {"", "example.com/v1", "Robot", "r2", "Robot/r2"},
        {"", "v1", "Node", "node-1", "none"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct inf_object *pod =
            pod_of(rows[i].labels, rows[i].api_version, rows[i].kind, rows[i].name);
        assert_workload(pod, rows[i].labels, NULL, rows[i].workload);
        inf_object_unref(pod);
    }
}

static void a_watched_owner_decides(void **state)
{
    const char *labels = "'pod-template-hash':'7d9c'";
    struct inf_object *pod = pod_of(labels, "apps/v1", "ReplicaSet", "web-7d9c");
    struct sample alone, owned;
    (void)state;
    sample_make(&alone, NULL,
                "{'kind':'ReplicaSet','apiVersion':'apps/v1','metadata':{'name':'web-7d9c',"
                "'namespace':'shop','uid':'u-9'}}");
    sample_make(&owned, NULL,
                "{'kind':'ReplicaSet','apiVersion':'apps/v1','metadata':{'name':'web-7d9c',"
                "'namespace':'shop','uid':'u-9','ownerReferences':[{'apiVersion':"
                "'argoproj.io/v1alpha1','kind':'Rollout','name':'front','uid':'u-8',"
                "'controller':true}]}}");
    assert_workload(pod, labels, alone.after, "ReplicaSet/web-7d9c");
    assert_workload(pod, labels, owned.after, "Rollout/front");
    sample_free(&alone);
    sample_free(&owned);
    inf_object_unref(pod);
}

/* ---- the context ---- */

struct lookup {
    const struct inf_object *object;
    char requested[200];
};

static const struct inf_object *find_one(void *ctx, const char *cluster, const char *ns,
                                         const struct inf_owner *owner)
{
    struct lookup *lookup = ctx;
    snprintf(lookup->requested, sizeof(lookup->requested), "%.20s %.20s %.20s %.20s %.20s %.20s",
             cluster, ns, owner->api_version, owner->kind, owner->name, owner->uid);
    return lookup->object;
}

#define ALL_PARTS (CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE)

static void read_context(const struct inf_object *object, unsigned parts, struct lookup *lookup,
                         struct context *ret)
{
    struct context_reader reader;
    context_reader_init(&reader);
    if (lookup)
        reader.owners = (struct owner_lookup){lookup, find_one};
    *ret = (struct context){.has_owner = false};
    context_read(&reader, parts, "prod", object, ret);
    context_reader_done(&reader);
}

static void the_context_has_the_requested_parts(void **state)
{
    struct lookup lookup = {NULL, ""};
    struct context c;
    struct sample s;
    (void)state;
    sample_make(&s, NULL,
                "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','namespace':'shop',"
                "'labels':{'app':'web'},'ownerReferences':[{'apiVersion':'apps/v1',"
                "'kind':'ReplicaSet','name':'web-7','uid':'u-9','controller':true}]},"
                "'spec':{'nodeName':'node-1'}}");
    read_context(s.after, ALL_PARTS, &lookup, &c);
    assert_string_equal(lookup.requested, "prod shop apps/v1 ReplicaSet web-7 u-9");
    assert_int_equal(c.labels.len, strlen("{'app':'web'}"));
    assert_memory_equal(c.labels.at, "{\"app\":\"web\"}", c.labels.len);
    assert_true(c.has_owner && c.has_workload);
    assert_string_equal(c.owner.uid, "u-9");
    assert_string_equal(c.workload.kind, "ReplicaSet");
    assert_string_equal(c.node, "node-1");

    lookup.requested[0] = '\0';
    read_context(s.after, 0, &lookup, &c);
    assert_string_equal(lookup.requested, "");
    assert_false(c.labels.len || c.has_owner || c.has_workload || c.node[0]);
    read_context(s.after, CONTEXT_NODE, &lookup, &c);
    assert_false(c.labels.len || c.has_owner || c.has_workload);
    assert_string_equal(c.node, "node-1");
    sample_free(&s);
}

static void only_pods_have_a_workload_and_a_node(void **state)
{
    struct context c;
    struct sample s;
    (void)state;
    sample_make(&s, NULL,
                "{'kind':'ReplicaSet','apiVersion':'apps/v1','metadata':{'name':'web-7',"
                "'labels':{},'ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment',"
                "'name':'web','uid':'u-8','controller':true}]},'spec':{'nodeName':'x'}}");
    read_context(s.after, ALL_PARTS, NULL, &c);
    assert_true(c.has_owner);
    assert_false(c.labels.len || c.has_workload || c.node[0]);
    sample_free(&s);
}

static void an_object_without_these_fields_has_no_context(void **state)
{
    struct context c;
    struct sample s;
    (void)state;
    sample_make(&s, NULL,
                "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','labels':null,"
                "'ownerReferences':[{'kind':'ReplicaSet','name':'web-7'}]}}");
    read_context(s.after, ALL_PARTS, NULL, &c);
    assert_false(c.labels.len || c.has_owner || c.has_workload || c.node[0]);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_workload_is_derived_only_from_evidence),
        cmocka_unit_test(a_watched_owner_decides),
        cmocka_unit_test(the_context_has_the_requested_parts),
        cmocka_unit_test(only_pods_have_a_workload_and_a_node),
        cmocka_unit_test(an_object_without_these_fields_has_no_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
