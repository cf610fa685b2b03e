/*
 * fill.h - many objects at once, and changes to them at a given pace.
 */
#ifndef KUBESIM_FILL_H
#define KUBESIM_FILL_H

#include "kubesim.h"

struct fill {
    struct resource *resource;
    uint64_t count;
    uint64_t bytes;      /* of each object, about */
    uint64_t namespaces; /* they are spread over */
    const char *prefix;  /* of their names */
};

/* Makes `count` objects now. They share their bulk, so they need little memory. */
void fill_run(const struct fill *fill);

/* Starts `count` changes, @rate a second (0: now): to objects that fill_run() made, mostly
 * updates, now and then a deletion and a creation. */
void churn_start(struct kubesim *sim, struct resource *r, uint64_t count, uint64_t rate);

/* Something that goes on in the background; ended with the program. */
struct job {
    struct list node; /* in sim->jobs */
    struct kubesim *sim;
    uv_timer_t timer;
    void (*free)(struct job *job);
};
void job_start(struct job *job, struct kubesim *sim, void (*free)(struct job *job));
void job_end(struct job *job);
void jobs_end(struct kubesim *sim);

#endif
