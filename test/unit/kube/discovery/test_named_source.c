/*
 * test_named_source.c - from a word to its objects, over a server that the test plays.
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

static void a_full_name_needs_no_look(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "widgets.example.com/v1", NULL);
    named_world_told(&w, "found example.com/v1/widgets -\n");
    named_world_list(&w);
    named_world_told(&w, "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
}

static void a_short_name_of_the_core_group_needs_one(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "PO", "shop");
    named_world_list(&w);
    named_world_told(
        &w, "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    named_world_list(&w); /* it is known now */
    named_world_told(&w, "GET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    assert_int_equal(w.pipes.n_dialled, 1); /* all by one connection */
    named_world_done(&w);
}

static void a_group_needs_its_versions(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "deploy.apps", NULL);
    named_world_list(&w);
    named_world_told(&w, "GET /apis/apps\nGET /apis/apps/v1\nfound apps/v1/deployments Deployment\n"
                         "GET /apis/apps/v1/deployments?limit=5\n" LISTED);
    named_world_done(&w);
}

static void other_words_need_all_groups(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "Widget", NULL);
    named_world_list(&w);
    named_world_told(
        &w,
        "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
        "found example.com/v1/widgets Widget\nGET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
}

static void a_group_that_is_down_hides_only_itself(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "wd", NULL);
    w.broken = "/apis/apps/v1";
    named_world_list(&w);
    named_world_told(
        &w,
        "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
        "found example.com/v1/widgets Widget\nGET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
    named_world_init(&w, "deploy", NULL);
    w.broken = "/apis/apps/v1";
    named_world_list(&w);
    named_world_told(
        &w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
            "INF_ESERVER: resource 'deploy': apps/v1 does not respond (k:6443: the server "
            "returned HTTP 503: down); no other group has it; specify the group to query only "
            "that group\n");
    named_world_done(&w);
}

static void the_core_group_has_to_answer(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "po", NULL);
    w.broken = "/api/v1";
    named_world_list(&w);
    named_world_told(&w, "GET /api/v1\nINF_ESERVER: k:6443: the server returned HTTP 503: down\n");
    w.broken = NULL;
    named_world_list(&w);
    named_world_told(&w, "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/pods?limit=5\n" LISTED);
    named_world_done(&w);
}

static void an_unknown_group_is_an_unknown_resource(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "gadgets.example.org", NULL);
    named_world_list(&w);
    named_world_told(&w,
                     "GET /apis/example.org\nGET /apis\n"
                     "INF_ENOTFOUND: resource 'gadgets.example.org' is not known to the server\n");
    named_world_done(&w);
}

static void what_is_in_no_namespace_is_not_asked_for_in_one(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "node", "shop");
    named_world_list(&w);
    named_world_told(
        &w, "GET /api/v1\nINF_EINVAL: resource 'node': nodes are cluster-scoped and cannot be "
            "limited to namespaces\n");
    named_world_done(&w);
}

static void where_one_looks_matters_to_what_is_in_a_namespace(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "node", "shop?");
    named_world_list(&w);
    named_world_told(&w, "GET /api/v1\nfound /v1/nodes Node\nGET /api/v1/nodes?limit=5\n" LISTED);
    named_world_done(&w);
    named_world_init(&w, "pods", "shop?");
    named_world_list(&w);
    named_world_told(&w, "found /v1/pods -\nGET /api/v1/namespaces/shop/pods?limit=5\n" LISTED);
    named_world_done(&w);
    named_world_init(&w, "deployments.apps/v1", "shop?");
    named_world_list(&w);
    named_world_told(&w, "found apps/v1/deployments -\n"
                         "GET /apis/apps/v1/namespaces/shop/deployments?limit=5\n" LISTED);
    named_world_done(&w);
}

/* It may come back in another version, and a full name may have been none. */
static void what_is_gone_is_looked_up_anew(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "deployment.v1.apps", NULL);
    named_world_told(&w, "found apps/v1/deployment -\n");
    w.missing = "/apis/apps/v1/deployment?limit=5";
    named_world_list(&w);
    named_world_told(
        &w, "GET /apis/apps/v1/deployment?limit=5\nGET /apis/apps\nGET /apis/apps/v1\n"
            "found apps/v1/deployments Deployment\nGET /apis/apps/v1/deployments?limit=5\n" LISTED);
    named_world_done(&w);
}

/* Cut into pieces, and given up after each of them. */
static void it_can_be_given_up_at_any_moment(void **state)
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
                buf_clear(&w.told);
                named_world_list(&w);
                assert_non_null(memmem(w.told.bytes, w.told.len, LISTED, strlen(LISTED)));
            }
            named_world_done(&w);
        }
}

static void who_pauses_is_told_nothing(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "po", NULL);
    source_pause(named_source_source(w.named));
    named_world_list(&w);
    buf_clear(&w.told);
    sim_advance(&w.sim, 100);
    assert_int_equal(w.told.len, 0);
    source_resume(named_source_source(w.named));
    sim_run(&w.sim);
    named_world_told(&w, "GET /api/v1\nfound /v1/pods Pod\nGET /api/v1/pods?limit=5\n" LISTED);
    named_world_done(&w);
}

/* A watch each, all begun at once. */
static void many_words_need_one_look(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "Widget", NULL);
    w.other = named_world_source(&w, "wd", NULL);
    named_world_open_list(w.other, &w.user);
    named_world_list(&w);
    named_world_told(&w,
                     "GET /api/v1\nGET /apis\nGET /apis/apps/v1\nGET /apis/example.com/v1\n"
                     "found example.com/v1/widgets Widget\nfound example.com/v1/widgets Widget\n"
                     "GET /apis/example.com/v1/widgets?limit=5\n" LISTED
                     "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
}

static void what_was_read_is_kept_for_minutes(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "po", NULL);
    named_world_list(&w);
    buf_clear(&w.told);
    sim_advance(&w.sim, DISCOVERY_CACHE_KEEP_MS - 1000);
    w.other = named_world_source(&w, "svc", NULL);
    named_world_open_list(w.other, &w.user);
    sim_run(&w.sim);
    named_world_told(&w, "found /v1/services Service\nGET /api/v1/services?limit=5\n" LISTED);
    named_source_close(w.other);
    sim_advance(&w.sim, 2000);
    w.other = named_world_source(&w, "no", NULL);
    named_world_open_list(w.other, &w.user);
    sim_run(&w.sim);
    named_world_told(&w, "GET /api/v1\nfound /v1/nodes Node\nGET /api/v1/nodes?limit=5\n" LISTED);
    named_world_done(&w);
}

#define UNKNOWN "INF_ENOTFOUND: resource 'Widget' is not known to the server\n"

/* A CRD may have come. Issue 14, 29: a new group is seen with the next look; of the groups that were
 * there, the lists are read again after a while. */
static void what_is_not_found_is_looked_for_anew(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "Widget", NULL);
    w.young = true;
    named_world_list(&w);
    named_world_told(&w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\n" UNKNOWN);
    sim_advance(&w.sim, LOOKUP_POLL_MS - 1000);
    named_world_list(&w);
    named_world_told(&w, UNKNOWN);
    sim_advance(&w.sim, LOOKUP_POLL_MS);
    named_world_list(&w);
    named_world_told(&w, "GET /apis\n" UNKNOWN);
    sim_advance(&w.sim, LOOKUP_FRESH_MS);
    named_world_list(&w);
    named_world_told(&w, "GET /api/v1\nGET /apis\nGET /apis/apps/v1\n" UNKNOWN);
    w.young = false;
    sim_advance(&w.sim, LOOKUP_POLL_MS + 1000);
    named_world_list(&w);
    named_world_told(&w,
                     "GET /apis\nGET /apis/example.com/v1\nfound example.com/v1/widgets Widget\n"
                     "GET /apis/example.com/v1/widgets?limit=5\n" LISTED);
    named_world_done(&w);
}

static void a_resource_whose_group_is_named_costs_one_request_to_look_for(void **state)
{
    struct named_world w;
    (void)state;
    named_world_init(&w, "deploy.apps", NULL);
    w.no_apps = true;
    named_world_list(&w);
    buf_clear(&w.told);
    sim_advance(&w.sim, LOOKUP_POLL_MS + 1000);
    named_world_list(&w);
    named_world_told(
        &w, "GET /apis/apps\nINF_ENOTFOUND: resource 'deploy.apps' is not known to the server\n");
    w.no_apps = false;
    sim_advance(&w.sim, LOOKUP_POLL_MS + 1000);
    named_world_list(&w);
    named_world_told(&w, APPS_DOCUMENTS "found apps/v1/deployments Deployment\nGET " DEPLOYMENTS
                                        "\n" LISTED);
    named_world_done(&w);
}

/* What the discovery_cache says is not believed, then. */
static void what_is_gone_is_not_taken_from_the_shelf(void **state)
{
    struct named_world w;
    (void)state;
    named_world_deployments_404(&w, "deploy.apps", NULL);
    w.no_apps = true;
    named_world_list(&w);
    buf_clear(&w.told);
    w.no_apps = false;
    w.missing = NULL;
    sim_advance(&w.sim, LOOKUP_POLL_MS + 1000);
    named_world_list(&w);
    named_world_told(&w, APPS_DOCUMENTS "found apps/v1/deployments Deployment\nGET " DEPLOYMENTS
                                        "\n" LISTED);
    named_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_name_needs_no_look),
        cmocka_unit_test(a_short_name_of_the_core_group_needs_one),
        cmocka_unit_test(a_group_needs_its_versions),
        cmocka_unit_test(other_words_need_all_groups),
        cmocka_unit_test(a_group_that_is_down_hides_only_itself),
        cmocka_unit_test(the_core_group_has_to_answer),
        cmocka_unit_test(an_unknown_group_is_an_unknown_resource),
        cmocka_unit_test(what_is_in_no_namespace_is_not_asked_for_in_one),
        cmocka_unit_test(where_one_looks_matters_to_what_is_in_a_namespace),
        cmocka_unit_test(what_is_gone_is_looked_up_anew),
        cmocka_unit_test(it_can_be_given_up_at_any_moment),
        cmocka_unit_test(who_pauses_is_told_nothing),
        cmocka_unit_test(many_words_need_one_look),
        cmocka_unit_test(what_was_read_is_kept_for_minutes),
        cmocka_unit_test(what_is_not_found_is_looked_for_anew),
        cmocka_unit_test(a_resource_whose_group_is_named_costs_one_request_to_look_for),
        cmocka_unit_test(what_is_gone_is_not_taken_from_the_shelf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
