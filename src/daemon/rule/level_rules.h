/*
 * level_rules.h - the `level` of a record about an object: info, warn or error.
 *
 * A rule belongs to a kind and has tests; it applies to a change if one of its tests does. Of the rules
 * that apply, one with the highest level decides, and the record names it as `rule`. Without one the
 * level is info. The built-in rules are the rows of level_table.c; the conf key `levels` adds rules and
 * replaces built-in ones of the same name.
 *
 * Rules apply to what a change did: a condition must begin with it (condition.h). For ADDED they apply
 * to the object as it is. To DELETED only LEVEL_HOLDS applies.
 */
#ifndef DAEMON_RULE_LEVEL_RULES_H
#define DAEMON_RULE_LEVEL_RULES_H

#include <stddef.h>

#include "informer/informer.h"

#include "daemon/record/change.h"

enum level_match {
    LEVEL_WHEN,       /* a condition that begins */
    LEVEL_CHANGED,    /* a field path: its values differ; not for ADDED */
    LEVEL_INCREASED,  /* a field path: a number of the same item went up; not for ADDED */
    LEVEL_HOLDS,      /* a condition that holds, also if it did before */
    LEVEL_TERMINATED, /* a condition on a container that terminated: see level_terminated.c */
};

enum {
    LEVEL_TESTS_MAX = 4,
};

/* A rule as it is written. */
struct level_rule {
    const char *name; /* NULL: none, in the conf */
    const char *kind; /* several are separated by blanks */
    enum level_match match;
    const char *tests[LEVEL_TESTS_MAX]; /* ends with NULL, unless it is full */
    enum inf_log_level level;           /* INF_LOG_INFO: the rule is off */
};

/* level_table.c; ends with a rule without a name. */
extern const struct level_rule level_table[];

/* The built-in rule @name; NULL: there is none. */
const struct level_rule *level_rule_find(const char *name);

struct level_rules;

/*
 * Parses the @n rules of the conf and the built-in ones that they do not replace. A rule of the conf
 * with the name of a built-in one may lack kind and tests: then those of the built-in one are used. Of
 * several rules with the same level the one listed first decides; those of the conf are before the
 * built-in ones.
 *
 * Returns NULL, with @err naming the rule, if a test can't be parsed.
 */
struct level_rules *level_rules_make(const struct level_rule *rules, size_t n,
                                     struct inf_error *err);

/* NULL is allowed. */
void level_rules_free(struct level_rules *rules);

/* Sets `level` and `rule` of @change. @rules NULL: info. The name of the rule is borrowed. */
void level_rules_apply(const struct level_rules *rules, struct change *change);

#endif
