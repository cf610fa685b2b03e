/*
 * test_resource_name.c - resource names as users write them, resolved with recorded discovery documents.
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
#include "kube/discovery/resource_name.h"
#include "recording.h"

#define LABEL_63 "a23456789012345678901234567890123456789012345678901234567890123"

/* ---- parsing ---- */

static const struct {
    const char *text, *name, *group, *version;
} words[] = {
    {"pods", "pods", NULL, NULL},
    {"Pod", "pod", NULL, NULL},
    {"deployments.apps", "deployments", "apps", NULL},
    {"Deployment.Apps", "deployment", "apps", NULL},
    {"deployments.v1.apps", "deployments", "apps", "v1"},
    {"deployments.apps/v1", "deployments", "apps", "v1"},
    {"hpa.v2beta2.autoscaling", "hpa", "autoscaling", "v2beta2"},
    {"x.v1alpha10.a.b", "x", "a.b", "v1alpha10"},
    {"widgets.example.com", "widgets", "example.com", NULL},
    {"widgets.v1.example.com", "widgets", "example.com", "v1"},
    {"widgets.example.com/v1", "widgets", "example.com", "v1"},
    {"pods.v1.", "pods", "", "v1"},
    {LABEL_63, LABEL_63, NULL, NULL},
    {"ingresses.networking.k8s.io/v1beta1", "ingresses", "networking.k8s.io", "v1beta1"},
    {"x.v1", "x", "v1", NULL}, /* one dot: the rest is a group */
    {"x.v1x.example.com", "x", "v1x.example.com", NULL},
    {"x.v1beta.example.com", "x", "v1beta.example.com", NULL},
    {"x.v1gamma1.example.com", "x", "v1gamma1.example.com", NULL},
    {"x.vx.example.com", "x", "vx.example.com", NULL},
};

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static void splits_names_at_their_dots(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct resource_name w;
        assert_int_equal(resource_name_parse(words[i].text, &w, NULL), 0);
        assert_string_equal(w.text, words[i].text);
        assert_string_equal(w.name, words[i].name);
        assert_string_equal(or_dash(w.group), or_dash(words[i].group));
        assert_string_equal(or_dash(w.version), or_dash(words[i].version));
        resource_name_free(&w);
    }
}

static void refuses_invalid_resource_names(void **state)
{
    static const char *const bad[] = {
        LABEL_63 "4",
        "a." LABEL_63 "4/v1",
        "pods?watch",
        "p%6fds",
        "pods\r\nX: y",
        "p\xc3\xb6",
        "",
        ".",
        "pods.",
        ".apps",
        "a b",
        "pods/v1",
        "pods/log",
        "a..b",
        "a.b/",
        "a.b/v1/c",
        "a.b/V 1",
        "../secrets",
        "a.v1..b",
        "a.b.",
        "-a",
        "a-",
        "a.-b",
        "a_b",
        "a.b/../v1",
        "pod\ns",
        "/",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct resource_name w = {.name = NULL};
        struct inf_error err = {0};
        assert_int_equal(resource_name_parse(bad[i], &w, &err), -INF_EINVAL);
        assert_non_null(strstr(err.text, "deployments.apps/v1"));
        assert_null(w.name);
    }
}

static void limits_the_length_of_a_name(void **state)
{
    char text[500];
    struct resource_name w;
    (void)state;
    memset(text, 'a', sizeof(text));
    text[400] = '\0';
    assert_int_equal(resource_name_parse(text, &w, NULL), -INF_EINVAL);
}

static void resolves_some_names_without_a_server(void **state)
{
    static const struct {
        const char *name, *complete;
    } rows[] = {
        {"pods", "/v1/pods"},
        {"Secrets", "/v1/secrets"},
        {"pods.v1.", "/v1/pods"},
        {"deployments.apps/v1", "apps/v1/deployments"},
        {"deployments.v1.apps", "apps/v1/deployments"},
        {"pod", NULL},
        {"po", NULL},
        {"deployments", NULL},
        {"deployments.apps", NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct resource_name w;
        struct resource r;
        char got[100] = "";
        assert_int_equal(resource_name_parse(rows[i].name, &w, NULL), 0);
        if (resource_name_is_complete(&w, &r)) {
            snprintf(got, sizeof(got), "%s/%s/%s", r.group, r.version, r.name);
            resource_free(&r);
        }
        assert_string_equal(got, rows[i].complete ? rows[i].complete : "");
        resource_name_free(&w);
    }
}

/* ---- resolving ---- */

static int open_table(void **state)
{
    static const char *const names[] = {"discovery-apis", "discovery-core-v1", "discovery-apps-v1",
                                        "discovery-example"};
    struct discovery *d = calloc(1, sizeof(*d));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct recording r;
        recording_open(&r, names[i]);
        assert_int_equal(discovery_add(d, recording_body(&r), NULL), 0);
        recording_close(&r);
    }
    *state = d;
    return 0;
}

static int close_table(void **state)
{
    discovery_free(*state);
    free(*state);
    return 0;
}

/* The resource that @text resolves to, or the error. Valid until the next call. */
static const char *resolved_name(const struct discovery *d, const char *text)
{
    static char got[INF_ERROR_TEXT_MAX];
    struct resource_name w;
    const struct api_resource *r;
    struct inf_error err = {0};
    assert_int_equal(resource_name_parse(text, &w, NULL), 0);
    if (resource_name_find(&w, d, &r, &err) == 0)
        snprintf(got, sizeof(got), "%s/%s/%s", r->group, r->version, r->name);
    else
        snprintf(got, sizeof(got), "%s", err.text);
    resource_name_free(&w);
    return got;
}

static void resolves_names_with_discovery(void **state)
{
    static const char *const rows[][2] = {
        {"po", "/v1/pods"},
        {"pod", "/v1/pods"},
        {"PODS", "/v1/pods"},
        {"Pod", "/v1/pods"},
        {"pods.v1.", "/v1/pods"},
        {"cm", "/v1/configmaps"},
        {"ConfigMap", "/v1/configmaps"},
        {"deploy", "apps/v1/deployments"},
        {"deployments.apps", "apps/v1/deployments"},
        {"deploy.apps", "apps/v1/deployments"},
        {"deployment.v1.apps", "apps/v1/deployments"},
        {"wd", "example.com/v1/widgets"},
        {"Widget.example.com/v1", "example.com/v1/widgets"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(resolved_name(*state, rows[i][0]), rows[i][1]);
}

static void suggests_a_name_for_an_unknown_one(void **state)
{
    static const char *const rows[][2] = {
        {"widgit", "resource 'widgit' is not known to the server; did you mean 'widget'?"},
        {"deplyoments",
         "resource 'deplyoments' is not known to the server; did you mean 'deployments'?"},
        {"zzzzzzzz", "resource 'zzzzzzzz' is not known to the server"},
        {"deployments.extensions", "resource 'deployments.extensions' is not known to the server; "
                                   "did you mean 'deployments.apps/v1'?"},
        {"pods.v2.", "resource 'pods.v2.' is not known to the server; did you mean 'pods'?"},
        {"bindings", "resource 'bindings': the server does not support list and watch for "
                     "bindings"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(resolved_name(*state, rows[i][0]), rows[i][1]);
}

#define LIST(version, resources) \
    "{\"kind\":\"APIResourceList\",\"groupVersion\":\"" version "\",\"resources\":[" resources "]}"
#define CAN "\"verbs\":[\"list\",\"watch\"]}"

static void reports_a_name_that_is_ambiguous_between_groups(void **state)
{
    static const char *const documents[] = {
        "{\"kind\":\"APIGroupList\",\"groups\":["
        "{\"name\":\"a.io\",\"versions\":[{\"version\":\"v1\"},{\"version\":\"v2\"}],"
        "\"preferredVersion\":{\"version\":\"v2\"}},"
        "{\"name\":\"b.io\",\"versions\":[{\"version\":\"v1\"}]}]}",
        LIST("a.io/v1", "{\"name\":\"things\",\"kind\":\"Thing\"," CAN
                        ",{\"name\":\"olds\",\"kind\":\"Old\"," CAN),
        LIST("a.io/v2", "{\"name\":\"things\",\"kind\":\"Thing\"," CAN
                        ",{\"name\":\"services\",\"kind\":\"Service\"," CAN),
        LIST("b.io/v1", "{\"name\":\"things\",\"kind\":\"Thing\"," CAN
                        ",{\"name\":\"longs\",\"kind\":\"Long\",\"shortNames\":[\"olds\"]," CAN),
        LIST("v1", "{\"name\":\"services\",\"kind\":\"Service\"," CAN),
    };
    static const char *const rows[][2] = {
        {"things", "resource 'things' is ambiguous; use one of: things.a.io/v2, things.b.io/v1"},
        {"things.a.io", "a.io/v2/things"}, /* the preferred version */
        {"things.v1.a.io", "a.io/v1/things"},
        {"olds",
         "a.io/v1/olds"}, /* only in that group; a name takes precedence over a short name */
        {"services", "/v1/services"}, /* the core group takes precedence over others */
        {"services.a.io", "a.io/v2/services"},
    };
    struct discovery d = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(documents); i++)
        assert_int_equal(discovery_add(&d, str_of(documents[i]), NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(resolved_name(&d, rows[i][0]), rows[i][1]);
    discovery_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_names_at_their_dots),
        cmocka_unit_test(refuses_invalid_resource_names),
        cmocka_unit_test(limits_the_length_of_a_name),
        cmocka_unit_test(resolves_some_names_without_a_server),
        cmocka_unit_test_setup_teardown(resolves_names_with_discovery, open_table, close_table),
        cmocka_unit_test_setup_teardown(suggests_a_name_for_an_unknown_one, open_table,
                                        close_table),
        cmocka_unit_test(reports_a_name_that_is_ambiguous_between_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
