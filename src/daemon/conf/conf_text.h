/*
 * conf_text.h - validates values that are stored as strings.
 */
#ifndef DAEMON_CONF_TEXT_H
#define DAEMON_CONF_TEXT_H

#include "informer/error.h"

#include "daemon/conf/conf_table.h"

/* Validates @text for a type that is stored as a char *. Returns 0, or -INF_ECONF with a message
 * that describes valid values. */
int conf_text_check(enum conf_type type, const char *text, struct inf_error *err);

#endif
