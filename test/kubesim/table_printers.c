/*
 * table_printers.c - what kubectl shows of each kind: the columns of the API server, and its rules for the
 * cells (the status of a pod is the reason of a container that waits or ended, and so on).
 *
 * A kind is one row in the table of printers; all others have the columns Name and Age.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "store.h"
#include "table.h"
#include "table_cells.h"

#define NAME                                                                                  \
    {                                                                                         \
        "Name", "string", "name",                                                             \
            "Name must be unique within a namespace. Is required when creating resources.", 0 \
    }
#define AGE                                                                                       \
    {                                                                                             \
        "Age", "string", "",                                                                      \
            "CreationTimestamp is a timestamp representing the server time when this object was " \
            "created.",                                                                           \
            0                                                                                     \
    }

/* ---- pods ---- */

static const struct table_column pod_columns[] = {
    NAME,
    {"Ready", "string", "", "The aggregate readiness state of this pod for accepting traffic.", 0},
    {"Status", "string", "", "The aggregate status of the containers in this pod.", 0},
    {"Restarts", "string", "",
     "The number of times the containers in this pod have been restarted and when the last "
     "container in this pod has restarted.",
     0},
    AGE,
    {"IP", "string", "", "podIP address allocated to the pod. Empty if not yet allocated.", 1},
    {"Node", "string", "", "NodeName indicates in which node this pod is scheduled.", 1},
    {"Nominated Node", "string", "",
     "nominatedNodeName is set only when this pod preempts other pods on the node.", 1},
    {"Readiness Gates", "string", "", "All readiness gates will be evaluated for pod readiness.",
     1},
    {0},
};

struct pod_summary {
    char status[128];
    int64_t ready, restarts, last_restart;
    bool running, restarted;
};

/* Why a container waits or ended; false if it does neither. */
static bool read_reason(char *ret, size_t size, const char *prefix, yyjson_val *state)
{
    yyjson_val *ended = field_at(state, "terminated");
    const char *reason = field_text(state, "waiting.reason");
    if (!reason[0])
        reason = field_text(ended, "reason");
    if (reason[0])
        snprintf(ret, size, "%s%s", prefix, reason);
    else if (ended && field_number(ended, "signal"))
        snprintf(ret, size, "%sSignal:%d", prefix, (int)field_number(ended, "signal"));
    else if (ended)
        snprintf(ret, size, "%sExitCode:%d", prefix, (int)field_number(ended, "exitCode"));
    return reason[0] || ended;
}

/* True if an init container has not succeeded yet; the status is its reason then. */
static bool read_init_containers(struct pod_summary *s, yyjson_val *pod)
{
    yyjson_val *all = field_at(pod, "status.initContainerStatuses"), *container;
    size_t i, max;
    yyjson_arr_foreach(all, i, max, container)
    {
        yyjson_val *state = field_at(container, "state"), *ended = field_at(state, "terminated");
        const char *waiting = field_text(state, "waiting.reason");
        s->restarts += field_number(container, "restartCount");
        if (ended && field_number(ended, "exitCode") == 0)
            continue;
        if (strcmp(waiting, "PodInitializing") == 0 ||
            !read_reason(s->status, sizeof(s->status), "Init:", state))
            snprintf(s->status, sizeof(s->status), "Init:%zu/%zu", i,
                     yyjson_arr_size(field_at(pod, "spec.initContainers")));
        return true;
    }
    return false;
}

/* The status is the reason of the first container that has one. */
static void read_containers(struct pod_summary *s, yyjson_val *pod)
{
    yyjson_val *all = field_at(pod, "status.containerStatuses");
    s->restarts = 0;
    for (size_t i = yyjson_arr_size(all); i-- > 0;) {
        yyjson_val *container = yyjson_arr_get(all, i), *state = field_at(container, "state");
        int64_t ended;
        s->restarts += field_number(container, "restartCount");
        if (field_time(container, "lastState.terminated.finishedAt", &ended) &&
            (!s->restarted || ended > s->last_restart)) {
            s->last_restart = ended;
            s->restarted = true;
        }
        if (!read_reason(s->status, sizeof(s->status), "", state) &&
            yyjson_get_bool(field_at(container, "ready")) && field_at(state, "running")) {
            s->running = true;
            s->ready++;
        }
    }
    if (strcmp(s->status, "Completed") == 0 && s->running)
        snprintf(s->status, sizeof(s->status),
                 condition_is_true(pod, "Ready") ? "Running" : "NotReady");
}

static void read_pod(struct pod_summary *s, yyjson_val *pod)
{
    const char *phase = field_text(pod, "status.phase"), *reason = field_text(pod, "status.reason");
    bool ended = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
    snprintf(s->status, sizeof(s->status), "%s", reason[0] ? reason : phase);
    if (!read_init_containers(s, pod) || condition_is_true(pod, "Initialized"))
        read_containers(s, pod);
    if (!field_at(pod, "metadata.deletionTimestamp"))
        return;
    if (strcmp(reason, "NodeLost") == 0)
        snprintf(s->status, sizeof(s->status), "Unknown");
    else if (!ended)
        snprintf(s->status, sizeof(s->status), "Terminating");
}

static void put_pod(struct buf *out, yyjson_val *pod, int64_t now)
{
    struct pod_summary s = {0};
    char ago[32];
    read_pod(&s, pod);
    cell_name(out, pod);
    cell_fraction(out, s.ready, (int64_t)yyjson_arr_size(field_at(pod, "spec.containers")));
    cell_text(out, s.status);
    if (s.restarts && s.restarted) {
        duration_format(now - s.last_restart, ago, sizeof(ago));
        buf_printf(out, "\"%lld (%s ago)\",", (long long)s.restarts, ago);
    } else {
        buf_printf(out, "\"%lld\",", (long long)s.restarts);
    }
    cell_age(out, pod, now);
    cell_text_or(out, field_text(pod, "status.podIP"), "<none>");
    cell_text_or(out, field_text(pod, "spec.nodeName"), "<none>");
    cell_text_or(out, field_text(pod, "status.nominatedNodeName"), "<none>");
    cell_text(out, "<none>");
}

/* ---- deployments ---- */

static const struct table_column deployment_columns[] = {
    NAME,
    {"Ready", "string", "", "Number of the pod with ready state", 0},
    {"Up-to-date", "string", "",
     "Total number of non-terminated pods targeted by this deployment that have the desired "
     "template spec.",
     0},
    {"Available", "string", "",
     "Total number of available pods (ready for at least minReadySeconds) targeted by this "
     "deployment.",
     0},
    AGE,
    {"Containers", "string", "", "Names of each container in the template.", 1},
    {"Images", "string", "", "Images referenced by each container in the template.", 1},
    {"Selector", "string", "", "Label selector for pods.", 1},
    {0},
};

static void put_deployment(struct buf *out, yyjson_val *deployment, int64_t now)
{
    cell_name(out, deployment);
    cell_fraction(out, field_number(deployment, "status.readyReplicas"),
                  field_number(deployment, "spec.replicas"));
    cell_number(out, field_number(deployment, "status.updatedReplicas"));
    cell_number(out, field_number(deployment, "status.availableReplicas"));
    cell_age(out, deployment, now);
    cell_containers(out, deployment, "name");
    cell_containers(out, deployment, "image");
    cell_selector(out, deployment);
}

/* ---- nodes ---- */

static const struct table_column node_columns[] = {
    NAME,
    {"Status", "string", "", "The status of the node", 0},
    {"Roles", "string", "", "The roles of the node", 0},
    AGE,
    {"Version", "string", "", "Kubelet Version reported by the node.", 0},
    {"Internal-IP", "string", "", "List of addresses reachable to the node.", 1},
    {"External-IP", "string", "", "List of addresses reachable to the node.", 1},
    {"OS-Image", "string", "", "OS Image reported by the node.", 1},
    {"Kernel-Version", "string", "", "Kernel Version reported by the node.", 1},
    {"Container-Runtime", "string", "", "ContainerRuntime Version reported by the node.", 1},
    {0},
};

static void put_roles(struct buf *out, yyjson_val *node)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    const size_t len = sizeof(prefix) - 1;
    yyjson_val *key, *value;
    struct buf text = {0};
    size_t i, max;
    yyjson_obj_foreach(field_at(node, "metadata.labels"), i, max, key, value)
    {
        if (strncmp(yyjson_get_str(key), prefix, len) == 0)
            buf_printf(&text, "%s%s", text.len ? "," : "", yyjson_get_str(key) + len);
    }
    buf_putc(&text, '\0');
    cell_text_or(out, text.bytes, "<none>");
    buf_free(&text);
}

static void put_address(struct buf *out, yyjson_val *node, const char *type)
{
    const char *found = "<none>";
    yyjson_val *address;
    size_t i, max;
    yyjson_arr_foreach(field_at(node, "status.addresses"), i, max, address)
    {
        if (strcmp(field_text(address, "type"), type) == 0) {
            found = field_text(address, "address");
            break;
        }
    }
    cell_text(out, found);
}

static void put_node(struct buf *out, yyjson_val *node, int64_t now)
{
    const char *ready = field_condition(node, "Ready");
    bool off = yyjson_get_bool(field_at(node, "spec.unschedulable"));
    cell_name(out, node);
    buf_printf(out, "\"%s%s\",",
               !ready[0]                    ? "Unknown"
               : strcmp(ready, "True") == 0 ? "Ready"
                                            : "NotReady",
               off ? ",SchedulingDisabled" : "");
    put_roles(out, node);
    cell_age(out, node, now);
    cell_text(out, field_text(node, "status.nodeInfo.kubeletVersion"));
    put_address(out, node, "InternalIP");
    put_address(out, node, "ExternalIP");
    cell_text_or(out, field_text(node, "status.nodeInfo.osImage"), "<unknown>");
    cell_text_or(out, field_text(node, "status.nodeInfo.kernelVersion"), "<unknown>");
    cell_text_or(out, field_text(node, "status.nodeInfo.containerRuntimeVersion"), "<unknown>");
}

/* ---- jobs ---- */

static const struct table_column job_columns[] = {
    NAME,
    {"Status", "string", "", "Status of the job.", 0},
    {"Completions", "string", "", "Number of the succeeded pods of the desired ones.", 0},
    {"Duration", "string", "", "Time required to complete the job.", 0},
    AGE,
    {"Containers", "string", "", "Names of each container in the template.", 1},
    {"Images", "string", "", "Images referenced by each container in the template.", 1},
    {"Selector", "string", "", "Label selector for pods.", 1},
    {0},
};

static const char *job_status(yyjson_val *job)
{
    if (condition_is_true(job, "Complete"))
        return "Complete";
    if (condition_is_true(job, "Failed"))
        return "Failed";
    if (field_at(job, "metadata.deletionTimestamp"))
        return "Terminating";
    return condition_is_true(job, "Suspended") ? "Suspended" : "Running";
}

static void put_job(struct buf *out, yyjson_val *job, int64_t now)
{
    int64_t begin, end = now, parallel = field_number(job, "spec.parallelism");
    long long done = field_number(job, "status.succeeded");
    char text[32] = "";
    cell_name(out, job);
    cell_text(out, job_status(job));
    if (field_at(job, "spec.completions"))
        cell_fraction(out, done, field_number(job, "spec.completions"));
    else if (parallel > 1)
        buf_printf(out, "\"%lld/1 of %lld\",", done, (long long)parallel);
    else
        cell_fraction(out, done, 1);
    field_time(job, "status.completionTime", &end);
    if (field_time(job, "status.startTime", &begin))
        duration_format(end - begin, text, sizeof(text));
    cell_text(out, text);
    cell_age(out, job, now);
    cell_containers(out, job, "name");
    cell_containers(out, job, "image");
    cell_selector(out, job);
}

/* ---- events ---- */

static const struct table_column event_columns[] = {
    {"Last Seen", "string", "", "The time at which the most recent occurrence was recorded.", 0},
    {"Type", "string", "", "Type of this event (Normal, Warning), new types could be added.", 0},
    {"Reason", "string", "", "The reason for the transition into the object's current status.", 0},
    {"Object", "string", "", "The object that this event is about.", 0},
    {"Subobject", "string", "", "The part of that object, for example a container.", 1},
    {"Source", "string", "", "The component reporting this event.", 1},
    {"Message", "string", "", "A human-readable description of the status of this operation.", 0},
    {"First Seen", "string", "", "The time at which the event was first recorded.", 1},
    {"Count", "string", "", "The number of times this event has occurred.", 1},
    {"Name", "string", "name", "Name must be unique within a namespace.", 1},
    {0},
};

/* The first of these fields that has a time. */
static void put_event_time(struct buf *out, yyjson_val *event, const char *field, int64_t now)
{
    int64_t unused;
    cell_since(out, event, field_time(event, field, &unused) ? field : "eventTime", now);
}

static void put_event(struct buf *out, yyjson_val *event, int64_t now)
{
    const char *host = field_text(event, "source.host");
    char involved[512], source[512];
    int64_t count = field_number(event, "count");
    snprintf(involved, sizeof(involved), "%s/%s", field_text(event, "involvedObject.kind"),
             field_text(event, "involvedObject.name"));
    for (char *c = involved; *c && *c != '/'; c++)
        *c = (char)tolower((unsigned char)*c);
    snprintf(source, sizeof(source), "%s%s%s", field_text(event, "source.component"),
             host[0] ? ", " : "", host);
    put_event_time(out, event, "lastTimestamp", now);
    cell_text(out, field_text(event, "type"));
    cell_text(out, field_text(event, "reason"));
    cell_text(out, involved);
    cell_text(out, field_text(event, "involvedObject.fieldPath"));
    cell_text_or(out, source, field_text(event, "reportingComponent"));
    cell_text(out, field_text(event, "message"));
    put_event_time(out, event, "firstTimestamp", now);
    cell_number(out, count ? count : 1);
    cell_name(out, event);
}

/* ---- all ---- */

static const struct table_column default_columns[] = {NAME, AGE, {0}};

static void put_default(struct buf *out, yyjson_val *object, int64_t now)
{
    cell_name(out, object);
    cell_age(out, object, now);
}

const struct table_printer *table_printer_of(const struct resource *r)
{
    static const struct table_printer others = {"", "", default_columns, put_default};
    static const struct table_printer printers[] = {
        {"", "events", event_columns, put_event},
        {"", "nodes", node_columns, put_node},
        {"", "pods", pod_columns, put_pod},
        {"apps", "deployments", deployment_columns, put_deployment},
        {"batch", "jobs", job_columns, put_job},
    };
    for (size_t i = 0; i < ARRAY_LEN(printers); i++)
        if (strcmp(printers[i].group, r->group) == 0 && strcmp(printers[i].plural, r->plural) == 0)
            return &printers[i];
    return &others;
}
