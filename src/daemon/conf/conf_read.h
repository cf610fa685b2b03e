/*
 * conf_read.h - reads a mapping of options according to its table. Given options are stored in
 * their members, unknown keys are errors, and the other members keep their defaults.
 */
#ifndef DAEMON_CONF_READ_H
#define DAEMON_CONF_READ_H

#include "daemon/conf/conf_table.h"

/* Sets the zeroed struct at @base and its nested structs to their defaults. */
void conf_presets(struct conf_reader *reader, const struct conf_table *table, void *base);

/* Reads @node into the struct at @base, replacing earlier values. Reports errors to @reader. */
void conf_read(struct conf_reader *reader, const struct conf_table *table,
               const struct yaml_node *node, void *base);

/* Appends an entry with default values and returns it. Earlier entries may move. */
void *conf_entry_add(struct conf_reader *reader, const struct conf_option *option, void *base);

/* Frees the contents of the struct at @base and zeroes it. */
void conf_struct_free(const struct conf_table *table, void *base);

/* The option named @name, or NULL. */
const struct conf_option *conf_option_find(const struct conf_table *table, const char *name);

/* The origin of the value of @option in the struct at @base. */
struct conf_origin *conf_origin_of(const struct conf_table *table, const struct conf_option *option,
                                   const void *base);

/* The member of @option in the struct at @base; for a list of entries also the count and the
 * n-th entry. */
void *conf_member(const struct conf_option *option, const void *base);
size_t conf_entry_count(const struct conf_option *option, const void *base);
void *conf_entry(const struct conf_option *option, const void *base, size_t n);

#endif
