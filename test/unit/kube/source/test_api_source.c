/*
 * test_api_source.c - requests and events of a source, with recorded responses.
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
#include "kube/source/event_frame.h"
#include "recording.h"
#include "source_world.h"
#include "split.h"
#include "tier.h"

/* ---- requests ---- */

#define LIST                                                  \
    "?watch=true&allowWatchBookmarks=true&timeoutSeconds=300" \
    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"

static void sends_exactly_this_request(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    assert_true(pipe_wrote(source_world_connect(&w), "GET /api/v1/pods" LIST " HTTP/1.1\r\n"
                                                     "Host: kube.test:6443\r\n"
                                                     "Accept: application/json\r\n"
                                                     "Accept-Encoding: gzip\r\n"
                                                     "User-Agent: story/1\r\n"
                                                     "\r\n"));
    assert_string_equal(w.pipes.last->host, "kube.test");
    assert_int_equal(w.pipes.last->port, 6443);
    source_world_done(&w);
}

static void a_watch_in_a_namespace_behind_a_proxy_with_a_token(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "widgets.example.com/v1", "shop");
    w.server.path_prefix = "/k8s/clusters/c-1";
    source_world_identify(&w, "s3cr3t", NULL);
    source_world_open_version(&w, SOURCE_WATCH, "58 2");
    sim_run(&w.sim);
    assert_true(pipe_wrote(w.pipes.last,
                           "GET /k8s/clusters/c-1/apis/example.com/v1/namespaces/shop/widgets"
                           "?watch=true&allowWatchBookmarks=true&timeoutSeconds=300"
                           "&resourceVersion=58%202 HTTP/1.1\r\n"
                           "Host: kube.test:6443\r\n"
                           "Accept: application/json\r\n"
                           "User-Agent: story/1\r\n"
                           "Authorization: Bearer s3cr3t\r\n"
                           "\r\n"));
    source_world_done(&w);
}

/* ---- events ---- */

#define NO_CREDENTIALS "; no credentials were sent; the kubeconfig needs a user"
#define SAYS           "kube.test:6443: server error: "
#define CURL           "default/curl-deployment-7775d66994-54zsw"
#define WIDGET         "ADDED default/widget-"

static const struct {
    const char *name;
    const char *events;
} recorded[] = {
    {"pods-watchlist", "open\nADDED default/web-frontend-66b99d9c48-m42qs 282\n"
                       "BOOKMARK 582 end\nINF_EEOF: " WATCH_END},
    {"widgets-watchlist", "open\n" WIDGET "1 505\n" WIDGET "2 506\n" WIDGET "3 507\n"
                          "BOOKMARK 580 end\nINF_EEOF: " WATCH_END},
    {"secrets-watchlist",
     "open\nADDED default/db-password 508\nBOOKMARK 583 end\nINF_EEOF: " WATCH_END},
    {"pods-watch-lifecycle",
     "open\nADDED " CURL " 588\nMODIFIED " CURL " 591\nMODIFIED " CURL " 599\nMODIFIED " CURL
     " 600\nMODIFIED " CURL " 605\nMODIFIED " CURL " 606\nDELETED " CURL " 607\n"
     "BOOKMARK 607\nINF_EEOF: " WATCH_END},
    {"pods-watch-too-old-410",
     "open\nINF_EGONE: " SAYS "too old resource version: 2 (533) (410 Expired)\n"},
    {"pods-watchlist-rv-too-large",
     "open\nINF_EFUTURE: " SAYS
     "Timeout: Too large resource version: 999999999, current: 610 (504 Timeout)\n"},
    {"badtoken-401",
     "INF_EUNAUTHORIZED: " SAYS "Unauthorized (401 Unauthorized)" NO_CREDENTIALS "\n"},
    {"anonymous-403",
     "INF_EFORBIDDEN: " SAYS
     "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" "
     "in API group \"\" at the cluster scope (403 Forbidden); the server treats the request as "
     "anonymous: credentials are missing or not valid for this cluster\n"},
    {"notfound-404",
     "INF_ENOTFOUND: kube.test:6443: the server returned HTTP 404: 404 page not found; check the "
     "resource's name, group and version; see kubectl api-resources\n"},
    {"watch-rvmatch-invalid-422",
     "INF_EREFUSED: " SAYS "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: "
     "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
     "provided (422 Invalid)\n"},
    {"pods-list-exact-expired-410",
     "INF_EGONE: " SAYS "The resourceVersion for the provided list is too old. (410 Expired)\n"},
    {"pods-list-rv-too-large",
     "INF_EFUTURE: " SAYS
     "Timeout: Too large resource version: 999999999, current: 610 (504 Timeout)\n"},
};

static void delivers_recorded_watches(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
        struct source_world w;
        source_world_init(&w, "pods", NULL);
        source_world_play(&w, source_world_connect(&w), recorded[i].name);
        source_world_expect(&w, recorded[i].events);
        assert_int_equal(w.pipes.n_dialled, 1);
        source_world_done(&w);
    }
}

struct plan {
    unsigned budget;
    size_t cut;
    uint64_t seed;
    const char *events; /* NULL: nothing to compare with yet */
};

/* All events with the text of objects. The caller frees it. */
static char *events_until(const struct plan *plan, struct str input, struct split split)
{
    struct source_world w;
    struct str piece;
    struct pipe *pipe;
    char *events;
    source_world_init(&w, "pods", NULL);
    w.whole = true;
    w.sim.budget = plan->budget;
    w.pipes.cut = split.piece ? split.piece : plan->cut;
    w.pipes.seed = plan->seed;
    pipe = source_world_connect(&w);
    split.piece = 0; /* the pipe cuts instead: it frees each piece after use */
    while (split_next(&split, &input, &piece)) {
        pipe_send(pipe, piece.at, piece.len);
        sim_run(&w.sim);
    }
    buf_putc(&w.events, '\0');
    events = xstrdup(w.events.bytes);
    source_world_done(&w);
    return events;
}

static void play_split(const struct plan *plan, struct str input, struct split split)
{
    char *events = events_until(plan, input, split);
    if (strcmp(events, plan->events) != 0)
        fail_msg("cut at %zu (pieces of %zu):\n%s", split.first, split.piece, events);
    free(events);
}

/* Other splits: see test_recordings.c. */
static void delivers_the_same_watch_however_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
        struct recording r;
        struct plan plan = {0};
        char *events;
        recording_open(&r, recorded[i].name);
        plan.events = events = events_until(&plan, recording_wire(&r), (struct split){0, 0});
        plan.budget = 1;
        play_split(&plan, recording_wire(&r), (struct split){1, 1});
        for (plan.seed = 1; plan.seed <= (tier_is_full() ? 50 : 10); plan.seed++) {
            plan.budget = (unsigned)plan.seed % 4;
            plan.cut = plan.seed * plan.seed;
            play_split(&plan, recording_wire(&r), (struct split){0, 0});
        }
        free(events);
        recording_close(&r);
    }
}

/* The connection is lost after any byte: complete events are delivered, then one error. */
static void reports_a_connection_lost_at_any_byte(void **state)
{
    struct recording r;
    (void)state;
    recording_open(&r, "widgets-watchlist");
    for (size_t len = 0; len < r.wire.len; len++) {
        struct source_world w;
        source_world_init(&w, "pods", NULL);
        source_world_expect_cut(&w, source_world_connect(&w), &r, len, recorded[1].events);
        source_world_done(&w);
    }
    recording_close(&r);
}

/* A proxy that ends the response inside an event, with valid framing. */
static void reports_a_body_that_ends_inside_an_event(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    pipe_sends(pipe, WATCH_HEAD);
    send_chunk(pipe, POD("a", "1") "{\"type\":\"ADDED\",");
    pipe_sends(pipe, WATCH_LAST);
    sim_run(&w.sim);
    source_world_expect(&w,
                        "open\nADDED a 1\n"
                        "INF_ECUT: kube.test:6443: the watch ended in the middle of an event\n");
    source_world_done(&w);
}

static void delivers_nothing_after_a_fatal_event(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    pipe_sends(pipe, WATCH_HEAD);
    send_chunk(pipe, POD("a", "1") "{\"type\":\"ADDED\",\"object\":{}}\n" POD("b", "2"));
    sim_run(&w.sim);
    source_world_expect(
        &w, "open\nADDED a 1\nINF_EDECODE: kube.test:6443: object: metadata is missing\n");
    assert_true(pipe_closed(pipe));
    source_world_done(&w);
}

static void an_event_over_the_limit_ends_the_request(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    char *large = xmalloc(FRAME_MAX + 1);
    (void)state;
    source_world_init(&w, "pods", NULL);
    w.pipes.cut = 64 * 1024;
    pipe = source_world_connect(&w);
    memset(large, '{', FRAME_MAX + 1);
    pipe_sends(pipe, WATCH_HEAD "1000001\r\n");
    pipe_send(pipe, large, FRAME_MAX + 1);
    sim_run(&w.sim);
    source_world_expect(&w, "open\nINF_ETOOBIG: kube.test:6443: watch event exceeds "
                            "frame_max=16777216 bytes\n");
    source_world_done(&w);
    free(large);
}

static void accepts_only_json(void **state)
{
    static const struct {
        const char *header;
        const char *events;
    } types[] = {
        {"Content-Type: application/json\r\n", "open\n"},
        {"content-type: application/json;charset=utf-8\r\n", "open\n"},
        {"Content-Type: Application/JSON\r\n", "open\n"}, /* media types are case-insensitive */
        {"Content-Type: text/html\r\n",
         "INF_EPROTO: kube.test:6443: sent 'text/html' instead of JSON; is it an API server?\n"},
        {"Content-Type: application/json-seq\r\n",
         "INF_EPROTO: kube.test:6443: sent 'application/json-seq' instead of JSON; is it "
         "an API server?\n"},
        {"", "INF_EPROTO: kube.test:6443: sent 'no content type' instead of JSON; is it "
             "an API server?\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct source_world w;
        struct pipe *pipe;
        source_world_init(&w, "pods", NULL);
        pipe = source_world_connect(&w);
        pipe_sends(pipe, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n");
        pipe_sends(pipe, types[i].header);
        pipe_sends(pipe, "\r\n");
        sim_run(&w.sim);
        source_world_expect(&w, types[i].events);
        source_world_done(&w);
    }
}

static void skips_the_rest_of_a_long_error_page(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    pipe_sends(pipe, "HTTP/1.1 503 No\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 10000; i++)
        send_chunk(pipe, "It is not you, it is us. ");
    sim_run(&w.sim);
    source_world_expect(&w, "");
    pipe_sends(pipe, WATCH_LAST);
    sim_run(&w.sim);
    assert_true(strncmp(w.events.bytes,
                        "INF_ESERVER: kube.test:6443: the server returned HTTP 503: It "
                        "is not you, it is us. It",
                        80) == 0);
    source_world_done(&w);
}

static void network_errors_name_the_server(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    w.pipes.hold = true;
    pipe_end(source_world_connect(&w), INF_ENET, "connection refused");
    sim_run(&w.sim);
    source_world_expect(&w, "INF_ENET: kube.test:6443: connection refused\n");
    source_world_connect(&w);
    sim_advance(&w.sim, 15 * 1000);
    source_world_expect(&w, "INF_ETIMEOUT: no connection to kube.test:6443 within 15s\n");
    w.pipes.hold = false;
    source_world_connect(&w);
    sim_advance(&w.sim, 35 * 1000);
    source_world_expect(&w, "INF_ETIMEOUT: no response from kube.test:6443 within 35s\n");
    source_world_done(&w);
}

/* ---- credentials that are not available ---- */

static void request_again(struct source_world *w)
{
    source_world_open_version(w, SOURCE_WATCH_LIST, "");
}

static void request_with_another_file(struct source_world *w)
{
    source_world_identify(w, NULL, "/nowhere/else");
    request_again(w);
}

#define NO_TOKEN "INF_EIO: token file '/nowhere/token': No such file or directory\n"
#define NO_OTHER "INF_EIO: token file '/nowhere/else': No such file or directory\n"

static void a_missing_token_file_ends_the_request_before_anything_is_sent(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    source_world_identify(&w, NULL, "/nowhere/token");
    source_world_connect(&w);
    source_world_expect(&w, NO_TOKEN);
    w.when = WORLD_IN_END;
    w.act = request_with_another_file;
    source_world_connect(&w);
    source_world_expect(&w, NO_TOKEN NO_OTHER);
    assert_int_equal(w.pipes.n_dialled, 0);
    source_world_open_version(&w, SOURCE_WATCH_LIST, "");
    source_cancel(w.source); /* before it is reported */
    sim_run(&w.sim);
    source_world_expect(&w, "");
    source_world_identify(&w, NULL, NULL);
    source_world_connect(&w);
    assert_int_equal(w.pipes.n_dialled, 1);
    source_world_done(&w);
}

static void does_not_show_a_token_that_is_too_long(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    source_world_identify(&w, "s3cr3t\r\nX-Evil: 1", NULL);
    source_world_connect(&w);
    source_world_expect(
        &w, "INF_EINVAL: request: control characters in the value of header 'Authorization'\n");
    assert_int_equal(w.pipes.last->written.len, 0);
    source_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_exactly_this_request),
        cmocka_unit_test(a_watch_in_a_namespace_behind_a_proxy_with_a_token),
        cmocka_unit_test(delivers_recorded_watches),
        cmocka_unit_test(delivers_the_same_watch_however_it_is_cut),
        cmocka_unit_test(reports_a_connection_lost_at_any_byte),
        cmocka_unit_test(reports_a_body_that_ends_inside_an_event),
        cmocka_unit_test(delivers_nothing_after_a_fatal_event),
        cmocka_unit_test(an_event_over_the_limit_ends_the_request),
        cmocka_unit_test(accepts_only_json),
        cmocka_unit_test(skips_the_rest_of_a_long_error_page),
        cmocka_unit_test(network_errors_name_the_server),
        cmocka_unit_test(a_missing_token_file_ends_the_request_before_anything_is_sent),
        cmocka_unit_test(does_not_show_a_token_that_is_too_long),
    };
    return cmocka_run_group_tests_name("api_source", tests, NULL, NULL);
}
