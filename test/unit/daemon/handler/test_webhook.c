/*
 * test_webhook.c - requests, responses and batches of webhooks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/handler/webhook_files.h"
#include "daemon/handler/webhook_response.h"
#include "webhook_world.h"

static char elastic[] = "elastic-bulk";

static void assert_request(struct webhook_world *t, const char *part)
{
    char *text = webhook_world_request(t);
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
    free(text);
}

static void assert_no_request(struct webhook_world *t)
{
    assert_true(!t->pipes.last || !t->pipes.last->written.len);
}

/* ---- a request ---- */

static void sends_a_record_and_reuses_the_connection(void **state)
{
    struct webhook_world *t = *state;
    char *text;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    assert_string_equal(t->pipes.last->host, "127.0.0.1");
    assert_int_equal(t->pipes.last->port, 8080);
    text = webhook_world_request(t);
    assert_non_null(strstr(text, "POST /hook?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"));
    assert_non_null(strstr(text, "User-Agent: informerd/"));
    assert_non_null(strstr(text, "Content-Type: application/x-ndjson\r\n"));
    assert_non_null(strstr(text, "\r\nContent-Length: "));
    assert_non_null(strstr(text, "-1\r\n")); /* Idempotency-Key: LOG-1 */
    assert_non_null(strstr(text, "\"name\":\"web\""));
    assert_string_equal(text + strlen(text) - 2, "}\n");
    assert_null(strstr(text, "Informerd-Signature"));
    free(text);
    webhook_world_respond(t, WEBHOOK_OK);
    assert_int_equal(webhook_world_status(t).length, 0);
    assert_string_equal(webhook_world_status(t).state, "idle");
    webhook_world_change(t, "db");
    assert_int_equal(t->pipes.n_dialled, 1);
    assert_request(t, "\"name\":\"db\"");
    webhook_world_respond(t, WEBHOOK_OK);
    assert_int_equal(webhook_world_status(t).counters.runs, 2);
}

static void signs_and_adds_headers_and_reads_changed_files(void **state)
{
    struct webhook_world *t = *state;
    char *token = folder_file(&t->folder, "token"), *key = folder_file(&t->folder, "key");
    char name[] = "Authorization", other[] = "X-Scope-OrgID", value[] = "shop";
    struct inf_index files[] = {{.name = name, .path = token}};
    struct inf_index headers[] = {{.name = other, .path = value}};
    char *text;
    folder_write(&t->folder, "token", "Bearer first\n");
    folder_write(&t->folder, "key", "Jefe\n");
    t->conf.webhook.header_files = (struct conf_indexes){files, 1};
    t->conf.webhook.headers = (struct conf_indexes){headers, 1};
    t->conf.webhook.signature_key_file = key;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    text = webhook_world_request(t);
    assert_non_null(strstr(text, "Authorization: Bearer first\r\n"));
    assert_non_null(strstr(text, "X-Scope-OrgID: shop\r\n"));
    assert_non_null(strstr(text, "Informerd-Signature: sha256="));
    free(text);
    webhook_world_respond(t, WEBHOOK_ERROR("500", "X: 1\r\n"));
    folder_write(&t->folder, "token", "Bearer second\n");
    sim_advance(&t->journal->sim, WEBHOOK_BACKOFF_MS);
    assert_request(t, "Authorization: Bearer second\r\n");
    pipe_sends(t->pipes.last,
               "HTTP/1.1 403 no\r\nContent-Length: 26\r\n\r\nnot Bearer second \x1b[1mfoo!\n");
    sim_run(&t->journal->sim);
    assert_not_logged(t->journal, "second");
    assert_logged(t->journal, "HTTP 403: not *** \\u001b[1mfoo!; given up after 2 runs");
    free(token);
    free(key);
}

static void a_file_that_cannot_be_read_is_a_temporary_problem(void **state)
{
    struct webhook_world *t = *state;
    char *path = folder_file(&t->folder, "later");
    char name[] = "Authorization";
    struct inf_index files[] = {{.name = name, .path = path}};
    t->conf.webhook.header_files = (struct conf_indexes){files, 1};
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    assert_int_equal(t->pipes.n_dialled, 0);
    assert_logged(t->journal, "header_files: file '");
    assert_string_equal(webhook_world_status(t).state, "failing");
    folder_write(&t->folder, "later", "Bearer x");
    sim_advance(&t->journal->sim, WEBHOOK_BACKOFF_MS);
    assert_request(t, "Authorization: Bearer x\r\n");
    webhook_world_respond(t, WEBHOOK_OK);
    unlink(path);
    sim_advance(&t->journal->sim, WEBHOOK_FILES_CHECK_MS);
    webhook_world_change(t, "db");
    assert_logged(t->journal, "; the former contents stay in use");
    assert_request(t, "Authorization: Bearer x\r\n");
    webhook_world_respond(t, WEBHOOK_OK);
    free(path);
}

/* ---- failures ---- */

static void parks_or_repeats_by_the_status(void **state)
{
    static const struct {
        const char *wire, *log;
        uint64_t parked, length;
    } rows[] = {
        {WEBHOOK_ERROR("400", ""), "HTTP 400: oops; given up after 1 run;", 1, 0},
        {WEBHOOK_ERROR("404", ""), "HTTP 404: oops; given up", 1, 0},
        {WEBHOOK_ERROR("413", ""), "HTTP 413: oops; given up", 1, 0},
        {WEBHOOK_ERROR("301", "Location: /secret\r\n"),
         "HTTP 301: redirects are not followed; configure the final URL; given up", 1, 0},
        {WEBHOOK_ERROR("408", ""), "HTTP 408: oops; repeated in 1.0 s", 0, 1},
        {WEBHOOK_ERROR("429", ""), "HTTP 429: oops; repeated in 1.0 s", 0, 1},
        {WEBHOOK_ERROR("500", ""), "HTTP 500: oops; repeated in 1.0 s", 0, 1},
        {WEBHOOK_ERROR("503", ""), "HTTP 503: oops; repeated in 1.0 s", 0, 1},
        {"HTTP/1.1 204 No Content\r\n\r\n", NULL, 0, 0},
    };
    struct webhook_world *t = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        webhook_world_apply(t, 1);
        webhook_world_change(t, "web");
        webhook_world_respond(t, rows[i].wire);
        assert_int_equal(webhook_world_status(t).parked, rows[i].parked);
        assert_int_equal(webhook_world_status(t).length, rows[i].length);
        if (rows[i].log)
            assert_logged(t->journal, rows[i].log);
        webhook_world_apply(t, 0);
    }
}

static void a_network_error_is_repeated_until_it_works(void **state)
{
    struct webhook_world *t = *state;
    t->settings.timeout_ms = 60 * 1000;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    for (int i = 0; i < 6; i++) {
        pipe_end(t->pipes.last, INF_ENET, "connection reset by peer");
        sim_run(&t->journal->sim);
        assert_logged(t->journal, "connection reset by peer; repeated in");
        sim_advance(&t->journal->sim, 4 * WEBHOOK_BACKOFF_MS);
    }
    assert_request(t, "\"name\":\"web\"");
    webhook_world_respond(t, WEBHOOK_OK);
    assert_int_equal(webhook_world_status(t).counters.parked, 0);
    assert_int_equal(webhook_world_status(t).counters.failures, 6);
}

static void retry_after_holds_the_whole_handler_for_a_bounded_time(void **state)
{
    struct webhook_world *t = *state;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    webhook_world_change(t, "db");
    webhook_world_respond(t, WEBHOOK_ERROR("429", "Retry-After: 20\r\n"));
    sim_advance(&t->journal->sim, 19999);
    assert_no_request(t);
    sim_advance(&t->journal->sim, 1);
    webhook_world_respond(t, WEBHOOK_ERROR("503", "Retry-After: 86400\r\n"));
    sim_advance(&t->journal->sim, HANDLER_WAIT_MAX_MS - 1);
    assert_no_request(t);
    sim_advance(&t->journal->sim, 1);
    webhook_world_respond(t, WEBHOOK_OK);
    webhook_world_respond(t, WEBHOOK_OK);
    assert_int_equal(webhook_world_status(t).length, 0);
}

static void a_server_that_never_answers_is_closed_after_the_timeout(void **state)
{
    struct webhook_world *t = *state;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    pipe_sends(t->pipes.last, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart");
    sim_advance(&t->journal->sim, WEBHOOK_TIMEOUT_MS - 1);
    assert_int_equal(webhook_world_status(t).running, 1);
    sim_advance(&t->journal->sim, 1);
    assert_int_equal(webhook_world_status(t).running, 0);
    assert_true(pipe_closed(t->pipes.last));
    assert_logged(t->journal, "no complete response within 0.5 s; repeated in 1.0 s");
    assert_int_equal(webhook_world_status(t).counters.durations.counts[3], 1); /* up to 500 ms */
}

static void a_response_that_is_too_long_is_cut(void **state)
{
    struct webhook_world *t = *state;
    size_t len = WEBHOOK_BODY_MAX + 1;
    char *body = xmalloc(len);
    memset(body, 'x', len);
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    pipe_sends(t->pipes.last, "HTTP/1.1 400 x\r\nTransfer-Encoding: chunked\r\n\r\n400001\r\n");
    pipe_send(t->pipes.last, body, len);
    sim_run(&t->journal->sim);
    assert_true(pipe_closed(t->pipes.last));
    assert_logged(t->journal, "HTTP 400: xxxx");
    assert_int_equal(webhook_world_status(t).parked, 1);
    assert_true(strlen(webhook_world_status(t).reason) < 400);
    free(body);
}

/* ---- batches ---- */

static void begin_batches(struct webhook_world *t, size_t max)
{
    t->settings.batch_max = max;
    t->settings.batch_within_ms = 100;
    webhook_world_apply(t, 1);
}

static size_t count_lines(struct webhook_world *t)
{
    char *text = webhook_world_request(t), *body = strstr(text, "\r\n\r\n");
    size_t lines = 0;
    for (char *at = body; at && *at; at++)
        lines += at[0] == '}' && at[1] == '\n';
    free(text);
    return lines;
}

static void a_batch_is_sent_when_it_is_full_or_after_its_time(void **state)
{
    struct webhook_world *t = *state;
    begin_batches(t, 3);
    webhook_world_change(t, "a");
    webhook_world_change(t, "b");
    assert_no_request(t);
    sim_advance(&t->journal->sim, 99);
    assert_no_request(t);
    webhook_world_change(t, "a");
    assert_int_equal(count_lines(t), 3); /* full */
    webhook_world_change(t, "c");
    webhook_world_respond(t, WEBHOOK_OK);
    assert_no_request(t);
    sim_advance(&t->journal->sim, 100);
    assert_int_equal(count_lines(t), 1);
    webhook_world_respond(t, WEBHOOK_OK);
    assert_int_equal(webhook_world_status(t).length, 0);
    assert_int_equal(webhook_world_status(t).counters.runs, 2);
}

static void a_batch_keeps_the_order_of_an_object(void **state)
{
    struct webhook_world *t = *state;
    char *text, *first, *second;
    begin_batches(t, 10);
    webhook_world_change(t, "a");
    webhook_world_change(t, "b");
    webhook_world_change(t, "a");
    sim_advance(&t->journal->sim, 100);
    text = webhook_world_request(t);
    first = strstr(text, "\"seq\":1,");
    second = strstr(text, "\"seq\":3,");
    assert_true(first && second && first < second);
    assert_non_null(strstr(text, "-1-2-")); /* Idempotency-Key: first, last, hash */
    free(text);
    webhook_world_change(t, "a");
    sim_advance(&t->journal->sim, 200);
    assert_no_request(t); /* the object is in a run */
    webhook_world_respond(t, WEBHOOK_OK);
    sim_advance(&t->journal->sim, 100);
    assert_int_equal(count_lines(t), 1);
    webhook_world_respond(t, WEBHOOK_OK);
}

static void a_refused_batch_is_sent_one_by_one(void **state)
{
    struct webhook_world *t = *state;
    begin_batches(t, 3);
    webhook_world_change(t, "a");
    webhook_world_change(t, "bad");
    webhook_world_change(t, "c");
    assert_int_equal(count_lines(t), 3);
    webhook_world_respond(t, WEBHOOK_ERROR("400", ""));
    assert_logged(t->journal, "3 records: HTTP 400: oops; repeated one by one");
    assert_request(t, "\"name\":\"a\"");
    webhook_world_respond(t, WEBHOOK_OK);
    assert_request(t, "\"name\":\"bad\"");
    webhook_world_respond(t, WEBHOOK_ERROR("400", ""));
    assert_request(t, "\"name\":\"c\"");
    webhook_world_respond(t, WEBHOOK_OK);
    assert_int_equal(webhook_world_status(t).length, 0);
    assert_int_equal(webhook_world_status(t).parked, 1);
}

static void a_batch_that_fails_for_ever_is_sent_one_by_one_at_last(void **state)
{
    struct webhook_world *t = *state;
    t->settings.timeout_ms = 60 * 1000;
    begin_batches(t, 2);
    webhook_world_change(t, "a");
    webhook_world_change(t, "bad");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(count_lines(t), 2);
        webhook_world_respond(t, WEBHOOK_ERROR("500", ""));
        sim_advance(&t->journal->sim, 4 * WEBHOOK_BACKOFF_MS + 100);
    }
    assert_int_equal(count_lines(t), 1);
    webhook_world_respond(t, WEBHOOK_OK);
    assert_int_equal(count_lines(t), 1);
    webhook_world_respond(t, WEBHOOK_ERROR("500", ""));
    assert_int_equal(webhook_world_status(t).length, 0);
    assert_int_equal(webhook_world_status(t).parked, 1);
}

static void respond_with(struct webhook_world *t, const char *json)
{
    char *wire = xasprintf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(json), json);
    webhook_world_respond(t, wire);
    free(wire);
}

static void elastic_items_that_failed_are_settled_separately(void **state)
{
    struct webhook_world *t = *state;
    t->conf.webhook.preset = elastic;
    begin_batches(t, 4);
    webhook_world_change(t, "done");
    webhook_world_change(t, "known");
    webhook_world_change(t, "busy");
    webhook_world_change(t, "bad");
    respond_with(t, "{\"took\":1,\"errors\":true,\"items\":[{\"create\":{\"status\":201}},"
                    "{\"create\":{\"status\":409,\"error\":{\"type\":\"version_conflict\"}}},"
                    "{\"create\":{\"status\":429,\"error\":{\"reason\":\"queue full\"}}},"
                    "{\"create\":{\"status\":400,\"error\":{\"reason\":\"no mapping\"}}}]}");
    assert_int_equal(webhook_world_status(t).length, 1);
    assert_int_equal(webhook_world_status(t).parked, 1);
    assert_logged(t->journal, "1 of 4 records: the server reports status 429 for an item: queue "
                              "full; repeated in 1.0 s");
    sim_advance(&t->journal->sim, WEBHOOK_BACKOFF_MS + 100);
    assert_request(t, "\"name\":\"busy\"");
    respond_with(t, "{\"errors\":false,\"items\":[]}");
    assert_int_equal(webhook_world_status(t).length, 0);
}

static void a_response_that_is_not_elastics_is_a_failure(void **state)
{
    static const char *const bodies[] = {
        "", "hello", "{}", "{\"errors\":true}", "{\"errors\":true,\"items\":[]}", "[1,2"};
    struct webhook_world *t = *state;
    t->conf.webhook.preset = elastic;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        webhook_world_apply(t, 1);
        webhook_world_change(t, "web");
        respond_with(t, bodies[i]);
        assert_logged(t->journal, "HTTP 200, but the response is not that of the preset");
        assert_int_equal(webhook_world_status(t).length, 1);
        webhook_world_apply(t, 0);
    }
}

/* ---- reload and the end ---- */

static void a_reload_replaces_the_url_while_a_request_runs(void **state)
{
    struct webhook_world *t = *state;
    char other[] = "http://localhost:9/other";
    struct pipe *first;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    webhook_world_change(t, "db");
    first = t->pipes.last;
    t->conf.webhook.url = other;
    webhook_world_apply(t, 1);
    pipe_sends(first, WEBHOOK_OK);
    sim_run(&t->journal->sim);
    assert_string_equal(t->pipes.last->host, "localhost");
    assert_request(t, "POST /other HTTP/1.1\r\n");
    webhook_world_respond(t, WEBHOOK_OK);
    assert_int_equal(webhook_world_status(t).length, 0);
    assert_true(pipe_closed(first));
    assert_int_equal(t->dialers,
                     2); /* name lookups of one server do not wait for those of the other */
    assert_int_equal(t->dialers_open, 1);
}

static void draining_cuts_a_request_that_takes_too_long(void **state)
{
    struct webhook_world *t = *state;
    t->settings.timeout_ms = 60 * 1000;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    handlers_drain(&t->handlers, 8000, webhook_world_drained);
    sim_advance(&t->journal->sim, 7999);
    assert_int_equal(t->drained, 0);
    sim_advance(&t->journal->sim, 1);
    assert_int_equal(t->drained, 1);
    assert_true(pipe_closed(t->pipes.last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WEBHOOK_WORLD(sends_a_record_and_reuses_the_connection),
        IN_WEBHOOK_WORLD(signs_and_adds_headers_and_reads_changed_files),
        IN_WEBHOOK_WORLD(a_file_that_cannot_be_read_is_a_temporary_problem),
        IN_WEBHOOK_WORLD(parks_or_repeats_by_the_status),
        IN_WEBHOOK_WORLD(a_network_error_is_repeated_until_it_works),
        IN_WEBHOOK_WORLD(retry_after_holds_the_whole_handler_for_a_bounded_time),
        IN_WEBHOOK_WORLD(a_server_that_never_answers_is_closed_after_the_timeout),
        IN_WEBHOOK_WORLD(a_response_that_is_too_long_is_cut),
        IN_WEBHOOK_WORLD(a_batch_is_sent_when_it_is_full_or_after_its_time),
        IN_WEBHOOK_WORLD(a_batch_keeps_the_order_of_an_object),
        IN_WEBHOOK_WORLD(a_refused_batch_is_sent_one_by_one),
        IN_WEBHOOK_WORLD(a_batch_that_fails_for_ever_is_sent_one_by_one_at_last),
        IN_WEBHOOK_WORLD(elastic_items_that_failed_are_settled_separately),
        IN_WEBHOOK_WORLD(a_response_that_is_not_elastics_is_a_failure),
        IN_WEBHOOK_WORLD(a_reload_replaces_the_url_while_a_request_runs),
        IN_WEBHOOK_WORLD(draining_cuts_a_request_that_takes_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
