/*
 * api.h - what a request is about, and who answers it.
 */
#ifndef KUBESIM_API_H
#define KUBESIM_API_H

#include "conn.h"
#include "select.h"

/* Answers c->request. */
void api_answer(struct conn *c);

/* /apis/apps/v1/namespaces/shop/deployments/web, taken apart. */
struct route {
    struct resource *resource; /* NULL: none that we have */
    char *ns;                  /* "": none in the path */
    char *name;                /* "": the whole collection */
};

/* list.c, watch.c, write.c, discovery.c, control.c */
void list_answer(struct conn *c, const struct route *route);
void watch_answer(struct conn *c, const struct route *route);
void object_answer(struct conn *c, const struct route *route);
void discovery_answer(struct conn *c);
void control_answer(struct conn *c);

/* access.c: may @verb be done? If not, it was said. */
bool access_check(struct conn *c, const struct route *route, const char *verb);
/* The same as somebody may ask; false: that was not the question. */
bool review_answer(struct conn *c);

/* Does the client want PartialObjectMetadata, and JSON for people? */
bool wants_metadata(const struct request *r);
bool wants_pretty(const struct conn *c);

/* options.c: the parameters of a list or watch that the server minds. False, with @ret. */
bool options_check(const struct kubesim *sim, const struct params *query, bool watch,
                   struct status *ret);

/* watch.c: all watches say now how far the world is. */
void watches_bookmark(struct kubesim *sim);
/* A resource has changed: its watches have something to say. */
void watches_tell(struct store *store, struct resource *r);
/* Ends the watch that this connection's reply is, in good order: its time is up. */
void watch_end(struct conn *c);
/* Is this connection's reply a watch? */
bool conn_watches(const struct conn *c);

#endif
