/*
 * table_pod.c - the row of a Pod, as kube-apiserver derives it from the states of the containers.
 *
 * The status is the phase or the reason of the pod, replaced by what the first init container that has
 * not ended says, or else by the first container that waits or has ended; deletion replaces both. Init
 * containers with restartPolicy Always (sidecars) count as ready containers and for restarts.
 */
#include "daemon/table/table_cell.h"

enum {
    SIDECARS_MAX = 64,   /* LIMIT: sidecars that a row considers; pods have a few */
    CONDITIONS_MAX = 64, /* LIMIT: conditions that readiness gates are compared with */
};

static const struct table_column columns[] = {
    TABLE_NAME,
    {"Ready", "string", "", 0, "containers that are ready, of all"},
    {"Status", "string", "", 0, "summary of the states of the containers"},
    {"Restarts", "string", "", 0, "restarts of the containers, and the time since the last one"},
    TABLE_AGE,
    {"IP", "string", "", 1, "first IP address of the pod"},
    {"Node", "string", "", 1, "node on which the pod runs"},
    {"Nominated Node", "string", "", 1, "node on which pods are preempted for this one"},
    {"Readiness Gates", "string", "", 1, "readiness gates that are true, of all"},
};

/* ---- the parts of a pod ---- */

enum {
    SPEC_CONTAINERS,
    SPEC_INIT_CONTAINERS,
    SPEC_NODE,
    SPEC_GATES,
    SPEC_FIELDS
};
static const struct str spec_names[SPEC_FIELDS] = {
    [SPEC_CONTAINERS] = FIELD_NAME("containers"),
    [SPEC_INIT_CONTAINERS] = FIELD_NAME("initContainers"),
    [SPEC_NODE] = FIELD_NAME("nodeName"),
    [SPEC_GATES] = FIELD_NAME("readinessGates"),
};

enum {
    STATUS_PHASE,
    STATUS_REASON,
    STATUS_CONDITIONS,
    STATUS_INIT_CONTAINERS,
    STATUS_CONTAINERS,
    STATUS_IPS,
    STATUS_IP,
    STATUS_NOMINATED,
    STATUS_FIELDS
};
static const struct str status_names[STATUS_FIELDS] = {
    [STATUS_PHASE] = FIELD_NAME("phase"),
    [STATUS_REASON] = FIELD_NAME("reason"),
    [STATUS_CONDITIONS] = FIELD_NAME("conditions"),
    [STATUS_INIT_CONTAINERS] = FIELD_NAME("initContainerStatuses"),
    [STATUS_CONTAINERS] = FIELD_NAME("containerStatuses"),
    [STATUS_IPS] = FIELD_NAME("podIPs"),
    [STATUS_IP] = FIELD_NAME("podIP"),
    [STATUS_NOMINATED] = FIELD_NAME("nominatedNodeName"),
};

enum {
    META_NAME,
    META_CREATED,
    META_DELETED,
    META_FIELDS
};
static const struct str meta_names[META_FIELDS] = {
    [META_NAME] = FIELD_NAME("name"),
    [META_CREATED] = FIELD_NAME("creationTimestamp"),
    [META_DELETED] = FIELD_NAME("deletionTimestamp"),
};

struct pod_condition {
    struct str type;
    struct str status;
};

/* The status cell: @prefix, then @text or a number. */
struct pod_reason {
    const char *prefix;
    struct str text; /* empty: the number */
    int64_t number;
    int64_t of; /* "Init:1/3"; -1: only one number */
};

struct restarts {
    int64_t count;
    int64_t last_us;
};

struct pod {
    struct str meta[META_FIELDS];
    struct str spec[SPEC_FIELDS];
    struct str status[STATUS_FIELDS];
    struct str sidecars[SIDECARS_MAX]; /* names */
    size_t sidecar_count;
    struct pod_condition conditions[CONDITIONS_MAX];
    size_t condition_count;
    int64_t init_containers;
    int64_t containers; /* with sidecars */
    int64_t ready;
    struct pod_reason reason;
    struct restarts restarts;
};

static struct pod_reason reason_text(const char *prefix, struct str text)
{
    return (struct pod_reason){.prefix = prefix, .text = value_text(text), .of = -1};
}

static struct str pod_condition_status(const struct pod *pod, struct str type)
{
    for (size_t i = 0; i < pod->condition_count; i++)
        if (str_eq(pod->conditions[i].type, type))
            return pod->conditions[i].status;
    return (struct str){0};
}

static bool pod_condition_is_true(const struct pod *pod, struct str type)
{
    return str_eq(pod_condition_status(pod, type), STR("True"));
}

static bool is_sidecar(const struct pod *pod, struct str name)
{
    for (size_t i = 0; i < pod->sidecar_count; i++)
        if (str_eq(pod->sidecars[i], value_text(name)))
            return true;
    return false;
}

static void read_spec(struct pod *pod, struct str spec)
{
    static const struct str names[] = {FIELD_NAME("name"), FIELD_NAME("restartPolicy")};
    struct json_walk walk;
    struct str item, values[ARRAY_LEN(names)];
    fields_get(spec, spec_names, SPEC_FIELDS, pod->spec);
    pod->containers = (int64_t)value_count(pod->spec[SPEC_CONTAINERS]);
    json_items_start(&walk, pod->spec[SPEC_INIT_CONTAINERS]);
    for (; json_items_next(&walk, &item); pod->init_containers++) {
        fields_get(item, names, ARRAY_LEN(names), values);
        if (!value_is(values[1], STR("Always")))
            continue;
        pod->containers++;
        if (pod->sidecar_count < SIDECARS_MAX)
            pod->sidecars[pod->sidecar_count++] = value_text(values[0]);
    }
}

/* The status starts with the phase, or the reason of the pod, or a gate of the scheduler. */
static void read_status(struct pod *pod, struct str status)
{
    static const struct str names[] = {FIELD_NAME("type"), FIELD_NAME("status"),
                                       FIELD_NAME("reason")};
    struct json_walk walk;
    struct str item, values[ARRAY_LEN(names)];
    fields_get(status, status_names, STATUS_FIELDS, pod->status);
    pod->reason =
        reason_text("", value_is_blank(pod->status[STATUS_REASON]) ? pod->status[STATUS_PHASE]
                                                                   : pod->status[STATUS_REASON]);
    json_items_start(&walk, pod->status[STATUS_CONDITIONS]);
    while (json_items_next(&walk, &item)) {
        fields_get(item, names, ARRAY_LEN(names), values);
        if (value_is(values[0], STR("PodScheduled")) && value_is(values[2], STR("SchedulingGated")))
            pod->reason = reason_text("", values[2]);
        if (pod->condition_count < CONDITIONS_MAX)
            pod->conditions[pod->condition_count++] =
                (struct pod_condition){value_text(values[0]), value_text(values[1])};
    }
}

/* ---- containers ---- */

enum {
    CONTAINER_NAME,
    CONTAINER_READY,
    CONTAINER_STARTED,
    CONTAINER_RESTARTS,
    CONTAINER_STATE,
    CONTAINER_LAST,
    CONTAINER_FIELDS
};
static const struct str container_names[CONTAINER_FIELDS] = {
    [CONTAINER_NAME] = FIELD_NAME("name"),       [CONTAINER_READY] = FIELD_NAME("ready"),
    [CONTAINER_STARTED] = FIELD_NAME("started"), [CONTAINER_RESTARTS] = FIELD_NAME("restartCount"),
    [CONTAINER_STATE] = FIELD_NAME("state"),     [CONTAINER_LAST] = FIELD_NAME("lastState"),
};

enum {
    STATE_WAITING,
    STATE_RUNNING,
    STATE_TERMINATED,
    STATE_FIELDS
};
static const struct str state_names[STATE_FIELDS] = {
    [STATE_WAITING] = FIELD_NAME("waiting"),
    [STATE_RUNNING] = FIELD_NAME("running"),
    [STATE_TERMINATED] = FIELD_NAME("terminated"),
};

struct container {
    struct str field[CONTAINER_FIELDS];
    struct str state[STATE_FIELDS];
    struct str waiting; /* its reason */
    int64_t exit_code;
};

static void read_container(struct container *c, struct str item)
{
    fields_get(item, container_names, CONTAINER_FIELDS, c->field);
    fields_get(c->field[CONTAINER_STATE], state_names, STATE_FIELDS, c->state);
    c->waiting = field_get(c->state[STATE_WAITING], "reason");
    c->exit_code = value_int(field_get(c->state[STATE_TERMINATED], "exitCode"));
}

static void add_restarts(struct restarts *restarts, const struct container *c)
{
    int64_t us;
    restarts->count += value_int(c->field[CONTAINER_RESTARTS]);
    if (value_time(field_get(c->field[CONTAINER_LAST], "terminated.finishedAt"), &us) &&
        us > restarts->last_us)
        restarts->last_us = us;
}

/* Why a container ended. The prefixes are those of an init container or of another one. */
static struct pod_reason end_reason(const struct container *c, const char *prefix,
                                    const char *signal, const char *exit)
{
    struct str reason = field_get(c->state[STATE_TERMINATED], "reason");
    int64_t number = value_int(field_get(c->state[STATE_TERMINATED], "signal"));
    if (!value_is_blank(reason))
        return reason_text(prefix, reason);
    return number ? (struct pod_reason){.prefix = signal, .number = number, .of = -1}
                  : (struct pod_reason){.prefix = exit, .number = c->exit_code, .of = -1};
}

/* Whether the pod waits for this init container, and why. */
static bool init_is_pending(struct pod *pod, const struct container *c, bool sidecar, int64_t index)
{
    bool ended = c->state[STATE_TERMINATED].len;
    if (ended && c->exit_code == 0)
        return false;
    if (sidecar && value_is_true(c->field[CONTAINER_STARTED])) {
        pod->ready += value_is_true(c->field[CONTAINER_READY]);
        return false;
    }
    if (ended)
        pod->reason = end_reason(c, "Init:", "Init:Signal:", "Init:ExitCode:");
    else if (!value_is_blank(c->waiting) && !value_is(c->waiting, STR("PodInitializing")))
        pod->reason = reason_text("Init:", c->waiting);
    else
        pod->reason =
            (struct pod_reason){.prefix = "Init:", .number = index, .of = pod->init_containers};
    return true;
}

/* Returns whether an init container is pending. Restarts of sidecars are also counted by themselves. */
static bool read_init_containers(struct pod *pod, struct restarts *ret_sidecars)
{
    struct json_walk walk;
    struct str item;
    bool pending = false;
    json_items_start(&walk, pod->status[STATUS_INIT_CONTAINERS]);
    for (int64_t index = 0; !pending && json_items_next(&walk, &item); index++) {
        struct container c;
        bool sidecar;
        read_container(&c, item);
        sidecar = is_sidecar(pod, c.field[CONTAINER_NAME]);
        add_restarts(&pod->restarts, &c);
        if (sidecar)
            add_restarts(ret_sidecars, &c);
        pending = init_is_pending(pod, &c, sidecar, index);
    }
    return pending;
}

/* What the containers of a pod say together. */
struct summary {
    bool decided; /* a container waits or has ended: the first one is the reason of the pod */
    bool running;
    bool failed;
    struct pod_reason failure; /* of the first one that failed */
};

static void add_container(struct pod *pod, struct summary *summary, const struct container *c)
{
    struct pod_reason reason;
    add_restarts(&pod->restarts, c);
    if (!value_is_blank(c->waiting)) {
        reason = reason_text("", c->waiting);
    } else if (c->state[STATE_TERMINATED].len) {
        reason = end_reason(c, "", "Signal:", "ExitCode:");
        if (c->exit_code != 0 && !summary->failed) {
            summary->failed = true;
            summary->failure = reason;
        }
    } else {
        bool ready = value_is_true(c->field[CONTAINER_READY]) && c->state[STATE_RUNNING].len;
        summary->running = summary->running || ready;
        pod->ready += ready;
        return;
    }
    if (!summary->decided)
        pod->reason = reason;
    summary->decided = true;
}

/* Running containers and failed ones are more important than one that has completed. */
static void replace_completed(struct pod *pod, const struct summary *summary)
{
    if (!str_eq(pod->reason.text, STR("Completed")) || *pod->reason.prefix)
        return;
    if (summary->running && pod_condition_is_true(pod, STR("Ready")))
        pod->reason = reason_text("", STR("Running"));
    else if (summary->failed)
        pod->reason = summary->failure;
    else if (summary->running)
        pod->reason = reason_text("", STR("NotReady"));
}

static void read_containers(struct pod *pod)
{
    struct summary summary = {.decided = false};
    struct json_walk walk;
    struct str item;
    json_items_start(&walk, pod->status[STATUS_CONTAINERS]);
    while (json_items_next(&walk, &item)) {
        struct container c;
        read_container(&c, item);
        add_container(pod, &summary, &c);
    }
    replace_completed(pod, &summary);
}

static void read_all_containers(struct pod *pod)
{
    struct restarts sidecars = {0};
    if (read_init_containers(pod, &sidecars) && !pod_condition_is_true(pod, STR("Initialized")))
        return;
    pod->restarts = sidecars;
    read_containers(pod);
}

/* ---- cells ---- */

static void put_reason(struct table_row *row, const struct pod_reason *reason)
{
    cell_open(row);
    text_puts(row, reason->prefix);
    if (reason->text.len || (!*reason->prefix && reason->of < 0)) {
        buf_put(row->out, reason->text.at, reason->text.len);
    } else {
        text_put_int(row, reason->number);
        if (reason->of >= 0) {
            buf_putc(row->out, '/');
            text_put_int(row, reason->of);
        }
    }
    cell_close(row);
}

static void put_restarts(struct table_row *row, const struct restarts *restarts)
{
    cell_open(row);
    text_put_int(row, restarts->count);
    if (restarts->count && restarts->last_us) {
        text_puts(row, " (");
        text_put_duration(row, row->now_us - restarts->last_us);
        text_puts(row, " ago)");
    }
    cell_close(row);
}

static void put_gates(struct table_row *row, const struct pod *pod)
{
    struct json_walk walk;
    struct str item;
    int64_t count = 0, ready = 0;
    json_items_start(&walk, pod->spec[SPEC_GATES]);
    for (; json_items_next(&walk, &item); count++)
        ready += pod_condition_is_true(pod, value_text(field_get(item, "conditionType")));
    if (count)
        cell_put_ratio(row, ready, count);
    else
        cell_put_text(row, "<none>");
}

static void put_ip(struct table_row *row, const struct pod *pod)
{
    struct json_walk walk;
    struct str first;
    json_items_start(&walk, pod->status[STATUS_IPS]);
    if (json_items_next(&walk, &first))
        cell_put_string(row, field_get(first, "ip"), "<none>");
    else
        cell_put_string(row, pod->status[STATUS_IP], "<none>");
}

static void pod_put_cells(struct table_row *row)
{
    struct pod pod = {.ready = 0};
    struct str phase;
    fields_get(row->metadata, meta_names, META_FIELDS, pod.meta);
    read_spec(&pod, row->spec);
    read_status(&pod, row->status);
    read_all_containers(&pod);
    phase = value_text(pod.status[STATUS_PHASE]);
    row->completed = str_eq(phase, STR("Succeeded")) ? "Succeeded"
                     : str_eq(phase, STR("Failed"))  ? "Failed"
                                                     : NULL;
    if (pod.meta[META_DELETED].len && value_is(pod.status[STATUS_REASON], STR("NodeLost")))
        pod.reason = reason_text("", STR("Unknown"));
    else if (pod.meta[META_DELETED].len && !row->completed)
        pod.reason = reason_text("", STR("Terminating"));

    cell_put_string(row, pod.meta[META_NAME], "");
    cell_put_ratio(row, pod.ready, pod.containers);
    put_reason(row, &pod.reason);
    put_restarts(row, &pod.restarts);
    cell_open(row);
    text_put_age(row, pod.meta[META_CREATED]);
    cell_close(row);
    put_ip(row, &pod);
    cell_put_string(row, pod.spec[SPEC_NODE], "<none>");
    cell_put_string(row, pod.status[STATUS_NOMINATED], "<none>");
    put_gates(row, &pod);
}

const struct table_printer table_pods = TABLE_PRINTER("", "pods", columns, pod_put_cells);
