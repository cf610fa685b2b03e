/*
 * ctl_resource.h - finds the resource that a word of the command line names, among those that informerd
 * serves: pods, pod, po, Pod, deployments.apps, deployments.v1.apps.
 */
#ifndef CTL_CTL_RESOURCE_H
#define CTL_CTL_RESOURCE_H

#include <stdbool.h>

#include "informer/error.h"

#include "ctl/client.h"

struct ctl_resource {
    char *group; /* "": the core group */
    char *version;
    char *name; /* "pods" */
    char *kind; /* "Pod" */
    bool namespaced;
};

/* Returns 0, with a resource that the caller frees with ctl_resource_free(); -INF_ENOTFOUND with
 * kubectl's message; or an error of the request. */
int ctl_resource_find(struct client *client, const char *word, struct ctl_resource *ret,
                      struct inf_error *err);
void ctl_resource_free(struct ctl_resource *resource);

/* Appends "pod" or "deployment.apps": the prefix of names. */
void ctl_resource_put_prefix(const struct ctl_resource *resource, struct buf *out);

/* Appends the path of one object, or of all if @name is NULL; @ns NULL: in all namespaces. */
void ctl_resource_put_path(const struct ctl_resource *resource, const char *ns, const char *name,
                           struct buf *out);

#endif
