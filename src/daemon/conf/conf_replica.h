/*
 * conf_replica.h - the section `replica`: its default cluster, and whether its options fit together.
 */
#ifndef DAEMON_CONF_REPLICA_H
#define DAEMON_CONF_REPLICA_H

#include "daemon/conf/conf_read.h"

/* Sets the cluster if there is only one. */
void conf_replica_complete(struct conf *conf);

/* Reports all errors. */
void conf_replica_check(struct conf_reader *reader, const struct conf *conf);

/* Whether a Lease decides which replica delivers. */
bool conf_replica_has_lease(const struct conf *conf);

#endif
