/*
 * conf_number.h - durations (30s), sizes (16K), numbers and permissions: from text, and back.
 */
#ifndef DAEMON_CONF_NUMBER_H
#define DAEMON_CONF_NUMBER_H

#include "informer/error.h"

#include "base/buf.h"
#include "daemon/conf/conf_table.h"

/* Reads @text as @option wants it, within its limits. Returns 0, or -INF_ECONF with a sentence that
 * says what would be right. */
int conf_number_read(const struct conf_option *option, const char *text, uint64_t *ret,
                     struct inf_error *err);

/* Adds @value in its shortest exact spelling, which reads as the same. */
void conf_number_write(enum conf_type type, uint64_t value, struct buf *out);

#endif
