/*
 * level_rules.c - parses the rules, groups them by kind, and evaluates them for a change.
 *
 * Normal path: the rules of the change's kind are found by binary search; they are sorted by falling
 * level, so that the first one that applies decides. A kind without rules costs the search. Only
 * level_rules_make() can fail.
 */
#include "daemon/rule/level_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/rule/level_test.h"

/* A rule for one kind. */
struct parsed_rule {
    char *name; /* NULL: none */
    char *kind;
    enum inf_log_level level;
    size_t order; /* among rules of the same level */
    struct level_test tests[LEVEL_TESTS_MAX];
    size_t n_tests;
};

/* What the tests of all rules of a kind have in common. */
struct kind_sets {
    struct condition_set conditions;
    struct lead_set leads;
};

struct level_rules {
    struct parsed_rule *at; /* by kind, falling level and order */
    size_t count;
    struct kind_sets *sets; /* as many: those of the first rule of a kind are for all of them */
};

const struct level_rule *level_rule_find(const char *name)
{
    for (const struct level_rule *rule = level_table; rule->name; rule++)
        if (strcmp(rule->name, name) == 0)
            return rule;
    return NULL;
}

/* ---- parsing ---- */

static void free_parsed(struct parsed_rule *rule)
{
    for (size_t i = 0; i < rule->n_tests; i++)
        level_test_free(&rule->tests[i]);
    free(rule->name);
    free(rule->kind);
}

static int parse_rule(struct level_rules *rules, const struct level_rule *rule, struct str kind,
                      struct inf_error *err)
{
    struct parsed_rule *parsed;
    int rc = 0;
    rules->at = xrealloc(rules->at, (rules->count + 1) * sizeof(*rules->at));
    parsed = &rules->at[rules->count];
    *parsed = (struct parsed_rule){.name = xstrdup_or_null(rule->name),
                                   .kind = xstrndup(kind.at, kind.len),
                                   .level = rule->level,
                                   .order = rules->count++};
    for (size_t i = 0; rc == 0 && i < LEVEL_TESTS_MAX && rule->tests[i]; i++) {
        rc = level_test_parse(&parsed->tests[i], rule->match, rule->tests[i], err);
        parsed->n_tests += rc == 0;
    }
    return rc == 0 || !err ? rc : err_wrap(err, "level rule '%s'", rule->name ? rule->name : "");
}

/* Adds the rule for each of its kinds. */
static int add_rule(struct level_rules *rules, const struct level_rule *rule, struct inf_error *err)
{
    int rc = 0;
    for (const char *kind = rule->kind; rc == 0 && *kind;) {
        struct str one = {kind, strcspn(kind, " ")};
        rc = parse_rule(rules, rule, one, err);
        kind += one.len + strspn(kind + one.len, " ");
    }
    return rc;
}

/* With the kind and the tests of the built-in rule of the same name, where it has none. */
static struct level_rule completed(const struct level_rule *rule)
{
    const struct level_rule *row = rule->name ? level_rule_find(rule->name) : NULL;
    struct level_rule all = *rule;
    if (row && !all.kind)
        all.kind = row->kind;
    if (row && !all.tests[0]) {
        memcpy(all.tests, row->tests, sizeof(all.tests));
        all.match = row->match;
    }
    return all;
}

static bool is_replaced(const struct level_rule *row, const struct level_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cstr_eq(rules[i].name, row->name))
            return true;
    return false;
}

static int by_kind_and_level(const void *a, const void *b)
{
    const struct parsed_rule *one = a, *other = b;
    int kinds = strcmp(one->kind, other->kind);
    if (kinds)
        return kinds;
    if (one->level != other->level)
        return one->level > other->level ? -1 : 1;
    return one->order < other->order ? -1 : 1;
}

static void join_sets(struct level_rules *rules)
{
    size_t first = 0;
    rules->sets = xcalloc(rules->count + 1, sizeof(*rules->sets));
    for (size_t i = 0; i < rules->count; i++) {
        struct parsed_rule *rule = &rules->at[i];
        if (strcmp(rule->kind, rules->at[first].kind) != 0)
            first = i;
        for (size_t k = 0; k < rule->n_tests; k++)
            level_test_join(&rule->tests[k], &rules->sets[first].conditions,
                            &rules->sets[first].leads);
    }
}

struct level_rules *level_rules_make(const struct level_rule *rules, size_t n,
                                     struct inf_error *err)
{
    struct level_rules *made = NEW(struct level_rules);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct level_rule rule = completed(&rules[i]);
        if (rule.level != INF_LOG_INFO)
            rc = add_rule(made, &rule, err);
    }
    for (const struct level_rule *row = level_table; rc == 0 && row->name; row++)
        if (!is_replaced(row, rules, n))
            rc = add_rule(made, row, err);
    if (rc < 0) {
        level_rules_free(made);
        return NULL;
    }
    if (made->count)
        qsort(made->at, made->count, sizeof(*made->at), by_kind_and_level);
    join_sets(made);
    return made;
}

void level_rules_free(struct level_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        free_parsed(&rules->at[i]);
    for (size_t i = 0; i < rules->count && rules->sets; i++)
        lead_set_done(&rules->sets[i].leads);
    free(rules->sets);
    free(rules->at);
    free(rules);
}

/* ---- evaluation ---- */

static bool rule_applies(const struct parsed_rule *rule, const struct change *change,
                         uint64_t found)
{
    for (size_t i = 0; i < rule->n_tests; i++)
        if (level_test_applies(&rule->tests[i], change, found))
            return true;
    return false;
}

/* The first rule of @kind; the number of rules if there is none. */
static size_t first_of(const struct level_rules *rules, const char *kind)
{
    size_t low = 0, high = rules->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(rules->at[middle].kind, kind) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void level_rules_apply(const struct level_rules *rules, struct change *change)
{
    size_t first = rules ? first_of(rules, change->kind) : 0;
    uint64_t found = 0;
    change->level = INF_LOG_INFO;
    change->rule = NULL;
    if (!rules || first == rules->count || strcmp(rules->at[first].kind, change->kind) != 0)
        return;
    if (change->event->verb == INF_ADDED)
        found = condition_set_find(&rules->sets[first].conditions, change->object);
    else if (change->event->verb == INF_MODIFIED)
        found = lead_set_find(&rules->sets[first].leads, change->diff);
    for (size_t i = first; i < rules->count && strcmp(rules->at[i].kind, change->kind) == 0; i++)
        if (rule_applies(&rules->at[i], change, found)) {
            change->level = rules->at[i].level;
            change->rule = rules->at[i].name;
            return;
        }
}
