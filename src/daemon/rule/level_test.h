/*
 * level_test.h - one test of a level rule, parsed: a function for each enum level_match.
 */
#ifndef DAEMON_RULE_LEVEL_TEST_H
#define DAEMON_RULE_LEVEL_TEST_H

#include "daemon/rule/condition.h"
#include "daemon/rule/condition_set.h"
#include "daemon/rule/item_path.h"
#include "daemon/rule/lead_set.h"
#include "daemon/rule/level_rules.h"

struct level_terminated;

/* A zeroed struct has nothing to free. */
struct level_test {
    enum level_match match;
    struct condition *condition; /* LEVEL_WHEN, LEVEL_HOLDS */
    struct item_path *path;      /* LEVEL_CHANGED, LEVEL_INCREASED */
    struct level_terminated *terminated;
    uint64_t bits;  /* of its condition for INF_ADDED, in the set of its kind; 0: in none */
    uint64_t leads; /* for INF_MODIFIED: of its paths, in the leads of its kind */
};

/* Returns 0, or -INF_EINVAL if @text can't be parsed. */
int level_test_parse(struct level_test *ret, enum level_match match, const char *text,
                     struct inf_error *err);
void level_test_free(struct level_test *test);

/* Adds its condition for INF_ADDED and its paths to the sets of its kind. */
void level_test_join(struct level_test *test, struct condition_set *set, struct lead_set *leads);

/* @found: for INF_ADDED the result of condition_set_find(), for INF_MODIFIED of lead_set_find(); else it
 * is not used. */
bool level_test_applies(const struct level_test *test, const struct change *change, uint64_t found);

/* ---- level_terminated.c ---- */

struct level_terminated *level_terminated_parse(const char *text, struct inf_error *err);
void level_terminated_free(struct level_terminated *terminated);
const struct condition *level_terminated_condition(const struct level_terminated *terminated);
uint64_t level_terminated_leads(const struct level_terminated *terminated, struct lead_set *set);
bool level_terminated_applies(const struct level_terminated *terminated,
                              const struct change *change);

#endif
