/*
 * jsonpath_internal.h - the parsed form of a JSONPath template, for jsonpath_parse.c, which makes it, and
 * its users jsonpath.c and jsonpath_fields.c.
 *
 * A template is a list of parts; a part is a text or what is between two braces. A part is a list of
 * steps: each step turns the values of the previous one into others. Everything is in one arena.
 */
#ifndef DAEMON_FORMAT_JSONPATH_INTERNAL_H
#define DAEMON_FORMAT_JSONPATH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "daemon/format/jsonpath.h"

enum jsonpath_step_type {
    STEP_LITERAL,   /* `literal` instead of the value */
    STEP_FIELD,     /* the member `name` */
    STEP_WILDCARD,  /* .*: all members or items */
    STEP_SLICE,     /* items from..to by `stride`; also [*] and [0] */
    STEP_UNION,     /* the values of each step in `first` */
    STEP_FILTER,    /* the items for which `first` op `second` holds */
    STEP_RECURSIVE, /* ..: the value and all in it */
};

enum jsonpath_operator {
    OPERATOR_EXISTS,
    OPERATOR_EQUAL,
    OPERATOR_NOT_EQUAL,
    OPERATOR_LESS,
    OPERATOR_LESS_EQUAL,
    OPERATOR_GREATER,
    OPERATOR_GREATER_EQUAL,
};

/* One bound of a slice. */
struct jsonpath_bound {
    bool given;
    long value; /* negative: from the end */
};

struct jsonpath_step {
    enum jsonpath_step_type type;
    struct jsonpath_step *next;
    const struct json_node *literal;
    struct str name; /* decoded */
    struct jsonpath_bound from, to, stride;
    bool is_index; /* of a slice: one item, [0] */
    enum jsonpath_operator op;
    struct jsonpath_step *first, *second;
};

enum jsonpath_part_type {
    PART_VALUES, /* a text or a path */
    PART_RANGE,  /* repeats the parts up to `end` for each of its values */
    PART_END,
};

struct jsonpath_part {
    enum jsonpath_part_type type;
    struct jsonpath_part *next;
    struct jsonpath_part *end; /* of a range; NULL: the end of the template */
    struct jsonpath_step *steps;
};

struct jsonpath {
    struct arena arena;
    struct jsonpath_part *parts;
};

#endif
