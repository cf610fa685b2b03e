/*
 * resource_name.h - parses resource names as kubectl accepts them, and resolves them.
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

/* Owned strings, in lower case except `text`. */
struct resource_name {
    char *text;    /* as given, for messages */
    char *name;    /* plural, singular, kind or short name */
    char *group;   /* NULL: any; "": the core group */
    char *version; /* NULL: the preferred one */
};

/* Returns 0, or -INF_EINVAL if @text can't be a resource name. */
int resource_name_parse(const char *text, struct resource_name *ret, struct inf_error *err);
void resource_name_free(struct resource_name *name);

/*
 * Whether the name can be resolved without a server: either group and version are given, and then
 * the name must be the plural; or it is the plural of a resource that every server has in its core
 * group, which takes precedence over other groups. If true, the caller frees @ret.
 */
bool resource_name_is_complete(const struct resource_name *name, struct resource *ret);

/* The scope of its objects, as far as it is known without a server. */
enum resource_scope_kind {
    SCOPE_UNKNOWN,
    SCOPE_NAMESPACE,
    SCOPE_CLUSTER,
};
enum resource_scope_kind resource_name_scope(const struct resource_name *name);

/* Returns -INF_EINVAL with the message that the resolved resource @plural is cluster-scoped. */
int resource_name_refuse_scope(const struct resource_name *name, const char *plural,
                               struct inf_error *err);

/*
 * Finds the resource in @d. As in kubectl, names take precedence over short names, and the core
 * group over others. A name that is still ambiguous between groups is an error.
 *
 * Returns 0 and @ret, borrowed from @d; -INF_ENOTFOUND with the nearest name; -INF_EINVAL with the
 * candidates if it is ambiguous, or if the resource can't be watched.
 */
int resource_name_find(const struct resource_name *name, const struct discovery *d,
                       const struct api_resource **ret, struct inf_error *err);

#endif
