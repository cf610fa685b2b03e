/*
 * exec_info.h - what a credential plugin is told in its environment: KUBERNETES_EXEC_INFO.
 */
#ifndef KUBE_AUTH_EXEC_INFO_H
#define KUBE_AUTH_EXEC_INFO_H

struct kubeconfig;

/* "KUBERNETES_EXEC_INFO={...}"; the caller frees it, by secret_free(). @config has an exec, which
 * says whether the cluster is in it. */
char *exec_info_variable(const struct kubeconfig *config);

#endif
