/*
 * conf_filter.h - the filter of an event log or a handler, from its configuration.
 */
#ifndef DAEMON_CONF_FILTER_H
#define DAEMON_CONF_FILTER_H

#include "daemon/conf/conf.h"
#include "daemon/journal/filter.h"

/* Refers to the strings of @conf. */
struct filter_settings conf_filter_settings(const struct conf_filter *conf);

#endif
