/*
 * conf_same.h - compares two loads of the configuration by value, ignoring file positions.
 */
#ifndef DAEMON_CONF_SAME_H
#define DAEMON_CONF_SAME_H

#include <stdbool.h>

#include "daemon/conf/conf.h"

/* Ignores options that a running watch can adopt: its name and what it ignores. */
bool conf_watch_same(const struct conf_watch *a, const struct conf_watch *b);

/* Whether both watch the same resource of the same cluster. */
bool conf_watch_same_resource(const struct conf_watch *a, const struct conf_watch *b);

/* Appends the names of the options that differ, separated by commas, except those that a running
 * watch can adopt. */
void conf_watch_put_changes(const struct conf_watch *a, const struct conf_watch *b,
                            struct buf *out);

bool conf_state_same(const struct conf_state *a, const struct conf_state *b);
bool conf_replica_same(const struct conf_replica *a, const struct conf_replica *b);
bool conf_shard_same(const struct conf_shard *a, const struct conf_shard *b);
bool conf_http_same(const struct conf_http *a, const struct conf_http *b);
bool conf_socket_same(const struct conf_socket *a, const struct conf_socket *b);

/* Whether both have the same readers, in the same order. Token files are compared by name. */
bool conf_readers_same(const struct conf_api *a, const struct conf_api *b);

/* Whether both have the same rules in `levels`, in the same order. */
bool conf_levels_same(const struct conf *a, const struct conf *b);

#endif
