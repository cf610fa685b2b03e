/*
 * incluster.h - how a pod reaches the cluster it runs in: by what kubelet puts into it.
 */
#ifndef KUBE_CONFIG_INCLUSTER_H
#define KUBE_CONFIG_INCLUSTER_H

#include <stdbool.h>

#include "kube/config/kubeconfig.h"

#define INCLUSTER_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* Whether we are in one: KUBERNETES_SERVICE_HOST and _PORT are set, and @dir has a token. */
bool incluster_possible(const char *dir);

/*
 * Takes token, authorities and namespace from @dir ($POD_NAMESPACE wins). Authorities that can't be
 * read are an error: to trust the system's instead would be to trust somebody else. Returns 0, or
 * -INF_ECONF.
 */
int incluster_load(const char *dir, struct kubeconfig *ret, struct inf_error *err);

#endif
