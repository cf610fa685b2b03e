/*
 * workload.c - derives the workload of a Pod from its controller, one row for each kind of
 * controller that usually has a controller itself.
 *
 * Normal path: the watched object of the owner names its controller. Without it, the names that the
 * controllers of Kubernetes generate are recognised, but only if labels or times of the Pod confirm
 * them. What is not confirmed is not derived: the owner is the workload.
 */
#include "daemon/record/workload.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json/json_text.h"

enum {
    LABEL_SIZE = 64, /* LIMIT: of a label value in Kubernetes, with its NUL */
    MINUTES_PER_DAY = 24 * 60,
    SCHEDULE_DIGITS_MIN = 8, /* minutes since 1970, from 1989 on */
    SCHEDULE_DIGITS_MAX = 9,
    RETRY_DAYS_MAX = 366, /* a Pod of a Job that is older is not attributed to a schedule */
};

/* ---- names ---- */

/* The part of @name before "-@suffix"; 0: it does not end like that, or is nothing else. */
static size_t length_before(const char *name, const char *suffix)
{
    size_t len = strlen(name), tail = strlen(suffix);
    if (!tail || len < tail + 2 || name[len - tail - 1] != '-' ||
        strcmp(name + len - tail, suffix) != 0)
        return 0;
    return len - tail - 1;
}

/* The evidence of a Pod for its workload. */
struct evidence {
    const struct inf_object *pod;
    struct str labels; /* a JSON object */
};

/* Returns false if there is no label @key. A longer value is cut. */
static bool get_label(const struct evidence *e, const char *key, char ret[LABEL_SIZE])
{
    struct str value;
    if (!json_member_get(e->labels, str_of(key), &value))
        return false;
    json_value_copy(value, ret, LABEL_SIZE);
    return true;
}

/* A Deployment names its ReplicaSets NAME-HASH, and labels their Pods with the hash. */
static size_t deployment_length(const struct evidence *e, const struct inf_owner *owner)
{
    char hash[LABEL_SIZE];
    if (!get_label(e, "pod-template-hash", hash))
        return 0;
    return length_before(owner->name, hash);
}

static bool has_job_label(const struct evidence *e, const char *job)
{
    static const char *const keys[] = {"batch.kubernetes.io/job-name", "job-name"};
    char label[LABEL_SIZE];
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (get_label(e, keys[i], label))
            return strcmp(label, job) == 0;
    return false;
}

/* Whether a schedule at that minute since 1970 can have led to @pod. A date such as 20261117, which
 * users append to names, is in 2008. */
static bool is_schedule_of(const struct inf_object *pod, int64_t minute)
{
    int64_t created_us, created;
    if (inf_object_creation_time(pod, &created_us) < 0)
        return false;
    created = created_us / 1000000 / 60;
    return minute <= created + MINUTES_PER_DAY &&
           minute >= created - RETRY_DAYS_MAX * MINUTES_PER_DAY;
}

/* A CronJob names its Jobs NAME-MINUTES, with the scheduled time in minutes since 1970. */
static size_t cron_job_length(const struct evidence *e, const struct inf_owner *owner)
{
    const char *dash = strrchr(owner->name, '-');
    size_t digits = dash ? strspn(dash + 1, "0123456789") : 0;
    if (digits < SCHEDULE_DIGITS_MIN || digits > SCHEDULE_DIGITS_MAX || dash[1 + digits] ||
        dash == owner->name || !has_job_label(e, owner->name) ||
        !is_schedule_of(e->pod, strtoll(dash + 1, NULL, 10)))
        return 0;
    return (size_t)(dash - owner->name);
}

/* ---- rules ---- */

/* A kind of controller whose own controller is the workload. */
static const struct indirection {
    const char *group, *kind;
    const char *workload; /* the kind that the name shows */
    size_t (*name_length)(const struct evidence *e, const struct inf_owner *owner);
} indirections[] = {
    {"apps/", "ReplicaSet", "Deployment", deployment_length},
    {"batch/", "Job", "CronJob", cron_job_length},
};

static const struct indirection *indirection_of(const struct inf_owner *owner)
{
    for (size_t i = 0; i < ARRAY_LEN(indirections); i++) {
        const struct indirection *row = &indirections[i];
        if (strcmp(owner->kind, row->kind) == 0 &&
            strncmp(owner->api_version, row->group, strlen(row->group)) == 0)
            return row;
    }
    return NULL;
}

bool workload_is_indirect(const struct inf_owner *owner)
{
    return indirection_of(owner) != NULL;
}

bool workload_find(const struct inf_object *pod, struct str labels, const struct inf_owner *owner,
                   const struct inf_object *watched, struct workload *ret)
{
    const struct evidence e = {pod, labels};
    const struct indirection *row = indirection_of(owner);
    const char *kind = owner->kind, *name = owner->name;
    struct inf_owner controller;
    size_t len = strlen(name), derived = 0;
    if (strcmp(kind, "Node") == 0 && strcmp(owner->api_version, "v1") == 0)
        return false;
    if (row && watched) {
        if (inf_object_controller(watched, &controller) == 0) {
            kind = controller.kind;
            name = controller.name;
            len = strlen(name);
        }
    } else if (row && (derived = row->name_length(&e, owner)) > 0) {
        kind = row->workload;
        len = derived;
    }
    memcpy(ret->kind, kind, strlen(kind) + 1); /* both fit: a workload has the sizes of an owner */
    memcpy(ret->name, name, len);
    ret->name[len] = '\0';
    return true;
}
