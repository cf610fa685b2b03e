/*
 * conf_read.h - a mapping of options, read by its table: what is given goes to its member, what is
 * not known is refused, the rest is at its default.
 */
#ifndef DAEMON_CONF_READ_H
#define DAEMON_CONF_READ_H

#include "daemon/conf/conf_value.h"

/* Sets up the zeroed struct at @base, and the structs within: everything at its default. */
void conf_presets(struct conf_reader *reader, const struct conf_table *table, void *base);

/* Reads @node into the struct at @base, over what is there. */
void conf_read(struct conf_reader *reader, const struct conf_table *table,
               const struct yaml_node *node, void *base);

/* Adds an entry at its defaults, and gives it. Entries before it may move. */
void *conf_entry_add(struct conf_reader *reader, const struct conf_option *option, void *base);

/* Frees all that the struct at @base holds, and zeroes it. */
void conf_struct_free(const struct conf_table *table, void *base);

/* The row of @name; NULL: there is none. */
const struct conf_option *conf_option_find(const struct conf_table *table, const char *name);

/* Where the value of @option, of the struct at @base, was written. */
struct conf_origin *conf_origin_of(const struct conf_table *table, const struct conf_option *option,
                                   const void *base);

/* The member of @option, and of CONF_ENTRIES their number. */
void *conf_member(const struct conf_option *option, const void *base);
size_t conf_entry_count(const struct conf_option *option, const void *base);
void *conf_entry(const struct conf_option *option, const void *base, size_t n);

#endif
