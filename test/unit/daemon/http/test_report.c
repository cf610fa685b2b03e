/*
 * test_report.c - the reports of a daemon without servers, and the status of several streams.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/http/report.h"
#include "daemon/http/report_metrics.h"
#include "daemon_world.h"

/* ---- sums ---- */

static struct inf_status live(void)
{
    return (struct inf_status){.synced = true,
                               .event_age_ms = 5000,
                               .bookmark_age_ms = 40000,
                               .heard_age_ms = 5000,
                               .requests = 2,
                               .queued = 3};
}

static struct inf_status failing(int code, const char *text, uint64_t for_ms)
{
    struct inf_status s = {.event_age_ms = INF_NEVER,
                           .bookmark_age_ms = INF_NEVER,
                           .heard_age_ms = INF_NEVER,
                           .failing_for_ms = for_ms,
                           .requests = 7};
    s.error.code = code;
    s.ends[code] = 7;
    snprintf(s.error.text, sizeof(s.error.text), "%s", text);
    return s;
}

static void assert_status(const struct watcher_status *s, const char *expected)
{
    struct buf out = {0};
    report_status(s, &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
}

static void the_status_of_several_streams_has_the_oldest_error(void **state)
{
    struct watcher_status s = watcher_status_none;
    struct inf_status one = live();
    struct inf_status other = failing(INF_ENET, "refused", 9000);
    struct inf_status third = failing(INF_EFORBIDDEN, "pods is forbidden", 65000);
    (void)state;
    watcher_status_add(&s, &one, "shop");
    assert_true(watcher_ready(&s));
    watcher_status_add(&s, &other, "billing");
    watcher_status_add(&s, &third, "kube-system");
    assert_false(watcher_ready(&s));
    assert_int_equal(s.streams, 3);
    assert_int_equal(s.live, 1);
    assert_int_equal(s.sum.requests, 16);
    assert_int_equal(s.sum.queued, 3);
    assert_int_equal(s.sum.ends[INF_ENET], 7);
    assert_int_equal(s.sum.event_age_ms, 5000);
    assert_true(s.sum.heard_age_ms == INF_NEVER);
    assert_status(&s, "forbidden for 65s, 0 objects, 1 of 3 namespaces live, no data received yet: "
                      "namespace 'kube-system': pods is forbidden");
}

/* ---- states as text ---- */

static void the_status_has_each_state_and_its_duration(void **state)
{
    struct watcher_status s = watcher_status_none;
    struct inf_status one = live();
    (void)state;
    watcher_status_add(&s, &one, NULL);
    s.objects = 1;
    assert_status(&s, "live, 1 object, last data 5s ago, last event 5s ago");
    s.sum.event_age_ms = INF_NEVER;
    s.sum.heard_age_ms = 119 * 1000;
    assert_status(&s, "live, 1 object, last data 119s ago");
    s.sum.stale = true;
    s.sum.heard_age_ms = 12 * 60 * 1000;
    assert_status(&s, "stale, 1 object, last data 12m ago");
    s.sum.held = true;
    s.sum.held_for_ms = 5 * 3600 * 1000;
    s.sum.heard_age_ms = UINT64_C(49) * 3600 * 1000;
    assert_status(&s, "held for 5h, 1 object, last data 2d ago");
    s = watcher_status_none;
    one = failing(0, "", 0);
    watcher_status_add(&s, &one, NULL);
    s.age_ms = 3000;
    assert_status(&s, "syncing for 3s, 0 objects, no data received yet");
    s = watcher_status_none;
    one = failing(INF_ETLS, "certificate of x is for y", 4000);
    watcher_status_add(&s, &one, NULL);
    assert_status(&s, "failing for 4s, 0 objects, no data received yet: certificate of x is for y");
}

/* ---- the whole daemon ---- */

static const char conf[] = "event_logs: [{path: e.jsonl}]\n"
                           "watches:\n"
                           "  - {resource: pods, cluster: a, indexes: {node: spec.nodeName}}\n"
                           "  - {resource: nodes, cluster: b}\n";

static char *text_of(struct buf *out)
{
    buf_putc(out, '\0');
    return out->bytes;
}

/* All metrics, @items at a time. */
static void put_metrics(struct daemon *d, size_t items, struct buf *out)
{
    struct metrics_page *page = metrics_page_new(d);
    while (!metrics_page_put_some(page, items, out))
        continue;
    metrics_page_free(page);
}

static void ready_if_all_watches_are_ready(void **state)
{
    struct daemon_world *w = *state;
    struct buf out = {0};
    assert_true(report_ready(&w->d, false, &out));
    assert_string_equal(text_of(&out), "ready\n");
    buf_clear(&out);
    world_apply_expect(w, conf, "2 watches started, 1 event log added");
    assert_false(report_ready(&w->d, false, &out));
    assert_string_equal(text_of(&out), "[-] a/pods: syncing, 0 objects, no data received yet\n"
                                       "[-] b/nodes: syncing, 0 objects, no data received yet\n"
                                       "not ready\n");
    buf_clear(&out);
    report_sentence(&w->d, &out);
    assert_string_equal(text_of(&out), "2 watches, 0 live; pods: syncing");
    buf_free(&out);
}

static void not_ready_while_an_event_log_is_stuck(void **state)
{
    struct daemon_world *w = *state;
    struct buf out = {0};
    const char *log;
    world_apply_expect(w,
                       "event_logs: [{path: missing/e.jsonl, stuck_after: 1ms}, {path: f.jsonl}]\n",
                       "no watches, 2 event logs added");
    journal_start(&w->d.journal, "");
    do {
        uv_run(&w->d.uv, UV_RUN_ONCE);
        buf_clear(&out);
    } while (report_ready(&w->d, true, &out) || !strstr(text_of(&out), "f.jsonl: writable\n"));
    log = strstr(out.bytes, "[-] event log ");
    assert_non_null(log);
    assert_non_null(strstr(log, "missing/e.jsonl: failing for "));
    assert_non_null(strstr(log, ": its directory does not exist, "));
    assert_non_null(strstr(log, "bytes unwritten, oldest line waiting for "));
    assert_non_null(strstr(out.bytes, "f.jsonl: writable\nnot ready\n"));
    buf_clear(&out);
    put_metrics(&w->d, SIZE_MAX, &out);
    assert_non_null(strstr(text_of(&out), "missing/e.jsonl\"} 1\n"));
    buf_clear(&out);
    report_sentence(&w->d, &out);
    assert_non_null(strstr(text_of(&out), "missing/e.jsonl: failing"));
    buf_free(&out);
}

static void a_dump_is_json(void **state)
{
    struct daemon_world *w = *state;
    struct buf out = {0};
    yyjson_doc *doc;
    yyjson_val *pods;
    world_apply_expect(w, conf, "2 watches started, 1 event log added");
    report_dump(&w->d, /* with_records= */ true, &out);
    doc = yyjson_read(out.bytes, out.len, 0);
    assert_non_null(doc);
    pods = yyjson_arr_get(yyjson_obj_get(yyjson_doc_get_root(doc), "watches"), 0);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(pods, "state")), "syncing");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(pods, "server")), "http://127.0.0.1:1");
    assert_true(yyjson_is_null(yyjson_obj_get(pods, "heard_age_ms")));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(yyjson_obj_get(pods, "indexes"), "node")), 0);
    yyjson_doc_free(doc);
    buf_free(&out);
}

/* ---- metrics ---- */

static char *manual(void)
{
    const char *data = getenv("TEST_DATA");
    char *path, *text;
    size_t len;
    FILE *file;
    assert_non_null(data);
    path = xasprintf("%s/../../src/daemon/man/informerd.8", data);
    file = fopen(path, "r");
    free(path);
    assert_non_null(file);
    text = calloc(1, 256 * 1024);
    len = fread(text, 1, 256 * 1024 - 1, file);
    assert_true(len > 0);
    fclose(file);
    return text;
}

/* "# TYPE name counter" -> name; of a counter it ends in _total. */
static void check_family(const char *line, const char *text)
{
    char name[128], type[16], heading[160];
    if (sscanf(line, "# TYPE %127s %15s", name, type) != 2)
        return;
    assert_int_equal(strcmp(type, "counter") == 0,
                     strcmp(name + strlen(name) - strlen("_total"), "_total") == 0);
    snprintf(heading, sizeof(heading), "\n.B %s\n", name);
    if (!strstr(text, heading))
        fail_msg("%s is not in informerd(8)", name);
}

static void every_metric_is_in_the_manual(void **state)
{
    struct daemon_world *w = *state;
    struct buf out = {0};
    char *text = manual(), *rest, *line;
    world_apply_expect(w, conf, "2 watches started, 1 event log added");
    put_metrics(&w->d, SIZE_MAX, &out);
    rest = text_of(&out);
    assert_non_null(strstr(rest, "\ninformerd_watch_up{cluster=\"a\",watch=\"pods\"} 0\n"));
    assert_non_null(strstr(rest, "\ninformerd_log_outputs 1\n"));
    while ((line = strsep(&rest, "\n")))
        check_family(line, text);
    buf_free(&out);
    free(text);
}

static void a_page_in_slices_equals_a_page_in_one_piece(void **state)
{
    struct daemon_world *w = *state;
    struct buf whole = {0}, sliced = {0};
    char *process;
    world_apply_expect(w, conf, "2 watches started, 1 event log added");
    put_metrics(&w->d, SIZE_MAX, &whole);
    process = strstr(text_of(&whole), "# HELP process_");
    assert_non_null(process); /* what follows, such as CPU time, changes */
    for (size_t items = 1; items < 5; items++) {
        buf_clear(&sliced);
        put_metrics(&w->d, items, &sliced);
        assert_memory_equal(sliced.bytes, whole.bytes, (size_t)(process - whole.bytes));
    }
    buf_free(&whole);
    buf_free(&sliced);
}

static void a_page_has_the_names_of_its_request_after_a_reload(void **state)
{
    struct daemon_world *w = *state;
    struct metrics_page *page;
    struct buf out = {0};
    world_apply_expect(w, conf, "2 watches started, 1 event log added");
    page = metrics_page_new(&w->d);
    assert_false(metrics_page_put_some(page, 1, &out));
    world_apply_expect(w, "watches: []\n", "2 watches stopped, 1 event log removed");
    while (!metrics_page_put_some(page, 1, &out))
        continue;
    assert_non_null(
        strstr(text_of(&out), "\ninformerd_watch_held{cluster=\"b\",watch=\"nodes\"} 0\n"));
    metrics_page_free(page);
    buf_free(&out);
}

#define IN_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, daemon_world_setup, daemon_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_of_several_streams_has_the_oldest_error),
        cmocka_unit_test(the_status_has_each_state_and_its_duration),
        IN_WORLD(ready_if_all_watches_are_ready),
        IN_WORLD(not_ready_while_an_event_log_is_stuck),
        IN_WORLD(a_dump_is_json),
        IN_WORLD(every_metric_is_in_the_manual),
        IN_WORLD(a_page_in_slices_equals_a_page_in_one_piece),
        IN_WORLD(a_page_has_the_names_of_its_request_after_a_reload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
