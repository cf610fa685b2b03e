/*
 * exec_plugin.h - how to run the credential plugin that a kubeconfig names.
 */
#ifndef KUBE_AUTH_EXEC_PLUGIN_H
#define KUBE_AUTH_EXEC_PLUGIN_H

#include <stdbool.h>

#include "informer/error.h"

struct entry;
struct yaml_node;

/* Owned strings. */
struct exec_plugin {
    char *api_version;
    char *name;         /* for messages: the command without parts that may be secret */
    char **argv;        /* ends with NULL; a command with a slash is absolute */
    char **env;         /* ends with NULL; "NAME=value" */
    char *install_hint; /* logged if the plugin is not found; NULL: none */
    bool cluster_info;  /* provideClusterInfo: pass the cluster to the plugin */
};

/* Reads the exec mapping @node of the user @entry. Returns 0, or -INF_ECONF. */
int exec_plugin_read(const struct entry *entry, const struct yaml_node *node,
                     struct exec_plugin **ret, struct inf_error *err);

/* Whether both run the same command in the same way. NULL means no plugin. */
bool exec_plugin_equal(const struct exec_plugin *a, const struct exec_plugin *b);

void exec_plugin_free(struct exec_plugin *p); /* NULL is allowed */

#endif
