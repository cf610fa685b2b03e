/*
 * test_not_found.c - when a 404 means that a resource does not exist, and when it is a failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "named_world.h"

/* Reported as INF_ENOTFOUND, it would make callers report all objects as deleted. */
static void a_404_for_a_listed_resource_is_a_server_failure(void **state)
{
    static const char *const words[] = {"deploy.apps", "deployments.apps/v1", "deploy"};
    struct named_world w;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        named_world_deployments_404(&w, words[i], PAGE);
        for (int times = 0; times < 20; times++) { /* without limit */
            named_world_expect_list(&w, "GET " DEPLOYMENTS "\n" APPS_DOCUMENTS STRAY PAGE
                                        "; but discovery lists the resource\n");
            sim_advance(&w.sim, 5000);
        }
        w.missing = NULL;
        named_world_expect_list(&w, "GET " DEPLOYMENTS "\n" LISTED);
        named_world_done(&w);
    }
}

static void a_404_is_confirmed_by_discovery(void **state)
{
    struct named_world w;
    (void)state;
    named_world_deployments_404(&w, "deploy.apps", PAGE);
    w.no_apps = true;
    named_world_expect_list(
        &w, "GET " DEPLOYMENTS "\nGET /apis/apps\nGET /apis\n"
            "INF_ENOTFOUND: resource 'deploy.apps' is not known to the server (HTTP 404)\n");
    named_world_done(&w);
    named_world_init(&w, "gadgets.example.com/v1", NULL);
    w.missing = "/apis/example.com/v1/gadgets?limit=5";
    named_world_expect_list(
        &w, "found example.com/v1/gadgets -\nGET /apis/example.com/v1/gadgets?limit=5\n"
            "GET /apis/example.com\nGET /apis/example.com/v1\n"
            "INF_ENOTFOUND: resource 'gadgets.example.com/v1' is not known to the server; did you "
            "mean 'widgets'? (HTTP 404)\n");
    named_world_done(&w);
}

/* Issue 14, 32: the same if its group does not answer, or only a load balancer does. */
static void discovery_without_response_does_not_confirm_a_404(void **state)
{
    struct named_world w;
    (void)state;
    named_world_deployments_404(&w, "deploy.apps", NULL);
    w.broken = "/apis/apps/v1";
    named_world_expect_list(
        &w, "GET " DEPLOYMENTS "\n" APPS_DOCUMENTS STRAY
            "no; check the resource's name, group and version; see kubectl api-resources; "
            "discovery can't confirm it: resource 'deploy.apps': apps/v1 does not respond (k:6443: "
            "the server returned HTTP 503: down)\n");
    w.broken = NULL;
    w.hanging = "/apis/apps/v1";
    sim_advance(&w.sim, 1000);
    named_world_list(&w);
    sim_advance(&w.sim, LOOKUP_GROUP_MS);
    named_world_expect(
        &w, "GET " DEPLOYMENTS "\n" APPS_DOCUMENTS "INF_ETIMEOUT: k:6443: the server returned HTTP "
            "404: no; check the resource's name, group and version; see kubectl api-resources; "
            "discovery can't confirm it: resource 'deploy.apps': apps/v1 does not respond (no "
            "response within 5 s)\n");
    w.all_404 = true;
    named_world_expect_list(
        &w, "GET " DEPLOYMENTS "\nGET /apis/apps\nGET /apis\n" STRAY
            "no; check the resource's name, group and version; see kubectl api-resources; "
            "discovery can't confirm it: k:6443: the server returned HTTP 404: no\n");
    named_world_done(&w);
}

static void the_first_lookup_does_not_trust_a_load_balancer(void **state)
{
    static const struct {
        const char *name, *events;
    } cases[] = {
        {"po", "GET /api/v1\n" STRAY "no\n"},
        {"Widget", "GET /api/v1\n" STRAY "no\n"},
        {"deploy.apps", "GET /apis/apps\nGET /apis\n" STRAY "no\n"},
    };
    struct named_world w;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        named_world_init(&w, cases[i].name, NULL);
        w.all_404 = true;
        named_world_expect_list(&w, cases[i].events);
        named_world_done(&w);
    }
}

#define STATUS(details)                                                                       \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"gone\"," \
    "\"reason\":\"NotFound\",\"details\":{" details "},\"code\":404}"

/* At least four times, and over ten seconds. */
static void accepts_repeated_404s_of_the_api_itself(void **state)
{
    struct named_world w;
    (void)state;
    named_world_deployments_404(&w, "deploy.apps", STATUS(""));
    for (int i = 0; i < 10; i++) {
        named_world_list(&w);
        assert_true(named_world_has_event(&w, "INF_ESERVER: "));
        sim_advance(&w.sim, 999);
    }
    sim_advance(&w.sim, 10);
    named_world_list(&w);
    assert_true(
        named_world_has_event(&w, "INF_ENOTFOUND: k:6443: server error: gone (404 NotFound); "));
    named_world_done(&w);
    named_world_deployments_404(&w, "deploy.apps", STATUS("\"kind\":\"deployments\""));
    for (int i = 0; i < 3; i++) {
        named_world_list(&w);
        assert_true(named_world_has_event(&w, "INF_ESERVER: "));
        sim_advance(&w.sim, 20 * 1000);
    }
    w.missing = NULL; /* meanwhile it exists */
    named_world_list(&w);
    w.missing = DEPLOYMENTS;
    buf_clear(&w.events);
    named_world_list(&w);
    assert_true(named_world_has_event(&w, "INF_ESERVER: "));
    named_world_done(&w);
}

static void a_status_about_another_resource_is_no_denial(void **state)
{
    static const char *const pages[] = {
        STATUS("\"kind\":\"namespaces\",\"name\":\"shop\""),
        STATUS("\"group\":\"example.com\",\"kind\":\"deployments\""),
        STATUS("\"kind\":\"pods\""),
        "{\"kind\":\"Page\",\"reason\":\"NotFound\"}",
        "",
    };
    struct named_world w;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        named_world_deployments_404(&w, "deploy.apps", pages[i]);
        for (int times = 0; times < 20; times++) {
            named_world_list(&w);
            assert_true(named_world_has_event(&w, "INF_ESERVER: "));
            sim_advance(&w.sim, 5000);
        }
        named_world_done(&w);
    }
}

static void a_confirmation_can_be_cancelled_or_paused_at_any_tick(void **state)
{
    (void)state;
    for (int pause = 0; pause <= 1; pause++)
        for (unsigned ticks = 0; ticks < 30; ticks++) {
            struct named_world w;
            named_world_deployments_404(&w, "deploy.apps", PAGE);
            w.pipes.cut = 997;
            named_world_open_list(w.named, &w.user);
            for (unsigned i = 0; i < ticks; i++)
                sim_tick(&w.sim);
            if (pause) {
                source_pause(named_source_source(w.named));
                sim_run(&w.sim);
                source_resume(named_source_source(w.named));
                sim_run(&w.sim);
                assert_true(named_world_has_event(&w, STRAY PAGE));
            }
            named_world_done(&w);
        }
}

/* Issue 14, 36: it waited for as long as the group did not answer. */
static void skips_a_group_that_does_not_respond_in_time(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "Widget", NULL);
    w.hanging = "/apis/apps/v1";
    named_world_list(&w);
    assert_true(source_is_preparing(named_source_source(w.named)));
    named_world_expect(&w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\n");
    sim_advance(&w.sim, LOOKUP_GROUP_MS);
    named_world_expect(&w, "GET /apis/example.com/v1\nfound example.com/v1/widgets Widget\n"
                           "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    assert_false(source_is_preparing(named_source_source(w.named)));
    named_world_expect_warnings(
        &w, "resource 'Widget': using widgets.example.com/v1, but apps/v1 does not respond (no "
            "response within 5 s); specify the group to be certain\n");
    named_world_done(&w);
}

/* Issue 14, 38: the other group could have the same name. */
static void warns_if_another_group_failed_during_the_lookup(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "Widget", NULL);
    w.broken = "/apis/apps/v1";
    named_world_list(&w);
    named_world_expect_warnings(
        &w, "resource 'Widget': using widgets.example.com/v1, but apps/v1 does not respond "
            "(k:6443: the server returned HTTP 503: down); specify the group to be certain\n");
    named_world_done(&w);
    named_world_init(&w, "widgets.example.com", NULL); /* a name with a group is not ambiguous */
    w.broken = "/apis/apps/v1";
    named_world_list(&w);
    named_world_expect_warnings(&w, "");
    named_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_404_for_a_listed_resource_is_a_server_failure),
        cmocka_unit_test(a_404_is_confirmed_by_discovery),
        cmocka_unit_test(discovery_without_response_does_not_confirm_a_404),
        cmocka_unit_test(the_first_lookup_does_not_trust_a_load_balancer),
        cmocka_unit_test(accepts_repeated_404s_of_the_api_itself),
        cmocka_unit_test(a_status_about_another_resource_is_no_denial),
        cmocka_unit_test(a_confirmation_can_be_cancelled_or_paused_at_any_tick),
        cmocka_unit_test(skips_a_group_that_does_not_respond_in_time),
        cmocka_unit_test(warns_if_another_group_failed_during_the_lookup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
