/*
 * handler_kind.h - the kinds of handlers, as a table of functions: one file and one row each.
 *
 * The name of a kind is its key in the conf; an entry of `handlers` has exactly one of these keys. A sink is a handler
 * whose key is an option of `sinks` instead. What a
 * kind is configured with stays in its own part (handler->part): configure() makes or changes it from the
 * conf entry, close() frees it.
 */
#ifndef DAEMON_HANDLER_KIND_H
#define DAEMON_HANDLER_KIND_H

#include "daemon/conf/conf.h"
#include "daemon/handler/handler.h"

struct handler_kind {
    const char *name;        /* the key in the conf */
    bool is_sink;            /* of an entry of `sinks` */
    bool removes_duplicates; /* its receiver does, also those of several replicas (mode: active) */
    bool batches;            /* `batch` may be configured: start() accepts several records */

    /* Not 0: instead of `concurrency` and `batch`, which can't be configured. */
    uint32_t runs;
    size_t run_records;

    /* How it delivers, for reports: of a program its mode, of a webhook its preset, of a sink its stream. */
    const char *(*mode)(const struct handler *handler);

    /* Whether the key has a value. */
    bool (*is_set)(const struct conf_handler *conf);

    /* Whether the value can be used; also called if only the key exists. Returns 0, or -INF_ECONF with
     * the remedy. NULL: always. */
    int (*check)(const struct conf_handler *conf, struct inf_error *err);

    /* Whether this process can do it, before the configuration is applied. Returns 0, or -INF_ECONF with
     * the remedy. NULL: always. */
    int (*permit)(const struct conf_handler *conf, struct inf_error *err);

    /* A problem of the environment that may be solved later, for --check-config: "'/bin/x' cannot be
     * executed: ..."; the caller frees it. NULL, or returns NULL: none. */
    char *(*advise)(const struct conf_handler *conf);

    /* Creates handler->part if it is NULL, and applies @conf to it: at the start and at each reload. Runs
     * may be in progress. */
    void (*configure)(struct handler *handler, const struct conf_handler *conf);

    /* No further runs are started. Ends those that would not end by themselves. NULL: there are none. */
    void (*stop)(struct handler *handler);

    /* This replica no longer leads: ends all runs now, or as soon as possible, with handler_run_result(). NULL: they
     * are canceled. */
    void (*interrupt)(struct handler *handler);

    /* Frees handler->part. There are no runs. */
    void (*close)(struct handler *handler);

    /* Whether a run can be started now; if not, the kind schedules handler->pump when that changes. NULL:
     * always. */
    bool (*is_ready)(struct handler *handler);

    /* Starts to deliver the records of @run and returns its memory, of which the struct handler_run is the
     * first member; the caller fills it in. handler_run_end() follows, never before this function
     * returns. */
    struct handler_run *(*start)(struct handler *handler, struct handler_record *const *records,
                                 size_t n);

    /* Ends the run and frees its memory, without handler_run_end(). */
    void (*cancel)(struct handler_run *run);
};

extern const struct handler_kind handler_exec;
extern const struct handler_kind
    handler_stream; /* with the key of handler_exec, and mode: stream */
extern const struct handler_kind handler_webhook;
extern const struct handler_kind handler_client;
extern const struct handler_kind handler_nats; /* daemon/nats/handler_nats.c */

/* Ends with NULL. */
extern const struct handler_kind *const handler_kinds[];

/* The kind of a conf entry; NULL: none of the keys, or several. */
const struct handler_kind *handler_kind_of(const struct conf_handler *conf);

#endif
