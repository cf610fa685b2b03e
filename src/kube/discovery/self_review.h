/*
 * self_review.h - the questions that a server is posted about ourselves, and how it answers them.
 */
#ifndef KUBE_DISCOVERY_SELF_REVIEW_H
#define KUBE_DISCOVERY_SELF_REVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/str.h"
#include "kube/discovery/resource.h"

enum {
    SELF_REVIEW_GROUPS_MAX = 1000, /* LIMIT: groups that a user is in; the rest is left out */
};

/* Who we are, as the server knows us. Owned; a zeroed one is nobody. */
struct self_review_identity {
    char *user;
    char **groups;
    size_t n_groups;
};

/* Where it is posted: of authentication.k8s.io/@version. Texts are the caller's to free. */
char *self_review_identity_path(const char *version);
char *self_review_identity_body(const char *version);
int self_review_identity_read(const char *text, struct self_review_identity *ret,
                              struct inf_error *err);
void self_review_identity_free(struct self_review_identity *identity);

/* Whether we may do @verb to all of @resource in @ns (NULL: in all namespaces, or in none). */
extern const char self_review_access_path[];
char *self_review_access_body(const struct resource *resource, const char *ns, const char *verb);

/* @ret_reason is what the server says about it, "" if nothing; the caller's. */
int self_review_access_read(const char *text, bool *ret_allowed, char **ret_reason,
                            struct inf_error *err);

/* The uid of an object; the caller's. */
int review_uid_read(const char *text, char **ret_uid, struct inf_error *err);

/* The version of a server, of its document /version; the caller's. */
int self_review_version_read(const char *text, char **ret_version, struct inf_error *err);

#endif
