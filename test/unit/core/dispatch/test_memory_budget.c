/*
 * test_memory_budget.c - one limit for many backlogs: which accounts are held, and until when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "core/dispatch/memory_budget.h"

enum {
    ACCOUNTS = 4,
    LIMIT = 800,
};

struct world {
    struct inf_budget *budget;
    struct budget_account accounts[ACCOUNTS];
    int woken[ACCOUNTS];
    int over; /* number of calls of each kind */
    int under;
};

static struct world *the_world; /* NOLINT: accounts have no pointer back to it */

static void on_over(void *ctx, bool over)
{
    struct world *w = ctx;
    w->over += over;
    w->under += !over;
}

static void wake(struct budget_account *account)
{
    the_world->woken[account - the_world->accounts]++;
}

static int set_up(void **state)
{
    struct world *w = the_world = calloc(1, sizeof(*w));
    w->budget =
        inf_budget_new(&(struct inf_budget_options){.bytes = LIMIT, .on_over = on_over, .data = w});
    for (size_t i = 0; i < ACCOUNTS; i++)
        budget_open(&w->accounts[i], w->budget, wake);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    inf_budget_free(w->budget); /* the accounts keep it */
    for (size_t i = 0; i < ACCOUNTS; i++) {
        budget_close(&w->accounts[i]);
        budget_close(&w->accounts[i]); /* harmless */
    }
    free(w);
    return 0;
}

static void set(struct world *w, size_t i, size_t bytes)
{
    budget_set(&w->accounts[i], bytes);
}

static bool holds(const struct world *w, size_t i)
{
    return budget_holds(&w->accounts[i]);
}

static struct inf_budget_status status_of(const struct world *w)
{
    struct inf_budget_status status;
    inf_budget_status(w->budget, &status);
    return status;
}

static void below_the_limit_no_account_is_held(void **state)
{
    struct world *w = *state;
    set(w, 0, 700);
    set(w, 1, 100);
    assert_int_equal(status_of(w).used, 800);
    assert_false(status_of(w).over);
    assert_false(holds(w, 0) || holds(w, 1));
    assert_int_equal(w->over, 0);
}

/* The share is a quarter of the limit. */
static void above_the_limit_accounts_with_large_backlogs_are_held(void **state)
{
    struct world *w = *state;
    set(w, 0, 600);
    set(w, 1, 50);
    set(w, 2, 50);
    set(w, 3, 101);
    assert_true(status_of(w).over);
    assert_int_equal(status_of(w).reached, 1);
    assert_false(holds(w, 3));
    set(w, 0, 601);
    assert_true(holds(w, 0));
    assert_int_equal(status_of(w).held, 1);
    for (size_t i = 1; i < ACCOUNTS; i++) {
        set(w, i, 200); /* small ones continue ... */
        assert_false(holds(w, i));
        set(w, i, 201); /* ... and are held when they are large themselves */
        assert_true(holds(w, i));
    }
    assert_true(status_of(w).used <= 2 * LIMIT);
    assert_int_equal(w->over, 1);
}

static void all_accounts_are_released_below_the_low_mark(void **state)
{
    struct world *w = *state;
    set(w, 0, 500);
    set(w, 1, 301);
    set(w, 0, 501);
    assert_true(holds(w, 0));
    set(w, 1, 200); /* 701: between the marks */
    assert_true(holds(w, 0));
    set(w, 1, 199);
    assert_false(holds(w, 0));
    assert_int_equal(w->woken[0], 1);
    assert_int_equal(w->under, 1);
    assert_false(status_of(w).over);
}

/* What others use is no reason to hold an account that is small again. */
static void an_account_that_became_small_is_released(void **state)
{
    struct world *w = *state;
    set(w, 0, 900);
    set(w, 1, 500);
    assert_true(holds(w, 0) && holds(w, 1));
    set(w, 1, 201); /* the share is 400 */
    assert_true(holds(w, 1));
    set(w, 1, 200);
    assert_false(holds(w, 1));
    assert_int_equal(w->woken[1], 1);
    assert_true(holds(w, 0));
}

static void other_buffers_count_towards_the_limit(void **state)
{
    struct world *w = *state;
    inf_budget_add(w->budget, 700);
    set(w, 0, 200);
    assert_true(status_of(w).over);
    assert_false(holds(w, 0)); /* within its share */
    set(w, 0, 801);
    assert_true(holds(w, 0));
    inf_budget_add(w->budget, -700);
    assert_true(holds(w, 0)); /* 801 by itself */
    set(w, 0, 700);
    assert_false(holds(w, 0));
    inf_budget_add(NULL, 5);
}

static void another_limit_takes_effect_at_once(void **state)
{
    struct world *w = *state;
    set(w, 0, 500);
    inf_budget_set_limit(w->budget, 400);
    assert_true(status_of(w).over);
    set(w, 0, 501);
    assert_true(holds(w, 0));
    inf_budget_set_limit(w->budget, 1000);
    assert_false(holds(w, 0));
    assert_int_equal(w->woken[0], 1);
    assert_int_equal(status_of(w).limit, 1000);
}

static void a_closed_account_uses_nothing(void **state)
{
    struct world *w = *state;
    set(w, 0, 900);
    set(w, 1, 500);
    assert_true(holds(w, 0) && holds(w, 1));
    budget_close(&w->accounts[0]);
    assert_false(holds(w, 1));
    assert_int_equal(w->woken[0], 0);
    assert_int_equal(w->woken[1], 1);
    assert_int_equal(status_of(w).used, 500);
}

static void an_account_without_a_budget_is_never_held(void **state)
{
    struct budget_account account;
    (void)state;
    budget_open(&account, NULL, wake);
    budget_set(&account, SIZE_MAX);
    assert_false(budget_holds(&account));
    budget_close(&account);
    inf_budget_free(NULL);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(below_the_limit_no_account_is_held),
        IN_WORLD(above_the_limit_accounts_with_large_backlogs_are_held),
        IN_WORLD(all_accounts_are_released_below_the_low_mark),
        IN_WORLD(an_account_that_became_small_is_released),
        IN_WORLD(other_buffers_count_towards_the_limit),
        IN_WORLD(another_limit_takes_effect_at_once),
        IN_WORLD(a_closed_account_uses_nothing),
        cmocka_unit_test(an_account_without_a_budget_is_never_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
