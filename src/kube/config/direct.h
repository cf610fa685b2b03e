/*
 * direct.h - a cluster without a kubeconfig: a server, and the files that a host has for it.
 */
#ifndef KUBE_CONFIG_DIRECT_H
#define KUBE_CONFIG_DIRECT_H

#include "kube/config/kubeconfig.h"

struct direct {
    const char *origin;     /* for messages: where the rest was said */
    const char *server;     /* a URL */
    const char *ca_file;    /* NULL: the system's authorities */
    const char *token_file; /* NULL: nobody */
    const char *namespace;  /* NULL: "default" */
};

/* Returns 0, or -INF_ECONF. A token file must be readable now, and goes only to https. */
int direct_load(const struct direct *direct, struct kubeconfig *ret, struct inf_error *err);

#endif
