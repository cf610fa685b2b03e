/*
 * memory_budget.h - the account of one informer in a memory budget (informer/budget.h).
 *
 *     budget_open(&p->account, budget, wake)
 *     budget_set(&p->account, bytes)           after each pump: constant time
 *     budget_holds(&p->account)                don't read more
 *     budget_close(&p->account)
 *
 * An account that exceeds its share is held when it is set, which is when it grows; so no account
 * has to be compared with others.
 */
#ifndef CORE_DISPATCH_MEMORY_BUDGET_H
#define CORE_DISPATCH_MEMORY_BUDGET_H

#include "informer/budget.h"

#include "base/list.h"

/* A zeroed account has no budget and is never held. */
struct budget_account {
    struct inf_budget *budget;
    struct list node; /* in the list of held accounts */
    size_t used;
    bool held;
    void (*wake)(struct budget_account *account); /* no longer held */
};

/* @budget may be NULL. */
void budget_open(struct budget_account *account, struct inf_budget *budget,
                 void (*wake)(struct budget_account *account));

/* Returns what the account used. Does nothing if it is closed already. */
void budget_close(struct budget_account *account);

/* Sets the usage to @bytes. May wake this account or others. */
void budget_set(struct budget_account *account, size_t bytes);

static inline bool budget_holds(const struct budget_account *account)
{
    return account->held;
}

#endif
