/*
 * conf_settle.h - what the options of a conf mean together, once all files are read.
 */
#ifndef DAEMON_CONF_SETTLE_H
#define DAEMON_CONF_SETTLE_H

#include "daemon/conf_read.h"

/* Gives names to what has none, and checks names and references. What is wrong is told. */
void conf_settle(struct conf_reader *reader, struct conf *conf);

#endif
