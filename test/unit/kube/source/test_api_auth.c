/*
 * test_api_auth.c - requests that the server answers with 401 are repeated once, if there are
 * other credentials.
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
#include "kube/auth/impersonate.h"
#include "source_world.h"

#define WHO_ARE_YOU "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"

struct place {
    char path[32];
    struct source_world w;
};

static void put_token(const struct place *p, const char *token)
{
    FILE *f = fopen(p->path, "w");
    assert_non_null(f);
    assert_true(fputs(token, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int make_place(void **state)
{
    struct place *p = NEW(struct place);
    strcpy(p->path, "/tmp/test_api_auth.XXXXXX");
    close(mkstemp(p->path));
    put_token(p, "monday");
    source_world_init(&p->w, "pods", NULL);
    source_world_identify(&p->w, NULL, p->path);
    *state = p;
    return 0;
}

static int drop_place(void **state)
{
    struct place *p = *state;
    source_world_done(&p->w);
    unlink(p->path);
    free(p);
    return 0;
}

static void answer(struct place *p, const char *wire)
{
    buf_clear(&p->w.pipes.last->written);
    pipe_sends(p->w.pipes.last, wire);
    sim_run(&p->w.sim);
}

static bool request_contains(struct place *p, const char *token)
{
    struct buf *written = &p->w.pipes.last->written;
    return memmem(written->bytes, written->len, token, strlen(token)) != NULL;
}

/* The message says that the token was refused, and which one: there may be many. */
static void events_of_refusal(struct place *p)
{
    char *expected =
        xasprintf("INF_EUNAUTHORIZED: kube.test:6443: the server returned HTTP 401; the server "
                  "rejected the token in '%s'; check that it is valid for this cluster, not "
                  "expired and not revoked\n",
                  p->path);
    source_world_expect(&p->w, expected);
    free(expected);
}

static void retries_at_once_with_a_renewed_token(void **state)
{
    struct place *p = *state;
    source_world_connect(&p->w);
    assert_true(request_contains(p, "Bearer monday\r\n"));
    put_token(p, "tuesday");
    answer(p, WHO_ARE_YOU);
    source_world_expect(&p->w, "");
    assert_true(request_contains(p, "GET /api/v1/pods?"));
    assert_true(request_contains(p, "Bearer tuesday\r\n"));
    assert_int_equal(p->w.pipes.n_dialled, 1);
    source_world_play(&p->w, p->w.pipes.last, "secrets-watchlist");
    source_world_expect(
        &p->w, "open\nADDED default/db-password 508\nBOOKMARK 583 end\nINF_EEOF: " WATCH_END);
}

static void does_not_retry_with_the_same_token(void **state)
{
    struct place *p = *state;
    source_world_connect(&p->w);
    answer(p, WHO_ARE_YOU);
    events_of_refusal(p);
    assert_int_equal(p->w.pipes.last->written.len, 0);
}

static void reports_the_second_refusal(void **state)
{
    struct place *p = *state;
    source_world_connect(&p->w);
    put_token(p, "tuesday");
    answer(p, WHO_ARE_YOU);
    put_token(p, "wednesday");
    answer(p, WHO_ARE_YOU);
    events_of_refusal(p);
    source_world_connect(&p->w); /* the next request can be retried, too */
    assert_true(request_contains(p, "Bearer tuesday\r\n"));
    answer(p, WHO_ARE_YOU);
    assert_true(request_contains(p, "Bearer wednesday\r\n"));
    source_world_expect(&p->w, "");
}

/* The file is unchanged, but another request has already read a new token from it. */
static void a_late_401_uses_the_token_that_was_renewed_since(void **state)
{
    struct place *p = *state;
    struct auth_headers headers;
    struct inf_error err;
    source_world_connect(&p->w);
    put_token(p, "tuesday");
    assert_int_equal(auth_get(p->w.auth, NULL, &headers, &err), 0);
    assert_true(auth_refused(p->w.auth, headers.generation));
    answer(p, WHO_ARE_YOU);
    assert_true(request_contains(p, "Bearer tuesday\r\n"));
    source_world_expect(&p->w, "");
}

static void other_refusals_do_not_renew_the_token(void **state)
{
    struct place *p = *state;
    source_world_connect(&p->w);
    put_token(p, "tuesday");
    answer(p, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    source_world_expect(&p->w, "INF_EFORBIDDEN: kube.test:6443: the server returned HTTP 403; this "
                               "requires the verbs list and watch on pods in all namespaces\n");
}

static void a_retried_request_can_be_paused_and_cancelled(void **state)
{
    struct place *p = *state;
    source_world_connect(&p->w);
    source_pause(p->w.source);
    source_resume(p->w.source);
    put_token(p, "tuesday");
    answer(p, WHO_ARE_YOU);
    source_pause(p->w.source);
    pipe_sends(p->w.pipes.last, WATCH_HEAD);
    sim_run(&p->w.sim);
    source_world_expect(&p->w, "");
    source_cancel(p->w.source);
    sim_run(&p->w.sim);
    source_world_expect(&p->w, "");
}

static void sends_impersonation_with_each_request(void **state)
{
    struct place *p = *state;
    struct inf_error err;
    source_world_identify(&p->w, "s3cr3t", NULL);
    assert_int_equal(impersonate_user(&p->w.config, "jane", &err), 0);
    auth_free(p->w.auth);
    p->w.auth = auth_new(&(struct auth_settings){.clock = &p->w.sim.clock, .config = &p->w.config});
    p->w.server.auth = p->w.auth;
    source_world_connect(&p->w);
    assert_true(
        request_contains(p, "\r\nAuthorization: Bearer s3cr3t\r\nImpersonate-User: jane\r\n\r\n"));
}

/* ---- servers that echo the request ---- */

#define TOKEN "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl"
#define STATUS(message) \
    "{\"kind\":\"Status\",\"message\":\"" message "\",\"reason\":\"" TOKEN "\",\"code\":500}"
#define FILLED_64  "0123456789012345678901234567890123456789012345678901234567890123"
#define FILLED_192 FILLED_64 FILLED_64 FILLED_64
#define FILLED_960 FILLED_192 FILLED_192 FILLED_192 FILLED_192 FILLED_192
#define OOPS       "500 Oops"
#define GOOD       "200 OK\r\nContent-Type: application/json"

static const struct {
    enum source_want want;
    const char *head, *body;
    const char *events; /* included in the events */
} echoes[] = {
    {SOURCE_WATCH, OOPS, STATUS("bad token " TOKEN), "bad token *** (500 ***)"},
    {SOURCE_WATCH, OOPS, STATUS("\\u0065yJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl"),
     ": *** (500"},
    {SOURCE_WATCH, OOPS, STATUS(FILLED_960 " " TOKEN),
     FILLED_64 " ***"}, /* where texts are truncated */
    {SOURCE_WATCH, "502 " TOKEN, "Authorization: Bearer " TOKEN,
     "HTTP 502: Authorization: Bearer ***"},
    {SOURCE_WATCH, "302 Found\r\nLocation: https://l/" FILLED_64 FILLED_64 "/" TOKEN, "",
     "/***' (HTTP 302)"},
    {SOURCE_WATCH, "200 OK\r\nContent-Type: text/" TOKEN, "", "text/***'"},
    {SOURCE_WATCH, GOOD "\r\nContent-Encoding: " TOKEN, "", "encoding '***'"},
    {SOURCE_WATCH, GOOD, "{\"type\":\"" TOKEN "\",\"object\":{}}", "unknown type \"***"},
    {SOURCE_WATCH, GOOD,
     "{\"type\":\"ADDED\",\"object\":{\"kind\":\"" TOKEN "\",\"metadata\":{\"name\":\"a/b\"}}}",
     "*** a/b: object:"},
    {SOURCE_WATCH, GOOD,
     "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" TOKEN "\"}}}",
     "returned one of our credentials as a resourceVersion"},
    {SOURCE_LIST, GOOD,
     "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" TOKEN
     "\"},\"items\":[]}",
     "returned one of our credentials as a resourceVersion"},
    {SOURCE_DOCUMENT, GOOD, "{\"groupVersion\":\"v1\",\"resources\":[{\"name\":\"" TOKEN "\"}]}",
     "\"name\":\"***\""},
};

static void play_echo(struct source_world *w, size_t i)
{
    char *head = xasprintf("HTTP/1.1 %s\r\nTransfer-Encoding: chunked\r\n\r\n", echoes[i].head);
    source_world_open(w, &(struct source_request){.want = echoes[i].want, .path = "/api/v1"});
    sim_run(&w->sim);
    pipe_sends(w->pipes.last, head);
    if (echoes[i].body[0])
        send_chunk(w->pipes.last, echoes[i].body);
    pipe_sends(w->pipes.last, WATCH_LAST);
    sim_run(&w->sim);
    free(head);
}

static void check_echo(size_t i)
{
    struct source_world w;
    source_world_init(&w, "pods", NULL);
    source_world_identify(&w, TOKEN, NULL);
    play_echo(&w, i);
    buf_putc(&w.events, '\0');
    if (strstr(w.events.bytes, "yJhbGci") || !strstr(w.events.bytes, echoes[i].events))
        fail_msg("'%s' is not in: %s", echoes[i].events, w.events.bytes);
    source_world_done(&w);
}

static void removes_our_token_from_error_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(echoes); i++)
        check_echo(i);
}

/* A request that was sent with the old token is answered after there is a new one. */
static void removes_the_previous_token_too(void **state)
{
    struct place *p = *state;
    put_token(p, "monday-0123456789");
    source_world_identify(&p->w, NULL, p->path);
    source_world_connect(&p->w);
    put_token(p, "tuesday-0123456789");
    answer(p, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    answer(p, "HTTP/1.1 500 Oops\r\nContent-Length: 41\r\n\r\n"
              "not monday-0123456789, tuesday-0123456789");
    source_world_expect(
        &p->w, "INF_ESERVER: kube.test:6443: the server returned HTTP 500: not ***, ***\n");
}

static void removes_the_password_and_the_encoded_login(void **state)
{
    struct place *p = *state;
    auth_free(p->w.auth);
    kubeconfig_free(&p->w.config);
    p->w.config.basic = xstrdup("amFuZTpodW50ZXItMg=="); /* jane:hunter-2 */
    p->w.auth = auth_new(&(struct auth_settings){.clock = &p->w.sim.clock, .config = &p->w.config});
    p->w.server.auth = p->w.auth;
    source_world_connect(&p->w);
    answer(p, "HTTP/1.1 500 Oops\r\nContent-Length: 44\r\n\r\n"
              "amFuZTpodW50ZXItMg== is jane with hunter%2D2");
    source_world_expect(
        &p->w, "INF_ESERVER: kube.test:6443: the server returned HTTP 500: *** is jane with ***\n");
}

int main(void)
{
#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        WITH_PLACE(retries_at_once_with_a_renewed_token),
        WITH_PLACE(does_not_retry_with_the_same_token),
        WITH_PLACE(reports_the_second_refusal),
        WITH_PLACE(a_late_401_uses_the_token_that_was_renewed_since),
        WITH_PLACE(other_refusals_do_not_renew_the_token),
        WITH_PLACE(sends_impersonation_with_each_request),
        WITH_PLACE(a_retried_request_can_be_paused_and_cancelled),
        cmocka_unit_test(removes_our_token_from_error_texts),
        WITH_PLACE(removes_the_previous_token_too),
        WITH_PLACE(removes_the_password_and_the_encoded_login),
    };
    return cmocka_run_group_tests_name("api_auth", tests, NULL, NULL);
}
