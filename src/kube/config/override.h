/*
 * override.h - replaces parts of a loaded configuration: its certificate authorities and credentials.
 */
#ifndef KUBE_CONFIG_OVERRIDE_H
#define KUBE_CONFIG_OVERRIDE_H

#include "kube/config/kubeconfig.h"

/* Trusts the authorities in the file @path. Returns 0, or -INF_ECONF. */
int override_ca(struct kubeconfig *c, const char *path, struct inf_error *err);

/*
 * Uses a bearer token instead of all credentials of the configuration: @token itself, or the file
 * @token_file, which must be readable now; the other one is NULL. Returns 0, or -INF_ECONF; the message
 * never contains the token.
 */
int override_token(struct kubeconfig *c, const char *token, const char *token_file,
                   struct inf_error *err);

#endif
