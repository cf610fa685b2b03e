/*
 * lease_json.h - the JSON of a Lease of coordination.k8s.io/v1: see informer/lease.h.
 */
#ifndef KUBE_DISCOVERY_LEASE_JSON_H
#define KUBE_DISCOVERY_LEASE_JSON_H

#include <stdbool.h>

#include "informer/lease.h"

struct yyjson_doc;

/* A zeroed struct is empty. */
struct lease_json {
    struct yyjson_doc *doc; /* has the strings */
    struct inf_lease lease;
};

/* Returns false if @text is not a Lease; then *@ret is untouched. */
bool lease_json_read(const char *text, struct lease_json *ret);
void lease_json_free(struct lease_json *lease);

/* A new Lease. The caller frees the result. */
char *lease_json_make(const char *ns, const char *name, const struct inf_lease *lease);

/* @json with the fields of @lease. The caller frees the result. NULL: @json is not a Lease. */
char *lease_json_change(const char *json, const struct inf_lease *lease);

#endif
