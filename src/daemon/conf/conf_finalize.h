/*
 * conf_finalize.h - completes and validates a configuration after all files are read.
 */
#ifndef DAEMON_CONF_FINALIZE_H
#define DAEMON_CONF_FINALIZE_H

#include <stdarg.h>

#include "daemon/conf/conf_read.h"

/* Sets defaults that depend on other options, and checks names, references and combinations of
 * options. Reports all errors. */
void conf_finalize(struct conf_reader *reader, struct conf *conf);

/* Reports an error at @key of @section, or at the section if the key is missing. The reader has entered the section; it
 * leaves to @before. */
__attribute__((format(printf, 5, 0))) void conf_key_error(struct conf_reader *reader, size_t before,
                                                          const struct yaml_node *section,
                                                          const char *key, const char *fmt,
                                                          va_list args);

/* The same for an entry of the list @list. */
__attribute__((format(printf, 6, 7))) void conf_entry_error(struct conf_reader *reader,
                                                            const struct conf *conf,
                                                            const char *list,
                                                            const struct yaml_node *entry,
                                                            const char *key, const char *fmt, ...);

/* Reports an error at @node unless a watch is called @name. */
void conf_check_watch_name(struct conf_reader *reader, const struct conf *conf,
                           const struct yaml_node *node, const char *name);

/* Calls @warn with a line for each value of a valid @conf that is probably not intended. For
 * --check-config, and for the log at start and after a reload. */
void conf_warnings(const struct conf *conf, void (*warn)(void *ctx, const char *line), void *ctx);

#endif
