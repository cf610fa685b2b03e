/*
 * Deployments and the controller behind them: a rollout scales the new ReplicaSet up and the old
 * ones down, with at most one pod more than desired and none less ready. Each turn does one step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "demo.h"

enum {
    SOON_MS = 350,
    SURGE = 1,   /* 25 %, rounded up, of the replicas used here */
    HISTORY = 2, /* revisionHistoryLimit */
};

static const char status_fields[] =
    "{'f:status':{'f:availableReplicas':{},'f:conditions':{},'f:observedGeneration':{},"
    "'f:readyReplicas':{},'f:replicas':{},'f:updatedReplicas':{}}}";

static struct set *newest(const struct app *app)
{
    return container_of(app->sets.next, struct set, node);
}

static unsigned count_pods(const struct demo *demo, const struct set *set, bool ready)
{
    unsigned count = 0;
    list_for_each(n, &demo->pods) {
        const struct pod *pod = container_of(n, struct pod, node);
        if (pod->owner == &set->owner && !pod_leaving(pod))
            count += !ready || pod->state == POD_READY;
    }
    return count;
}

static void on_pod(struct demo *demo, struct owner *owner)
{
    struct app *app = container_of(owner, struct set, owner)->app;
    if (!app->turn.waiting)
        turn_in(demo, &app->turn, SOON_MS);
}

static struct set *set_new(struct demo *demo, struct app *app)
{
    struct set *set = NEW(struct set);
    struct owner *o = &set->owner;
    pick_name(demo, set->hash, 11);
    set->app = app;
    set->revision = ++app->revision;
    *o = (struct owner){.api_version = "apps/v1",
                        .kind = "ReplicaSet",
                        .ns = app->ns,
                        .app = app->name,
                        .policy = "Always",
                        .changed = on_pod};
    snprintf(o->name, sizeof(o->name), "%s-%s", app->name, set->hash);
    snprintf(o->image, sizeof(o->image), "%s:1.%u.%u", app->repository, app->minor, app->patch);
    snprintf(set->labels, sizeof(set->labels), ",'pod-template-hash':'%s'", set->hash);
    o->extra = set->labels;
    pick_digest(demo, o->digest);
    list_push(app->sets.next, &set->node); /* before the first */
    return set;
}

static void set_free(struct set *set)
{
    list_remove(&set->node);
    free(set);
}

/* Sets the desired number of pods. */
static void set_scale(struct demo *demo, struct set *set, unsigned want)
{
    struct app *app = set->app;
    struct involved self = {"Deployment", "apps/v1", app->ns, app->name, app->uid, NULL};
    event_write(demo, &self, "deployment-controller", "ScalingReplicaSet",
                "Scaled %s replica set %s from %u to %u", want > set->want ? "up" : "down",
                set->owner.name, set->want, want);
    set->want = want;
    set->generation++;
    managers_write(&set->managers, "kube-controller-manager", "", "{'f:spec':{'f:replicas':{}}}");
    set_write(demo, set);
}

/* The pod to remove first: one that is not ready, else the youngest. */
static struct pod *removable_pod(const struct demo *demo, const struct set *set)
{
    struct pod *found = NULL;
    list_for_each(n, &demo->pods) {
        struct pod *pod = container_of(n, struct pod, node);
        if (pod->owner != &set->owner || pod_leaving(pod))
            continue;
        if (!found || pod->state != POD_READY || found->state == POD_READY)
            found = pod;
    }
    return found;
}

/* The ReplicaSet controller. Returns whether it had to create or delete a pod. */
static bool scale_set(struct demo *demo, struct set *set)
{
    unsigned count = count_pods(demo, set, false);
    if (count < set->want)
        pod_new(demo, &set->owner);
    else if (count > set->want)
        pod_delete(demo, removable_pod(demo, set));
    return count != set->want;
}

/* Lets one set with a wrong number of pods take a step. False if there is none. */
static bool scale_any_set(struct demo *demo, struct app *app)
{
    list_for_each(n, &app->sets) {
        if (scale_set(demo, container_of(n, struct set, node)))
            return true;
    }
    return false;
}

static struct set *old_set(const struct app *app)
{
    list_for_each(n, &app->sets) {
        struct set *set = container_of(n, struct set, node);
        if (set != newest(app) && set->want)
            return set;
    }
    return NULL;
}

struct totals {
    unsigned want, ready;
};

static struct totals totals_of(const struct demo *demo, const struct app *app)
{
    struct totals t = {0};
    list_for_each(n, &app->sets) {
        const struct set *set = container_of(n, struct set, node);
        t.want += set->want;
        t.ready += count_pods(demo, set, true);
    }
    return t;
}

/* The deployment controller: one step towards all pods being in the newest set. */
static bool move(struct demo *demo, struct app *app)
{
    struct totals t = totals_of(demo, app);
    struct set *new = newest(app), *old = old_set(app);
    if (new->want > app->want || (!old && new->want < app->want))
        set_scale(demo, new, app->want);
    else if (new->want < app->want && t.want < app->want + SURGE)
        set_scale(demo, new, new->want + 1);
    else if (old && t.ready > app->want)
        set_scale(demo, old, old->want - 1);
    else
        return false;
    return true;
}

static void write_sets(struct demo *demo, struct app *app)
{
    list_for_each(n, &app->sets) {
        struct set *set = container_of(n, struct set, node);
        unsigned count = count_pods(demo, set, false), ready = count_pods(demo, set, true);
        if (count == set->count && ready == set->ready && set->seen == set->generation)
            continue;
        set->count = count;
        set->ready = ready;
        set->seen = set->generation;
        managers_write(&set->managers, "kube-controller-manager", "status", status_fields);
        set_write(demo, set);
    }
}

static struct app_status status_of(const struct app *app)
{
    struct app_status now = {.seen = app->generation, .updated = newest(app)->count};
    bool complete;
    list_for_each(n, &app->sets) {
        now.count += container_of(n, struct set, node)->count;
        now.ready += container_of(n, struct set, node)->ready;
    }
    now.missing = now.ready < app->want ? app->want - now.ready : 0;
    complete = now.updated == app->want && now.count == app->want && !now.missing;
    now.rolling = !complete && (app->status.rolling || now.updated != app->status.updated);
    return now;
}

static void write_status(struct demo *demo, struct app *app)
{
    struct app_status now = status_of(app), *old = &app->status;
    if (memcmp(&now, old, sizeof(now)) == 0)
        return;
    if (!now.missing != !old->missing)
        store_now(app->turned);
    if (now.updated != old->updated || now.rolling != old->rolling)
        store_now(app->moved);
    *old = now;
    managers_write(&app->managers, "kube-controller-manager", "status", status_fields);
    app_write(demo, app);
}

bool app_is_idle(const struct app *app)
{
    const struct app_status *s = &app->status;
    return !s->rolling && !s->missing && s->seen == app->generation;
}

/* Removes old ReplicaSets beyond the history limit. */
static void delete_old_sets(struct demo *demo, struct app *app)
{
    unsigned kept = 0;
    list_for_each_safe(n, &app->sets) {
        struct set *set = container_of(n, struct set, node);
        bool owns = set == newest(app) || set->want;
        list_for_each(p, &demo->pods)
            owns = owns || container_of(p, struct pod, node)->owner == &set->owner;
        if (owns || kept++ < HISTORY)
            continue;
        demo_delete(demo, "replicasets.apps", app->ns, set->owner.name);
        set_free(set);
    }
}

static void play(struct demo *demo, struct turn *turn)
{
    struct app *app = container_of(turn, struct app, turn);
    bool busy = scale_any_set(demo, app) || move(demo, app);
    write_sets(demo, app);
    write_status(demo, app);
    delete_old_sets(demo, app);
    if (busy)
        turn_in(demo, turn, SOON_MS);
}

struct app *app_new(struct demo *demo, const char *ns, const char *name, const char *repository,
                    unsigned want)
{
    struct app *app = NEW(struct app);
    struct set *set;
    *app = (struct app){.ns = ns, .name = name, .repository = repository, .want = want};
    app->turn.play = play;
    app->generation = 1;
    app->minor = pick(demo, 20);
    list_init(&app->sets);
    list_push(&demo->apps, &app->node);
    store_now(app->moved);
    store_now(app->turned);
    managers_write(&app->managers, "kubectl-client-side-apply", "", "{'f:spec':{}}");
    app_write(demo, app);
    set = set_new(demo, app);
    set->want = want;
    set->generation = 1;
    managers_write(&set->managers, "kube-controller-manager", "", "{'f:spec':{'f:replicas':{}}}");
    set_write(demo, set);
    for (unsigned i = 0; i < want; i++)
        pod_new_ready(demo, &set->owner);
    write_sets(demo, app);
    write_status(demo, app);
    return app;
}

void app_roll(struct demo *demo, struct app *app)
{
    struct set *set;
    app->patch++;
    app->generation++;
    managers_write(&app->managers, "kubectl-set", "",
                   "{'f:spec':{'f:template':{'f:spec':{'f:containers':{}}}}}");
    app_write(demo, app);
    set = set_new(demo, app);
    set->generation = 1;
    managers_write(&set->managers, "kube-controller-manager", "", "{'f:spec':{'f:replicas':{}}}");
    set_write(demo, set);
    turn_in(demo, &app->turn, SOON_MS);
}

void app_scale(struct demo *demo, struct app *app, unsigned want)
{
    app->want = want;
    app->generation++;
    managers_write(&app->managers, "kubectl", "scale", "{'f:spec':{'f:replicas':{}}}");
    app_write(demo, app);
    turn_in(demo, &app->turn, SOON_MS);
}

void apps_free(struct demo *demo)
{
    struct list *n;
    while ((n = list_pop(&demo->apps))) {
        struct app *app = container_of(n, struct app, node);
        list_for_each_safe(s, &app->sets)
            set_free(container_of(s, struct set, node));
        free(app);
    }
}
