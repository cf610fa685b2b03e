/*
 * notify.h - telling the service manager how we are: sd_notify(3)'s protocol, one datagram a line.
 *
 *     notify_init(&n, uv);                     as $NOTIFY_SOCKET and $WATCHDOG_USEC say
 *     notify_ready(&n, "watching pods");       systemctl status shows the sentence
 *     ...
 *     notify_stopping(&n);
 *     notify_close(&n);
 *
 * Started by hand there is nobody to tell, and every call does nothing. What can't be sent is not
 * worth a word: the manager draws its own conclusions from silence.
 *
 * The watchdog is fed by a timer of the loop and by nothing else, so a loop that hangs is noticed.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <uv.h>

struct notify {
    int fd; /* -1: there is nobody to tell */
    struct sockaddr_un address;
    socklen_t address_len;
    char *status;        /* told last; NULL: none yet */
    bool watched;        /* `watchdog` is in use */
    uv_timer_t watchdog; /* does not keep the loop running */
};

/* Looks up whom to tell, and starts feeding the watchdog if there is one for this process. */
void notify_init(struct notify *n, uv_loop_t *uv);

/* Whether there is somebody to tell. */
bool notify_is_heard(const struct notify *n);

/* Up, or done with reloading. @status is a sentence for people. */
void notify_ready(struct notify *n, const char *status);

/* Tells @status if it is another than before. */
void notify_status(struct notify *n, const char *status);
void notify_reloading(struct notify *n);
void notify_stopping(struct notify *n);

/* Tells nothing any more. Its memory has to stay until the loop has run once more. */
void notify_close(struct notify *n);

#endif
