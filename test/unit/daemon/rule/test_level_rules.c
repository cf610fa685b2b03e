/*
 * test_level_rules.c - the level of records: each built-in rule, what begins and what does not, and the
 * rules of the conf.
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
#include "base/file.h"
#include "changes.h"
#include "daemon/record/note.h"
#include "daemon/rule/level_rules.h"

static const struct watch_id nameless = {0};

static struct level_rules *make(const struct level_rule *rules, size_t n)
{
    struct inf_error err;
    struct level_rules *made = level_rules_make(rules, n, &err);
    if (!made)
        fail_msg("%s", err.text);
    return made;
}

/* "warn container-failed", or "info". The caller frees it. */
static char *decide(const struct level_rules *rules, const struct sample *s)
{
    struct change change;
    sample_change(&change, &nameless, &s->event, s->diff);
    level_rules_apply(rules, &change);
    return xasprintf("%s%s%s", note_level_name(change.level), change.rule ? " " : "",
                     change.rule ? change.rule : "");
}

static void expect_level(const struct level_rules *rules, const char *kind, const char *before,
                         const char *after, const char *expected)
{
    static const char form[] = "{'kind':'%s','apiVersion':'v1','metadata':{'name':'a',"
                               "'namespace':'b','uid':'c','resourceVersion':'1'},%s}";
    char *old_text = before ? xasprintf(form, kind, before) : NULL;
    char *new_text = after ? xasprintf(form, kind, after) : NULL, *level;
    struct sample s;
    sample_make(&s, old_text, new_text);
    level = decide(rules, &s);
    if (strcmp(level, expected) != 0)
        fail_msg("%s %s -> %s: %s, expected %s", kind, before ? before : "", after ? after : "",
                 level, expected);
    free(level);
    free(old_text);
    free(new_text);
    sample_free(&s);
}

#define STATUS(s)     "'status':{" s "}"
#define CONTAINERS(c) STATUS("'containerStatuses':[" c "]")
#define INIT(c)       STATUS("'initContainerStatuses':[" c "]")
#define EPHEMERAL(c)  STATUS("'ephemeralContainerStatuses':[" c "]")
#define C(name, rest) "{'name':'" name "','restartCount':0," rest "}"
#define RUNNING       "'state':{'running':{'startedAt':'x'}}"
#define WAITING(why)  "'state':{'waiting':{'reason':'" why "'}}"
#define ENDED(code, why, at) \
    "{'terminated':{'exitCode':" code ",'reason':'" why "','finishedAt':'" at "'}}"
#define CONDITION(type, status, rest) \
    STATUS("'conditions':[{'type':'" type "','status':'" status "'" rest "}]")

static const struct {
    const char *kind, *before, *after, *level;
} rows[] = {
    /* containers that terminate */
    {"Pod", CONTAINERS(C("web", RUNNING)),
     CONTAINERS(C("web", "'state':" ENDED("1", "Error", "1"))), "warn container-failed"},
    {"Pod", CONTAINERS(C("web", RUNNING)),
     CONTAINERS(C("web", "'state':" ENDED("0", "Completed", "1"))), "info"},
    {"Pod", CONTAINERS(C("web", RUNNING)),
     CONTAINERS(C("web", "'state':" ENDED("137", "OOMKilled", "1"))), "error oom-killed"},
    {"Pod", INIT(C("web", RUNNING)), INIT(C("web", "'state':" ENDED("137", "OOMKilled", "1"))),
     "error oom-killed"},
    {"Pod", EPHEMERAL(C("web", RUNNING)), EPHEMERAL(C("web", "'state':" ENDED("2", "Error", "1"))),
     "warn container-failed"},
    /* seen only after the restart */
    {"Pod", CONTAINERS(C("web", RUNNING)),
     CONTAINERS(C("web", RUNNING ",'lastState':" ENDED("137", "OOMKilled", "1"))),
     "error oom-killed"},
    /* again, with the same reason */
    {"Pod", CONTAINERS(C("web", RUNNING ",'lastState':" ENDED("137", "OOMKilled", "1"))),
     CONTAINERS(C("web", RUNNING ",'lastState':" ENDED("137", "OOMKilled", "2"))),
     "error oom-killed"},
    /* the same termination, now the last state */
    {"Pod", CONTAINERS(C("web", "'state':" ENDED("137", "OOMKilled", "1"))),
     CONTAINERS(C("web", RUNNING ",'lastState':" ENDED("137", "OOMKilled", "1"))), "info"},
    {"Pod", CONTAINERS(C("web", "'state':" ENDED("1", "Error", "1"))),
     CONTAINERS(C("web", "'ready':false,'state':" ENDED("1", "Error", "1"))), "info"},
    /* another container of the same pod */
    {"Pod", CONTAINERS(C("web", "'state':" ENDED("1", "Error", "1")) "," C("db", RUNNING)),
     CONTAINERS(C("web", "'state':" ENDED("1", "Error", "1")) "," C(
         "db", "'state':" ENDED("1", "Error", "1"))),
     "warn container-failed"},
    /* containers that do not start */
    {"Pod", CONTAINERS(C("web", RUNNING)), CONTAINERS(C("web", WAITING("CrashLoopBackOff"))),
     "error crash-loop"},
    {"Pod", CONTAINERS(C("web", WAITING("CrashLoopBackOff")) "," C("db", RUNNING)),
     CONTAINERS(C("web", WAITING("CrashLoopBackOff")) "," C("db", WAITING("CrashLoopBackOff"))),
     "error crash-loop"},
    {"Pod", CONTAINERS(C("web", WAITING("ContainerCreating"))),
     CONTAINERS(C("web", WAITING("ErrImagePull"))), "warn image-pull-error"},
    {"Pod", INIT(C("web", WAITING("ErrImagePull"))), INIT(C("web", WAITING("ImagePullBackOff"))),
     "error image-pull-backoff"},
    {"Pod", CONTAINERS(C("web", WAITING("ImagePullBackOff"))),
     CONTAINERS(C("web", WAITING("ErrImagePull"))), "warn image-pull-error"},
    {"Pod", CONTAINERS(C("web", WAITING("x"))),
     CONTAINERS(C("web", WAITING("CreateContainerConfigError"))), "error container-start-error"},
    {"Pod", CONTAINERS(C("web", WAITING("CrashLoopBackOff"))), CONTAINERS(C("web", RUNNING)),
     "info"},
    /* restarts */
    {"Pod", CONTAINERS("{'name':'web','restartCount':1}"),
     CONTAINERS("{'name':'web','restartCount':2}"), "warn container-restarted"},
    {"Pod", CONTAINERS("{'name':'web','restartCount':9}"),
     CONTAINERS("{'name':'web','restartCount':10}"), "warn container-restarted"},
    {"Pod", CONTAINERS("{'name':'web','restartCount':2}"),
     CONTAINERS("{'name':'web','restartCount':0}"), "info"},
    {"Pod", CONTAINERS("{'name':'web','restartCount':2}"),
     CONTAINERS("{'name':'db','restartCount':3},{'name':'web','restartCount':2}"), "info"},
    {"Pod", NULL, CONTAINERS("{'name':'web','restartCount':2}"), "info"},
    {"Pod", CONTAINERS("{'name':'db','restartCount':3},{'name':'web','restartCount':2}"),
     CONTAINERS("{'name':'db','restartCount':1},{'name':'web','restartCount':4}"),
     "warn container-restarted"},
    /* where the diff does not name the item, both states are read */
    {"Pod", CONTAINERS("{'name':'web','restartCount':2}"),
     CONTAINERS("{'name':'db','restartCount':0},{'name':'web','restartCount':3}"),
     "warn container-restarted"},
    {"Pod", CONTAINERS("{'restartCount':2}"), CONTAINERS("{'restartCount':3}"),
     "warn container-restarted"},
    {"Pod", CONTAINERS("{'name':'web','restartCount':2}"),
     CONTAINERS("{'name':'web','restartCount':'3'}"), "info"},
    /* pods */
    {"Pod", STATUS("'phase':'Running'"), STATUS("'phase':'Failed'"), "warn pod-failed"},
    {"Pod", STATUS("'phase':'Running'"), STATUS("'phase':'Failed','reason':'Evicted'"),
     "warn pod-evicted"},
    {"Pod", STATUS("'phase':'Running'"), CONDITION("DisruptionTarget", "True", ""),
     "warn pod-evicted"},
    {"Pod", STATUS("'phase':'Pending'"), STATUS("'phase':'Running'"), "info"},
    {"Pod", "'spec':{'a':1}", "'spec':{'a':2}", "info"},
    /* an object as it is */
    {"Pod", NULL, CONTAINERS(C("web", WAITING("CrashLoopBackOff"))), "error crash-loop"},
    {"Pod", NULL, CONTAINERS(C("web", "'state':" ENDED("1", "Error", "1"))),
     "warn container-failed"},
    {"Pod", NULL, CONTAINERS(C("web", RUNNING ",'lastState':" ENDED("137", "OOMKilled", "1"))),
     "info"},
    {"Pod", CONTAINERS(C("web", WAITING("CrashLoopBackOff"))), NULL, "info"},
    /* nodes */
    {"Node", CONDITION("Ready", "True", ""), CONDITION("Ready", "False", ""),
     "error node-not-ready"},
    {"Node", CONDITION("Ready", "True", ""), CONDITION("Ready", "Unknown", ""),
     "error node-not-ready"},
    {"Node", CONDITION("Ready", "False", ""), CONDITION("Ready", "Unknown", ""), "info"},
    {"Node", CONDITION("Ready", "False", ""), CONDITION("Ready", "True", ""), "info"},
    {"Node", CONDITION("MemoryPressure", "False", ""), CONDITION("MemoryPressure", "True", ""),
     "warn node-pressure"},
    {"Node", CONDITION("DiskPressure", "False", ""), CONDITION("DiskPressure", "True", ""),
     "warn node-pressure"},
    {"Node", CONDITION("PIDPressure", "False", ""), CONDITION("PIDPressure", "True", ""),
     "warn node-pressure"},
    /* controllers */
    {"Job", STATUS("'active':1"), CONDITION("Failed", "True", ""), "error job-failed"},
    {"Job", STATUS("'active':1"), CONDITION("Complete", "True", ""), "info"},
    {"Deployment", CONDITION("Progressing", "True", ",'reason':'ReplicaSetUpdated'"),
     CONDITION("Progressing", "False", ",'reason':'ProgressDeadlineExceeded'"),
     "error rollout-stalled"},
    {"ReplicaSet", STATUS("'replicas':0"),
     CONDITION("ReplicaFailure", "True", ",'reason':'FailedCreate'"), "warn replica-failure"},
    {"Job", STATUS("'replicas':0"),
     CONDITION("Any", "True", ",'message':'pods \\'a\\' is forbidden: exceeded quota: q'"),
     "warn quota-exceeded"},
    {"StatefulSet", STATUS("'replicas':0"),
     CONDITION("Any", "True", ",'message':'admission webhook \\'w.example.com\\' denied it'"),
     "warn webhook-failed"},
    {"APIService", CONDITION("Available", "True", ""), CONDITION("Available", "False", ""),
     "warn api-unavailable"},
    {"PersistentVolumeClaim", STATUS("'phase':'Bound'"), STATUS("'phase':'Lost'"),
     "error claim-lost"},
    /* Events: each record, whatever changed */
    {"Event", NULL, "'type':'Warning'", "warn warning-event"},
    {"Event", NULL, "'type':'Normal'", "info"},
    {"Event", "'type':'Warning','count':1", "'type':'Warning','count':2", "warn warning-event"},
    {"Event", "'type':'Warning'", NULL, "warn warning-event"},
    /* other kinds */
    {"ConfigMap", "'status':{'phase':'a'}", "'status':{'phase':'Failed'}", "info"},
};

static void built_in_rules_decide(void **state)
{
    struct level_rules *rules = make(NULL, 0);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_level(rules, rows[i].kind, rows[i].before, rows[i].after, rows[i].level);
    level_rules_free(rules);
    level_rules_free(NULL);
}

/* A rule that no row above reaches could be wrong in any way. */
static void each_built_in_rule_is_tested(void **state)
{
    (void)state;
    for (const struct level_rule *rule = level_table; rule->name; rule++) {
        bool tested = false;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const char *name = strchr(rows[i].level, ' ');
            tested = tested || (name && strcmp(name + 1, rule->name) == 0);
        }
        if (!tested)
            fail_msg("%s", rule->name);
        assert_ptr_equal(level_rule_find(rule->name), rule);
    }
    assert_null(level_rule_find("other"));
}

/* informerd-events(5) lists the rules, with their levels. */
static void each_built_in_rule_is_documented(void **state)
{
    const char *data = getenv("TEST_DATA");
    char *path = xasprintf("%s/../../src/daemon/man/informerd-events.5", data), *text = NULL;
    size_t len;
    (void)state;
    assert_int_equal(file_read(path, 1 << 20, &text, &len, NULL), 0);
    for (const struct level_rule *rule = level_table; rule->name; rule++) {
        struct buf line = {0};
        buf_puts(&line, "\n.BR ");
        for (const char *c = rule->name; *c; c++)
            buf_puts(&line, *c == '-' ? "\\-" : (char[]){*c, '\0'});
        buf_printf(&line, " \" (%s)\"\n", note_level_name(rule->level));
        buf_putc(&line, '\0');
        if (!strstr(text, line.bytes))
            fail_msg("informerd-events(5) lacks%s", line.bytes);
        buf_free(&line);
    }
    free(text);
    free(path);
}

static void without_rules_the_level_is_info(void **state)
{
    (void)state;
    expect_level(NULL, "Event", NULL, "'type':'Warning'", "info");
}

static void the_conf_adds_and_replaces_rules(void **state)
{
    const struct level_rule conf[] = {
        {NULL, "ConfigMap", LEVEL_CHANGED, {"data[*]"}, INF_LOG_WARN},
        {"big", "ConfigMap", LEVEL_WHEN, {"data.size>=10"}, INF_LOG_ERROR},
        {"crash-loop", NULL, LEVEL_WHEN, {NULL}, INF_LOG_WARN},
        {"pod-failed", NULL, LEVEL_WHEN, {NULL}, INF_LOG_INFO},
        {"node-not-ready", "Machine", LEVEL_WHEN, {"status.up=no"}, INF_LOG_ERROR},
        {"mine", "PersistentVolumeClaim", LEVEL_WHEN, {"status.phase=Lost"}, INF_LOG_ERROR},
    };
    struct level_rules *rules = make(conf, ARRAY_LEN(conf));
    (void)state;
    expect_level(rules, "ConfigMap", "'data':{'size':1}", "'data':{'size':2}", "warn");
    expect_level(rules, "ConfigMap", "'data':{'size':1}", "'data':{'size':10}", "error big");
    expect_level(rules, "ConfigMap", "'data':{'size':1},'x':1", "'data':{'size':1},'x':2", "info");
    expect_level(rules, "ConfigMap", NULL, "'data':{'size':1}", "info");
    expect_level(rules, "Pod", CONTAINERS(C("web", RUNNING)),
                 CONTAINERS(C("web", WAITING("CrashLoopBackOff"))), "warn crash-loop");
    expect_level(rules, "Pod", STATUS("'phase':'Running'"), STATUS("'phase':'Failed'"), "info");
    expect_level(rules, "Node", CONDITION("Ready", "True", ""), CONDITION("Ready", "False", ""),
                 "info");
    expect_level(rules, "Machine", STATUS("'up':'yes'"), STATUS("'up':'no'"),
                 "error node-not-ready");
    /* of the same level: the conf is first */
    expect_level(rules, "PersistentVolumeClaim", STATUS("'phase':'Bound'"),
                 STATUS("'phase':'Lost'"), "error mine");
    level_rules_free(rules);
}

static void a_rule_that_can_t_be_parsed_is_named(void **state)
{
    const struct level_rule conf = {"mine", "Pod", LEVEL_WHEN, {"status.phase"}, INF_LOG_WARN};
    struct inf_error err;
    (void)state;
    assert_null(level_rules_make(&conf, 1, &err));
    assert_non_null(strstr(err.text, "level rule 'mine': condition 'status.phase': column 13"));
    assert_null(level_rules_make(&conf, 1, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_rules_decide),
        cmocka_unit_test(each_built_in_rule_is_tested),
        cmocka_unit_test(each_built_in_rule_is_documented),
        cmocka_unit_test(without_rules_the_level_is_info),
        cmocka_unit_test(the_conf_adds_and_replaces_rules),
        cmocka_unit_test(a_rule_that_can_t_be_parsed_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
