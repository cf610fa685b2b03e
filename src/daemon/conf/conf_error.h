/*
 * conf_error.h - what is wrong with a conf: one line for each error, gathered while reading goes on.
 *
 *     /etc/informerd/informerd.conf:9:13: watches[1].resync: 'ten' is not a duration; write ...
 */
#ifndef DAEMON_CONF_ERROR_H
#define DAEMON_CONF_ERROR_H

#include "base/yaml.h"
#include "daemon/conf/conf.h"

/* Who reads, and where in the conf: errors say it. */
struct conf_reader {
    struct conf_errors *errors;
    struct buf path; /* "watches[1].resync" */
};

/* Goes one step down, and back up by what the first returned. */
size_t conf_reader_enter(struct conf_reader *reader, const char *key);
size_t conf_reader_enter_nth(struct conf_reader *reader, size_t n);
void conf_reader_leave(struct conf_reader *reader, size_t before);

/* An error at @node about where the reader is. */
__attribute__((format(printf, 3, 4))) void conf_reader_error(struct conf_reader *reader,
                                                             const struct yaml_node *node,
                                                             const char *fmt, ...);

/* Before finding out at length what would be right: whether one more error would not be told. Then it
 * is counted already. */
bool conf_reader_is_full(struct conf_reader *reader);

/* One error that is a sentence of its own. */
void conf_error_line(struct conf_errors *errors, const char *line);

/* After the last one: says how many were not told. */
void conf_errors_close(struct conf_errors *errors);

/* A value as errors show it: in quotes, control characters escaped, or without showing it if it is
 * long. The caller frees it. */
char *conf_show(const char *text);

#endif
