/*
 * conf_number.h - durations (30s), sizes (16K), numbers and permissions: parsing and formatting.
 */
#ifndef DAEMON_CONF_NUMBER_H
#define DAEMON_CONF_NUMBER_H

#include "informer/error.h"

#include "base/buf.h"
#include "daemon/conf/conf_table.h"

/* Parses @text according to the type and limits of @option. Returns 0, or -INF_ECONF with a
 * message that describes valid values. */
int conf_number_read(const struct conf_option *option, const char *text, uint64_t *ret,
                     struct inf_error *err);

/* Appends the shortest spelling of @value that parses to the same number. */
void conf_number_write(enum conf_type type, uint64_t value, struct buf *out);

#endif
