/*
 * daemon.h - the running process: clusters, watches, the journal, signals and the service manager.
 *
 *     conf ──apply.c──> clusters ──> watchers ──> consumers.c: journal ──> files, handlers
 *                                       ^
 *                    web.c, report.c ───┘ status
 *
 * `informerd -c FILE` and `informerd watch ...` run the same daemon. The second one's conf is built
 * from the command line and never reloaded, and its journal keeps no state.
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <stdbool.h>

#include <uv.h>

#include "base/list.h"
#include "daemon/cli/terminal.h"
#include "daemon/conf/conf.h"
#include "daemon/daemon_log.h"
#include "daemon/handler/handlers.h"
#include "daemon/http/web.h"
#include "daemon/journal/journal.h"
#include "daemon/notify.h"
#include "daemon/replica/replica.h"
#include "daemon/saved_state.h"
#include "daemon/state.h"
#include "daemon/tick_cpu.h"
#include "daemon/until.h"
#include "daemon/watch/event_channel.h"
#include "daemon/watch_session.h"
#include "loop/child.h"
#include "loop/disk.h"
#include "loop/loop.h"
#include "loop/tcp.h"

enum {
    DAEMON_SIGNALS = 6,
};

struct daemon_options {
    const char *conf_path;       /* reloaded at SIGHUP */
    bool ad_hoc;                 /* no conf file, no state; fewer daemon records on stdout */
    enum terminal_colour colour; /* on stdout */
    bool no_trunc;               /* lines may be longer than the terminal is wide */
    struct until_options until;  /* when to end it; only if ad hoc, like the timeout */
    uint64_t timeout_ms;         /* 0: none */
};

struct daemon {
    uv_loop_t uv;
    struct loop loop;
    struct tick_cpu tick_cpu;
    struct daemon_options options;
    struct conf *first_conf; /* to be applied when the state is loaded; NULL: it was */
    unsigned early_signals; /* before that: a mask of 1 << index in `signals`, to be handled then */
    struct conf conf;
    struct daemon_log log;
    uv_signal_t signals[DAEMON_SIGNALS];
    struct loop_disk disk;
    struct inf_budget *budget; /* for all backlogs and output buffers */
    uint64_t budget_logged_ms; /* when it was last logged that its limit is exceeded; 0: never */
    bool budget_quiet;         /* that it is exceeded now is logged at level debug */
    int state_lock;            /* -1: no state is kept */
    unsigned char hash_key[STATE_KEY_SIZE];
    struct seq seq;
    struct journal journal;
    struct saved_state saved;
    struct handlers handlers;
    struct replica replica;       /* decides whether the handlers deliver */
    struct child_spawner spawner; /* of their programs */
    struct rng rng;
    struct event_consumers consumers; /* of the events of all watches; the journal is one */
    struct list clusters;             /* of struct cluster, in the conf's order */
    struct list watchers;             /* of struct watcher, in the conf's order */
    struct web web;
    struct notify notify;
    struct timer heartbeat; /* updates the status text for the service manager, if there is one */
    struct timer drain;
    uv_timer_t leaving;           /* limits closing after all records are written */
    struct watch_session session; /* only if ad hoc */
    int64_t started_us;
    int64_t reloaded_us;
    bool reload_failed;
    char *reload_result; /* message of the last reload; NULL: none */
    bool stopping;
    int exit_code;
};

/* Runs until a signal or a fatal error stops it. Takes ownership of the contents of @conf.
 * Returns the exit code. */
int daemon_run(struct conf *conf, const struct daemon_options *options);

/* Closes the watches, writes the remaining records and ends the loop. @why is for the STOP record. */
void daemon_stop(struct daemon *d, const char *why);

/* The exit code for a daemon that could not start, or a command that could not sync, because of
 * @err. */
int daemon_exit_code(const struct inf_error *err, bool ad_hoc);

/* Disables core dumps unless the conf allows them: a core dump contains every object. They stay
 * disabled for the life of the process. */
void daemon_forbid_core_dumps(const struct daemon *d);

/* Logs warnings about the conf (conf_finalize.h). */
void daemon_advise(struct daemon *d);

/* reload.c: reloads the conf file. */
void daemon_reload(struct daemon *d);

/*
 * apply.c: applies @conf to the running daemon. Clusters and watches that did not change are not
 * disturbed. All or nothing: on failure returns a negative error with @err, and nothing has
 * changed. On success takes ownership of the contents of @conf. If @ret_what is not NULL, it ends
 * in a blank, and a summary of the changes is added.
 */
int daemon_apply(struct daemon *d, struct conf *conf, struct buf *ret_what, struct inf_error *err);

#endif
