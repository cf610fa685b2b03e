/*
 * conf_table.h - the table of options. Each option is one row; reading, defaults, --print-config,
 * the sample file and the manual page are derived from it.
 */
#ifndef DAEMON_CONF_TABLE_H
#define DAEMON_CONF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum conf_type {
    /* char * */
    CONF_TEXT,
    CONF_FILE,     /* a path, made absolute */
    CONF_LOG_FILE, /* a path or "stdout" */
    CONF_NAME,
    CONF_NAMESPACE,
    CONF_NAMESPACES, /* a namespace or a pattern */
    CONF_RESOURCE,
    CONF_LABELS,
    CONF_FIELDS,
    CONF_FIELD_PATH,
    CONF_ADDRESS,
    CONF_HOST, /* a host name, without a port */
    CONF_PROXY,
    /* uint64_t */
    CONF_DURATION, /* in milliseconds */
    CONF_SIZE,
    CONF_NUMBER,
    CONF_MODE,
    /* others */
    CONF_BOOL,    /* bool */
    CONF_WORD,    /* an enum; the value is the index in `words` */
    CONF_WORDS,   /* unsigned: bit 1 << n is the n-th word */
    CONF_LIST,    /* struct conf_list of strings of the type `of` */
    CONF_INDEXES, /* struct conf_indexes */
    CONF_TABLE,   /* a nested struct with its own table */
    CONF_ENTRIES, /* a list of such structs, and its count */
    CONF_LATER,   /* reserved name; the option is not supported yet */
};

struct conf_option {
    const char *name;
    enum conf_type type;
    size_t offset; /* of the member */

    /* The default in YAML. In parentheses: unset, with the meaning of that. NULL: required. */
    const char *preset;
    const char *help;    /* starts in lower case, no full stop */
    const char *example; /* for the sample and the manual if there is no default */

    /* for some types only */
    size_t count;                   /* ENTRIES: offset of the count */
    const char *const *words;       /* WORD, WORDS; ends with NULL */
    const struct conf_table *table; /* TABLE, ENTRIES */
    enum conf_type of;              /* LIST */
    uint64_t min;                   /* of a number; of a list: how many at least */
    uint64_t max;                   /* the same, at most; 0: no limit but that of the type */

    bool taken_over; /* a running watch or listener adopts a new value */
    bool identifies; /* a watch with a different value is a different watch */
};

/* The options of a struct, which begins with a struct conf_head. */
struct conf_table {
    const struct conf_option *options;
    size_t count;
    size_t size; /* of the struct */
};

extern const struct conf_table conf_table;

/* Whether the option is unset by default. */
static inline bool conf_preset_is_unset(const struct conf_option *option)
{
    return !option->preset || option->preset[0] == '(';
}

#endif
