/*
 * select.h - selection of objects by namespace, labels and fields.
 */
#ifndef KUBESIM_SELECT_H
#define KUBESIM_SELECT_H

#include <stdbool.h>

#include "object.h"
#include "params.h"
#include "status.h"
#include "store.h"

struct requirement {
    char *key;
    char **values;
    size_t count;
    bool field;    /* of a field, not of a label */
    bool negative; /* != and notin; !key */
    bool exists;   /* the key alone must exist */
};

struct selection {
    char *ns; /* "": all */
    struct requirement *items;
    size_t count;
};

/* Parses labelSelector and fieldSelector; false, with @ret, if one of them is invalid. */
bool selection_read(struct selection *s, const struct resource *r, const char *ns,
                    const struct params *query, struct status *ret);
void selection_free(struct selection *s);
bool selection_has(const struct selection *s, const struct object *o);

/* Removes objects that are not selected. */
void snapshot_select(struct snapshot *snapshot, const struct selection *s);

/* No labels or fields: only then does the server send remainingItemCount. */
bool selection_is_plain(const struct selection *s);

#endif
