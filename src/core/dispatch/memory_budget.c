/*
 * memory_budget.c - adds up the usage of all accounts and decides which are held.
 *
 * Over the limit, an account that exceeds its equal share is held. All are released when the usage
 * falls below 7/8 of the limit; one is released when it uses less than half its share.
 */
#include "core/dispatch/memory_budget.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

struct inf_budget {
    struct inf_budget_options options;
    unsigned users; /* its creator and the open accounts */
    size_t used;
    size_t active;    /* accounts that use something */
    struct list held; /* of struct budget_account, in the order they were held */
    size_t n_held;
    uint64_t reached;
    bool over;
};

/* ---- which are held ---- */

static size_t share_of(const struct inf_budget *b)
{
    return b->options.bytes / (b->active ? b->active : 1);
}

static void release_account(struct budget_account *a)
{
    a->held = false;
    a->budget->n_held--;
    list_remove(&a->node);
}

/* Hysteresis: between the two limits the state does not change. */
static void check_limit(struct inf_budget *b)
{
    size_t low = b->options.bytes - b->options.bytes / 8;
    bool over = b->over ? b->used > low : b->used > b->options.bytes;
    if (over == b->over)
        return;
    b->over = over;
    b->reached += over;
    if (b->options.on_over)
        b->options.on_over(b->options.data, over);
    while (!over && !list_empty(&b->held)) {
        struct budget_account *a = container_of(b->held.next, struct budget_account, node);
        release_account(a);
        a->wake(a);
    }
}

/* ---- accounts ---- */

void budget_open(struct budget_account *account, struct inf_budget *budget,
                 void (*wake)(struct budget_account *account))
{
    *account = (struct budget_account){.budget = budget, .wake = wake};
    list_init(&account->node);
    if (budget)
        budget->users++;
}

static void note_used(struct budget_account *a, size_t bytes)
{
    struct inf_budget *b = a->budget;
    b->active += (bytes != 0);
    b->active -= (a->used != 0);
    b->used += bytes - a->used;
    a->used = bytes;
}

void budget_set(struct budget_account *account, size_t bytes)
{
    struct inf_budget *b = account->budget;
    if (!b || bytes == account->used)
        return;
    note_used(account, bytes);
    check_limit(b);
    if (b->over && !account->held && bytes > share_of(b)) {
        account->held = true;
        b->n_held++;
        list_push(&b->held, &account->node);
    } else if (account->held && bytes <= share_of(b) / 2) {
        release_account(account);
        account->wake(account);
    }
}

static void budget_unref(struct inf_budget *b)
{
    if (--b->users == 0)
        free(b);
}

void budget_close(struct budget_account *account)
{
    struct inf_budget *b = account->budget;
    if (!b)
        return;
    if (account->held)
        release_account(account);
    note_used(account, 0);
    account->budget = NULL;
    check_limit(b);
    budget_unref(b);
}

/* ---- informer/budget.h ---- */

struct inf_budget *inf_budget_new(const struct inf_budget_options *options)
{
    struct inf_budget *b;
    if (!ALL_ZERO(options->reserved))
        return NULL;
    b = NEW(struct inf_budget);
    b->options = *options;
    b->users = 1;
    list_init(&b->held);
    return b;
}

void inf_budget_free(struct inf_budget *budget)
{
    if (!budget)
        return;
    budget->options.on_over = NULL;
    budget_unref(budget);
}

void inf_budget_set_limit(struct inf_budget *budget, size_t bytes)
{
    budget->options.bytes = bytes;
    check_limit(budget);
}

void inf_budget_add(struct inf_budget *budget, ptrdiff_t bytes)
{
    if (!budget || !bytes)
        return;
    assert(bytes > 0 || (size_t)-bytes <= budget->used);
    budget->used += (size_t)bytes;
    check_limit(budget);
}

void inf_budget_status(const struct inf_budget *budget, struct inf_budget_status *ret_status)
{
    *ret_status = (struct inf_budget_status){
        .limit = budget->options.bytes,
        .used = budget->used,
        .reached = budget->reached,
        .held = budget->n_held,
        .over = budget->over,
    };
}
