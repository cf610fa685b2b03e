/*
 * test_discovery.c - discovery documents, recorded and synthetic.
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
#include "kube/discovery/discovery.h"
#include "recording.h"

static void add_recording(struct discovery *d, const char *name)
{
    struct recording r;
    struct inf_error err = {0};
    recording_open(&r, name);
    assert_int_equal(discovery_add(d, recording_body(&r), &err), 0);
    recording_close(&r);
}

static const struct api_resource *find(const struct discovery *d, const char *name)
{
    for (size_t i = 0; i < d->n_resources; i++)
        if (strcmp(d->resources[i].name, name) == 0)
            return &d->resources[i];
    fail_msg("no %s", name);
    return NULL;
}

static void reads_the_resources_of_the_core_group(void **state)
{
    struct discovery d = {0};
    const struct api_resource *r;
    (void)state;
    add_recording(&d, "discovery-core-v1");
    r = find(&d, "pods");
    assert_string_equal(r->group, "");
    assert_string_equal(r->version, "v1");
    assert_string_equal(r->singular, "pod");
    assert_string_equal(r->kind, "Pod");
    assert_string_equal(r->short_names[0], "po");
    assert_null(r->short_names[1]);
    assert_true(r->namespaced && r->watchable);
    assert_false(find(&d, "nodes")->namespaced);
    assert_false(find(&d, "componentstatuses")->watchable); /* it can be listed */
    assert_false(find(&d, "bindings")->watchable);
    for (size_t i = 0; i < d.n_resources; i++)
        assert_null(
            strchr(d.resources[i].name, '/')); /* subresources such as pods/log are not resources */
    discovery_free(&d);
}

static void reads_groups_and_their_versions(void **state)
{
    struct discovery d = {0};
    (void)state;
    add_recording(&d, "discovery-apis");
    assert_true(d.n_versions > 10);
    assert_string_equal(discovery_preferred(&d, "apps"), "v1");
    assert_string_equal(discovery_preferred(&d, "example.com"), "v1");
    assert_null(discovery_preferred(&d, "absent.example.com"));
    add_recording(&d, "discovery-apps-v1");
    add_recording(&d, "discovery-example");
    assert_string_equal(find(&d, "deployments")->group, "apps");
    assert_string_equal(find(&d, "widgets")->group, "example.com");
    discovery_free(&d);
}

static int add_text(struct discovery *d, const char *text, struct inf_error *err)
{
    return discovery_add(d, str_of(text), err);
}

static void reads_a_single_group(void **state)
{
    struct discovery d = {0};
    struct inf_error err = {0};
    (void)state;
    assert_int_equal(
        add_text(&d,
                 "{\"kind\":\"APIGroup\",\"name\":\"a.b\",\"versions\":[{\"version\":\"v1\"},"
                 "{\"version\":\"v2\"},{\"version\":\"../x\"}],"
                 "\"preferredVersion\":{\"version\":\"v2\"}}",
                 &err),
        0);
    assert_int_equal(d.n_versions, 2);
    assert_string_equal(discovery_preferred(&d, "a.b"), "v2");
    discovery_free(&d);
}

static void skips_resources_that_cannot_be_requested(void **state)
{
    static const char text[] =
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"a/v1\",\"resources\":["
        "7,{},{\"name\":\"../x\",\"kind\":\"X\"},{\"name\":\"x\",\"kind\":\"X Y\"},"
        "{\"name\":\"x\",\"kind\":\"X\",\"singularName\":\"/\"},{\"name\":\"Xs\",\"kind\":\"X\"},"
        "{\"name\":\"xs\",\"kind\":\"X\",\"shortNames\":[\"good\",\"a b\",3],\"verbs\":[\"list\"],"
        "\"categories\":[\"all\",\"/\"]}]}";
    struct discovery d = {0};
    struct inf_error err = {0};
    (void)state;
    assert_int_equal(add_text(&d, text, &err), 0);
    assert_int_equal(d.n_resources, 1);
    assert_string_equal(d.resources[0].short_names[0], "good");
    assert_null(d.resources[0].short_names[1]);
    assert_string_equal(d.resources[0].categories[0], "all");
    assert_null(d.resources[0].categories[1]);
    assert_string_equal(d.resources[0].verbs[0], "list");
    assert_null(d.resources[0].verbs[1]);
    assert_false(d.resources[0].watchable || d.resources[0].namespaced);
    discovery_free(&d);
}

static void a_resource_has_one_preferred_version(void **state)
{
    static const char *const texts[] = {
        "{\"kind\":\"APIGroup\",\"name\":\"a.b\",\"versions\":[{\"version\":\"v1\"},"
        "{\"version\":\"v2\"},{\"version\":\"v3\"}],\"preferredVersion\":{\"version\":\"v2\"}}",
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"a.b/v1\",\"resources\":["
        "{\"name\":\"old\",\"kind\":\"Old\"},{\"name\":\"both\",\"kind\":\"Both\"}]}",
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"a.b/v2\",\"resources\":["
        "{\"name\":\"both\",\"kind\":\"Both\"}]}",
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"a.b/v3\",\"resources\":["
        "{\"name\":\"old\",\"kind\":\"Old\"}]}",
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":["
        "{\"name\":\"pods\",\"kind\":\"Pod\"}]}",
    };
    static const bool preferred[] = {true, false, true, false, true};
    struct discovery d = {0};
    struct inf_error err = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(add_text(&d, texts[i], &err), 0);
    assert_int_equal(d.n_resources, ARRAY_LEN(preferred));
    for (size_t i = 0; i < ARRAY_LEN(preferred); i++)
        assert_int_equal(discovery_is_preferred(&d, &d.resources[i]), preferred[i]);
    discovery_free(&d);
}

static void refuses_other_documents(void **state)
{
    static const char *const texts[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"kind\":\"PodList\",\"items\":[]}",
        "{\"kind\":7}",
        "{\"kind\":\"APIResourceList\"}",
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"a/b/c\"}",
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"/v1\"}",
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"apps/v1\"",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct discovery d = {0};
        struct inf_error err = {0};
        assert_int_equal(add_text(&d, texts[i], &err), -INF_EDECODE);
        assert_int_equal(err.code, INF_EDECODE);
        discovery_free(&d);
    }
}

/* Every prefix is refused, without leaks. */
static void refuses_an_incomplete_document(void **state)
{
    struct recording r;
    struct inf_error err;
    (void)state;
    recording_open(&r, "discovery-example");
    for (size_t len = 0; len < recording_body(&r).len - 1;
         len++) { /* the final newline may be missing */
        struct discovery d = {0};
        char *part = xmalloc(len + 1);
        memcpy(part, recording_body(&r).at, len);
        assert_int_equal(discovery_add(&d, (struct str){part, len}, &err), -INF_EDECODE);
        free(part);
        discovery_free(&d);
    }
    recording_close(&r);
}

static void limits_groups_versions_and_resources(void **state)
{
    struct discovery d = {0};
    struct inf_error err = {0};
    struct buf text = {0};
    int rc = 0;
    (void)state;
    buf_puts(&text, "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":[");
    for (int i = 0; i < 9000; i++)
        buf_printf(&text, "%s{\"name\":\"r%d\",\"kind\":\"R\"}", i ? "," : "", i);
    buf_puts(&text, "]}");
    for (int i = 0; i < 3; i++)
        rc = discovery_add(&d, (struct str){text.bytes, text.len}, &err);
    assert_int_equal(rc, -INF_ETOOBIG);
    assert_int_equal(d.n_resources, 18000);
    buf_free(&text);
    discovery_free(&d);
    buf_puts(&text, "{\"kind\":\"APIGroup\",\"name\":\"a\",\"versions\":[");
    for (int i = 0; i < 2001; i++)
        buf_printf(&text, "%s{\"version\":\"v%d\"}", i ? "," : "", i);
    buf_puts(&text, "]}");
    assert_int_equal(discovery_add(&d, (struct str){text.bytes, text.len}, &err), -INF_ETOOBIG);
    buf_free(&text);
    discovery_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_resources_of_the_core_group),
        cmocka_unit_test(reads_groups_and_their_versions),
        cmocka_unit_test(reads_a_single_group),
        cmocka_unit_test(skips_resources_that_cannot_be_requested),
        cmocka_unit_test(a_resource_has_one_preferred_version),
        cmocka_unit_test(refuses_other_documents),
        cmocka_unit_test(refuses_an_incomplete_document),
        cmocka_unit_test(limits_groups_versions_and_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
