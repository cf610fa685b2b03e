/*
 * resource.h - a resource type (group, version, plural name) and the URL path of its objects.
 */
#ifndef KUBE_DISCOVERY_RESOURCE_H
#define KUBE_DISCOVERY_RESOURCE_H

#include "informer/error.h"

#include "base/buf.h"
#include "core/select/shard.h"
#include "seam/source.h"

struct resource {
    char *group; /* "" for the core group */
    char *version;
    char *name; /* plural, lower case */
};

void resource_free(struct resource *resource);

/* Whether it is a DNS label in lower case; a group is one or more labels separated by dots. */
bool resource_is_label(const char *text, size_t len);
bool resource_is_group(const char *text, size_t len);

/* Whether @ns is a valid namespace name, since it becomes part of a path: 0 or -INF_EINVAL. */
int resource_check_namespace(const char *ns, struct inf_error *err);

/* Selects objects; NULL: no restriction. */
struct resource_scope {
    const char *ns;
    const char *label_selector; /* kubectl syntax: "app in (web,api)" */
    const char *field_selector; /* "spec.nodeName=n1" */
    struct shard shard;
};

/* Appends the request target to @out: @prefix (of the server's URL), path, query. */
void resource_target(struct buf *out, const char *prefix, const struct resource *resource,
                     const struct resource_scope *scope, const struct source_request *request);

#endif
