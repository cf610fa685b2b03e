/*
 * until_condition.h - what `informerd watch --until` waits for, in the syntax of kubectl wait or as a
 * condition:
 *
 *     delete                             objects are gone
 *     create                             objects exist
 *     condition=Ready[=False]            the status of a condition; default: True
 *     jsonpath={.status.phase}=Running   a field; without a value: it is set and not empty
 *     status.phase=Running               a condition: see condition.h
 */
#ifndef DAEMON_RULE_UNTIL_CONDITION_H
#define DAEMON_RULE_UNTIL_CONDITION_H

#include "base/buf.h"
#include "daemon/rule/condition.h"

enum until_kind {
    UNTIL_HOLDS, /* the condition */
    UNTIL_CREATED,
    UNTIL_DELETED,
};

struct until_condition {
    enum until_kind kind;
    struct condition *condition; /* owned; only for UNTIL_HOLDS */
};

/* Returns 0, or -INF_EINVAL with a message that names the problem. The caller frees @ret. */
int until_condition_parse(const char *text, struct until_condition *ret, struct inf_error *err);

/* Also for a zeroed struct. */
void until_condition_free(struct until_condition *until);

#endif
