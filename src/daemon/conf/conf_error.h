/*
 * conf_error.h - errors in a configuration: one line each, collected while reading continues.
 *
 *     /etc/informerd/informerd.conf:9:13: watches[1].resync: 'ten' is not a duration; write ...
 */
#ifndef DAEMON_CONF_ERROR_H
#define DAEMON_CONF_ERROR_H

#include "base/text/yaml.h"
#include "daemon/conf/conf.h"

/* The current path in the configuration, for error messages. */
struct conf_reader {
    struct conf_errors *errors;
    struct buf path; /* "watches[1].resync" */
};

/* Appends a step to the path. conf_reader_leave() with the returned value removes it. */
size_t conf_reader_enter(struct conf_reader *reader, const char *key);
size_t conf_reader_enter_nth(struct conf_reader *reader, size_t n);
void conf_reader_leave(struct conf_reader *reader, size_t before);

/* Reports an error at the position of @node for the current path. */
__attribute__((format(printf, 3, 4))) void conf_reader_error(struct conf_reader *reader,
                                                             const struct yaml_node *node,
                                                             const char *fmt, ...);

/* Whether the limit of errors is reached. If so, counts one more error. Callers use it to skip the
 * costly search for a suggestion. */
bool conf_reader_is_full(struct conf_reader *reader);

/* Reports an error that is a complete line. */
void conf_error_line(struct conf_errors *errors, const char *line);

/* After the last error: appends the count of errors beyond the limit. */
void conf_errors_close(struct conf_errors *errors);

/* A value for an error message: quoted, with control characters escaped; only its length if it
 * is long. The caller frees it. */
char *conf_show(const char *text);

#endif
