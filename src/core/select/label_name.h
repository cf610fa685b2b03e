/*
 * label_name.h - the syntax of label keys and values.
 *
 * A key is `name` or `prefix/name`, the prefix a DNS name of at most 253 characters. Names and
 * values are at most 63 letters, digits, '-', '_' and '.', a letter or digit at both ends; a value
 * may also be empty.
 */
#ifndef CORE_SELECT_LABEL_NAME_H
#define CORE_SELECT_LABEL_NAME_H

#include "base/str.h"

enum {
    LABEL_PREFIX_MAX = 253,
    LABEL_NAME_MAX = 63,
};

/* NULL if @key is a valid label key; else the rule that it breaks, with the position in *@ret_at.
 * */
const char *label_key_problem(struct str key, const char **ret_at);

/* The same for a value. */
const char *label_value_problem(struct str value, const char **ret_at);

#endif
