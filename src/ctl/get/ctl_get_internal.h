/*
 * ctl_get_internal.h - what the files of the command `informerctl get` share: its targets and their answers.
 *
 * Calls go one way: ctl_get.c calls ctl_get_document.c and ctl_get_watch.c; the watch uses the request functions of
 * ctl_get.c.
 */
#ifndef CTL_CTL_GET_INTERNAL_H
#define CTL_CTL_GET_INTERNAL_H

#include "ctl/get/ctl_get.h"

enum {
    TARGETS_MAX = 256, /* LIMIT: resources and objects of a command line */
};

/* One request: all objects of a resource, or one of them. */
struct get_target {
    struct ctl_resource resource;
    const char *name; /* NULL: all */
    struct ctl_answer answer;
};

struct get {
    const struct get_options *o;
    struct get_form form;
    struct jsonpath *sort_by;
    struct client *client;
    struct ctl_discovery discovery;
    struct get_target targets[TARGETS_MAX];
    size_t n_targets;
    bool with_kind; /* names have their resource in front, because there are several */
    struct get_table table;
    struct arena arena; /* of nodes that are added to answers */
    struct buf errors;  /* printed at the end */
    int rc;             /* of the first error */
};

/* ---- requests and tables: ctl_get.c ---- */

/* The Accept header of requests for objects; NULL: plain JSON. */
const char *get_accept(const struct get *g);

/* Appends the path and the parameters of a request, with a final NUL. @version not NULL: a watch from it. The object of a watch is
 * selected by its name: its path can't be watched. */
void get_put_target(const struct get *g, const struct get_target *t, const char *version,
                    struct buf *out);

/* Sorts the rows of an answer that is a Table. */
int get_sort_rows(const struct get *g, const struct json_node *root, struct inf_error *err);

/* ---- documents: ctl_get_document.c ---- */

/* Items of lists have no type, and metadata has another one: all get that of the resource. */
void get_set_type(struct get *g, const struct get_target *t, struct json_node *object);

/* The items of an answer, or the object that it is, with their types. */
struct json_node *get_take_objects(struct get *g, struct get_target *t);

/* Appends the document of all targets. */
int get_put_document(struct get *g, struct buf *out, struct inf_error *err);

/* ---- watching: ctl_get_watch.c ---- */

/* Prints the objects of @t and their changes until the watch ends. Returns the exit code. */
int get_watch_target(struct get *g, struct get_target *t);

#endif
