/*
 * signals.c - changes the signal mask of the process. Neither call can fail: the signal sets are
 * valid.
 */
#include "daemon/signals.h"

#include <signal.h>
#include <stddef.h>

static sigset_t held_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    return set;
}

void signals_hold(void)
{
    sigset_t set = held_signals();
    sigprocmask(SIG_BLOCK, &set, NULL);
}

void signals_release(void)
{
    sigset_t set = held_signals();
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}
