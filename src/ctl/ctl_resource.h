/*
 * ctl_resource.h - finds the resource that a word of the command line names, among those that informerd
 * serves: pods, pod, po, Pod, deployments.apps, deployments.v1.apps.
 */
#ifndef CTL_CTL_RESOURCE_H
#define CTL_CTL_RESOURCE_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/arena.h"
#include "ctl/client.h"
#include "daemon/format/json_tree.h"

struct ctl_resource {
    char *group; /* "": the core group */
    char *version;
    char *name; /* "pods" */
    char *kind; /* "Pod" */
    bool namespaced;
};

/* The resources that informerd serves, as it describes them. */
struct ctl_discovery {
    struct client_reply replies[2]; /* of /api and /apis */
    const struct json_node *documents[2];
    struct arena arena;
};

int ctl_discovery_load(struct client *client, struct ctl_discovery *ret, struct inf_error *err);
void ctl_discovery_free(struct ctl_discovery *discovery);

/* Calls @each for every resource until it returns false: @node is its description. A resource with
 * several versions is passed once for each, the preferred one first. */
typedef bool ctl_discovery_fn(void *ctx, const char *group, const char *version,
                              const struct json_node *node);
void ctl_discovery_each(const struct ctl_discovery *discovery, ctl_discovery_fn *each, void *ctx);

/* The resource that @word names, as ctl_resource_find(). */
int ctl_discovery_find(const struct ctl_discovery *discovery, const char *word,
                       struct ctl_resource *ret, struct inf_error *err);

/* The resources of the category @word ("all"): at most @max, which the caller frees. Returns their
 * number. */
size_t ctl_discovery_category(const struct ctl_discovery *discovery, const char *word,
                              struct ctl_resource *ret, size_t max);

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
