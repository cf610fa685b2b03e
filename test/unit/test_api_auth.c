/*
 * test_api_auth.c - requests that the server answers with 401: once more if there are other
 * credentials, and not a third time.
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
#include "kube/impersonate.h"
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

static bool asked_with(struct place *p, const char *token)
{
    struct buf *written = &p->w.pipes.last->written;
    return memmem(written->bytes, written->len, token, strlen(token)) != NULL;
}

/* That the token was refused, and which one: there may be many. */
static void told_refused(struct place *p)
{
    char *expected =
        xasprintf("INF_EUNAUTHORIZED: kube.test:6443: the server answers HTTP 401; the "
                  "token in '%s' is not accepted: is it of this cluster, not expired "
                  "and not revoked?\n",
                  p->path);
    source_world_told(&p->w, expected);
    free(expected);
}

static void a_renewed_token_is_tried_at_once(void **state)
{
    struct place *p = *state;
    source_world_ask(&p->w);
    assert_true(asked_with(p, "Bearer monday\r\n"));
    put_token(p, "tuesday");
    answer(p, WHO_ARE_YOU);
    source_world_told(&p->w, "");
    assert_true(asked_with(p, "GET /api/v1/pods?"));
    assert_true(asked_with(p, "Bearer tuesday\r\n"));
    assert_int_equal(p->w.pipes.n_dialled, 1);
    source_world_play(&p->w, p->w.pipes.last, "secrets-watchlist");
    source_world_told(
        &p->w, "open\nADDED default/db-password 508\nBOOKMARK 583 end\nINF_EEOF: " WATCH_END);
}

static void the_same_token_is_not(void **state)
{
    struct place *p = *state;
    source_world_ask(&p->w);
    answer(p, WHO_ARE_YOU);
    told_refused(p);
    assert_int_equal(p->w.pipes.last->written.len, 0);
}

static void a_second_refusal_is_told(void **state)
{
    struct place *p = *state;
    source_world_ask(&p->w);
    put_token(p, "tuesday");
    answer(p, WHO_ARE_YOU);
    put_token(p, "wednesday");
    answer(p, WHO_ARE_YOU);
    told_refused(p);
    source_world_ask(&p->w); /* the next request has a second try of its own */
    assert_true(asked_with(p, "Bearer tuesday\r\n"));
    answer(p, WHO_ARE_YOU);
    assert_true(asked_with(p, "Bearer wednesday\r\n"));
    source_world_told(&p->w, "");
}

/* The file is as it was, but a request that was faster has found another token in it. */
static void who_is_late_uses_what_others_found(void **state)
{
    struct place *p = *state;
    struct auth_headers headers;
    struct inf_error err;
    source_world_ask(&p->w);
    put_token(p, "tuesday");
    assert_int_equal(auth_get(p->w.auth, NULL, &headers, &err), 0);
    assert_true(auth_refused(p->w.auth, headers.generation));
    answer(p, WHO_ARE_YOU);
    assert_true(asked_with(p, "Bearer tuesday\r\n"));
    source_world_told(&p->w, "");
}

static void other_refusals_change_nothing(void **state)
{
    struct place *p = *state;
    source_world_ask(&p->w);
    put_token(p, "tuesday");
    answer(p, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    source_world_told(&p->w,
                      "INF_EFORBIDDEN: kube.test:6443: the server answers HTTP 403; it takes the "
                      "verbs list and watch on pods in all namespaces\n");
}

static void a_request_made_again_may_be_paused_and_cancelled(void **state)
{
    struct place *p = *state;
    source_world_ask(&p->w);
    source_pause(p->w.source);
    source_resume(p->w.source);
    put_token(p, "tuesday");
    answer(p, WHO_ARE_YOU);
    source_pause(p->w.source);
    pipe_sends(p->w.pipes.last, WATCH_HEAD);
    sim_run(&p->w.sim);
    source_world_told(&p->w, "");
    source_cancel(p->w.source);
    sim_run(&p->w.sim);
    source_world_told(&p->w, "");
}

static void whom_to_act_as_is_said_with_each_request(void **state)
{
    struct place *p = *state;
    struct inf_error err;
    source_world_identify(&p->w, "s3cr3t", NULL);
    assert_int_equal(impersonate_user(&p->w.config, "jane", &err), 0);
    auth_free(p->w.auth);
    p->w.auth = auth_new(&(struct auth_settings){.clock = &p->w.sim.clock, .config = &p->w.config});
    p->w.server.auth = p->w.auth;
    source_world_ask(&p->w);
    assert_true(
        asked_with(p, "\r\nAuthorization: Bearer s3cr3t\r\nImpersonate-User: jane\r\n\r\n"));
}

int main(void)
{
#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        WITH_PLACE(a_renewed_token_is_tried_at_once),
        WITH_PLACE(the_same_token_is_not),
        WITH_PLACE(a_second_refusal_is_told),
        WITH_PLACE(who_is_late_uses_what_others_found),
        WITH_PLACE(other_refusals_change_nothing),
        WITH_PLACE(whom_to_act_as_is_said_with_each_request),
        WITH_PLACE(a_request_made_again_may_be_paused_and_cancelled),
    };
    return cmocka_run_group_tests_name("api_auth", tests, NULL, NULL);
}
