/*
 * table_workload.c - the rows of controllers that keep pods running: Deployments, ReplicaSets,
 * StatefulSets, DaemonSets, ReplicationControllers; and PodDisruptionBudgets.
 */
#include "daemon/table/table_cell.h"
#include "daemon/table/table_selector.h"

#define CONTAINER_COLUMNS                                       \
    {"Containers", "string", "", 1, "names of the containers"}, \
    {                                                           \
        "Images", "string", "", 1, "images of the containers"   \
    }
#define SELECTOR_COLUMN                                   \
    {                                                     \
        "Selector", "string", "", 1, "labels of the pods" \
    }

static void put_template(struct table_row *row)
{
    cell_put_containers(row, field_get(row->spec, "template.spec.containers"));
}

/* ---- Deployments ---- */

static const struct table_column deployment_columns[] = {
    TABLE_NAME,
    {"Ready", "string", "", 0, "pods that are ready, of those desired"},
    {"Up-to-date", "string", "", 0, "pods with the current template"},
    {"Available", "string", "", 0, "pods that have been ready for the minimum time"},
    TABLE_AGE,
    CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
};

static void deployment_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_ratio(row, value_int(field_get(row->status, "readyReplicas")),
                   value_int(field_get(row->spec, "replicas")));
    cell_put_int(row, field_get(row->status, "updatedReplicas"));
    cell_put_int(row, field_get(row->status, "availableReplicas"));
    cell_put_age(row);
    put_template(row);
    cell_put_selector(row, field_get(row->spec, "selector"), "");
}

const struct table_printer table_deployments =
    TABLE_PRINTER("apps", "deployments", deployment_columns, deployment_put_cells);

/* ---- ReplicaSets and ReplicationControllers ---- */

static const struct table_column replica_columns[] = {
    TABLE_NAME,
    {"Desired", "integer", "", 0, "desired pods"},
    {"Current", "integer", "", 0, "existing pods"},
    {"Ready", "integer", "", 0, "pods that are ready"},
    TABLE_AGE,
    CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
};

static void put_replicas(struct table_row *row)
{
    cell_put_name(row);
    cell_put_int(row, field_get(row->spec, "replicas"));
    cell_put_int(row, field_get(row->status, "replicas"));
    cell_put_int(row, field_get(row->status, "readyReplicas"));
    cell_put_age(row);
    put_template(row);
}

static void replicaset_put_cells(struct table_row *row)
{
    put_replicas(row);
    cell_put_selector(row, field_get(row->spec, "selector"), "<none>");
}

/* Their selector is a map of labels. */
static void replicationcontroller_put_cells(struct table_row *row)
{
    put_replicas(row);
    cell_put_labels(row, field_get(row->spec, "selector"));
}

const struct table_printer table_replicasets =
    TABLE_PRINTER("apps", "replicasets", replica_columns, replicaset_put_cells);
const struct table_printer table_replicationcontrollers =
    TABLE_PRINTER("", "replicationcontrollers", replica_columns, replicationcontroller_put_cells);

/* ---- StatefulSets ---- */

static const struct table_column statefulset_columns[] = {
    TABLE_NAME,
    {"Ready", "string", "", 0, "pods that are ready, of those desired"},
    TABLE_AGE,
    CONTAINER_COLUMNS,
};

static void statefulset_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_ratio(row, value_int(field_get(row->status, "readyReplicas")),
                   value_int(field_get(row->spec, "replicas")));
    cell_put_age(row);
    put_template(row);
}

const struct table_printer table_statefulsets =
    TABLE_PRINTER("apps", "statefulsets", statefulset_columns, statefulset_put_cells);

/* ---- DaemonSets ---- */

static const struct table_column daemonset_columns[] = {
    TABLE_NAME,
    {"Desired", "integer", "", 0, "nodes that should run the pod"},
    {"Current", "integer", "", 0, "nodes that should run the pod and do"},
    {"Ready", "integer", "", 0, "nodes on which the pod is ready"},
    {"Up-to-date", "integer", "", 0, "nodes with the current template"},
    {"Available", "integer", "", 0, "nodes on which the pod has been ready for the minimum time"},
    {"Node Selector", "string", "", 0, "labels of the nodes"},
    TABLE_AGE,
    CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
};

static void daemonset_put_cells(struct table_row *row)
{
    static const char *const counts[] = {"desiredNumberScheduled", "currentNumberScheduled",
                                         "numberReady", "updatedNumberScheduled",
                                         "numberAvailable"};
    cell_put_name(row);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        cell_put_int(row, field_get(row->status, counts[i]));
    cell_put_labels(row, field_get(row->spec, "template.spec.nodeSelector"));
    cell_put_age(row);
    put_template(row);
    cell_put_selector(row, field_get(row->spec, "selector"), "<none>");
}

const struct table_printer table_daemonsets =
    TABLE_PRINTER("apps", "daemonsets", daemonset_columns, daemonset_put_cells);

/* ---- PodDisruptionBudgets ---- */

static const struct table_column budget_columns[] = {
    TABLE_NAME,
    {"Min Available", "string", "", 0, "pods that must stay available, a number or a percentage"},
    {"Max Unavailable", "string", "", 0, "pods that may be unavailable, a number or a percentage"},
    {"Allowed Disruptions", "integer", "", 0, "pods that may be evicted now"},
    TABLE_AGE,
};

static void budget_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_optional(row, field_get(row->spec, "minAvailable"), "N/A");
    cell_put_optional(row, field_get(row->spec, "maxUnavailable"), "N/A");
    cell_put_int(row, field_get(row->status, "disruptionsAllowed"));
    cell_put_age(row);
}

const struct table_printer table_poddisruptionbudgets =
    TABLE_PRINTER("policy", "poddisruptionbudgets", budget_columns, budget_put_cells);
