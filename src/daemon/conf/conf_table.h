/*
 * conf_table.h - an option is one row. Reading, defaults, --print-config, the sample file and the
 * manual page all come from the rows.
 */
#ifndef DAEMON_CONF_TABLE_H
#define DAEMON_CONF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum conf_type {
    /* char * */
    CONF_TEXT,
    CONF_FILE,     /* made absolute */
    CONF_LOG_FILE, /* the same, or stdout */
    CONF_NAME,
    CONF_NAMESPACE,
    CONF_NAMESPACES, /* a namespace, or a pattern for several */
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
    CONF_WORD,    /* an enum, whose values count the words */
    CONF_WORDS,   /* unsigned: bit 1 << n is the nth word */
    CONF_LIST,    /* struct conf_list, of texts of the type `of` */
    CONF_INDEXES, /* struct conf_indexes */
    CONF_TABLE,   /* a struct with a table of its own */
    CONF_ENTRIES, /* a list of such structs, and how many */
    CONF_LATER,   /* refused: the name is known, the option is not there yet */
};

struct conf_option {
    const char *name;
    enum conf_type type;
    size_t offset; /* of the member */

    /* The default, as it would be written. In parentheses: not set, and what that means.
     * NULL: must be given. */
    const char *preset;
    const char *help;    /* one sentence, without its full stop */
    const char *example; /* for the sample and the manual, where the default shows nothing */

    /* of some types only */
    size_t count;                   /* ENTRIES: offset of how many there are */
    const char *const *words;       /* WORD, WORDS; NULL ends them */
    const struct conf_table *table; /* TABLE, ENTRIES */
    enum conf_type of;              /* LIST */
    uint64_t min;                   /* of a number; of a list: how many at least */
    uint64_t max;                   /* the same, at most; 0: no limit but that of the type */

    bool taken_over; /* a watch, or a listener, that differs in this alone goes on with it */
    bool identifies; /* a watch that differs in this is another one */
};

/* The options of a struct, which begins with a struct conf_head. */
struct conf_table {
    const struct conf_option *options;
    size_t count;
    size_t size; /* of the struct */
};

extern const struct conf_table conf_table;

/* Whether nothing is set unless somebody sets it. */
static inline bool conf_preset_is_unset(const struct conf_option *option)
{
    return !option->preset || option->preset[0] == '(';
}

#endif
