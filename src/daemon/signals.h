/*
 * signals.h - signals that arrive when there is no handler for them: early in the process's life, and
 * late.
 *
 *     signals_hold();        first thing in main
 *     ...                    the conf is read; HUP, USR1 and USR2 stay pending
 *     signals_release();     handlers are in place, and are called for what is pending
 *
 * By default HUP, USR1 and USR2 end a process, so a reload or a log rotation that comes too early would
 * stop the service. INT and TERM are not held: before the start, ending at once is right.
 */
#ifndef DAEMON_SIGNALS_H
#define DAEMON_SIGNALS_H

/* Keeps HUP, USR1 and USR2 pending. */
void signals_hold(void);

/* Delivers those, and INT and TERM if the parent process had them blocked. */
void signals_release(void);

#endif
