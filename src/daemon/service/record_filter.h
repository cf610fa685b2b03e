/*
 * record_filter.h - the records that a request selects, from event log files and as they happen: the
 * parameters of /informerd/v1/events and /informerd/v1/history.
 *
 *     cluster, watch    by their names in the configuration
 *     resource          pods, deployments.apps
 *     namespace, name, uid
 *     verb              ADDED, MODIFIED, DELETED; several separated by commas
 *     level             at least info, warn or error
 *     label             a label selector
 *     changed           a field path; only for MODIFIED
 *     text              a part of the message, in any case
 *     since, until      a time (RFC 3339), or a duration before now: 10m; only of history
 *     notes             false: without records of the daemon itself
 *
 * All conditions must hold. Records of the daemon (GAP, STALE ...) have no object: of these conditions
 * only cluster, watch, resource, namespace, level and time apply to them. If a request is about certain
 * objects or changes, only those are sent that say something about completeness: not SYNCED and CONFIG.
 *
 * The limits of a reader apply to every record, wherever it comes from. Records about a whole watch, or
 * about the daemon, are for readers that may read all of that.
 */
#ifndef DAEMON_API_RECORD_FILTER_H
#define DAEMON_API_RECORD_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"
#include "informer/informer.h"
#include "informer/selector.h"

#include "daemon/access/reader.h"
#include "daemon/journal/filter.h"
#include "daemon/record/record_line.h"

struct daemon;

struct record_filter {
    const struct api_reader *reader; /* borrowed */
    bool involved;                   /* also Events about the selected objects */

    /* NULL: any. */
    char *cluster;
    char *watch;
    char *resource;
    char *group; /* of `resource` */
    char *kind;  /* of `resource`, if it is known: for `involved` */
    char *ns;
    char *name;
    char *uid;
    char *changed;
    char *text;
    struct inf_selector *labels;
    unsigned verbs; /* a mask of 1 << INF_ADDED ...; 0: any */
    enum inf_log_level level;
    int64_t since_us, until_us; /* INT64_MIN, INT64_MAX: any */
    bool no_notes;
};

/* Reads the parameters of @query. @now_us is the time of the request. Returns 0 or -INF_EINVAL. The
 * caller frees @ret in both cases. */
int record_filter_read(struct record_filter *ret, const char *query, int64_t now_us,
                       struct inf_error *err);
void record_filter_free(struct record_filter *filter);

/* Whether it selects @record, of which only the head is read: false means no. Fast. */
bool record_filter_may_match(const struct record_filter *filter, const struct record_line *record);

/* Whether it selects @record, which is read completely. */
bool record_filter_matches(const struct record_filter *filter, const struct record_line *record);

/* The watches of the configuration with the resource of @filter, and its kind if that is known. The
 * caller frees the list, but not the names. */
const char **record_filter_resolve(struct record_filter *filter, const struct daemon *d,
                                   size_t *ret_count);

/* "2026-11-15T23:09:29Z", or "10m" before @now_us. Returns 0 or -INF_EINVAL. */
int record_time_parse(const char *name, const char *text, int64_t now_us, int64_t *ret_us,
                      struct inf_error *err);

/* Refuses parameters of @query that are not in @names, which ends with NULL. */
int record_query_check(const char *query, const char *const *names, struct inf_error *err);

/* The names of the parameters above, for record_query_check(). */
#define RECORD_FILTER_NAMES                                                               \
    "cluster", "watch", "resource", "namespace", "name", "uid", "verb", "level", "label", \
        "changed", "text", "notes"

#endif
