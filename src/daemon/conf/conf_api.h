/*
 * conf_api.h - checks the section `api`.
 */
#ifndef DAEMON_CONF_API_H
#define DAEMON_CONF_API_H

#include "daemon/conf/conf_read.h"

/* Reports readers with the same name, without or with several identities, and with unknown
 * watches. */
void conf_api_check(struct conf_reader *reader, const struct conf *conf);

#endif
