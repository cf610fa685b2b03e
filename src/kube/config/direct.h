/*
 * direct.h - connects to a cluster without a kubeconfig: a server URL, a CA file and a token file.
 */
#ifndef KUBE_CONFIG_DIRECT_H
#define KUBE_CONFIG_DIRECT_H

#include "kube/config/kubeconfig.h"

struct direct {
    const char *origin;     /* prefix of error messages: where these settings come from */
    const char *server;     /* a URL */
    const char *ca_file;    /* NULL: the system's authorities */
    const char *token_file; /* NULL: no credentials */
    const char *namespace;  /* NULL: "default" */
};

/* Returns 0, or -INF_ECONF. A token file must be readable now and requires an https server. */
int direct_load(const struct direct *direct, struct kubeconfig *ret, struct inf_error *err);

#endif
