/*
 * test_named_source.c - resolves a resource name and lists its objects from a simulated server.
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

/* One list of @name in @ns in a world of its own. */
static void expect_listing(const char *name, const char *ns, const char *expected)
{
    struct named_world w;
    named_world_init(&w, name, ns);
    named_world_expect_list(&w, expected);
    named_world_done(&w);
}

static void needs_no_lookup_for_a_full_name(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "widgets.example.com/v1", NULL);
    named_world_expect(&w, "found example.com/v1/widgets -\n");
    named_world_expect_list(&w, "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
}

static void resolves_a_short_name_of_the_core_group_with_one_document(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "PO", "shop");
    named_world_expect_list(
        &w, "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    named_world_expect_list(
        &w, /* already resolved */ "GET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    assert_int_equal(w.pipes.n_dialled, 1); /* one connection for all of it */
    named_world_done(&w);
}

static void reads_the_versions_of_a_given_group(void **state)
{
    (void)state;
    expect_listing("deploy.apps", NULL,
                   "GET /apis/apps\nGET /apis/apps/v1\nfound apps/v1/deployments Deployment\n"
                   "GET /apis/apps/v1/deployments?limit=5\n" LISTED);
}

static void searches_all_groups_for_a_name_without_group(void **state)
{
    (void)state;
    expect_listing(
        "Widget", NULL,
        "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
        "found example.com/v1/widgets Widget\nGET /apis/example.com/v1/widgets?limit=5\n" LISTED);
}

static void a_failed_group_affects_only_its_own_resources(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "wd", NULL);
    w.broken = "/apis/apps/v1";
    named_world_expect_list(
        &w,
        "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
        "found example.com/v1/widgets Widget\nGET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
    named_world_init(&w, "deploy", NULL);
    w.broken = "/apis/apps/v1";
    named_world_expect_list(
        &w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
            "INF_ESERVER: resource 'deploy': apps/v1 does not respond (k:6443: the server "
            "returned HTTP 503: down); no other group has it; specify the group to query only "
            "that group\n");
    named_world_done(&w);
}

static void a_failed_core_group_fails_the_lookup(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "po", NULL);
    w.broken = "/api/v1";
    named_world_expect_list(
        &w, "GET /api/v1\nINF_ESERVER: k:6443: the server returned HTTP 503: down\n");
    w.broken = NULL;
    named_world_expect_list(&w,
                            "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/pods?limit=5\n" LISTED);
    named_world_done(&w);
}

static void an_unknown_group_means_resource_not_found(void **state)
{
    (void)state;
    expect_listing("gadgets.example.org", NULL,
                   "GET /apis/example.org\nGET /apis\n"
                   "INF_ENOTFOUND: resource 'gadgets.example.org' is not known to the server\n");
}

static void refuses_a_namespace_for_a_cluster_scoped_resource(void **state)
{
    (void)state;
    expect_listing(
        "node", "shop",
        "GET /api/v1\nINF_EINVAL: resource 'node': nodes are cluster-scoped and cannot be "
        "limited to namespaces\n");
}

static void ignores_a_default_namespace_for_cluster_scoped_resources(void **state)
{
    (void)state;
    expect_listing("node", "shop?",
                   "GET /api/v1\nfound /v1/nodes Node\nGET /api/v1/nodes?limit=5\n" LISTED);
    expect_listing("pods", "shop?",
                   "found /v1/pods -\nGET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    expect_listing("deployments.apps/v1", "shop?",
                   "found apps/v1/deployments -\n"
                   "GET /apis/apps/v1/namespaces/shop/deployments?limit=5\n" LISTED);
}

/* It may return in another version, and the full name may have been wrong. */
static void looks_a_resource_up_again_after_a_404(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "deployment.v1.apps", NULL);
    named_world_expect(&w, "found apps/v1/deployment -\n");
    w.missing = "/apis/apps/v1/deployment?limit=5";
    named_world_expect_list(
        &w, "GET /apis/apps/v1/deployment?limit=5\nGET /apis/apps\nGET /apis/apps/v1\n"
            "found apps/v1/deployments Deployment\nGET /apis/apps/v1/deployments?limit=5\n" LISTED);
    named_world_done(&w);
}

static void can_be_cancelled_or_closed_at_any_tick(void **state)
{
    (void)state;
    for (int cancel = 0; cancel <= 1; cancel++)
        for (unsigned ticks = 0; ticks < 40; ticks++) {
            struct named_world w;
            named_world_init(&w, "Widget", NULL);
            w.pipes.cut = 997;
            source_open(named_source_source(w.named),
                        &(struct source_request){.want = SOURCE_LIST, .resource_version = ""},
                        &w.user);
            for (unsigned i = 0; i < ticks; i++)
                sim_tick(&w.sim);
            if (cancel) {
                source_cancel(named_source_source(w.named));
                sim_run(&w.sim);
                buf_clear(&w.events);
                named_world_list(&w);
                assert_non_null(memmem(w.events.bytes, w.events.len, LISTED, strlen(LISTED)));
            }
            named_world_done(&w);
        }
}

static void makes_no_callbacks_while_paused(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "po", NULL);
    source_pause(named_source_source(w.named));
    named_world_list(&w);
    buf_clear(&w.events);
    sim_advance(&w.sim, 100);
    assert_int_equal(w.events.len, 0);
    source_resume(named_source_source(w.named));
    sim_run(&w.sim);
    named_world_expect(&w, "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/pods?limit=5\n" LISTED);
    named_world_done(&w);
}

static void parallel_lookups_share_documents(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "Widget", NULL);
    w.other = named_world_source(&w, "wd", NULL);
    named_world_open_list(w.other, &w.user);
    named_world_expect_list(
        &w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
            "found example.com/v1/widgets Widget\nfound example.com/v1/widgets Widget\n"
            "GET /apis/example.com/v1/widgets?limit=5\n" LISTED
            "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
}

static void caches_documents_for_minutes(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "po", NULL);
    named_world_list(&w);
    buf_clear(&w.events);
    sim_advance(&w.sim, DISCOVERY_CACHE_KEEP_MS - 1000);
    w.other = named_world_source(&w, "svc", NULL);
    named_world_open_list(w.other, &w.user);
    sim_run(&w.sim);
    named_world_expect(&w, "found /v1/services Service\nGET /api/v1/services?limit=5\n" LISTED);
    named_source_close(w.other);
    sim_advance(&w.sim, 2000);
    w.other = named_world_source(&w, "no", NULL);
    named_world_open_list(w.other, &w.user);
    sim_run(&w.sim);
    named_world_expect(&w, "GET /api/v1\nfound /v1/nodes Node\nGET /api/v1/nodes?limit=5\n" LISTED);
    named_world_done(&w);
}

#define UNKNOWN "INF_ENOTFOUND: resource 'Widget' is not known to the server\n"

/* A CRD may have been created. A new group is seen with the next lookup; the lists of known groups
 * are read again after LOOKUP_FRESH_MS. */
static void repeats_the_lookup_of_an_unknown_resource(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "Widget", NULL);
    w.young = true;
    named_world_expect_list(&w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\n" UNKNOWN);
    sim_advance(&w.sim, LOOKUP_POLL_MS - 1000);
    named_world_expect_list(&w, UNKNOWN);
    sim_advance(&w.sim, LOOKUP_POLL_MS);
    named_world_expect_list(&w, "GET /apis\n" UNKNOWN);
    sim_advance(&w.sim, LOOKUP_FRESH_MS);
    named_world_expect_list(&w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\n" UNKNOWN);
    w.young = false;
    sim_advance(&w.sim, LOOKUP_POLL_MS + 1000);
    named_world_expect_list(
        &w, "GET /apis\nGET /apis/example.com/v1\nfound example.com/v1/widgets Widget\n"
            "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
}

static void polls_a_missing_resource_with_a_group_by_one_request(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "deploy.apps", NULL);
    w.no_apps = true;
    named_world_list(&w);
    buf_clear(&w.events);
    sim_advance(&w.sim, LOOKUP_POLL_MS + 1000);
    named_world_expect_list(
        &w, "GET /apis/apps\nINF_ENOTFOUND: resource 'deploy.apps' is not known to the server\n");
    w.no_apps = false;
    sim_advance(&w.sim, LOOKUP_POLL_MS + 1000);
    named_world_expect_list(&w, APPS_DOCUMENTS
                            "found apps/v1/deployments Deployment\nGET " DEPLOYMENTS "\n" LISTED);
    named_world_done(&w);
}

static void does_not_use_cached_documents_after_a_404(void **state)
{
    struct named_world w;
    (void)state;
    named_world_deployments_404(&w, "deploy.apps", NULL);
    w.no_apps = true;
    named_world_list(&w);
    buf_clear(&w.events);
    w.no_apps = false;
    w.missing = NULL;
    sim_advance(&w.sim, LOOKUP_POLL_MS + 1000);
    named_world_expect_list(&w, APPS_DOCUMENTS
                            "found apps/v1/deployments Deployment\nGET " DEPLOYMENTS "\n" LISTED);
    named_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_no_lookup_for_a_full_name),
        cmocka_unit_test(resolves_a_short_name_of_the_core_group_with_one_document),
        cmocka_unit_test(reads_the_versions_of_a_given_group),
        cmocka_unit_test(searches_all_groups_for_a_name_without_group),
        cmocka_unit_test(a_failed_group_affects_only_its_own_resources),
        cmocka_unit_test(a_failed_core_group_fails_the_lookup),
        cmocka_unit_test(an_unknown_group_means_resource_not_found),
        cmocka_unit_test(refuses_a_namespace_for_a_cluster_scoped_resource),
        cmocka_unit_test(ignores_a_default_namespace_for_cluster_scoped_resources),
        cmocka_unit_test(looks_a_resource_up_again_after_a_404),
        cmocka_unit_test(can_be_cancelled_or_closed_at_any_tick),
        cmocka_unit_test(makes_no_callbacks_while_paused),
        cmocka_unit_test(parallel_lookups_share_documents),
        cmocka_unit_test(caches_documents_for_minutes),
        cmocka_unit_test(repeats_the_lookup_of_an_unknown_resource),
        cmocka_unit_test(polls_a_missing_resource_with_a_group_by_one_request),
        cmocka_unit_test(does_not_use_cached_documents_after_a_404),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
