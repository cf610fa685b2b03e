/*
 * self_review.h - requests to a server about our own identity and permissions, and their responses.
 */
#ifndef KUBE_DISCOVERY_SELF_REVIEW_H
#define KUBE_DISCOVERY_SELF_REVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/str.h"
#include "kube/discovery/resource.h"

enum {
    SELF_REVIEW_GROUPS_MAX = 1000, /* LIMIT: groups of a user; further ones are dropped */
};

/* Our identity as the server sees it. Owned strings; a zeroed struct is empty. */
struct self_review_identity {
    char *user;
    char **groups;
    size_t n_groups;
};

/* SelfSubjectReview of authentication.k8s.io/@version: path and body of the POST. The caller frees
 * the strings. */
char *self_review_identity_path(const char *version);
char *self_review_identity_body(const char *version);
int self_review_identity_read(const char *text, struct self_review_identity *ret,
                              struct inf_error *err);
void self_review_identity_free(struct self_review_identity *identity);

/* SelfSubjectAccessReview: whether we may @verb @resource in @ns (NULL: in all namespaces,
 * or cluster-scoped): the one called @name, or all if it is NULL. */
extern const char self_review_access_path[];
char *self_review_access_body(const struct resource *resource, const char *ns, const char *verb,
                              const char *name);

/* @ret_reason is the server's explanation, "" if there is none; the caller frees it. */
int self_review_access_read(const char *text, bool *ret_allowed, char **ret_reason,
                            struct inf_error *err);

/* The uid of an object; the caller frees it. */
int self_review_uid_read(const char *text, char **ret_uid, struct inf_error *err);

/* The server version in the document /version; the caller frees it. */
int self_review_version_read(const char *text, char **ret_version, struct inf_error *err);

#endif
