/*
 * fill.h - creates many objects at once, and changes them at a given rate.
 */
#ifndef KUBESIM_FILL_H
#define KUBESIM_FILL_H

#include "kubesim.h"

struct fill {
    struct resource *resource;
    uint64_t count;
    uint64_t bytes;      /* of each object, approximately */
    uint64_t namespaces; /* number of namespaces */
    const char *prefix;  /* of their names */
};

/* Creates `count` objects now. They share their tails, so they need little memory. */
void fill_run(const struct fill *fill);

/* Starts `count` changes, @rate per second (0: now), to objects that fill_run() made: mostly
 * updates, sometimes a deletion and a creation. */
void churn_start(struct kubesim *sim, struct resource *r, uint64_t count, uint64_t rate);

/* A background task; ended with the program. */
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
