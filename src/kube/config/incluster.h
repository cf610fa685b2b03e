/*
 * incluster.h - how a pod connects to its own cluster: with the service account files and the
 * environment that kubelet provides.
 */
#ifndef KUBE_CONFIG_INCLUSTER_H
#define KUBE_CONFIG_INCLUSTER_H

#include <stdbool.h>

#include "kube/config/kubeconfig.h"

#define INCLUSTER_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* Whether this process runs in a pod: KUBERNETES_SERVICE_HOST and _PORT are set, and @dir contains
 * a token. */
bool incluster_possible(const char *dir);

/*
 * Takes token, CA bundle and namespace from @dir ($POD_NAMESPACE takes precedence). A CA bundle
 * that can't be read is an error; falling back to the system's authorities would trust the wrong
 * parties. Call only if incluster_possible(). Returns 0, or -INF_ECONF.
 */
int incluster_load(const char *dir, struct kubeconfig *ret, struct inf_error *err);

#endif
