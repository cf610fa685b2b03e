/*
 * resource_name.h - a resource as people name it, and which one they mean.
 *
 *     po  pod  pods  Pod              plural, singular, kind or short name, in any case
 *     deployments.apps                with its group; the server's preferred version
 *     deployments.v1.apps             with its version too; pods.v1. is of the core group
 *     deployments.apps/v1             the same
 */
#ifndef KUBE_DISCOVERY_RESOURCE_NAME_H
#define KUBE_DISCOVERY_RESOURCE_NAME_H

#include "kube/discovery/discovery.h"
#include "kube/discovery/resource.h"

/* Owned texts, lower case. */
struct resource_word {
    char *text;    /* as it was written, for messages */
    char *name;    /* plural, singular, kind or short name */
    char *group;   /* NULL: any; "": the core group */
    char *version; /* NULL: the preferred one */
};

/* -INF_EINVAL, with what would be right, for what can't be a resource. */
int resource_word_parse(const char *text, struct resource_word *ret, struct inf_error *err);
void resource_word_free(struct resource_word *word);

/*
 * Whether the word needs no server to be understood: a group and a version are named, and so the name
 * has to be the plural; or it is the plural of a resource that every server has in its core group,
 * which goes before all others. Then @ret is the caller's.
 */
bool resource_word_is_complete(const struct resource_word *word, struct resource *ret);

/* Where its objects are, as far as no server is needed to know. */
enum resource_scope_kind {
    SCOPE_UNKNOWN,
    SCOPE_NAMESPACE,
    SCOPE_CLUSTER,
};
enum resource_scope_kind resource_word_scope(const struct resource_word *word);

/* -INF_EINVAL, saying that @name, which the word means, is in no namespace. */
int resource_word_refuse_scope(const struct resource_word *word, const char *name,
                               struct inf_error *err);

/*
 * Which resource of @d is meant. Names go before short names, and the core group before others, as
 * for kubectl; a word that then means resources of several groups is not guessed at.
 *
 * Returns 0 and lends @ret; -INF_ENOTFOUND, with the nearest name; -INF_EINVAL, with the candidates,
 * or if it can't be watched.
 */
int resource_word_find(const struct resource_word *word, const struct discovery *d,
                       const struct api_resource **ret, struct inf_error *err);

#endif
