/*
 * The life of a pod:
 *
 *     new -> scheduled -> creating -> pulled -> running -> ready ... dying -> stopped -> gone
 *                                               ^     |      |
 *                              crashed -> back-off <--+------+            running -> done, in a Job
 *
 * Each turn is one step, written by the component that does it in a cluster: the scheduler binds
 * the pod, the kubelet does the rest. A pod may be deleted in any state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "demo.h"

enum {
    SCHEDULE_MS = 300,
    CREATE_MS = 500,
    PULL_MS = 1200,
    START_MS = 600,
    READY_MS = 2000,
    CRASH_MS = 1500,
    RESTART_MS = 1200,
    BACKOFF_MS = 10 * SECOND, /* first back-off of the kubelet */
    STOP_MS = 2500,
    GONE_MS = 700,
    CHANCE_MS = 400, /* random addition to each, at most */
    GRACE_S = 30,
};

static const char manager_fields[] =
    "{'f:metadata':{'f:generateName':{},'f:labels':{'.':{},'f:app':{}},'f:ownerReferences':{}},"
    "'f:spec':{'f:containers':{},'f:dnsPolicy':{},'f:enableServiceLinks':{},'f:restartPolicy':{},"
    "'f:schedulerName':{},'f:securityContext':{},'f:terminationGracePeriodSeconds':{}}}";

static const char kubelet_fields[] =
    "{'f:status':{'f:conditions':{'k:{`type`:`ContainersReady`}':{'.':{},'f:lastProbeTime':{},"
    "'f:lastTransitionTime':{},'f:status':{},'f:type':{}},'k:{`type`:`Initialized`}':{'.':{},"
    "'f:lastProbeTime':{},'f:lastTransitionTime':{},'f:status':{},'f:type':{}},"
    "'k:{`type`:`Ready`}':{'.':{},'f:lastProbeTime':{},'f:lastTransitionTime':{},'f:status':{},"
    "'f:type':{}}},'f:containerStatuses':{},'f:hostIP':{},'f:phase':{},'f:podIP':{},"
    "'f:podIPs':{},'f:startTime':{}}}";

bool pod_leaving(const struct pod *pod)
{
    return pod->state == POD_DYING || pod->state == POD_STOPPED;
}

static struct involved about(const struct pod *pod, const char *container)
{
    return (struct involved){"Pod", "v1", pod->owner->ns, pod->name, pod->uid, container};
}

static void next(struct demo *demo, struct pod *pod, unsigned ms)
{
    turn_in(demo, &pod->turn, ms + pick(demo, CHANCE_MS));
}

/* The kubelet writes the status of @pod; the controller of its owner is notified. */
static void report(struct demo *demo, struct pod *pod, enum pod_state state)
{
    pod->state = state;
    if (pod->was_ready != (state == POD_READY))
        store_now(pod->turned);
    pod->was_ready = state == POD_READY;
    managers_write(&pod->managers, "kubelet", "status", kubelet_fields);
    pod_write(demo, pod);
    pod->owner->changed(demo, pod->owner);
}

static void schedule(struct demo *demo, struct pod *pod)
{
    struct involved self = about(pod, NULL);
    pod->machine = machine_for_pod(demo);
    pod->state = POD_SCHEDULED;
    store_now(pod->scheduled);
    pod_write(demo, pod); /* a binding is not recorded in managedFields */
    event_write(demo, &self, "default-scheduler", "Scheduled", "Successfully assigned %s/%s to %s",
                pod->owner->ns, pod->name, pod->machine->name);
    next(demo, pod, CREATE_MS);
}

static void create(struct demo *demo, struct pod *pod)
{
    store_now(pod->created);
    report(demo, pod, POD_CREATING);
    next(demo, pod, PULL_MS);
}

static void pull(struct demo *demo, struct pod *pod)
{
    struct involved self = about(pod, pod->owner->app);
    unsigned ms = PULL_MS + pick(demo, 900);
    pod->state = POD_PULLED;
    pod->ip = demo->ips++ % 250 + 2;
    event_write(demo, &self, "kubelet", "Pulled",
                "Successfully pulled image `%s` in %u.%us (%u.%us including waiting)",
                pod->owner->image, ms / 1000, ms % 1000 / 100, ms / 1000, ms % 1000 / 100);
    next(demo, pod, START_MS);
}

static void start(struct demo *demo, struct pod *pod)
{
    struct involved self = about(pod, pod->owner->app);
    pick_digest(demo, pod->id);
    store_now(pod->started);
    report(demo, pod, POD_RUNNING);
    event_write(demo, &self, "kubelet", "Started", "Started container %s", pod->owner->app);
    next(demo, pod, pod->crashes ? CRASH_MS : pod->owner->run_ms ? pod->owner->run_ms : READY_MS);
}

static void crash(struct demo *demo, struct pod *pod)
{
    pod->crashes--;
    pod->crashed++;
    memcpy(pod->last_started, pod->started, sizeof(pod->started));
    memcpy(pod->last_id, pod->id, sizeof(pod->id));
    store_now(pod->finished);
    report(demo, pod, POD_CRASHED);
    next(demo, pod, RESTART_MS);
}

static void back_off(struct demo *demo, struct pod *pod)
{
    struct involved self = about(pod, pod->owner->app);
    report(demo, pod, POD_BACKOFF);
    event_write(demo, &self, "kubelet", "BackOff",
                "Back-off restarting failed container %s in pod %s_%s(%s)", pod->owner->app,
                pod->name, pod->owner->ns, pod->uid);
    next(demo, pod, BACKOFF_MS);
}

static void restart(struct demo *demo, struct pod *pod)
{
    pod->restarts++;
    start(demo, pod);
}

/* The kubelet restarts at once after the first crash, later after a back-off. */
static void after_crash(struct demo *demo, struct pod *pod)
{
    if (pod->crashed > 1)
        back_off(demo, pod);
    else
        restart(demo, pod);
}

static void settle(struct demo *demo, struct pod *pod)
{
    if (pod->crashes) {
        crash(demo, pod);
    } else if (pod->owner->run_ms) {
        store_now(pod->finished);
        report(demo, pod, POD_DONE);
    } else {
        pod->crashed = 0;
        report(demo, pod, POD_READY);
    }
}

static void pod_free(struct demo *demo, struct pod *pod)
{
    turn_cancel(demo, &pod->turn);
    list_remove(&pod->node);
    free(pod);
}

static void go(struct demo *demo, struct pod *pod)
{
    struct owner *owner = pod->owner;
    demo_delete(demo, "pods", owner->ns, pod->name);
    pod_free(demo, pod);
    owner->changed(demo, owner);
}

/* A pod without a running container needs no grace period. */
static void stop(struct demo *demo, struct pod *pod)
{
    if (pod->before != POD_RUNNING && pod->before != POD_READY) {
        go(demo, pod);
        return;
    }
    store_now(pod->finished);
    report(demo, pod, POD_STOPPED);
    next(demo, pod, GONE_MS);
}

static void play(struct demo *demo, struct turn *turn)
{
    static void (*const steps[])(struct demo * demo, struct pod * pod) = {
        [POD_NEW] = schedule,        [POD_SCHEDULED] = create, [POD_CREATING] = pull,
        [POD_PULLED] = start,        [POD_RUNNING] = settle,   [POD_READY] = crash,
        [POD_CRASHED] = after_crash, [POD_BACKOFF] = restart,  [POD_DYING] = stop,
        [POD_STOPPED] = go,
    };
    struct pod *pod = container_of(turn, struct pod, turn);
    steps[pod->state](demo, pod);
}

static struct pod *make(struct demo *demo, struct owner *owner)
{
    struct pod *pod = NEW(struct pod);
    char suffix[6];
    pick_name(demo, suffix, sizeof(suffix));
    snprintf(pod->name, sizeof(pod->name), "%.50s-%s", owner->name, suffix);
    pod->owner = owner;
    pod->turn.play = play;
    list_push(&demo->pods, &pod->node);
    managers_write(&pod->managers, "kube-controller-manager", "", manager_fields);
    return pod;
}

void pod_new(struct demo *demo, struct owner *owner)
{
    struct pod *pod = make(demo, owner);
    struct involved self = {owner->kind, owner->api_version, owner->ns,
                            owner->name, owner->uid,         NULL};
    pod_write(demo, pod);
    event_write(demo, &self, owner->run_ms ? "job-controller" : "replicaset-controller",
                "SuccessfulCreate", "Created pod: %s", pod->name);
    next(demo, pod, SCHEDULE_MS);
}

void pod_new_ready(struct demo *demo, struct owner *owner)
{
    struct pod *pod = make(demo, owner);
    pod->machine = machine_for_pod(demo);
    pod->ip = demo->ips++ % 250 + 2;
    store_now(pod->scheduled);
    store_now(pod->created);
    store_now(pod->started);
    store_now(pod->turned);
    pick_digest(demo, pod->id);
    pod->state = POD_READY;
    pod->was_ready = true;
    managers_write(&pod->managers, "kubelet", "status", kubelet_fields);
    pod_write(demo, pod);
}

void pod_delete(struct demo *demo, struct pod *pod)
{
    struct involved self = about(pod, pod->owner->app);
    if (pod_leaving(pod))
        return;
    store_now(pod->deleted_at);
    time_after(pod->deleted, GRACE_S);
    pod->before = pod->state;
    pod->state = POD_DYING;
    pod_write(demo, pod);
    if (pod->machine)
        event_write(demo, &self, "kubelet", "Killing", "Stopping container %s", pod->owner->app);
    pod->owner->changed(demo, pod->owner);
    next(demo, pod, STOP_MS);
}

void pod_evict(struct demo *demo, struct pod *pod)
{
    pod->evicted = true;
    pod_delete(demo, pod);
}

void pod_crash(struct demo *demo, struct pod *pod, unsigned times)
{
    pod->crashes = times;
    turn_in(demo, &pod->turn, 0);
}

void pods_free(struct demo *demo)
{
    list_for_each_safe(n, &demo->pods)
        pod_free(demo, container_of(n, struct pod, node));
}
