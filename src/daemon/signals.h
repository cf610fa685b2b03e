/*
 * signals.h - keeps signals pending while the process has no handlers for them: during startup and
 * shutdown.
 *
 *     signals_hold();        first call in main
 *     ...                    the conf is read; HUP, USR1 and USR2 stay pending
 *     signals_release();     handlers are installed, and are called for pending signals
 *
 * By default HUP, USR1 and USR2 end a process, so a reload or a log rotation during startup would
 * stop the service. INT and TERM are not held: during startup they may end the process at once.
 */
#ifndef DAEMON_SIGNALS_H
#define DAEMON_SIGNALS_H

/* Keeps HUP, USR1 and USR2 pending. */
void signals_hold(void);

/* Unblocks these, and INT and TERM in case the parent process had blocked them. */
void signals_release(void);

#endif
