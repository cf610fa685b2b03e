/*
 * exec_info.h - the environment variable KUBERNETES_EXEC_INFO of a credential plugin.
 */
#ifndef KUBE_AUTH_EXEC_INFO_H
#define KUBE_AUTH_EXEC_INFO_H

struct kubeconfig;

/* "KUBERNETES_EXEC_INFO={...}"; the caller frees it with secret_free(). @config must have an exec;
 * its cluster_info decides whether the cluster is included. */
char *exec_info_variable(const struct kubeconfig *config);

#endif
