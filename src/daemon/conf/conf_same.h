/*
 * conf_same.h - whether two readings of the conf say the same, wherever it is written.
 */
#ifndef DAEMON_CONF_SAME_H
#define DAEMON_CONF_SAME_H

#include <stdbool.h>

#include "daemon/conf/conf.h"

/* But for what a watch takes over while it goes on: its name and what it ignores. */
bool conf_watch_same(const struct conf_watch *a, const struct conf_watch *b);

/* Whether both are about the same resource of the same cluster. */
bool conf_watch_same_resource(const struct conf_watch *a, const struct conf_watch *b);

/* Adds the names of the options in which they differ, with commas, but for what is taken over. */
void conf_watch_put_changes(const struct conf_watch *a, const struct conf_watch *b,
                            struct buf *out);

bool conf_http_same(const struct conf_http *a, const struct conf_http *b);
bool conf_socket_same(const struct conf_socket *a, const struct conf_socket *b);

#endif
