/*
 * conf_same.h - whether two readings of the conf say the same, wherever it is written.
 */
#ifndef DAEMON_CONF_SAME_H
#define DAEMON_CONF_SAME_H

#include <stdbool.h>

#include "daemon/conf.h"

/* But for what a watch takes over while it goes on: what it ignores. */
bool conf_watch_same(const struct conf_watch *a, const struct conf_watch *b);
bool conf_http_same(const struct conf_http *a, const struct conf_http *b);
bool conf_socket_same(const struct conf_socket *a, const struct conf_socket *b);

#endif
