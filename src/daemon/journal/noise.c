/*
 * noise.c - the presets, one row each, and field paths that an update may change without being
 * reported.
 *
 * Normal path: noise_make() once when a watch is configured, then noise_is() for each update that a
 * log would accept: it looks at the changes until one is not covered. Only noise_check() can fail.
 */
#include "daemon/journal/noise.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text/nearest.h"
#include "daemon/journal/heartbeat.h"
#include "daemon/rule/item_path.h"

struct noise {
    unsigned presets; /* bits: the rows of the table */
    struct item_path **paths;
    size_t n_paths;
};

/* ---- presets ---- */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Whether the value is a time, null, or does not exist. */
static bool is_time_or_none(const struct inf_diff_value *value)
{
    struct str json = {value->json, value->json ? value->len : 0};
    return !value->len || str_eq(json, STR("null")) || heartbeat_is_time(json);
}

/* Unlike heartbeats, also the first time, and one that is removed. */
static bool is_status_time(const char *kind, const struct inf_change *change)
{
    (void)kind;
    return starts_with(change->path, "status.") && is_time_or_none(&change->old_value) &&
           is_time_or_none(&change->new_value);
}

static bool is_number_or_none(const struct inf_diff_value *value)
{
    return !value->len || (value->json && strspn(value->json, "0123456789") >= value->len);
}

static bool is_generation(const char *kind, const struct inf_change *change)
{
    (void)kind;
    return (strcmp(change->path, "metadata.generation") == 0 ||
            (starts_with(change->path, "status.") &&
             ends_with(change->path, ".observedGeneration"))) &&
           is_number_or_none(&change->old_value) && is_number_or_none(&change->new_value);
}

static bool is_quota_counter(const char *kind, const struct inf_change *change)
{
    static const char used[] = "status.used";
    char next = '\0';
    if (strcmp(kind, "ResourceQuota") != 0 || !starts_with(change->path, used))
        return false;
    next = change->path[sizeof(used) - 1];
    return !next || next == '.' || next == '[';
}

static bool is_leader_election(const char *kind, const struct inf_change *change)
{
    return heartbeat_is_leader_renewal(change) ||
           (strcmp(kind, "Lease") == 0 && strcmp(change->path, "spec.renewTime") == 0 &&
            heartbeat_is_renewal(change));
}

/* Annotations that controllers and kubectl write for themselves. */
static const char *const managed_annotations[] = {
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.daemonset.template.generation",
    "endpoints.kubernetes.io/last-change-trigger-time",
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/current-metrics",
};

static bool is_managed_metadata(const char *kind, const struct inf_change *change)
{
    static const char annotations[] = "metadata.annotations[\"", close[] = "\"]";
    const char *name = change->path + sizeof(annotations) - 1;
    (void)kind;
    if (starts_with(change->path, "metadata.managedFields") ||
        strcmp(change->path, "metadata.resourceVersion") == 0 ||
        strcmp(change->path, "metadata.selfLink") == 0)
        return true;
    if (!starts_with(change->path, annotations))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(managed_annotations); i++)
        if (starts_with(name, managed_annotations[i]) &&
            strcmp(name + strlen(managed_annotations[i]), close) == 0)
            return true;
    return false;
}

/* `unchanged` covers no change; the journal handles updates without changes. */
static const struct {
    const char *name;
    bool (*covers)(const char *kind, const struct inf_change *change); /* NULL: nothing */
} presets[] = {
    {"heartbeats", heartbeat_is_change},       {"unchanged", NULL},
    {"status-timestamps", is_status_time},     {"observed-generation", is_generation},
    {"resource-quota", is_quota_counter},      {"leader-election", is_leader_election},
    {"managed-metadata", is_managed_metadata},
};

enum {
    FURTHER = 2, /* the rows from here on need a filter; the journal handles the others alone */
};

const char *const noise_presets[] = {
    "heartbeats",     "unchanged",       "status-timestamps", "observed-generation",
    "resource-quota", "leader-election", "managed-metadata",  NULL};
_Static_assert(ARRAY_LEN(noise_presets) == ARRAY_LEN(presets) + 1, "a name for each row");

static size_t find_preset(const char *text)
{
    size_t i = 0;
    while (i < ARRAY_LEN(presets) && strcmp(presets[i].name, text) != 0)
        i++;
    return i;
}

/* ---- entries ---- */

/* A single name is a path only if it is a part that most objects have: others are misspelled
 * presets. */
static bool is_top_level(const char *text)
{
    static const char *const fields[] = {"metadata", "spec", "status", "data"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (strcmp(fields[i], text) == 0)
            return true;
    return false;
}

static int unknown_preset(const char *text, struct inf_error *err)
{
    struct nearest nearest = {0};
    struct buf all = {0};
    int rc;
    for (size_t i = 0; i < ARRAY_LEN(presets); i++) {
        nearest_try(&nearest, text, presets[i].name);
        buf_printf(&all, "%s%s", i ? ", " : "", presets[i].name);
    }
    if (nearest.word)
        rc = err_set(err, INF_EINVAL, "unknown value '%.80s'; did you mean '%s'?", text,
                     nearest.word);
    else
        rc = err_set(err, INF_EINVAL,
                     "unknown value '%.80s'; valid values: %.*s, or a field path such as "
                     "status.lastScaleTime",
                     text, (int)all.len, all.bytes);
    buf_free(&all);
    return rc;
}

int noise_check(const char *text, struct inf_error *err)
{
    struct item_path *path;
    if (find_preset(text) < ARRAY_LEN(presets))
        return 0;
    if (!strpbrk(text, ".[") && !is_top_level(text))
        return unknown_preset(text, err);
    path = item_path_parse(text, err);
    item_path_free(path);
    return path ? 0 : -INF_EINVAL;
}

struct noise *noise_make(char *const *entries, size_t n)
{
    struct noise *noise = NEW(struct noise);
    noise->paths = xcalloc(n + 1, sizeof(struct item_path *));
    for (size_t i = 0; i < n; i++) {
        size_t preset = find_preset(entries[i]);
        if (preset < ARRAY_LEN(presets))
            noise->presets |= 1u << preset;
        else if ((noise->paths[noise->n_paths] = item_path_parse(entries[i], NULL)))
            noise->n_paths++;
    }
    if (!noise->n_paths && noise->presets < 1u << FURTHER) {
        noise_free(noise);
        return NULL;
    }
    return noise;
}

void noise_free(struct noise *noise)
{
    if (!noise)
        return;
    for (size_t i = 0; i < noise->n_paths; i++)
        item_path_free(noise->paths[i]);
    free(noise->paths);
    free(noise);
}

/* ---- evaluation ---- */

static bool is_covered(const struct noise *noise, const char *kind, const struct inf_change *change)
{
    for (size_t i = 0; i < ARRAY_LEN(presets); i++)
        if (noise->presets >> i & 1 && presets[i].covers && presets[i].covers(kind, change))
            return true;
    for (size_t i = 0; i < noise->n_paths; i++)
        if (item_path_covers(noise->paths[i], change->path))
            return true;
    return false;
}

bool noise_is(const struct noise *noise, const char *kind, const struct inf_diff *diff)
{
    if (!noise || !inf_diff_count(diff) || inf_diff_truncated(diff))
        return false;
    for (size_t i = 0; i < inf_diff_count(diff); i++)
        if (!is_covered(noise, kind, inf_diff_get(diff, i)))
            return false;
    return true;
}
