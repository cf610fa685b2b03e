/*
 * test_resolve.c - name lookups: when they are made, and what happens if the name server does not
 * respond.
 *
 * getaddrinfo() is lib/resolver.c's; time passes by firing the timer that is due next.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "loop/resolve.h"
#include "real_loop.h"
#include "resolver.h"

struct request {
    struct resolving resolving;
    char *result; /* addresses, or the error */
};

struct world {
    struct real_loop rl;
    struct resolver resolver;
    struct request a, b, c;
    unsigned lookups_before;
    bool closed;
};

static void on_resolved(struct resolving *resolving, const struct addresses *addresses)
{
    struct request *q = container_of(resolving, struct request, resolving);
    char ip[64];
    assert_null(q->result);
    q->result = xstrdup("");
    for (size_t i = 0; i < addresses->count; i++) {
        char *before = q->result;
        uv_ip_name(&addresses->list[i].any, ip, sizeof(ip));
        q->result = xasprintf("%s%s%s", before, i ? " " : "", ip);
        free(before);
    }
}

static void on_unresolved(struct resolving *resolving, const char *why)
{
    struct request *q = container_of(resolving, struct request, resolving);
    assert_null(q->result);
    q->result = xstrdup(why);
}

static void request_init(struct world *w, struct request *q)
{
    resolving_init(&q->resolving, &w->resolver);
    q->resolving.on_resolved = on_resolved;
    q->resolving.on_unresolved = on_unresolved;
}

static int setup(void **state)
{
    struct world *w = NEW(struct world);
    real_loop_init(&w->rl);
    resolver_init(&w->resolver, &w->rl.loop);
    request_init(w, &w->a);
    request_init(w, &w->b);
    request_init(w, &w->c);
    w->lookups_before = resolver_lookups();
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    if (!w->closed)
        resolver_close(&w->resolver);
    real_loop_done(&w->rl);
    free(w->a.result);
    free(w->b.result);
    free(w->c.result);
    free(w);
    return 0;
}

static void start_request(struct request *q, const char *name)
{
    free(q->result);
    q->result = NULL;
    resolve_start(&q->resolving, name);
}

/* Resolves @name and checks the result. */
static void resolve_and_expect(struct world *w, struct request *q, const char *name,
                               const char *result)
{
    start_request(q, name);
    RUN_UNTIL(&w->rl, q->result);
    assert_string_equal(q->result, result);
}

static void assert_lookups(const struct world *w, unsigned times)
{
    assert_int_equal(resolver_lookups() - w->lookups_before, times);
}

static void pass_the_deadline(struct world *w)
{
    struct clock *clock = &w->rl.loop.clock;
    uint64_t due = timers_next_due(&clock->timers);
    assert_in_range(due - clock_now_ms(clock), 0, RESOLVE_MAX_MS);
    timers_fire(&clock->timers, due);
}

/* Starts a lookup of api.test that hangs. */
static void start_hanging_lookup(struct world *w, struct request *q)
{
    resolver_hold();
    start_request(q, "api.test");
    resolver_await();
    pass_the_deadline(w);
}

static void complete_lookup(struct world *w)
{
    resolver_release();
    RUN_UNTIL(&w->rl, !w->resolver.lookup);
}

/* ---- lookups ---- */

static void test_literal_addresses_need_no_lookup(void **state)
{
    struct world *w = *state;
    start_request(&w->a, "192.0.2.7");
    assert_string_equal(w->a.result, "192.0.2.7");
    start_request(&w->a, "2001:db8::7");
    assert_string_equal(w->a.result, "2001:db8::7");
    start_request(&w->a, "fe80::7%lo");
    assert_string_equal(w->a.result, "fe80::7");
    assert_lookups(w, 0);
}

static void test_looks_a_name_up_for_each_request(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1 2001:db8::1");
    resolve_and_expect(w, &w->a, "api.test", "192.0.2.1 2001:db8::1");
    resolver_set("api.test", "192.0.2.2");
    resolve_and_expect(w, &w->a, "api.test", "192.0.2.2");
    assert_lookups(w, 2);
    assert_true(timers_next_due(&w->rl.loop.clock.timers) == TIMERS_NONE);
}

static void test_requests_for_the_same_name_share_a_lookup(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    start_request(&w->a, "api.test");
    start_request(&w->b, "api.test");
    resolve_and_expect(w, &w->c, "api.test", "192.0.2.1");
    assert_string_equal(w->a.result, "192.0.2.1");
    assert_string_equal(w->b.result, "192.0.2.1");
    assert_lookups(w, 1);
}

static void test_another_name_waits_for_the_current_lookup(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    resolver_hold();
    start_request(&w->a, "other.test");
    resolver_await();
    start_request(&w->b, "api.test");
    start_request(&w->c, "other.test");
    real_loop_settle(&w->rl);
    resolver_release();
    RUN_UNTIL(&w->rl, w->a.result);
    assert_string_equal(w->a.result, "unknown node or service");
    assert_string_equal(w->c.result, "unknown node or service");
    assert_null(w->b.result);
    RUN_UNTIL(&w->rl, w->b.result);
    assert_string_equal(w->b.result, "192.0.2.1");
    assert_lookups(w, 2);
}

/* ---- failures ---- */

static void test_reports_a_name_that_does_not_exist(void **state)
{
    struct world *w = *state;
    resolve_and_expect(w, &w->a, "no-such-host.invalid", "unknown node or service");
}

static void test_reports_a_name_without_addresses(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "");
    resolve_and_expect(w, &w->a, "api.test", "the name has no address");
}

static void test_reports_names_that_cant_be_looked_up(void **state)
{
    struct world *w = *state;
    char name[301];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    start_request(&w->a, name);
    assert_non_null(w->a.result);
    assert_lookups(w, 0);
}

static void test_reports_a_timeout(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    start_hanging_lookup(w, &w->a);
    assert_string_equal(w->a.result, "no response within 5s");
    start_request(&w->b, "api.test"); /* without a result it waits for the lookup that hangs */
    assert_null(w->b.result);
    complete_lookup(w);
    assert_string_equal(w->b.result, "192.0.2.1");
    assert_lookups(w, 1);
}

/* ---- the last good addresses ---- */

static void test_uses_the_last_good_result_after_a_failure(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    resolve_and_expect(w, &w->a, "api.test", "192.0.2.1");
    resolver_set("other.test", "");
    resolve_and_expect(w, &w->a, "api.test", "192.0.2.1");
    assert_lookups(w, 2);
}

static void test_uses_the_last_good_result_while_a_lookup_is_late(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    resolve_and_expect(w, &w->a, "api.test", "192.0.2.1");
    resolver_set("api.test", "192.0.2.2"); /* the address changes */
    start_hanging_lookup(w, &w->a);
    assert_string_equal(w->a.result, "192.0.2.1");
    start_request(&w->b, "api.test"); /* completes at once until the lookup returns */
    assert_string_equal(w->b.result, "192.0.2.1");
    complete_lookup(w);
    resolver_set("other.test", "");
    resolve_and_expect(w, &w->c, "api.test",
                       "192.0.2.2"); /* the late result is the last good one */
    assert_lookups(w, 3);
}

static void test_does_not_use_the_result_of_another_name(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    resolve_and_expect(w, &w->a, "api.test", "192.0.2.1");
    resolve_and_expect(w, &w->a, "other.test", "unknown node or service");
}

/* ---- stopping and closing ---- */

static void test_stops_a_waiting_request(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    start_request(&w->a, "api.test");
    start_request(&w->b, "api.test");
    resolve_stop(&w->a.resolving);
    resolve_stop(&w->a.resolving); /* harmless */
    RUN_UNTIL(&w->rl, w->b.result);
    assert_null(w->a.result);
}

static void close_now(struct world *w)
{
    resolver_close(&w->resolver);
    memset(&w->resolver, 0xff, sizeof(w->resolver)); /* the owner may reuse the memory */
    w->closed = true;
}

static void test_can_be_closed_during_a_lookup(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    resolver_hold();
    start_request(&w->a, "api.test");
    resolver_await();
    resolve_stop(&w->a.resolving);
    close_now(w);
    resolver_release();
    real_loop_settle(&w->rl);
    assert_null(w->a.result);
}

/* libuv has one thread here: it is busy with the lookup of another resolver. */
static void test_can_be_closed_before_the_lookup_starts(void **state)
{
    struct world *w = *state;
    struct resolver other;
    resolver_init(&other, &w->rl.loop);
    resolving_init(&w->b.resolving, &other);
    resolver_hold();
    start_request(&w->b, "api.test");
    resolver_await();
    start_request(&w->a, "api.test");
    resolve_stop(&w->a.resolving);
    resolve_stop(&w->b.resolving);
    close_now(w);
    real_loop_settle(&w->rl);
    resolver_close(&other);
    resolver_release();
    real_loop_settle(&w->rl);
    assert_lookups(w, 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_literal_addresses_need_no_lookup),
        CASE(test_looks_a_name_up_for_each_request),
        CASE(test_requests_for_the_same_name_share_a_lookup),
        CASE(test_another_name_waits_for_the_current_lookup),
        CASE(test_reports_a_name_that_does_not_exist),
        CASE(test_reports_a_name_without_addresses),
        CASE(test_reports_names_that_cant_be_looked_up),
        CASE(test_reports_a_timeout),
        CASE(test_uses_the_last_good_result_after_a_failure),
        CASE(test_uses_the_last_good_result_while_a_lookup_is_late),
        CASE(test_does_not_use_the_result_of_another_name),
        CASE(test_stops_a_waiting_request),
        CASE(test_can_be_closed_during_a_lookup),
        CASE(test_can_be_closed_before_the_lookup_starts),
    };
    setenv("UV_THREADPOOL_SIZE", "1", 1); /* one lookup at a time */
    return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
