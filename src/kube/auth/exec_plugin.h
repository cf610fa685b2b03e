/*
 * exec_plugin.h - the program that a kubeconfig names to get credentials from: how to run it.
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
    char *name;         /* for messages: of the command what can't be a secret */
    char **argv;        /* to NULL; a command with a slash is absolute */
    char **env;         /* to NULL, "NAME=value" */
    char *install_hint; /* what to do if it isn't there; NULL: nothing is said */
    bool cluster_info;  /* it wants to know which cluster it is for */
};

/* Reads the exec mapping @node of the user @entry. Returns 0, or -INF_ECONF. */
int exec_plugin_read(const struct entry *entry, const struct yaml_node *node,
                     struct exec_plugin **ret, struct inf_error *err);

/* Whether both are run in the same way. NULL: there is none. */
bool exec_plugin_equal(const struct exec_plugin *a, const struct exec_plugin *b);

void exec_plugin_free(struct exec_plugin *p); /* NULL is fine */

#endif
