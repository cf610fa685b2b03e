/*
 * conf_table.h - the table of options. Each option is one row; reading, defaults, --print-config,
 * the sample file and the manual page are derived from it.
 */
#ifndef DAEMON_CONF_TABLE_H
#define DAEMON_CONF_TABLE_H

#include "daemon/conf/conf_type.h"

struct conf_option {
    const char *name;
    const struct conf_type *type; /* NULL: a nested struct, see `table` */
    size_t offset;                /* of the member */

    /* The default in YAML. In parentheses: unset, with the meaning of that. NULL: required. */
    const char *preset;
    const char *help;    /* starts in lower case, no full stop */
    const char *example; /* for the sample and the manual if there is no default */

    /* Nested structs: their options. The member is the struct, or, if `count` is set, a pointer to
     * a list of entries. */
    const struct conf_table *table;
    size_t count; /* offset of the number of entries */

    /* for some types only */
    const struct conf_type *of; /* list: a text type */
    const char *const *choices; /* choice, choices; ends with NULL */
    uint64_t min;               /* of a number; of a list: how many at least */
    uint64_t max;               /* the same, at most; 0: no limit but that of the type */

    bool shown;      /* not a comment in the sample, although it is unset by default */
    bool taken_over; /* a running watch or listener adopts a new value */
    bool identifies; /* a watch with a different value is a different watch */
};

/* The options of a struct, which begins with a struct conf_head. */
struct conf_table {
    const struct conf_option *options;
    size_t count;
    size_t size; /* of the struct */

    /* Names of planned options, which this version does not support; ends with NULL. NULL: none. */
    const char *const *reserved;
};

extern const struct conf_table conf_table;

/* Whether the option is unset by default. */
static inline bool conf_preset_is_unset(const struct conf_option *option)
{
    return !option->preset || option->preset[0] == '(';
}

#endif
