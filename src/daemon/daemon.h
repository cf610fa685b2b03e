/*
 * daemon.h - what runs for the life of the process: clusters, watches, the journal, and the manners
 * of a service.
 *
 *     conf ──apply.c──> clusters ──> watchers ──> journal ──> files
 *                                       ^
 *                    web.c, report.c ───┘ how are they doing?
 *
 * `informerd -c FILE` and `informerd watch ...` are the same daemon: the second one's conf is made of
 * the command line, is never read again, and its journal keeps no state.
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <stdbool.h>

#include <uv.h>

#include "base/list.h"
#include "daemon/conf/conf.h"
#include "daemon/daemon_log.h"
#include "daemon/heap_trim.h"
#include "daemon/http/web.h"
#include "daemon/journal/journal.h"
#include "daemon/notify.h"
#include "daemon/state.h"
#include "daemon/watch/unknown_resource.h"
#include "loop/loop.h"

enum {
    DAEMON_SIGNALS = 5,
};

struct daemon_options {
    const char *conf_path; /* read again at SIGHUP */
    bool ad_hoc;           /* no conf file, no state; on stdout only what matters there */
};

struct daemon {
    uv_loop_t uv;
    struct loop loop;
    struct daemon_options options;
    struct conf conf;
    struct daemon_log log;
    uv_signal_t signals[DAEMON_SIGNALS];
    struct disk disk;
    struct inf_budget *budget; /* of all backlogs and output buffers */
    uint64_t budget_said_ms;   /* when it was last logged that its limit is exceeded; 0: never */
    bool budget_quiet;         /* that it is exceeded now is logged at level debug */
    int state_lock;            /* -1: no state is kept */
    unsigned char hash_key[STATE_KEY_SIZE];
    struct seq seq;
    struct journal journal;
    struct list clusters; /* of struct cluster, in the conf's order */
    struct list watchers; /* of struct watcher, the same */
    struct web web;
    struct notify notify;
    struct timer heartbeat; /* the sentence for the service manager, if there is one */
    struct timer drain;
    struct heap_trim heap;
    uv_timer_t leaving;              /* when all is written, and something does not end */
    struct unknown_resource unknown; /* ad hoc: words of which the server knows nothing */
    int64_t started_us;
    int64_t reloaded_us;
    bool reload_failed;
    bool stopping;
    int exit_code;
};

/* Runs until a signal ends it, or something it can't go on without. Takes over what @conf holds.
 * Returns the exit code. */
int daemon_run(struct conf *conf, const struct daemon_options *options);

/* The exit code of a daemon that could not start because of @err. */
int daemon_exit_code(const struct inf_error *err, bool ad_hoc);

/* A core dump would have every object in it: there is none from now on, if the conf says so. Once
 * forbidden it stays so. */
void daemon_forbid_core_dumps(const struct daemon *d);

/* Logs warnings about the conf (conf_advice.h). */
void daemon_advise(struct daemon *d);

/* reload.c: reads the conf file anew. */
void daemon_reload(struct daemon *d);

/*
 * apply.c: makes the world as @conf says. What says the same as before goes on undisturbed. All or
 * nothing: if something can't be, @err says what, and nothing has changed. Takes over what @conf
 * holds if it succeeds. @ret_what, if not NULL, ends in a blank and gets what is new in words.
 */
int daemon_apply(struct daemon *d, struct conf *conf, struct buf *ret_what, struct inf_error *err);

#endif
