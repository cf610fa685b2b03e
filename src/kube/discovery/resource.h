/*
 * resource.h - what to ask for, and the path under which the server serves it.
 */
#ifndef KUBE_DISCOVERY_RESOURCE_H
#define KUBE_DISCOVERY_RESOURCE_H

#include "informer/error.h"

#include "base/buf.h"
#include "seam/source.h"

struct resource {
    char *group; /* "" for the core group */
    char *version;
    char *name; /* plural, lower case */
};

void resource_free(struct resource *resource);

/* Names as DNS has them, in lower case; a group is labels with dots between them. */
bool resource_is_label(const char *text, size_t len);
bool resource_is_group(const char *text, size_t len);

/* Whether @ns can be the name of a namespace: it goes into a path. */
int resource_check_namespace(const char *ns, struct inf_error *err);

/* Which of its objects; NULL: no matter which. */
struct resource_scope {
    const char *ns;
    const char *label_selector; /* as kubectl takes them: "app in (web,api)" */
    const char *field_selector; /* "spec.nodeName=n1" */
};

/* Adds the request's target to @out: @prefix (of the server's URL), path, query. */
void resource_target(struct buf *out, const char *prefix, const struct resource *resource,
                     const struct resource_scope *scope, const struct source_request *request);

#endif
