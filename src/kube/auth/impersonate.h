/*
 * impersonate.h - to act as somebody else: the as fields of a user entry, as the headers the server
 * wants to see.
 */
#ifndef KUBE_AUTH_IMPERSONATE_H
#define KUBE_AUTH_IMPERSONATE_H

#include "kube/config/kubeconfig.h"

struct user_entry;

enum {
    IMPERSONATE_MAX = 256, /* LIMIT: headers */
};

/* Adds to @c what @e says; -INF_ECONF if it can't be said. Unlike credentials it goes to http too:
 * it is no secret. */
int impersonate_read(const struct user_entry *e, struct kubeconfig *c, struct inf_error *err);

/* Acts as @user, whatever the file says; its uid, groups and extras stay. -INF_ECONF, with a
 * sentence about "as", if that can't stand in a header. */
int impersonate_user(struct kubeconfig *c, const char *user, struct inf_error *err);

#endif
