/*
 * A pod as JSON: a table describes what each state looks like.
 */
#include "demo.h"

enum container {
    CONTAINER_NONE,
    CONTAINER_CREATING,
    CONTAINER_RUNNING,
    CONTAINER_FAILED,
    CONTAINER_BACKOFF,
    CONTAINER_COMPLETED,
};

static const struct look {
    const char *phase;
    enum container container;
    bool address;       /* has a pod IP */
    const char *reason; /* why it is not ready; NULL: it is */
} looks[] = {
    [POD_NEW] = {"Pending", CONTAINER_NONE, false, NULL},
    [POD_SCHEDULED] = {"Pending", CONTAINER_NONE, false, NULL},
    [POD_CREATING] = {"Pending", CONTAINER_CREATING, false, "ContainersNotReady"},
    [POD_PULLED] = {"Pending", CONTAINER_CREATING, false, "ContainersNotReady"},
    [POD_RUNNING] = {"Running", CONTAINER_RUNNING, true, "ContainersNotReady"},
    [POD_READY] = {"Running", CONTAINER_RUNNING, true, NULL},
    [POD_CRASHED] = {"Running", CONTAINER_FAILED, true, "ContainersNotReady"},
    [POD_BACKOFF] = {"Running", CONTAINER_BACKOFF, true, "ContainersNotReady"},
    [POD_DONE] = {"Succeeded", CONTAINER_COMPLETED, true, "PodCompleted"},
    [POD_STOPPED] = {"Succeeded", CONTAINER_COMPLETED, true, "PodCompleted"},
};

/* A pod that is terminating looks as before until it has stopped. */
static const struct look *look_of(const struct pod *pod)
{
    return &looks[pod->state == POD_DYING ? pod->before : pod->state];
}

static void put_metadata(struct buf *out, const struct pod *pod)
{
    const struct owner *o = pod->owner;
    text_put(out, "'metadata':{'name':'%s','generateName':'%s-','namespace':'%s',", pod->name,
             o->name, o->ns);
    text_put(out, "'generation':%d,", pod->deleted[0] ? 2 : 1);
    if (pod->deleted[0])
        text_put(out, "'deletionTimestamp':'%s','deletionGracePeriodSeconds':30,", pod->deleted);
    text_put(out, "'labels':{'app':'%s'%s},", o->app, o->extra);
    text_put(out, "'ownerReferences':[{'apiVersion':'%s','kind':'%s','name':'%s','uid':'%s',",
             o->api_version, o->kind, o->name, o->uid);
    text_put(out, "'controller':true,'blockOwnerDeletion':true}]");
    managers_put(out, &pod->managers, "v1");
    text_put(out, "}");
}

static void put_tolerations(struct buf *out)
{
    static const char *const keys[] = {"not-ready", "unreachable"};
    text_put(out, "'tolerations':[");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        text_put(out, "%s{'key':'node.kubernetes.io/%s','operator':'Exists',", i ? "," : "",
                 keys[i]);
        text_put(out, "'effect':'NoExecute','tolerationSeconds':300}");
    }
    text_put(out, "],");
}

static void put_spec(struct buf *out, const struct pod *pod)
{
    const struct owner *o = pod->owner;
    text_put(out, "'spec':{'containers':[{'name':'%s','image':'%s',", o->app, o->image);
    text_put(out, "'resources':{'limits':{'memory':'256Mi'},"
                  "'requests':{'cpu':'100m','memory':'128Mi'}},"
                  "'terminationMessagePath':'/dev/termination-log',"
                  "'terminationMessagePolicy':'File','imagePullPolicy':'IfNotPresent'}],");
    text_put(out,
             "'restartPolicy':'%s','terminationGracePeriodSeconds':30,"
             "'dnsPolicy':'ClusterFirst','serviceAccountName':'default',",
             o->policy);
    if (pod->machine)
        text_put(out, "'nodeName':'%s',", pod->machine->name);
    text_put(out, "'securityContext':{},'schedulerName':'default-scheduler',");
    put_tolerations(out);
    text_put(out, "'priority':0,'enableServiceLinks':true,"
                  "'preemptionPolicy':'PreemptLowerPriority'}");
}

static void put_condition(struct buf *out, const char *type, bool is, const char *since,
                          const char *reason, const char *unready)
{
    text_put(out, "{'type':'%s','status':'%s','lastProbeTime':null,'lastTransitionTime':'%s'", type,
             is ? "True" : "False", since);
    if (reason)
        text_put(out, ",'reason':'%s'", reason);
    if (unready)
        text_put(out, ",'message':'containers with unready status: [%s]'", unready);
    text_put(out, "},");
}

static void put_conditions(struct buf *out, const struct pod *pod, const struct look *look)
{
    const char *since = pod->turned[0] ? pod->turned : pod->created;
    const char *unready =
        look->container == CONTAINER_COMPLETED || !look->reason ? NULL : pod->owner->app;
    bool ready = !look->reason;
    text_put(out, "'conditions':[");
    if (pod->evicted)
        text_put(out,
                 "{'type':'DisruptionTarget','status':'True','lastProbeTime':null,"
                 "'lastTransitionTime':'%s','reason':'EvictionByEvictionAPI',"
                 "'message':'Eviction API: evicting'},",
                 pod->deleted_at);
    if (pod->created[0]) {
        put_condition(out, "PodReadyToStartContainers", look->address, pod->created, NULL, NULL);
        put_condition(out, "Initialized", true, pod->created, NULL, NULL);
        put_condition(out, "Ready", ready, since, look->reason, unready);
        put_condition(out, "ContainersReady", ready, since, look->reason, unready);
    }
    put_condition(out, "PodScheduled", true, pod->scheduled, NULL, NULL);
    out->len--; /* removes the last comma */
    text_put(out, "],");
}

static void put_terminated(struct buf *out, const struct pod *pod, bool last, int code,
                           const char *reason)
{
    text_put(out, "{'terminated':{'exitCode':%d,'reason':'%s','startedAt':'%s','finishedAt':'%s'",
             code, reason, last ? pod->last_started : pod->started, pod->finished);
    text_put(out, ",'containerID':'containerd://%s'}}", last ? pod->last_id : pod->id);
}

static void put_container_state(struct buf *out, const struct pod *pod, enum container container)
{
    switch (container) {
    case CONTAINER_NONE: break;
    case CONTAINER_CREATING: text_put(out, "{'waiting':{'reason':'ContainerCreating'}}"); break;
    case CONTAINER_RUNNING: text_put(out, "{'running':{'startedAt':'%s'}}", pod->started); break;
    case CONTAINER_FAILED: put_terminated(out, pod, false, 1, "Error"); break;
    case CONTAINER_COMPLETED: put_terminated(out, pod, false, 0, "Completed"); break;
    case CONTAINER_BACKOFF:
        text_put(out,
                 "{'waiting':{'reason':'CrashLoopBackOff','message':'back-off %us restarting "
                 "failed container=%s pod=%s_%s(%s)'}}",
                 10U << (pod->crashed - 2), pod->owner->app, pod->name, pod->owner->ns, pod->uid);
        break;
    }
}

static void put_container(struct buf *out, const struct pod *pod, const struct look *look)
{
    bool last = pod->last_started[0] && look->container != CONTAINER_FAILED;
    text_put(out, "'containerStatuses':[{'name':'%s','state':", pod->owner->app);
    put_container_state(out, pod, look->container);
    text_put(out, ",'lastState':");
    if (last)
        put_terminated(out, pod, true, 1, "Error");
    else
        text_put(out, "{}");
    text_put(out, ",'ready':%s,'restartCount':%u,'image':'%s',", look->reason ? "false" : "true",
             pod->restarts, pod->owner->image);
    if (look->address)
        text_put(out, "'imageID':'%s@sha256:%s','containerID':'containerd://%s',",
                 pod->owner->image, pod->owner->digest, pod->id);
    else
        text_put(out, "'imageID':'',");
    text_put(out, "'started':%s}],", look->container == CONTAINER_RUNNING ? "true" : "false");
}

static void put_status(struct buf *out, const struct pod *pod)
{
    const struct look *look = look_of(pod);
    unsigned node = pod->machine ? pod->machine->number : 0;
    text_put(out, "'status':{'phase':'%s',", look->phase);
    if (pod->scheduled[0])
        put_conditions(out, pod, look);
    if (pod->created[0])
        text_put(out, "'hostIP':'192.168.65.%u','hostIPs':[{'ip':'192.168.65.%u'}],", 10 + node,
                 10 + node);
    if (look->address)
        text_put(out, "'podIP':'10.244.%u.%u','podIPs':[{'ip':'10.244.%u.%u'}],", node, pod->ip,
                 node, pod->ip);
    if (pod->created[0]) {
        text_put(out, "'startTime':'%s',", pod->created);
        put_container(out, pod, look);
    }
    text_put(out, "'qosClass':'Burstable'}");
}

void pod_write(struct demo *demo, struct pod *pod)
{
    struct buf text = {0};
    text_put(&text, "{");
    put_metadata(&text, pod);
    text_put(&text, ",");
    put_spec(&text, pod);
    text_put(&text, ",");
    put_status(&text, pod);
    text_put(&text, "}");
    demo_put(demo, "pods", pod->owner->ns, pod->name, &text, pod->uid);
}
