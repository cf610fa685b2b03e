/*
 * conf_value.h - the value of an option: from YAML into its member, back to YAML, and gone.
 *
 * Here are the types that are one value, a list of them, or a map of them. Tables and lists of
 * entries, which hold options in turn, are conf_read.c's business.
 */
#ifndef DAEMON_CONF_VALUE_H
#define DAEMON_CONF_VALUE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/yaml.h"
#include "daemon/conf/conf_error.h"
#include "daemon/conf/conf_table.h"

/*
 * Reads @node into @member, in place of what was there. What is wrong is told; then a text that is
 * not what it should be is there nevertheless, so that what refers to it is not wrong too.
 */
void conf_value_read(struct conf_reader *reader, const struct conf_option *option,
                     const struct yaml_node *node, void *member);

/* Puts the default into a zeroed @member. */
void conf_value_preset(struct conf_reader *reader, const struct conf_option *option, void *member);

/* Whether there is something to write: see conf_preset_is_unset(). */
bool conf_value_is_set(const struct conf_option *option, const void *member);

/* Adds the value in YAML, on one line. */
void conf_value_write(const struct conf_option *option, const void *member, struct buf *out);

/* The member is zeroed, and so can be freed again. */
void conf_value_free(const struct conf_option *option, void *member);

#endif
