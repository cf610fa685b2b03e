/*
 * conf_advice.h - warnings about values that are valid but probably not intended.
 *
 * Printed by --check-config and logged at start and after a reload.
 */
#ifndef DAEMON_CONF_ADVICE_H
#define DAEMON_CONF_ADVICE_H

#include "daemon/conf/conf.h"

/* Calls @warn with a line for each warning about @conf. */
void conf_advice(const struct conf *conf, void (*warn)(void *ctx, const char *line), void *ctx);

#endif
