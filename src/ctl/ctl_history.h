/*
 * ctl_history.h - reads the history of objects, for `history` and `show`.
 */
#ifndef CTL_CTL_HISTORY_H
#define CTL_CTL_HISTORY_H

#include "ctl/client.h"
#include "ctl/ctl_record.h"
#include "ctl/ctl_resource.h"

/* What to read. NULL: any. */
struct history_request {
    const struct ctl_resource *resource;
    const char *ns;
    const char *name;
    const char *uid;
    const char *since;
    const char *until;
    unsigned limit; /* the newest ones; 0: all */
};

/* Called for each record, the oldest first, with its line. Returns false to stop. */
typedef bool history_record_fn(void *ctx, struct str line, const struct json_node *record);

/* Calls @each for the records. Records of informerd itself are passed on only between two changes, where
 * something may be missing. Returns 0, or the error of the request; -INF_EINVAL also for a time that can't
 * be read. */
int history_read(struct client *client, const struct history_request *request,
                 history_record_fn *each, void *ctx, struct inf_error *err);

/* Splits "pod/web-0" or "pods" "web-0" of @argv. *@ret_name is NULL if there is only a resource. The caller
 * frees *@ret_resource. */
void history_split(int argc, char **argv, char **ret_resource, const char **ret_name);

#endif
