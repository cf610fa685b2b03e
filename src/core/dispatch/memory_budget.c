/*
 * memory_budget.c - counts what all accounts use, and decides which are held.
 */
#include "core/dispatch/memory_budget.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

struct inf_budget {
    struct inf_budget_options options;
    unsigned users; /* whoever made it, and open accounts */
    size_t used;
    size_t active;    /* accounts that use something */
    struct list held; /* of struct budget_account, the first one first */
    size_t n_held;
    uint64_t reached;
    bool over;
};

/* ---- which are held ---- */

static size_t share_of(const struct inf_budget *b)
{
    return b->options.bytes / (b->active ? b->active : 1);
}

static void hold(struct budget_account *a)
{
    a->held = true;
    a->budget->n_held++;
    list_push(&a->budget->held, &a->node);
}

static void release(struct budget_account *a)
{
    a->held = false;
    a->budget->n_held--;
    list_remove(&a->node);
}

static void release_all(struct inf_budget *b)
{
    while (!list_empty(&b->held)) {
        struct budget_account *a = container_of(b->held.next, struct budget_account, node);
        release(a);
        a->wake(a);
    }
}

/* Between the two marks it stays as it is. */
static void weigh(struct inf_budget *b)
{
    size_t low = b->options.bytes - b->options.bytes / 8;
    bool over = b->over ? b->used > low : b->used > b->options.bytes;
    if (over == b->over)
        return;
    b->over = over;
    b->reached += over;
    if (b->options.on_over)
        b->options.on_over(b->options.ctx, over);
    if (!over)
        release_all(b);
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
    weigh(b);
    if (b->over && !account->held && bytes > share_of(b)) {
        hold(account);
    } else if (account->held && bytes <= share_of(b) / 2) {
        release(account);
        account->wake(account);
    }
}

static void leave(struct inf_budget *b)
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
        release(account);
    note_used(account, 0);
    account->budget = NULL;
    weigh(b);
    leave(b);
}

/* ---- informer/budget.h ---- */

struct inf_budget *inf_budget_new(const struct inf_budget_options *options)
{
    struct inf_budget *b = NEW(struct inf_budget);
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
    leave(budget);
}

void inf_budget_change(struct inf_budget *budget, size_t bytes)
{
    budget->options.bytes = bytes;
    weigh(budget);
}

void inf_budget_add(struct inf_budget *budget, ptrdiff_t bytes)
{
    if (!budget || !bytes)
        return;
    assert(bytes > 0 || (size_t)-bytes <= budget->used);
    budget->used += (size_t)bytes;
    weigh(budget);
}

void inf_budget_status(const struct inf_budget *budget, struct inf_budget_status *ret)
{
    *ret = (struct inf_budget_status){
        .limit = budget->options.bytes,
        .used = budget->used,
        .reached = budget->reached,
        .held = budget->n_held,
        .over = budget->over,
    };
}
