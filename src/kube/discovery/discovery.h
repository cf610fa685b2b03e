/*
 * discovery.h - the API groups, versions and resources of a server.
 *
 *     discovery_add(&d, text, err);       a document of /api/v1, /apis, /apis/apps or /apis/apps/v1
 *     resource_name_find(&name, &d, ...)  resolves a resource name: resource_name.h
 *     discovery_free(&d);
 */
#ifndef KUBE_DISCOVERY_H
#define KUBE_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/str.h"

enum {
    DISCOVERY_TEXT_MAX = 8 * 1024 * 1024, /* LIMIT: bytes of one document */
    DISCOVERY_RESOURCES_MAX = 20000,      /* LIMIT: resources in a table */
    DISCOVERY_GROUPS_MAX = 2000,          /* LIMIT: group versions in a table */
};

/* Owned strings, all of them valid in a URL path. */
struct api_resource {
    char *group; /* "": the core group */
    char *version;
    char *name;         /* plural, lower case */
    char *singular;     /* lower case; "": not given */
    char *kind;         /* as written: "Deployment" */
    char **short_names; /* ends with NULL, like the following */
    char **categories;  /* "all" */
    char **verbs;       /* "list", "watch", ... */
    bool namespaced;
    bool watchable; /* supports list and watch */
};

/* A version of a group. */
struct api_version {
    char *group;
    char *version;
    bool preferred; /* the server's preferred version of the group */
};

/* A zeroed struct is empty. */
struct discovery {
    struct api_resource *resources; /* in the server's order */
    size_t n_resources;
    struct api_version *versions; /* the same */
    size_t n_versions;
};

/*
 * Adds the contents of an APIResourceList, an APIGroup or an APIGroupList. Subresources and entries
 * with invalid names are skipped. Returns 0; -INF_EDECODE if @text is no such document;
 * -INF_ETOOBIG if a table would exceed its limit, and then part of the document may have been
 * added.
 */
int discovery_add(struct discovery *d, struct str text, struct inf_error *err);

/* The preferred version of @group, else its first one; NULL if the group is unknown. */
const char *discovery_preferred(const struct discovery *d, const char *group);

/* Whether clients should use @r, which is in the table: it is in the preferred version of its group, or
 * that version does not have the resource and @r is the first that has it. */
bool discovery_is_preferred(const struct discovery *d, const struct api_resource *r);

void discovery_free(struct discovery *d);

#endif
