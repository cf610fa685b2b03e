/*
 * impersonate.h - impersonation: converts the `as` fields of a user entry to request headers.
 */
#ifndef KUBE_AUTH_IMPERSONATE_H
#define KUBE_AUTH_IMPERSONATE_H

#include "kube/config/kubeconfig.h"

struct user_entry;

enum {
    IMPERSONATE_MAX = 256, /* LIMIT: headers */
};

/* Adds the headers for @e to @c. Unlike credentials they are not secret and are also sent over
 * http. Returns 0, or -INF_ECONF if a value can't be sent in a header. */
int impersonate_read(const struct user_entry *e, struct kubeconfig *c, struct inf_error *err);

/* Impersonates @user instead of the user in the file; uid, groups and extras are kept. Returns 0,
 * or -INF_ECONF with a message about "as" if the name can't be sent in a header. */
int impersonate_user(struct kubeconfig *c, const char *user, struct inf_error *err);

/* Impersonates @groups, NULL-terminated, instead of those in the file; a user must be set. Returns 0,
 * or -INF_ECONF with a message about "as_groups". */
int impersonate_groups(struct kubeconfig *c, const char *const *groups, struct inf_error *err);

#endif
