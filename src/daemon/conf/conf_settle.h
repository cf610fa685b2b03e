/*
 * conf_settle.h - what the options of a conf mean together, once all files are read.
 */
#ifndef DAEMON_CONF_SETTLE_H
#define DAEMON_CONF_SETTLE_H

#include "daemon/conf/conf_read.h"

/* Gives names to what has none, and checks names and references. What is wrong is told. */
void conf_settle(struct conf_reader *reader, struct conf *conf);

/* An error at @key of @entry, which is in the list @list, or at the entry if the key isn't given. */
void conf_settle_error(struct conf_reader *reader, const struct conf *conf, const char *list,
                       const struct yaml_node *entry, const char *key, const char *sentence);

#endif
