/*
 * conf_settle.h - completes and checks a configuration after all files are read.
 */
#ifndef DAEMON_CONF_SETTLE_H
#define DAEMON_CONF_SETTLE_H

#include "daemon/conf/conf_read.h"

/* Sets default names, and checks names, references and combinations of options. Reports all
 * errors. */
void conf_settle(struct conf_reader *reader, struct conf *conf);

/* Reports an error at @key of @entry in the list @list, or at the entry if the key is missing. */
void conf_settle_error(struct conf_reader *reader, const struct conf *conf, const char *list,
                       const struct yaml_node *entry, const char *key, const char *sentence);

#endif
