/*
 * test_resolve.c - names to addresses: who is asked, how often, and what happens when nobody answers.
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

struct question {
    struct resolving resolving;
    char *answer; /* addresses, or why there are none */
};

struct world {
    struct real_loop rl;
    struct resolver resolver;
    struct question a, b, c;
    unsigned asked_before;
    bool closed;
};

static void on_resolved(struct resolving *resolving, const struct addresses *addresses)
{
    struct question *q = container_of(resolving, struct question, resolving);
    char ip[64];
    assert_null(q->answer);
    q->answer = xstrdup("");
    for (size_t i = 0; i < addresses->count; i++) {
        char *before = q->answer;
        uv_ip_name(&addresses->list[i].any, ip, sizeof(ip));
        q->answer = xasprintf("%s%s%s", before, i ? " " : "", ip);
        free(before);
    }
}

static void on_unresolved(struct resolving *resolving, const char *why)
{
    struct question *q = container_of(resolving, struct question, resolving);
    assert_null(q->answer);
    q->answer = xstrdup(why);
}

static void question_init(struct world *w, struct question *q)
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
    question_init(w, &w->a);
    question_init(w, &w->b);
    question_init(w, &w->c);
    w->asked_before = resolver_asked();
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    if (!w->closed)
        resolver_close(&w->resolver);
    real_loop_done(&w->rl);
    free(w->a.answer);
    free(w->b.answer);
    free(w->c.answer);
    free(w);
    return 0;
}

static void ask(struct question *q, const char *name)
{
    free(q->answer);
    q->answer = NULL;
    resolve_start(&q->resolving, name);
}

/* @question asks for @name and is answered in good time. */
static void ask_and_expect(struct world *w, struct question *q, const char *name,
                           const char *answer)
{
    ask(q, name);
    RUN_UNTIL(&w->rl, q->answer);
    assert_string_equal(q->answer, answer);
}

static void assert_asked(const struct world *w, unsigned times)
{
    assert_int_equal(resolver_asked() - w->asked_before, times);
}

static void pass_the_deadline(struct world *w)
{
    struct clock *clock = &w->rl.loop.clock;
    uint64_t due = timers_next_due(&clock->timers);
    assert_in_range(due - clock_now_ms(clock), 0, RESOLVE_MAX_MS);
    timers_fire(&clock->timers, due);
}

/* api.test is asked for and the name server hangs. */
static void ask_in_vain(struct world *w, struct question *q)
{
    resolver_hold();
    ask(q, "api.test");
    resolver_await();
    pass_the_deadline(w);
}

static void let_it_answer(struct world *w)
{
    resolver_release();
    RUN_UNTIL(&w->rl, !w->resolver.lookup);
}

/* ---- who is asked ---- */

static void test_addresses_ask_nobody(void **state)
{
    struct world *w = *state;
    ask(&w->a, "192.0.2.7");
    assert_string_equal(w->a.answer, "192.0.2.7");
    ask(&w->a, "2001:db8::7");
    assert_string_equal(w->a.answer, "2001:db8::7");
    ask(&w->a, "fe80::7%lo");
    assert_string_equal(w->a.answer, "fe80::7");
    assert_asked(w, 0);
}

static void test_each_question_is_asked_anew(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1 2001:db8::1");
    ask_and_expect(w, &w->a, "api.test", "192.0.2.1 2001:db8::1");
    resolver_set("api.test", "192.0.2.2");
    ask_and_expect(w, &w->a, "api.test", "192.0.2.2");
    assert_asked(w, 2);
    assert_true(timers_next_due(&w->rl.loop.clock.timers) == TIMERS_NONE);
}

static void test_the_same_name_is_asked_for_once(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    ask(&w->a, "api.test");
    ask(&w->b, "api.test");
    ask_and_expect(w, &w->c, "api.test", "192.0.2.1");
    assert_string_equal(w->a.answer, "192.0.2.1");
    assert_string_equal(w->b.answer, "192.0.2.1");
    assert_asked(w, 1);
}

static void test_another_name_waits_for_its_turn(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    resolver_hold();
    ask(&w->a, "other.test");
    resolver_await();
    ask(&w->b, "api.test");
    ask(&w->c, "other.test");
    real_loop_settle(&w->rl);
    resolver_release();
    RUN_UNTIL(&w->rl, w->a.answer);
    assert_string_equal(w->a.answer, "unknown node or service");
    assert_string_equal(w->c.answer, "unknown node or service");
    assert_null(w->b.answer);
    RUN_UNTIL(&w->rl, w->b.answer);
    assert_string_equal(w->b.answer, "192.0.2.1");
    assert_asked(w, 2);
}

/* ---- no answer ---- */

static void test_no_such_name(void **state)
{
    struct world *w = *state;
    ask_and_expect(w, &w->a, "no-such-host.invalid", "unknown node or service");
}

static void test_a_name_without_addresses(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "");
    ask_and_expect(w, &w->a, "api.test", "the name has no address");
}

static void test_names_that_cant_be_asked_for(void **state)
{
    struct world *w = *state;
    char name[301];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ask(&w->a, name);
    assert_non_null(w->a.answer);
    assert_asked(w, 0);
}

static void test_a_silent_name_server(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    ask_in_vain(w, &w->a);
    assert_string_equal(w->a.answer, "no response within 5s");
    ask(&w->b, "api.test"); /* nothing is known: it waits for the one that hangs */
    assert_null(w->b.answer);
    let_it_answer(w);
    assert_string_equal(w->b.answer, "192.0.2.1");
    assert_asked(w, 1);
}

/* ---- the last good addresses ---- */

static void test_a_failing_name_server_does_not_matter_to_whom_it_answered_before(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    ask_and_expect(w, &w->a, "api.test", "192.0.2.1");
    resolver_set("nobody.test", "");
    ask_and_expect(w, &w->a, "api.test", "192.0.2.1");
    assert_asked(w, 2);
}

static void test_a_silent_one_costs_the_first_to_ask_five_seconds(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    ask_and_expect(w, &w->a, "api.test", "192.0.2.1");
    resolver_set("api.test", "192.0.2.2"); /* it moves */
    ask_in_vain(w, &w->a);
    assert_string_equal(w->a.answer, "192.0.2.1");
    ask(&w->b, "api.test"); /* and from then on nothing, until it has come back */
    assert_string_equal(w->b.answer, "192.0.2.1");
    let_it_answer(w);
    resolver_set("nobody.test", "");
    ask_and_expect(w, &w->c, "api.test", "192.0.2.2"); /* the late answer is the last good one */
    assert_asked(w, 3);
}

static void test_what_is_known_of_one_name_is_no_answer_for_another(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    ask_and_expect(w, &w->a, "api.test", "192.0.2.1");
    ask_and_expect(w, &w->a, "other.test", "unknown node or service");
}

/* ---- stopping and closing ---- */

static void test_stopped_while_it_waits(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    ask(&w->a, "api.test");
    ask(&w->b, "api.test");
    resolve_stop(&w->a.resolving);
    resolve_stop(&w->a.resolving); /* harmless */
    RUN_UNTIL(&w->rl, w->b.answer);
    assert_null(w->a.answer);
}

static void close_now(struct world *w)
{
    resolver_close(&w->resolver);
    memset(&w->resolver, 0xff, sizeof(w->resolver)); /* the owner's again */
    w->closed = true;
}

static void test_closed_while_a_lookup_is_under_way(void **state)
{
    struct world *w = *state;
    resolver_set("api.test", "192.0.2.1");
    resolver_hold();
    ask(&w->a, "api.test");
    resolver_await();
    resolve_stop(&w->a.resolving);
    close_now(w);
    resolver_release();
    real_loop_settle(&w->rl);
    assert_null(w->a.answer);
}

/* libuv has one thread here: it is busy with the lookup of another resolver. */
static void test_closed_before_the_lookup_has_begun(void **state)
{
    struct world *w = *state;
    struct resolver other;
    resolver_init(&other, &w->rl.loop);
    resolving_init(&w->b.resolving, &other);
    resolver_hold();
    ask(&w->b, "api.test");
    resolver_await();
    ask(&w->a, "api.test");
    resolve_stop(&w->a.resolving);
    resolve_stop(&w->b.resolving);
    close_now(w);
    real_loop_settle(&w->rl);
    resolver_close(&other);
    resolver_release();
    real_loop_settle(&w->rl);
    assert_asked(w, 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_addresses_ask_nobody),
        CASE(test_each_question_is_asked_anew),
        CASE(test_the_same_name_is_asked_for_once),
        CASE(test_another_name_waits_for_its_turn),
        CASE(test_no_such_name),
        CASE(test_a_name_without_addresses),
        CASE(test_names_that_cant_be_asked_for),
        CASE(test_a_silent_name_server),
        CASE(test_a_failing_name_server_does_not_matter_to_whom_it_answered_before),
        CASE(test_a_silent_one_costs_the_first_to_ask_five_seconds),
        CASE(test_what_is_known_of_one_name_is_no_answer_for_another),
        CASE(test_stopped_while_it_waits),
        CASE(test_closed_while_a_lookup_is_under_way),
        CASE(test_closed_before_the_lookup_has_begun),
    };
    setenv("UV_THREADPOOL_SIZE", "1", 1); /* one lookup at a time */
    return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
