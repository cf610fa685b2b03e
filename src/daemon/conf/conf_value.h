/*
 * conf_value.h - reads the value of an option from YAML, writes it as YAML and frees it.
 *
 * Covers scalars, lists and maps. Tables and lists of entries, which contain options, are handled
 * by conf_read.c.
 */
#ifndef DAEMON_CONF_VALUE_H
#define DAEMON_CONF_VALUE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/yaml.h"
#include "daemon/conf/conf_error.h"
#include "daemon/conf/conf_table.h"

/*
 * Reads @node into @member, replacing the earlier value. Errors are reported; an invalid string is
 * stored nevertheless, so that references to it do not cause further errors.
 */
void conf_value_read(struct conf_reader *reader, const struct conf_option *option,
                     const struct yaml_node *node, void *member);

/* Stores the default in a zeroed @member. */
void conf_value_preset(struct conf_reader *reader, const struct conf_option *option, void *member);

/* Whether the option has a value to write: see conf_preset_is_unset(). */
bool conf_value_is_set(const struct conf_option *option, const void *member);

/* Appends the value as one line of YAML. */
void conf_value_write(const struct conf_option *option, const void *member, struct buf *out);

/* Frees the value and zeroes the member; calling it again is allowed. */
void conf_value_free(const struct conf_option *option, void *member);

#endif
