/*
 * test_api_list.c - lists: requests, pages and their ends.
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
#include "recording.h"
#include "source_world.h"
#include "split.h"

static const struct source_request any_list = {
    .want = SOURCE_LIST, .resource_version = "0", .limit = 500, .timeout_s = 300};
static const struct source_request patient_list = {.want = SOURCE_LIST, .resource_version = "0"};

/* ---- requests ---- */

static void assert_query(const struct source_request *request, const char *query)
{
    struct source_world w;
    char *expected = xasprintf("GET /api/v1/configmaps%s HTTP/1.1\r\n"
                               "Host: kube.test:6443\r\n"
                               "Accept: application/json\r\n"
                               "Accept-Encoding: gzip\r\n"
                               "User-Agent: story/1\r\n"
                               "\r\n",
                               query);
    source_world_init(&w, "configmaps", NULL);
    assert_true(pipe_wrote(source_world_connect_with(&w, request), expected));
    source_world_done(&w);
    free(expected);
}

static void sends_the_query_of_a_list(void **state)
{
    (void)state;
    assert_query(&any_list, "?limit=500&resourceVersion=0");
    assert_query(&patient_list, "?resourceVersion=0");
    assert_query(&(struct source_request){.want = SOURCE_LIST, .resource_version = ""}, "");
    assert_query(&(struct source_request){.want = SOURCE_LIST, .resource_version = "5", .limit = 0},
                 "?resourceVersion=5");
    assert_query(&(struct source_request){.want = SOURCE_LIST, .resource_version = "", .limit = 2},
                 "?limit=2");
}

/* The server refuses a version together with a token. */
static void requests_a_later_page_by_its_token_only(void **state)
{
    (void)state;
    assert_query(&(struct source_request){.want = SOURCE_LIST,
                                          .resource_version = "580",
                                          .continue_token = "a+b/c==",
                                          .limit = 2},
                 "?limit=2&continue=a%2Bb%2Fc%3D%3D");
    assert_query(&(struct source_request){.want = SOURCE_LIST,
                                          .resource_version = "580",
                                          .continue_token = ""},
                 "?resourceVersion=580");
}

/* ---- events ---- */

#define CM      "ADDED default/cm-"
#define WIDGET  "ADDED default/widget-"
#define TOKEN_3 "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NTgwLCJzdGFydCI6Ii9jbS0zXHUwMDAwIn0"
#define TOKEN_6 "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NTgwLCJzdGFydCI6Ii9jbS02XHUwMDAwIn0"

static const struct {
    const char *name;
    const char *events;
} recorded[] = {
    {"configmaps-list-page1", "open\n" CM "1 509\n" CM "2 510\n" CM "3 511\n"
                              "PAGE_END 580 then " TOKEN_3 "\n" LIST_END},
    {"configmaps-list-page2", "open\n" CM "4 512\n" CM "5 513\n" CM "6 514\n"
                              "PAGE_END 580 then " TOKEN_6 "\n" LIST_END},
    {"pods-list-metadata",
     "open\nADDED default/web-frontend-66b99d9c48-m42qs 282\nPAGE_END 610\n" LIST_END},
    {"widgets-list", "open\n" WIDGET "1 505\n" WIDGET "2 506\n" WIDGET "3 507\n"
                     "PAGE_END 577\n" LIST_END},
    {"pods-list-rv-too-large",
     "INF_EFUTURE: kube.test:6443: server error: Timeout: Too large resource version: "
     "999999999, current: 610 (504 Timeout)\n"},
    {"secrets-watchlist", /* of a server that does not support lists */
     "open\nINF_EDECODE: kube.test:6443: list: expected nothing more, not byte 0x7b (0 items so "
     "far)\n"},
};

static void delivers_recorded_lists(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
        struct source_world w;
        source_world_init(&w, "configmaps", NULL);
        source_world_play(&w, source_world_connect_with(&w, &any_list), recorded[i].name);
        source_world_expect(&w, recorded[i].events);
        source_world_done(&w);
    }
}

/* The reason identifies an expired token, regardless of the other fields. */
static void reports_an_expired_continue_token(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "configmaps", NULL);
    source_world_play(&w, source_world_connect_with(&w, &any_list),
                      "configmaps-list-expired-continue-410");
    assert_memory_equal(w.events.bytes, "INF_EGONE: ", 11);
    source_world_done(&w);
}

static void play_split(const void *ctx, struct str input, struct split split)
{
    struct source_world w;
    struct str piece;
    struct pipe *pipe;
    source_world_init(&w, "configmaps", NULL);
    w.sim.budget = (unsigned)split.first % 3; /* and with many yields, or none */
    w.pipes.cut = split.piece;
    pipe = source_world_connect_with(&w, &any_list);
    split.piece = 0;
    while (split_next(&split, &input, &piece)) {
        pipe_send(pipe, piece.at, piece.len);
        sim_run(&w.sim);
    }
    source_world_expect(&w, ctx);
    source_world_done(&w);
}

static void delivers_the_same_list_however_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
        struct recording r;
        recording_open(&r, recorded[i].name);
        split_each(recording_wire(&r), play_split, recorded[i].events);
        recording_close(&r);
    }
}

/* ---- synthetic responses ---- */

static void items_get_kind_and_version_from_their_list(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "configmaps", NULL);
    w.whole = true;
    pipe = source_world_connect_with(&w, &any_list);
    pipe_sends(pipe, WATCH_HEAD);
    send_chunk(pipe, LIST_HEAD "\"items\":[" ITEM("a") ",{\"kind\":\"Own\",\"apiVersion\":\"x/v2\","
                                                       "\"metadata\":{\"name\":\"b\"}}]}");
    sim_run(&w.sim);
    source_world_expect(
        &w, "open\n"
            "ADDED shop/a 5 {\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{"
            "\"namespace\":\"shop\",\"name\":\"a\",\"resourceVersion\":\"5\"}}\n"
            "ADDED b  {\"kind\":\"Own\",\"apiVersion\":\"x/v2\",\"metadata\":{\"name\":\"b\"}}\n");
    source_world_done(&w);
}

#define NAMELESS "neither it nor its list has kind and apiVersion\n"

static void refuses_an_item_without_kind(void **state)
{
    (void)state;
    source_world_expect_response(
        &any_list, "{\"items\":[" ITEM("a") "]," LIST_META ",\"kind\":\"ConfigMapList\"}",
        "open\nINF_EDECODE: kube.test:6443: item 1 of the list, shop/a: object: " NAMELESS);
    source_world_expect_response(
        &any_list, "{\"kind\":\"ConfigMapList\",\"items\":[" ITEM("a") "]}",
        "open\nINF_EDECODE: kube.test:6443: item 1 of the list, ConfigMap shop/a: "
        "object: " NAMELESS);
}

static void refuses_a_response_that_is_not_a_list(void **state)
{
    (void)state;
    source_world_expect_response(
        &patient_list, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":410}",
        "open\nINF_EDECODE: kube.test:6443: the server sent a Status instead of a list\n");
    source_world_expect_response(
        &patient_list, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
        "open\nINF_EDECODE: kube.test:6443: the response is not a list: items is missing\n");
    source_world_expect_response(
        &patient_list, LIST_HEAD LIST_META ",\"items\":[" ITEM("a") "]}}",
        "open\nADDED shop/a 5\nINF_EDECODE: kube.test:6443: list: expected nothing more, "
        "not byte 0x7d (1 items so far)\n");
}

/* ---- lists that are cut ---- */

/* Even if the JSON is complete: only HTTP decides that the body has ended. */
static void a_list_lost_at_any_byte_is_not_complete(void **state)
{
    struct recording r;
    (void)state;
    recording_open(&r, "widgets-list");
    for (size_t len = 0; len < r.wire.len; len++) {
        struct source_world w;
        source_world_init(&w, "configmaps", NULL);
        source_world_expect_cut(&w, source_world_connect_with(&w, &any_list), &r, len,
                                recorded[3].events);
        assert_null(strstr(w.events.bytes, "PAGE_END"));
        source_world_done(&w);
    }
    recording_close(&r);
}

static void reports_a_body_that_ends_inside_the_list(void **state)
{
    (void)state;
    source_world_expect_response(
        &any_list, LIST_HEAD LIST_META ",\"items\":[" ITEM("a") "]",
        "open\nADDED shop/a 5\nINF_ECUT: kube.test:6443: the list ended in the middle (1 "
        "items so far)\n");
    source_world_expect_response(
        &patient_list, " ",
        "open\nINF_ECUT: kube.test:6443: the list ended in the middle (0 items so far)\n");
}

/* ---- operations while a list is received ---- */

static void cancel(struct source_world *w)
{
    w->calling = true;
    source_cancel(w->source);
    w->calling = false;
}

static void next_page(struct source_world *w)
{
    cancel(w);
    source_world_open(w, &any_list);
}

static const struct {
    enum world_moment when;
    const char *events;
} moments[] = {
    {WORLD_IN_OPEN, "open\n"},
    {WORLD_IN_PROGRESS, "open\n"},
    {WORLD_IN_EVENT, "open\n" WIDGET "1 505\n"},
    {WORLD_IN_PAGE_END, "open\n" WIDGET "1 505\n" WIDGET "2 506\n" WIDGET "3 507\nPAGE_END 577\n"},
};

static void assert_silent_after(void (*act)(struct source_world *w), size_t cut)
{
    for (size_t i = 0; i < ARRAY_LEN(moments); i++) {
        struct source_world w;
        source_world_init(&w, "configmaps", NULL);
        w.pipes.cut = cut;
        w.when = moments[i].when;
        w.act = act;
        source_world_play(&w, source_world_connect_with(&w, &any_list), "widgets-list");
        source_world_expect(&w, moments[i].events);
        if (act == next_page) {
            source_world_play(&w, w.pipes.last, "widgets-list");
            source_world_expect(&w, recorded[3].events);
        }
        source_world_done(&w);
    }
}

static void an_ended_list_delivers_nothing_more(void **state)
{
    (void)state;
    for (size_t cut = 33; cut < 1000; cut += 300) {
        assert_silent_after(cancel, cut);
        assert_silent_after(source_world_close, cut);
        assert_silent_after(next_page, cut);
    }
}

static void hold(struct source_world *w)
{
    source_pause(w->source);
}

static void a_paused_list_continues_at_its_next_item(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "configmaps", NULL);
    w.when = WORLD_IN_EVENT;
    w.act = hold;
    source_world_play(&w, source_world_connect_with(&w, &any_list), "widgets-list");
    source_world_expect(&w, "open\n" WIDGET "1 505\n");
    source_resume(w.source);
    sim_run(&w.sim);
    source_world_expect(&w, WIDGET "2 506\n" WIDGET "3 507\nPAGE_END 577\n" LIST_END);
    source_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_the_query_of_a_list),
        cmocka_unit_test(requests_a_later_page_by_its_token_only),
        cmocka_unit_test(delivers_recorded_lists),
        cmocka_unit_test(reports_an_expired_continue_token),
        cmocka_unit_test(delivers_the_same_list_however_it_is_cut),
        cmocka_unit_test(items_get_kind_and_version_from_their_list),
        cmocka_unit_test(refuses_an_item_without_kind),
        cmocka_unit_test(refuses_a_response_that_is_not_a_list),
        cmocka_unit_test(a_list_lost_at_any_byte_is_not_complete),
        cmocka_unit_test(reports_a_body_that_ends_inside_the_list),
        cmocka_unit_test(an_ended_list_delivers_nothing_more),
        cmocka_unit_test(a_paused_list_continues_at_its_next_item),
    };
    return cmocka_run_group_tests_name("api_list", tests, NULL, NULL);
}
