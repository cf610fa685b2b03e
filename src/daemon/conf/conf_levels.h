/*
 * conf_levels.h - the entries of `levels`: their checks, and the rules they stand for.
 */
#ifndef DAEMON_CONF_LEVELS_H
#define DAEMON_CONF_LEVELS_H

#include "daemon/conf/conf_read.h"
#include "daemon/rule/level_rules.h"

/* Reports entries that are incomplete or contradict themselves. */
void conf_levels_check(struct conf_reader *reader, const struct conf *conf);

/* The rules of a checked configuration, with the built-in ones. The caller frees them. NULL only for a
 * configuration that was not checked, with @err set. */
struct level_rules *conf_levels_make(const struct conf *conf, struct inf_error *err);

#endif
