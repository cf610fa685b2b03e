/*
 * watch.h - `informerd watch`: changes of one resource, as lines on stdout.
 */
#ifndef DAEMON_WATCH_H
#define DAEMON_WATCH_H

#include "daemon/options.h"

/* Runs until a signal or until stdout fails. Returns the exit code. */
int watch_run(const struct options *options);

#endif
