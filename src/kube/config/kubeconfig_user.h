/*
 * kubeconfig_user.h - interprets the user entry: credentials and impersonation.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_USER_H
#define KUBE_CONFIG_KUBECONFIG_USER_H

#include "kube/config/kubeconfig.h"

struct yaml_node;

/* Adds the user entry @node to @c, whose cluster is known. Returns 0, or -INF_ECONF. */
int kubeconfig_user(const struct yaml_node *node, struct kubeconfig *c, struct inf_error *err);

#endif
