/*
 * condition_internal.h - a parsed condition, for the files condition*.c only.
 */
#ifndef DAEMON_RULE_CONDITION_INTERNAL_H
#define DAEMON_RULE_CONDITION_INTERNAL_H

#include "base/str.h"
#include "daemon/rule/condition.h"

enum condition_operator {
    CONDITION_IN, /* also "=", with one value */
    CONDITION_NOT,
    CONDITION_GREATER,
    CONDITION_AT_LEAST,
    CONDITION_LESS,
    CONDITION_AT_MOST,
    CONDITION_CONTAINS,
};

struct condition_value {
    char *text; /* decoded */
    size_t len;
    bool is_plain;  /* every JSON text has it in this spelling, or with a backslash */
    bool is_number; /* and was not quoted */
    double number;
};

struct condition_term {
    struct item_path *path;
    enum condition_operator op;
    struct condition_value *values;
    size_t n_values;
};

struct condition {
    char *text;
    struct condition_term *terms;
    size_t n_terms;
};

/* Whether @json, a value at the path of the term, satisfies it. */
bool condition_term_is_satisfied(const struct condition_term *term, struct str json);

#endif
