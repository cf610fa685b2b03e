/*
 * discovery.h - what a server says it has: groups, versions, resources.
 *
 *     discovery_add(&d, text, err);       a document of /api/v1, /apis, /apis/apps or /apis/apps/v1
 *     resource_word_find(&word, &d, ...)  which of them a word means: resource_word.h
 *     discovery_free(&d);
 */
#ifndef KUBE_DISCOVERY_H
#define KUBE_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/str.h"

enum {
    DISCOVERY_TEXT_MAX = 8 * 1024 * 1024, /* LIMIT: of one document */
    DISCOVERY_RESOURCES_MAX = 20000,      /* LIMIT: in a table */
    DISCOVERY_GROUPS_MAX = 2000,          /* LIMIT: versions of groups in a table */
};

/* Owned texts, all of a form that can stand in a path. */
struct api_resource {
    char *group; /* "": the core group */
    char *version;
    char *name;         /* plural, lower case */
    char *singular;     /* lower case; "": not said */
    char *kind;         /* as it is written: "Deployment" */
    char **short_names; /* NULL ends them */
    bool namespaced;
    bool watchable; /* it can be listed and watched */
};

/* A version of a group. */
struct api_version {
    char *group;
    char *version;
    bool preferred; /* what the server would take itself */
};

/* A zeroed one is empty. */
struct discovery {
    struct api_resource *resources; /* in the server's order */
    size_t n_resources;
    struct api_version *versions; /* the same */
    size_t n_versions;
};

/*
 * Adds what a document says: an APIResourceList, an APIGroup or an APIGroupList. Entries that can't be
 * asked for, subresources among them, are passed over. -INF_EDECODE if it is no such document,
 * -INF_ETOOBIG if there are too many; then part of it may have been added.
 */
int discovery_add(struct discovery *d, struct str text, struct inf_error *err);

/* The version of @group that the server prefers; NULL if nothing was said about the group. */
const char *discovery_preferred(const struct discovery *d, const char *group);

void discovery_free(struct discovery *d);

#endif
