/*
 * conf_text.h - values that stay text: whether they are what their option wants.
 */
#ifndef DAEMON_CONF_TEXT_H
#define DAEMON_CONF_TEXT_H

#include "informer/error.h"

#include "daemon/conf/conf_table.h"

/* Of a type that is kept as a char *. Returns 0, or -INF_ECONF with a sentence that says what would
 * be right. */
int conf_text_check(enum conf_type type, const char *text, struct inf_error *err);

#endif
