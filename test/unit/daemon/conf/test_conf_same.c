/*
 * test_conf_same.c - which values and watches of two configurations are equal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/base.h"
#include "conf_world.h"
#include "daemon/conf/conf_read.h"
#include "daemon/conf/conf_same.h"

static void compares_watches_by_value(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"{resource: pods}", "{resource: pods}", true},
        {"{resource: pods, name: pods}", "{resource: pods}", true},
        {"{resource: pods, drop: [metadata.managedFields]}", "{resource: pods}", true},
        {"{resource: pods, drop: []}", "{resource: pods}", false},
        {"{resource: pods, redact: []}", "{resource: pods}", true},
        {"{resource: pods, namespaces: [a, b]}", "{namespaces: [a, b], resource: pods}", true},
        {"{resource: pods, namespaces: [a, b]}", "{resource: pods, namespaces: [b, a]}", false},
        {"{resource: pods, indexes: {n: a.b}}", "{resource: pods, indexes: {n: a.b}}", true},
        {"{resource: pods, indexes: {n: a.b}}", "{resource: pods, indexes: {n: a.c}}", false},
        {"{resource: pods, indexes: {n: a.b}}", "{resource: pods, indexes: {m: a.b}}", false},
        {"{resource: pods, reveal: true}", "{resource: pods}", false},
        {"{resource: pods, keep: metadata}", "{resource: pods}", false},
        {"{resource: pods, ignore: [heartbeats]}", "{resource: pods}", true},
        {"{resource: pods, name: p}", "{resource: pods}", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[256];
        struct conf a, b;
        snprintf(text, sizeof(text), "clusters: [{name: a}]\nwatches:\n  - %s\n", rows[i].a);
        a = conf_world_text(text);
        snprintf(text, sizeof(text), "clusters: [{name: a}]\n\nwatches: [%s]\n", rows[i].b);
        b = conf_world_text(text);
        if (conf_watch_same(&a.watches[0], &b.watches[0]) != rows[i].same)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        assert_true(conf_http_same(&a.http, &b.http));
        assert_true(conf_socket_same(&a.socket, &b.socket));
        conf_free(&a);
        conf_free(&b);
    }
}

static void compares_levels_by_value(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"[]", "[]", true},
        {"[{name: pod-failed, level: info}]", "[{level: info, name: pod-failed}]", true},
        {"[{name: pod-failed, level: info}]", "[{name: pod-failed, level: warn}]", false},
        {"[{name: pod-failed, level: info}]", "[]", false},
        {"[{kind: Pod, when: a=1, level: warn}]", "[{kind: Pod, when: a=2, level: warn}]", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[256];
        struct conf a, b;
        snprintf(text, sizeof(text), "watches: [{resource: pods}]\nlevels: %s\n", rows[i].a);
        a = conf_world_text(text);
        snprintf(text, sizeof(text), "levels: %s\nwatches: [{resource: pods}]\n", rows[i].b);
        b = conf_world_text(text);
        if (conf_levels_same(&a, &b) != rows[i].same)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        conf_free(&a);
        conf_free(&b);
    }
}

/* --print-config hides passwords, but a changed password is a change. */
static void compares_values_that_are_printed_alike(void **state)
{
    static const struct {
        const char *key, *a, *b;
        bool equal;
    } rows[] = {
        {"proxy", "proxy: 'http://u:one@p:1'", "proxy: 'http://u:one@p:1'", true},
        {"proxy", "proxy: 'http://u:one@p:1'", "proxy: 'http://u:two@p:1'", false},
        {"proxy", "proxy: none", "as: jane", false},
        {"exec_allow", "exec_allow: []", "as: jane", false}, /* none, any */
        {"exec_allow", "exec_allow: [aws]", "exec_allow: [aws]", true},
        {"stale_after", "stale_after: 5m", "stale_after: 300s", true},
        {"stale_after", "stale_after: 5m", "stale_after: 301s", false},
    };
    const struct conf_table *clusters = conf_option_find(&conf_table, "clusters")->table;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct conf_option *option = conf_option_find(clusters, rows[i].key);
        char text[256];
        struct conf a, b;
        snprintf(text, sizeof(text), "clusters: [{%s}]\n", rows[i].a);
        a = conf_world_text(text);
        snprintf(text, sizeof(text), "clusters: [{%s}]\n", rows[i].b);
        b = conf_world_text(text);
        if (option->type->equal(option, conf_member(option, a.clusters),
                                conf_member(option, b.clusters)) != rows[i].equal)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        conf_free(&a);
        conf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_watches_by_value),
        cmocka_unit_test(compares_levels_by_value),
        cmocka_unit_test(compares_values_that_are_printed_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
