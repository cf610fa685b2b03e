/*
 * notify.h - reports the state of the service to the service manager with the protocol of
 * sd_notify(3).
 *
 *     notify_init(&n, uv);                     reads $NOTIFY_SOCKET and $WATCHDOG_USEC
 *     notify_ready(&n, "watching pods");       shown by systemctl status
 *     ...
 *     notify_stopping(&n);
 *     notify_close(&n);
 *
 * Without a service manager every call does nothing. Errors of sending are ignored: the manager
 * acts on missing messages itself.
 *
 * Only a timer of the loop sends the watchdog messages, so that the manager detects a loop that
 * hangs.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <uv.h>

struct notify {
    int fd; /* -1: no service manager */
    struct sockaddr_un address;
    socklen_t address_len;
    char *status;        /* sent last; NULL: none yet */
    bool watched;        /* `watchdog` is in use */
    uv_timer_t watchdog; /* does not keep the loop running */
};

/* Opens the socket, and starts the watchdog timer if the manager requests one for this process. */
void notify_init(struct notify *n, uv_loop_t *uv);

/* Whether there is a service manager. */
bool notify_is_heard(const struct notify *n);

/* Reports the end of starting or reloading. @status is a human-readable line. */
void notify_ready(struct notify *n, const char *status);

/* Sends @status if it differs from the last one. */
void notify_status(struct notify *n, const char *status);
void notify_reloading(struct notify *n);
void notify_stopping(struct notify *n);

/* Closes the socket and the timer. The memory must stay valid until the loop has run again. */
void notify_close(struct notify *n);

#endif
