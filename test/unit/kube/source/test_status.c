/*
 * test_status.c - error responses of servers and proxies, and the errors made from them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "kube/source/status.h"
#include "recording.h"

#define NOW (INT64_C(1794785069) * 1000000) /* 2026-11-15T23:24:29Z */

struct verdict {
    int code;
    int http_status;
    uint32_t retry_after_ms;
    const char *text;
};

static void assert_verdict(const struct inf_error *err, const struct verdict *v)
{
    for (const char *c = err->text; *c; c++)
        assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
    assert_string_equal(err->text, v->text);
    assert_int_equal(err->code, v->code);
    assert_int_equal(err->http_status, v->http_status);
    assert_int_equal(err->retry_after_ms, v->retry_after_ms);
}

static const struct {
    const char *name;
    struct verdict verdict;
} recorded[] = {
    {"badtoken-401", {INF_EUNAUTHORIZED, 401, 0, "server error: Unauthorized (401 Unauthorized)"}},
    {"anonymous-403",
     {INF_EFORBIDDEN, 403, 0,
      "server error: pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" "
      "in API group \"\" at the cluster scope (403 Forbidden)"}},
    {"notfound-404", {INF_ENOTFOUND, 404, 0, "the server returned HTTP 404: 404 page not found"}},
    {"list-invalid-rv-400",
     {INF_EREFUSED, 400, 0,
      "server error: invalid resource version: resourceVersion: Invalid value: \"abc\": "
      "strconv.ParseUint: parsing \"abc\": invalid syntax (400 BadRequest)"}},
    {"pods-list-fieldselector-400",
     {INF_EREFUSED, 400, 0,
      "server error: field label not supported: spec.bogus (400 BadRequest)"}},
    {"pods-list-exact-expired-410",
     {INF_EGONE, 410, 0,
      "server error: The resourceVersion for the provided list is too old. (410 Expired)"}},
    {"configmaps-list-expired-continue-410",
     {INF_EGONE, 410, 0,
      "server error: The provided continue parameter is too old to display a consistent list "
      "result. You can start a new list without the continue parameter, or use the continue token "
      "in this response to retrieve the remainder of the results. Continuing with the provided "
      "token results in an inconsistent list - objects that were created, modified, or deleted "
      "between the time the first chunk was returned and now may show up in the list. "
      "(410 Expired)"}},
    {"pods-list-rv-too-large",
     {INF_EFUTURE, 504, 1000,
      "server error: Timeout: Too large resource version: 999999999, current: 610 (504 Timeout)"}},
    {"watch-rvmatch-invalid-422",
     {INF_EREFUSED, 422, 0,
      "server error: ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided "
      "(422 Invalid)"}},
};

static void maps_recorded_refusals_to_codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
        struct recording r;
        struct inf_error err;
        recording_open(&r, recorded[i].name);
        status_from_response(r.status, recording_body(&r), r.retry_after, NOW, &err);
        assert_verdict(&err, &recorded[i].verdict);
        recording_close(&r);
    }
}

#define STATUS(more) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\"," more "}"

static const struct {
    int status;
    const char *body;
    const char *retry_after;
    struct verdict verdict;
} answers[] = {
    /* the server's own filters answer in plain text */
    {429,
     "Too many requests, please try again later.\n",
     "1",
     {INF_ETHROTTLED, 429, 1000,
      "the server returned HTTP 429: Too many requests, please try again later."}},
    {429, "", NULL, {INF_ETHROTTLED, 429, 0, "the server returned HTTP 429"}},
    {429,
     STATUS("\"message\":\"storage is (re)initializing\",\"reason\":\"TooManyRequests\","
            "\"details\":{\"retryAfterSeconds\":7},\"code\":429"),
     NULL,
     {INF_ETHROTTLED, 429, 7000,
      "server error: storage is (re)initializing (429 TooManyRequests)"}},
    {500,
     STATUS("\"message\":\"etcdserver: no leader\",\"code\":500"),
     NULL,
     {INF_ESERVER, 500, 0, "server error: etcdserver: no leader (500)"}},
    {503,
     STATUS("\"message\":\"shutting down\",\"reason\":\"ServiceUnavailable\",\"code\":503"),
     "1",
     {INF_ESERVER, 503, 1000, "server error: shutting down (503 ServiceUnavailable)"}},
    {503,
     "<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n</html>\r\n",
     NULL,
     {INF_ESERVER, 503, 0,
      "the server returned HTTP 503: <html>  <head><title>503 Service Temporarily "
      "Unavailable</title></head>  </html>"}},
    /* a 410 without a body is still a 410 */
    {410, "", NULL, {INF_EGONE, 410, 0, "the server returned HTTP 410"}},
    /* the code of the body counts: an expired version with another HTTP status */
    {500,
     STATUS("\"message\":\"old\",\"reason\":\"Expired\",\"code\":500"),
     NULL,
     {INF_EGONE, 500, 0, "server error: old (500 Expired)"}},
    {410,
     STATUS("\"reason\":\"Gone\""),
     NULL,
     {INF_EGONE, 410, 0, "server error: no message (410 Gone)"}},
    /* older servers have it only in the message */
    {504,
     STATUS("\"message\":\"Too large resource version: 9, current: 8\",\"reason\":\"Timeout\","
            "\"code\":504"),
     NULL,
     {INF_EFUTURE, 504, 0,
      "server error: Too large resource version: 9, current: 8 (504 Timeout)"}},
    {504,
     "upstream request timeout",
     NULL,
     {INF_ESERVER, 504, 0, "the server returned HTTP 504: upstream request timeout"}},
    {404,
     STATUS("\"message\":\"the server could not find the requested resource\","
            "\"reason\":\"NotFound\",\"code\":404"),
     NULL,
     {INF_ENOTFOUND, 404, 0,
      "server error: the server could not find the requested resource (404 NotFound)"}},
    {405, "", NULL, {INF_EREFUSED, 405, 0, "the server returned HTTP 405"}},
    {301,
     "Moved",
     NULL,
     {INF_EPROTO, 301, 0, "the server returned HTTP 301: Moved"}}, /* redirects are not followed */
    {204, "", NULL, {INF_EPROTO, 204, 0, "the server returned HTTP 204"}},
    /* JSON that is not a Status is treated as plain text */
    {502,
     "{\"error\":\"bad gateway\"}",
     NULL,
     {INF_ESERVER, 502, 0, "the server returned HTTP 502: {\"error\":\"bad gateway\"}"}},
    {500, "[]", NULL, {INF_ESERVER, 500, 0, "the server returned HTTP 500: []"}},
    {500,
     "{\"kind\":5}",
     NULL,
     {INF_ESERVER, 500, 0, "the server returned HTTP 500: {\"kind\":5}"}},
    /* fields of the wrong type are ignored */
    {403,
     STATUS("\"message\":[],\"reason\":{},\"details\":\"x\",\"code\":\"403\""),
     NULL,
     {INF_EFORBIDDEN, 403, 0, "server error: no message (403)"}},
    {429,
     STATUS("\"details\":{\"causes\":{},\"retryAfterSeconds\":-5},\"code\":429"),
     NULL,
     {INF_ETHROTTLED, 429, 0, "server error: no message (429)"}},
    /* control characters and line breaks are removed */
    {500,
     "\x1b[2J\x07line one\nline two\x7f",
     NULL,
     {INF_ESERVER, 500, 0, "the server returned HTTP 500:  [2J line one line two "}},
    {500,
     STATUS("\"message\":\"\\u001b]0;title\\u0007\\r\\nnext\",\"code\":500"),
     NULL,
     {INF_ESERVER, 500, 0, "server error:  ]0;title   next (500)"}},
};

static void maps_other_responses_to_codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct inf_error err;
        status_from_response(answers[i].status, str_of(answers[i].body), answers[i].retry_after,
                             NOW, &err);
        assert_verdict(&err, &answers[i].verdict);
    }
}

static const struct {
    const char *header;
    uint32_t ms;
} waits[] = {
    {"1", 1000},
    {"30", 30000},
    {"300", 300000},
    {"301", 300000}, /* at most five minutes */
    {"99999999999999999999", 0},
    {"4294968", 300000},
    {"0", 0},
    {"-1", 0},
    {"", 0},
    {"1.5", 0},
    {"soon", 0},
    {"5 minutes", 0},
    {"Sun, 15 Nov 2026 23:24:53 GMT", 24000}, /* a date, as proxies write it */
    {"Sun, 15 Nov 2026 23:24:29 GMT", 0},     /* now */
    {"Sun, 15 Nov 2020 23:24:29 GMT", 0},
    {"Mon, 16 Nov 2026 23:24:29 GMT", 300000},
    {"Sun, 15 Nov 2026 23:24:53 CET", 0},
};

static void honours_retry_after_within_its_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        struct inf_error err;
        status_from_response(429, STR("slow down"), waits[i].header, NOW, &err);
        if (err.retry_after_ms != waits[i].ms)
            fail_msg("Retry-After: %s -> %u ms", waits[i].header, err.retry_after_ms);
    }
}

static void limits_retry_after_in_the_body_too(void **state)
{
    struct inf_error err;
    (void)state;
    status_from_event(STR(STATUS("\"details\":{\"retryAfterSeconds\":86400},\"code\":429")), &err);
    assert_int_equal(err.retry_after_ms, 300000);
    status_from_event(STR(STATUS("\"details\":{\"retryAfterSeconds\":1e9},\"code\":429")), &err);
    assert_int_equal(err.retry_after_ms, 0);
}

static void maps_error_events_to_codes(void **state)
{
    static const struct {
        const char *object;
        struct verdict verdict;
    } events[] = {
        {STATUS("\"message\":\"too old resource version: 2 (533)\",\"reason\":\"Expired\","
                "\"code\":410"),
         {INF_EGONE, 410, 0, "server error: too old resource version: 2 (533) (410 Expired)"}},
        {STATUS("\"message\":\"Timeout: Too large resource version: 9, current: 8\","
                "\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"reason\":\"Other\"},"
                "{\"reason\":\"ResourceVersionTooLarge\"}],\"retryAfterSeconds\":1},\"code\":504"),
         {INF_EFUTURE, 504, 1000,
          "server error: Timeout: Too large resource version: 9, current: 8 (504 Timeout)"}},
        {STATUS("\"message\":\"unable to decode an event\",\"reason\":\"InternalError\","
                "\"code\":500"),
         {INF_ESERVER, 500, 0, "server error: unable to decode an event (500 InternalError)"}},
        {STATUS("\"reason\":\"TooManyRequests\",\"code\":429"),
         {INF_ETHROTTLED, 429, 0, "server error: no message (429 TooManyRequests)"}},
        {STATUS("\"reason\":\"Expired\""),
         {INF_EGONE, 0, 0, "server error: no message (0 Expired)"}},
        {"{}", {INF_EDECODE, 0, 0, "the server sent an ERROR event without a Status"}},
        {"not JSON", {INF_EDECODE, 0, 0, "the server sent an ERROR event without a Status"}},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        struct inf_error err;
        status_from_event(str_of(events[i].object), &err);
        assert_verdict(&err, &events[i].verdict);
    }
}

static void shortens_the_long_page_of_a_proxy(void **state)
{
    struct buf page = {0};
    struct inf_error err;
    (void)state;
    for (int i = 0; i < 1000; i++)
        buf_puts(&page, "<p>It is not you, it is us.</p>\n");
    status_from_response(503, (struct str){page.bytes, page.len}, NULL, NOW, &err);
    assert_int_equal(err.code, INF_ESERVER);
    assert_in_range(strlen(err.text), 100, 250);
    buf_free(&page);
}

static void a_long_message_ends_in_an_ellipsis(void **state)
{
    struct buf body = {0};
    struct inf_error err;
    (void)state;
    buf_puts(&body, "{\"kind\":\"Status\",\"code\":403,\"message\":\"");
    for (int i = 0; i < 1000; i++)
        buf_puts(&body, "no, ");
    buf_puts(&body, "\"}");
    status_from_response(403, (struct str){body.bytes, body.len}, NULL, NOW, &err);
    assert_int_equal(err.code, INF_EFORBIDDEN);
    assert_int_equal(err.http_status, 403);
    assert_string_equal(err.text + strlen(err.text) - 3, "...");
    buf_free(&body);
}

/* A truncated body is treated as text, and read within its bounds. */
static void reads_every_prefix_of_a_refusal(void **state)
{
    struct recording r;
    (void)state;
    recording_open(&r, "pods-list-rv-too-large");
    for (size_t len = 0; len < r.body.len; len++) {
        struct inf_error err;
        char *block = test_malloc(len);
        memcpy(block, r.body.bytes, len);
        status_from_response(504, (struct str){block, len}, "1", NOW, &err);
        assert_int_equal(err.http_status, 504);
        assert_int_equal(err.retry_after_ms, 1000);
        test_free(block);
    }
    recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_recorded_refusals_to_codes),
        cmocka_unit_test(maps_other_responses_to_codes),
        cmocka_unit_test(honours_retry_after_within_its_limit),
        cmocka_unit_test(limits_retry_after_in_the_body_too),
        cmocka_unit_test(maps_error_events_to_codes),
        cmocka_unit_test(shortens_the_long_page_of_a_proxy),
        cmocka_unit_test(a_long_message_ends_in_an_ellipsis),
        cmocka_unit_test(reads_every_prefix_of_a_refusal),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
