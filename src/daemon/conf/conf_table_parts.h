/*
 * conf_table_parts.h - shared by the conf_table*.c files; not for other files.
 */
#ifndef DAEMON_CONF_TABLE_PARTS_H
#define DAEMON_CONF_TABLE_PARTS_H

#include "daemon/conf/conf_table.h"
#include "daemon/conf/conf_type.h"

enum {
    SECOND = 1000, /* durations are in milliseconds */
    MINUTE = 60 * SECOND,
    HOUR = 60 * MINUTE,
    KIB = 1024,
    MIB = 1024 * KIB,
    RULES_MAX = 24, /* per list; leaves room for the rules that the library adds */
};

#define TABLE(type, rows, reserved)                          \
    {                                                        \
        rows, ARRAY_LEN(rows), sizeof(struct type), reserved \
    }

/* Choices; end with NULL. */
extern const char *const conf_record_levels[];
extern const char *const conf_verbs[];
extern const char *const conf_objects[];
extern const char *const conf_overflows[];

extern const struct conf_table conf_handler_table;
extern const struct conf_table conf_sink_table;

#endif
