/*
 * api_columns.h - the columns of a resource in Tables: those that its API server prints.
 *
 *     columns = api_columns_get(api, cluster, &resource, ns);
 *     if (!columns->known && !call->waited)           park the call in columns->waiters
 *     columns->printer
 *
 * Custom resources have the columns of their definition (additionalPrinterColumns). Built-in printers are
 * used if the server has columns of the same names, or prints no tables. In all other cases, also if the
 * definition may not be read, the columns are Name and Age.
 */
#ifndef DAEMON_API_COLUMNS_H
#define DAEMON_API_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/access.h"

#include "base/list.h"
#include "daemon/table/table.h"

struct api;
struct cluster;

struct api_columns {
    struct list node; /* in the columns of the API */
    struct api *api;
    char *cluster; /* its name */
    char *group;
    char *version;
    char *resource;
    char *ns; /* where the resource may be listed; NULL: in all namespaces */

    bool known;        /* as far as the server responds */
    uint64_t again_ms; /* when they are to be read again */
    struct inf_request request;
    bool reading;
    bool closing;        /* to be freed when the request has ended */
    bool of_table;       /* the request in progress is for a Table, not for a definition */
    struct list waiters; /* see api_park.h */

    const struct table_printer *printer; /* never NULL */
    struct table_printer *custom;        /* the same, if it is to be freed */
    char *definition;                    /* the JSON from which it was made; NULL: it is built in */
};

/* The columns of @resource, which can be listed in @ns (NULL: in all namespaces). Requests them from the
 * server if they are not known, or again after a while. Valid until the API is closed. */
struct api_columns *api_columns_get(struct api *api, const struct cluster *cluster,
                                    const struct inf_resource *resource, const char *ns);

void api_columns_close(struct api *api);

#endif
