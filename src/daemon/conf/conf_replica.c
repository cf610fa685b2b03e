/*
 * conf_replica.c - completes and checks the section `replica`.
 *
 * Errors are reported at the option that causes them: an unknown cluster, times that leave no margin between
 * the end of one leader and the begin of the next, and handlers that can't be used by several replicas
 * at a time.
 */
#include "daemon/conf/conf_replica.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "daemon/conf/conf_finalize.h"
#include "daemon/handler/handler_kind.h"

enum {
    SECOND_MS = 1000,
};

bool conf_replica_has_lease(const struct conf *conf)
{
    return conf->replica.group && conf->replica.mode == CONF_REPLICA_LEADER;
}

void conf_replica_complete(struct conf *conf)
{
    if (conf->replica.group && !conf->replica.cluster && conf->n_clusters == 1 &&
        conf->clusters[0].name)
        conf->replica.cluster = xstrdup(conf->clusters[0].name);
}

__attribute__((format(printf, 4, 5))) static void replica_error(struct conf_reader *reader,
                                                                const struct conf *conf,
                                                                const char *key, const char *fmt,
                                                                ...)
{
    va_list args;
    va_start(args, fmt);
    conf_key_error(reader, conf_reader_enter(reader, "replica"), conf->replica.head.node, key, fmt,
                   args);
    va_end(args);
}

static bool has_cluster(const struct conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->n_clusters; i++)
        if (conf->clusters[i].name && strcmp(conf->clusters[i].name, name) == 0)
            return true;
    return false;
}

static void check_cluster(struct conf_reader *reader, const struct conf *conf)
{
    const char *name = conf->replica.cluster;
    if (!name)
        replica_error(reader, conf, "cluster",
                      "missing key 'cluster'; it is required when several clusters are configured");
    else if (!has_cluster(conf, name))
        replica_error(reader, conf, "cluster", "unknown cluster '%s'", name);
}

static void check_times(struct conf_reader *reader, const struct conf *conf)
{
    const struct conf_replica *r = &conf->replica;
    if (r->lease_duration_ms % SECOND_MS)
        replica_error(reader, conf, "lease_duration", "is not a whole number of seconds");
    if (r->renew_deadline_ms >= r->lease_duration_ms)
        replica_error(
            reader, conf, "renew_deadline",
            "must be shorter than lease_duration: otherwise two replicas may deliver at the "
            "same time");
    if (r->retry_period_ms >= r->renew_deadline_ms)
        replica_error(reader, conf, "retry_period", "must be shorter than renew_deadline");
}

/* Each replica delivers each change: only a receiver that recognises it again can be used. */
static void check_active(struct conf_reader *reader, const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_handlers; i++) {
        const struct conf_handler *h = &conf->handlers[i];
        const struct handler_kind *kind = handler_kind_of(h);
        if (kind && !kind->removes_duplicates)
            conf_entry_error(
                reader, conf, "handlers", h->head.node, kind->name,
                "with replica.mode: active each replica would deliver each change, and %s "
                "does not remove duplicates; use mode: leader",
                kind->name);
    }
}

void conf_replica_check(struct conf_reader *reader, const struct conf *conf)
{
    if (!conf->replica.group) {
        if (conf->replica.cluster)
            replica_error(reader, conf, "cluster", "needs the key 'group'");
        return;
    }
    if (conf->replica.mode == CONF_REPLICA_ACTIVE) {
        check_active(reader, conf);
        return;
    }
    check_cluster(reader, conf);
    check_times(reader, conf);
}
