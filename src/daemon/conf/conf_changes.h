/*
 * conf_changes.h - names what a reload changes.
 */
#ifndef DAEMON_CONF_CHANGES_H
#define DAEMON_CONF_CHANGES_H

#include "daemon/conf/conf.h"

/* Appends ", handler page added, handler mail changed (exec, retry), reader ci removed": handlers and
 * readers by name, and event logs that have changed by path. Nothing if all are the same. No values, which
 * may be secret. */
void conf_put_changes(const struct conf *before, const struct conf *now, struct buf *out);

#endif
