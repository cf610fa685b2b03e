/*
 * story_budget.c - the memory budget: streams with large backlogs are held, small ones continue,
 * nothing is lost.
 */
#include <stdlib.h>

#include "base/base.h"
#include "story.h"

enum {
    LIMIT = 64 * 1024, /* some hundred events of the small objects of these stories */
};

static void no_wake(struct budget_account *account)
{
    (void)account;
}

/* Starts with a budget of which @other informers use @bytes. One object is delivered. */
static void begin(struct story *s, struct budget_account *other, size_t bytes)
{
    s->log.level = LOG_ERROR;
    s->settings.budget = inf_budget_new(&(struct inf_budget_options){.bytes = LIMIT});
    budget_open(other, s->settings.budget, no_wake);
    budget_set(other, bytes);
    inf_budget_free(s->settings.budget);
    apiserver_put(s->server, "n/a");
    story_start(s);
    story_pass(s, 10);
    buf_clear(&s->lines);
}

static void change(struct story *s, int times)
{
    for (int i = 0; i < times; i++) {
        apiserver_put(s->server, "n/a");
        sim_run(&s->sim);
    }
}

static size_t count_lines(const struct story *s)
{
    size_t lines = 0;
    for (size_t i = 0; i < s->lines.len; i++)
        lines += s->lines.bytes[i] == '\n';
    return lines;
}

/* covers: 8/82 */
STORY(a_slow_handler_is_held_when_the_budget_is_used_up,
      "a stream whose handler does not keep up is held when the budget is used up")
{
    struct budget_account other;
    begin(s, &other, 0);
    inf_handler_pause(&s->handler);
    change(s, 1000);
    assert_true(s->pipeline.reflector.held);
    assert_true(s->server->paused);
    assert_true(inf_handler_backlog(&s->handler) < 1000);
    assert_true(s->pipeline.account.used < 2 * LIMIT);
    story_pass(s, 3600 * 1000); /* for an hour: nothing is given up */
    inf_handler_resume(&s->handler);
    sim_run(&s->sim);
    assert_false(s->pipeline.reflector.held);
    assert_int_equal(s->pipeline.account.used, 0);
    assert_int_equal(count_lines(s), 1000);
    budget_close(&other);
}

/* covers: 8/82 */
STORY(a_small_backlog_continues_over_the_budget,
      "a small backlog is not held while others use up the budget")
{
    struct budget_account other;
    begin(s, &other, 2 * LIMIT);
    inf_handler_pause(&s->handler);
    change(s, 5);
    assert_int_equal(inf_handler_backlog(&s->handler), 5);
    assert_false(s->pipeline.reflector.held);
    change(s, 1000); /* no longer small: half of the budget is its share */
    assert_true(s->pipeline.reflector.held);
    assert_true(s->pipeline.account.used < LIMIT);
    budget_set(&other, 0); /* there is room again */
    sim_run(&s->sim);
    assert_true(inf_handler_backlog(&s->handler) > 5);
    inf_handler_resume(&s->handler);
    sim_run(&s->sim);
    assert_int_equal(count_lines(s), 1005);
    budget_close(&other);
}

/* covers: 8/82 */
STORY(a_handler_that_keeps_up_gets_everything_over_the_budget,
      "a handler that keeps up gets all events, however little memory is left")
{
    struct budget_account other;
    begin(s, &other, 0);
    inf_budget_set_limit(s->settings.budget, 1);
    budget_set(&other, 100);
    change(s, 100);
    for (int i = 0; i < 1000; i++) /* more than is read at once */
        apiserver_put(s->server, "n/b");
    sim_run(&s->sim);
    assert_false(s->pipeline.reflector.held);
    assert_int_equal(count_lines(s), 1100);
    budget_close(&other);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(a_slow_handler_is_held_when_the_budget_is_used_up),
        cmocka_unit_test(a_small_backlog_continues_over_the_budget),
        cmocka_unit_test(a_handler_that_keeps_up_gets_everything_over_the_budget),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
