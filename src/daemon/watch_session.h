/*
 * watch_session.h - what only `informerd watch` does while it runs: it ends when the first sync fails
 * or after a timeout, and on a terminal it shows the progress of the first lists and reports lost
 * connections.
 *
 * Lines about retries before the first sync are kept: they are dropped when the command ends with an
 * error, which is then the only message, and written otherwise.
 */
#ifndef DAEMON_WATCH_SESSION_H
#define DAEMON_WATCH_SESSION_H

#include "daemon/watch/connection_monitor.h"
#include "daemon/watch/sync_progress.h"

struct daemon;

/* Embedded in the daemon. A zeroed struct is not started. */
struct watch_session {
    struct connection_monitor monitor;
    struct sync_progress progress; /* only on a terminal */
    struct timer timeout;
};

/* The remedy to append to the message of an error before the first sync; "" if its text has one. */
const char *watch_session_remedy(int code);

/* To be called before the watches are opened. */
void watch_session_prepare(struct daemon *d);

/* After the watches were opened. */
void watch_session_start(struct daemon *d);

/* When the daemon stops. Does nothing if it was not started. */
void watch_session_stop(struct daemon *d);

#endif
