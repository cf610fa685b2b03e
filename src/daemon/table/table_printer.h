/*
 * table_printer.h - what a printer consists of. A new printer is a constant in the file of its family
 * and one row of `printers` in table.c.
 */
#ifndef DAEMON_TABLE_TABLE_PRINTER_H
#define DAEMON_TABLE_TABLE_PRINTER_H

#include "base/base.h"
#include "daemon/table/table.h"

struct table_column {
    const char *name;
    const char *type;
    const char *format;
    int priority; /* 0, or 1: shown by `-o wide` only */
    const char *description;
};

/* The columns that most kinds have. */
#define TABLE_NAME                                        \
    {                                                     \
        "Name", "string", "name", 0, "name of the object" \
    }
#define TABLE_AGE                                                   \
    {                                                               \
        "Age", "string", "", 0, "time since the object was created" \
    }

/* A row under construction. Values are as written in the object; empty: missing or null. */
struct table_row {
    const struct table_printer *printer;
    struct buf *out;
    const struct inf_object *object;
    int64_t now_us;
    struct str text; /* the whole object */
    struct str metadata;
    struct str spec;
    struct str status;
    const char *completed; /* set by printers: the reason of the condition Completed; or NULL */
};

struct table_printer {
    const char *group;
    const char *resource;
    const struct table_column *columns;
    size_t column_count;

    /* Writes one cell for each column, with the functions of table_cell.h. */
    void (*put_cells)(struct table_row *row);
};

#define TABLE_PRINTER(group, resource, columns, put_cells)      \
    {                                                           \
        group, resource, columns, ARRAY_LEN(columns), put_cells \
    }

/* table_access.c */
extern const struct table_printer table_clusterrolebindings;
extern const struct table_printer table_rolebindings;
/* table_autoscaler.c */
extern const struct table_printer table_horizontalpodautoscalers;
/* table_batch.c */
extern const struct table_printer table_cronjobs;
extern const struct table_printer table_jobs;
/* table_config.c */
extern const struct table_printer table_configmaps;
extern const struct table_printer table_leases;
extern const struct table_printer table_namespaces;
extern const struct table_printer table_resourcequotas;
extern const struct table_printer table_secrets;
extern const struct table_printer table_serviceaccounts;
/* table_event.c */
extern const struct table_printer table_events;
extern const struct table_printer table_events_new;
/* table_network.c */
extern const struct table_printer table_endpoints;
extern const struct table_printer table_endpointslices;
extern const struct table_printer table_ingresses;
extern const struct table_printer table_networkpolicies;
extern const struct table_printer table_services;
/* table_node.c */
extern const struct table_printer table_nodes;
/* table_pod.c */
extern const struct table_printer table_pods;
/* table_storage.c */
extern const struct table_printer table_persistentvolumeclaims;
extern const struct table_printer table_persistentvolumes;
extern const struct table_printer table_storageclasses;
/* table_workload.c */
extern const struct table_printer table_daemonsets;
extern const struct table_printer table_deployments;
extern const struct table_printer table_poddisruptionbudgets;
extern const struct table_printer table_replicasets;
extern const struct table_printer table_replicationcontrollers;
extern const struct table_printer table_statefulsets;

#endif
