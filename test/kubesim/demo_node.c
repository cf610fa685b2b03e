/*
 * Nodes: heartbeats of the kubelet, placement of pods, and a drain with all its steps.
 */
#include <stdio.h>
#include <string.h>

#include "demo.h"

enum {
    LEASE_EVERY = 10 * SECOND, /* as in the kubelet */
    STATUS_EVERY = 30,         /* in leases: five minutes */
    STEP_MS = 900,
    EVICT_MS = 2500,
    REBOOT_MS = 6 * SECOND,
};

static const char kubelet_fields[] =
    "{'f:status':{'f:conditions':{'k:{`type`:`Ready`}':{'f:lastHeartbeatTime':{},"
    "'f:lastTransitionTime':{},'f:message':{},'f:reason':{},'f:status':{}}},"
    "'f:nodeInfo':{'f:bootID':{}}}}";

static void kubelet_writes(struct demo *demo, struct machine *m)
{
    store_now(m->seen);
    managers_write(&m->managers, "kubelet", "status", kubelet_fields);
    machine_write(demo, m);
}

static void beat(struct demo *demo, struct turn *turn)
{
    struct machine *m = container_of(turn, struct machine, beat);
    turn_in(demo, turn, LEASE_EVERY);
    if (m->down)
        return;
    machine_write_lease(demo, m);
    if (++m->beats % STATUS_EVERY == 0)
        kubelet_writes(demo, m);
}

static unsigned count_pods(const struct demo *demo, const struct machine *m)
{
    unsigned count = 0;
    list_for_each(n, &demo->pods)
        count += container_of(n, struct pod, node)->machine == m;
    return count;
}

/* At most one node is drained at a time, so another one always exists. */
struct machine *machine_for_pod(struct demo *demo)
{
    struct machine *best = NULL;
    for (unsigned i = 0; i < DEMO_NODES; i++) {
        struct machine *m = &demo->machines[i];
        if (!m->cordoned && (!best || count_pods(demo, m) < count_pods(demo, best)))
            best = m;
    }
    return best;
}

/* Node events refer to the node by name: the kubelet and the controllers don't know its uid. */
static struct involved about(const struct machine *m)
{
    return (struct involved){"Node", "v1", "", m->name, m->name, NULL};
}

static void cordon(struct demo *demo, struct machine *m, bool on)
{
    struct involved self = about(m);
    m->cordoned = on;
    managers_write(&m->managers, "kubectl", "", "{'f:spec':{'f:unschedulable':{}}}");
    machine_write(demo, m);
    event_write(demo, &self, "kubelet", on ? "NodeNotSchedulable" : "NodeSchedulable",
                "Node %s status is now: %s", m->name,
                on ? "NodeNotSchedulable" : "NodeSchedulable");
}

/* The node controller adds the taint afterwards. */
static void taint(struct demo *demo, struct machine *m)
{
    m->tainted = m->cordoned;
    managers_write(&m->managers, "kube-controller-manager", "", "{'f:spec':{'f:taints':{}}}");
    machine_write(demo, m);
}

static struct pod *next_to_evict(struct demo *demo, const struct machine *m)
{
    list_for_each(n, &demo->pods) {
        struct pod *pod = container_of(n, struct pod, node);
        if (pod->machine == m && !pod_leaving(pod))
            return pod;
    }
    return NULL;
}

static void turn_ready(struct demo *demo, struct machine *m, bool ready)
{
    struct involved self = about(m);
    m->down = !ready;
    store_now(m->since);
    if (ready)
        store_uuid(&demo->job.sim->store, m->boot);
    kubelet_writes(demo, m);
    if (ready)
        event_write(demo, &self, "kubelet", "Rebooted", "Node %s has been rebooted, boot id: %s",
                    m->name, m->boot);
    else
        event_write(demo, &self, "node-controller", "NodeNotReady",
                    "Node %s status is now: NodeNotReady", m->name);
}

enum step {
    STEP_CORDON,
    STEP_TAINT,
    STEP_EVICT,
    STEP_DOWN,
    STEP_UP,
    STEP_UNCORDON,
    STEP_UNTAINT,
    STEP_END,
};

/* Evicts one pod. Returns whether it was the last. */
static bool evict(struct demo *demo, struct machine *m)
{
    struct pod *pod = next_to_evict(demo, m);
    if (pod)
        pod_evict(demo, pod);
    return !pod;
}

/* Does one step of the drain and returns the time until the next. */
static unsigned step(struct demo *demo, struct machine *m)
{
    enum step now = m->step;
    m->step++;
    switch (now) {
    case STEP_CORDON: cordon(demo, m, true); return STEP_MS;
    case STEP_TAINT: taint(demo, m); return STEP_MS;
    case STEP_EVICT:
        if (!evict(demo, m) || count_pods(demo, m))
            m->step = STEP_EVICT; /* until the pods are gone */
        return EVICT_MS;
    case STEP_DOWN: turn_ready(demo, m, false); return REBOOT_MS;
    case STEP_UP: turn_ready(demo, m, true); return 2 * STEP_MS;
    case STEP_UNCORDON: cordon(demo, m, false); return STEP_MS;
    case STEP_UNTAINT: taint(demo, m); return STEP_MS;
    case STEP_END: break;
    }
    return 0;
}

static void drain(struct demo *demo, struct turn *turn)
{
    struct machine *m = container_of(turn, struct machine, plan);
    unsigned ms = step(demo, m);
    if (m->step < STEP_END)
        turn_in(demo, turn, ms);
}

bool machine_drain(struct demo *demo)
{
    struct machine *m = &demo->machines[pick(demo, DEMO_NODES)];
    for (unsigned i = 0; i < DEMO_NODES; i++) {
        if (demo->machines[i].step < STEP_END)
            return false;
    }
    m->step = STEP_CORDON;
    turn_in(demo, &m->plan, 0);
    return true;
}

void machines_start(struct demo *demo)
{
    for (unsigned i = 0; i < DEMO_NODES; i++) {
        struct machine *m = &demo->machines[i];
        m->number = i + 1;
        snprintf(m->name, sizeof(m->name), "node-%u", i + 1);
        store_now(m->born);
        store_now(m->since);
        store_uuid(&demo->job.sim->store, m->boot);
        m->step = STEP_END;
        m->beat = (struct turn){.play = beat, .quiet = true};
        m->plan = (struct turn){.play = drain};
        kubelet_writes(demo, m);
        machine_write_lease(demo, m);
        turn_in(demo, &m->beat, LEASE_EVERY * (i + 1) / DEMO_NODES);
    }
}
