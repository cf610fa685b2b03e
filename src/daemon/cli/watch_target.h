/*
 * watch_target.h - the arguments of `informerd watch`: resources and names of objects, as in kubectl.
 *
 *     pods,services                 all objects of some resources
 *     pods web-0 web-1              some objects of one resource
 *     pods/web-0 deployments/web    some objects of any resources
 *     all                           all objects of the resources in that category
 */
#ifndef DAEMON_CLI_WATCH_TARGET_H
#define DAEMON_CLI_WATCH_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#define WATCH_CATEGORY "all" /* the only category that can be watched */

enum {
    WATCH_TARGETS_MAX = 64, /* LIMIT: on the command line; each is a watch on the server */
};

/* Owned strings. */
struct watch_target {
    char *resource;
    char *name;          /* NULL: all objects */
    bool expanded;       /* from a category, or from all resources */
    bool cluster_scoped; /* according to the server; false: also if that is not known */
};

/* A zeroed struct is empty. */
struct watch_targets {
    struct watch_target *items;
    size_t count;
};

/* Parses the arguments. Returns 0; or -INF_EINVAL with a message that names the argument and the
 * remedy, and @ret is untouched then. The caller frees @ret. */
int watch_targets_parse(int argc, char *const *argv, struct watch_targets *ret,
                        struct inf_error *err);

/* Whether it is the category, which has to be expanded. */
bool watch_target_is_category(const struct watch_target *target);

struct inf_client_options;

/*
 * watch_expand.c: replaces the category by its resources, and with @all adds all resources of the server.
 * Contacts the server only if there is something to replace. Returns 0, or a negative error; @targets is
 * untouched then.
 */
int watch_targets_expand(const struct inf_client_options *how, bool all,
                         struct watch_targets *targets, struct inf_error *err);

/* Adds copies. */
void watch_targets_add(struct watch_targets *targets, const char *resource, const char *name);

/* Also for a zeroed struct. */
void watch_targets_free(struct watch_targets *targets);

#endif
