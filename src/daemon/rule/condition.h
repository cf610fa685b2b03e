/*
 * condition.h - conditions on an object, parsed once:
 *
 *     status.phase=Failed
 *     status.containerStatuses[*].restartCount>=5
 *     status.conditions[type=Ready].status in (False, Unknown), spec.unschedulable!=true
 *
 *     condition := term {"," term}                       all terms must hold
 *     term      := PATH OPERATOR value
 *                | PATH "in" "(" value {"," value} ")"
 *     OPERATOR  := "=" | "!=" | ">" | ">=" | "<" | "<=" | "~"
 *
 * PATH is a field path of informer/path.h. A value needs double quotes, with the escapes of JSON,
 * unless it consists of letters, digits and - _ . / : + @ %. Blanks may surround operators, commas and
 * parentheses.
 *
 * A term holds if one of the values at its path satisfies it. A missing value, and null, satisfies no
 * term, also not `!=`. Strings are compared decoded, booleans as written. `=`, `!=` and `in` compare a
 * number with a number by value: 1 equals 1.0. `~` holds if the text contains the value. The other
 * operators need a number after them; they hold for numbers and for strings that are numbers.
 */
#ifndef DAEMON_RULE_CONDITION_H
#define DAEMON_RULE_CONDITION_H

#include <stdbool.h>

#include "informer/diff.h"
#include "informer/error.h"
#include "informer/object.h"

#include "base/str.h"
#include "daemon/rule/item_path.h"
#include "daemon/rule/lead_set.h"

enum {
    CONDITION_TEXT_MAX = 4096, /* LIMIT: bytes of a condition */
    CONDITION_TERMS_MAX = 16,  /* LIMIT: terms of a condition */
    CONDITION_VALUES_MAX = 64, /* LIMIT: values of `in` */
};

struct condition;

/* Returns NULL with INF_EINVAL if @text is invalid; the message names the column and the expected
 * form. @err may be NULL. The caller frees the condition. */
struct condition *condition_parse(const char *text, struct inf_error *err);

/* NULL is allowed. */
void condition_free(struct condition *condition);

/* The text that was parsed. */
const char *condition_text(const struct condition *condition);

bool condition_holds(const struct condition *condition, const struct inf_object *object);

/*
 * Whether the condition began with the change from @old_object to @new_object: it holds now, and for
 * at least one term an item satisfies it that did not satisfy it before.
 *
 * Items of `[*]` are compared by their identity (item_path.h): if the container `web` of a pod is
 * crashing already and `db` starts to crash, the condition begins again. Without `[*]` it begins only
 * if a term did not hold before. If @old_object is NULL it begins if it holds.
 */
bool condition_began(const struct condition *condition, const struct inf_object *old_object,
                     const struct inf_object *new_object);

/* Whether the condition may have begun with @diff. A cheap check, which reads only the diff: if it
 * returns false, the condition did not begin. */
bool condition_may_begin(const struct condition *condition, const struct inf_diff *diff);

/* The bits of its paths in @set, to which they are added: it may begin only with a diff that touches one. */
uint64_t condition_leads(const struct condition *condition, struct lead_set *set);

/* Stores the values that satisfy the first term. The caller frees them with item_values_free(). */
void condition_collect(const struct condition *condition, const struct inf_object *object,
                       struct item_values *ret);

/* Reads @json as a number. Returns false if it is none. */
bool condition_read_number(struct str json, double *ret);

#endif
