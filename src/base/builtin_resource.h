/*
 * builtin_resource.h - the resources that every Kubernetes server has, as far as they can be used
 * without discovery. Resources of the core group have version v1.
 */
#ifndef BASE_BUILTIN_RESOURCE_H
#define BASE_BUILTIN_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct builtin_resource {
    const char *group; /* "": the core group */
    const char *name;  /* the plural */
    const char *kind;
    bool namespaced;
};

/* "pods" of group "", for example; NULL if it is not in the table. */
const struct builtin_resource *builtin_resource_find(const char *group, const char *name);

/* The same for a name with its group, as in "deployments.apps". */
const struct builtin_resource *builtin_resource_parse(const char *text);

/* The n-th resource, for iteration; NULL after the last one. */
const struct builtin_resource *builtin_resource_nth(size_t n);

#endif
