/*
 * api.h - routing of requests: which resource a path names, and which module answers it.
 */
#ifndef KUBESIM_API_H
#define KUBESIM_API_H

#include "conn.h"
#include "select.h"

/* Answers c->request. */
void api_answer(struct conn *c);

/* The parts of a path such as /apis/apps/v1/namespaces/shop/deployments/web. */
struct route {
    struct resource *resource; /* NULL: unknown */
    char *ns;                  /* "": not in the path */
    char *name;                /* "": the whole collection */
};

/* list.c, watch.c, write.c, discovery.c, control.c */
void list_answer(struct conn *c, const struct route *route);
void watch_answer(struct conn *c, const struct route *route);
void object_answer(struct conn *c, const struct route *route);
void discovery_answer(struct conn *c);
void control_answer(struct conn *c);

/* access.c: is @verb allowed? If not, the request was answered with 403. */
bool access_check(struct conn *c, const struct route *route, const char *verb);
/* Answers a SelfSubjectReview or SelfSubjectAccessReview; false: the request is neither. */
bool review_answer(struct conn *c);

/* The form that the client accepts: a Table, PartialObjectMetadata, or @plain. */
enum form accepted_form(const struct request *r, enum form plain);
/* Does the client request pretty-printed JSON? */
bool requests_pretty(const struct conn *c);

/* options.c: validates the parameters of a list or watch. False, with @ret, if they are invalid. */
bool options_check(const struct kubesim *sim, const struct params *query, bool watch,
                   struct status *ret);

/* watch.c: sends a bookmark to all watches that accept them. */
void watches_bookmark(struct kubesim *sim);
/* A resource has changed: its watches send the change. */
void watches_notify(struct store *store, struct resource *r);
/* Ends the watch of this connection regularly, as on its timeout. */
void watch_end(struct conn *c);
/* Is this connection's reply a watch? */
bool conn_watches(const struct conn *c);

#endif
