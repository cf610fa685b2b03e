/*
 * demo.h - a small cluster that changes by itself, at a pace that people can follow.
 *
 * Actors (the kubelet of a pod, the controller of a deployment, a node, the director that starts
 * stories) take turns on the demo's own clock. Real time only drives this clock: the order of turns
 * depends on the seed alone. Each actor is a struct in this file. Actors write whole objects into
 * the store, as the components of a cluster do.
 *
 *     demo.c        the clock and the turns        demo_write.c     JSON, managedFields, the store
 *     demo_cast.c   the initial objects            demo_event.c     core Events
 *     demo_pod*.c   the life of a pod              demo_node*.c     nodes, leases, draining
 *     demo_app*.c   deployments and ReplicaSets    demo_job.c       a CronJob's jobs
 *     demo_story.c  chooses what happens next      demo_data.c      secrets and configmaps
 */
#ifndef KUBESIM_DEMO_H
#define KUBESIM_DEMO_H

#include "fill.h"

enum {
    DEMO_NODES = 3,
    DEMO_NAME_SIZE = 64,
    DIGEST_SIZE = 65,
    HANDS_MAX = 4,
    SECOND = 1000, /* the demo's clock counts ms */
    MINUTE = 60 * SECOND,
};

struct demo;

/* An actor's next turn. */
struct turn {
    struct tree_node node; /* in demo->turns while it waits */
    uint64_t due;
    uint64_t order; /* order of scheduling, for turns with the same due time */
    bool waiting;
    bool quiet; /* its change is not visible: it need not keep a distance to others */
    void (*play)(struct demo *demo, struct turn *turn);
};

/* One entry of managedFields. */
struct hand {
    const char *manager;
    const char *subresource; /* "" is none */
    const char *fields;      /* fieldsV1, as text_put() takes it */
    char time[STORE_TIME_SIZE];
};

struct managers {
    struct hand hand[HANDS_MAX]; /* the latest is the last */
    unsigned count;
};

/* The owner of pods: a ReplicaSet or a Job. */
struct owner {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *app;    /* the container's name and the label */
    const char *policy; /* restartPolicy */
    const char *extra;  /* labels besides app, as text; "" is none */
    char name[DEMO_NAME_SIZE];
    char uid[UUID_SIZE];
    char image[DEMO_NAME_SIZE];
    char digest[DIGEST_SIZE]; /* of the image */
    unsigned run_ms;          /* how long a container runs; 0: forever */
    void (*changed)(struct demo *demo,
                    struct owner *owner); /* the state of one of its pods has changed */
};

struct machine {
    struct turn beat; /* renews the lease and the status */
    struct turn plan; /* the steps of a drain */
    char name[16];
    char uid[UUID_SIZE];
    unsigned number;
    unsigned step;
    bool cordoned;
    bool tainted; /* the controller has processed that */
    bool down;
    unsigned beats;
    char born[STORE_TIME_SIZE];
    char since[STORE_TIME_SIZE]; /* last change of the Ready condition */
    char seen[STORE_TIME_SIZE];  /* the last heartbeat */
    char boot[UUID_SIZE];
    struct managers managers;
};

enum pod_state {
    POD_NEW,
    POD_SCHEDULED,
    POD_CREATING,
    POD_PULLED, /* pulled before: the image is on the node */
    POD_RUNNING,
    POD_READY,
    POD_CRASHED,
    POD_BACKOFF,
    POD_DONE,    /* ran to completion */
    POD_DYING,   /* is terminating */
    POD_STOPPED, /* has stopped; is deleted next */
};

struct pod {
    struct list node; /* in demo->pods, in the order of creation */
    struct turn turn;
    struct owner *owner;
    struct machine *machine; /* NULL: not scheduled yet */
    enum pod_state state;
    enum pod_state before; /* deletionTimestamp */
    char name[DEMO_NAME_SIZE];
    char uid[UUID_SIZE];
    char id[DIGEST_SIZE]; /* start of its container */
    char last_id[DIGEST_SIZE];
    unsigned ip;
    unsigned restarts;
    unsigned crashes; /* crashes that are still to come */
    unsigned crashed; /* since it was ready: from the second crash on there is a back-off */
    bool evicted;
    bool was_ready;
    char scheduled[STORE_TIME_SIZE];
    char created[STORE_TIME_SIZE]; /* its sandbox */
    char turned[STORE_TIME_SIZE];  /* last change of the Ready condition */
    char started[STORE_TIME_SIZE]; /* last change of its container */
    char last_started[STORE_TIME_SIZE];
    char finished[STORE_TIME_SIZE];
    char deleted_at[STORE_TIME_SIZE]; /* to stop */
    char deleted[STORE_TIME_SIZE];    /* is to be, then */
    struct managers managers;
};

/* A ReplicaSet. */
struct set {
    struct list node; /* in app->sets, the newest first */
    struct owner owner;
    struct app *app;
    unsigned revision;
    unsigned want;
    unsigned generation;
    unsigned seen, count, ready; /* as in its status */
    char hash[16];
    char labels[DEMO_NAME_SIZE];
    struct managers managers;
};

/* A deployment. */
struct app {
    struct list node; /* in demo->apps */
    struct turn turn;
    const char *ns;
    const char *name;
    const char *repository; /* the image without its tag */
    unsigned minor, patch;  /* the tag */
    unsigned want;
    unsigned generation;
    unsigned revision;
    bool fixed; /* no story uses it */
    char uid[UUID_SIZE];
    char moved[STORE_TIME_SIZE];  /* Progressing */
    char turned[STORE_TIME_SIZE]; /* Available */
    struct app_status {
        unsigned seen; /* generation */
        unsigned count;
        unsigned updated;
        unsigned ready;
        unsigned missing;
        unsigned rolling; /* whether it is; never a bool: statuses are compared by their bytes */
    } status;             /* as stored */
    struct list sets;
    struct managers managers;
};

struct demo {
    struct job job;
    struct rng rng;
    struct tree turns;
    uint64_t pace;
    uint64_t started; /* ms of the loop's clock */
    uint64_t now;
    uint64_t last; /* time of the last visible change */
    uint64_t scheduled;
    struct machine machines[DEMO_NODES];
    struct list apps;
    struct list pods;
    struct list jobs;
    struct list events;
    struct turn director;
    struct turn sweeper; /* removes expired events */
    unsigned last_story;
    unsigned ips;
    unsigned job_number;
    char cron_uid[UUID_SIZE];
    unsigned edits;
};

/* Fills the store and starts the actors, @pace times as fast as the default. */
void demo_start(struct kubesim *sim, uint64_t seed, uint64_t pace);

/* -- demo.c -- */
/* Runs @turn @ms from now; a turn that waits already is rescheduled. */
void turn_in(struct demo *demo, struct turn *turn, uint64_t ms);
void turn_cancel(struct demo *demo, struct turn *turn);
unsigned pick(struct demo *demo, unsigned below);
/* @size - 1 characters, as in generated names. */
void pick_name(struct demo *demo, char *ret, size_t size);
void pick_digest(struct demo *demo, char ret[DIGEST_SIZE]);

/* -- demo_cast.c -- */
void cast_start(struct demo *demo);

/* -- demo_write.c -- */
/* Adds JSON, written with ' for a quotation mark and ` for a quotation mark inside a string. */
__attribute__((format(printf, 2, 3))) void text_put(struct buf *out, const char *fmt, ...);
/* The time @seconds from now. */
void time_after(char ret[STORE_TIME_SIZE], int seconds);
/* Records in managedFields that @manager has just written @fields. */
void managers_write(struct managers *managers, const char *manager, const char *subresource,
                    const char *fields);
/* Adds ,"managedFields":[...] */
void managers_put(struct buf *out, const struct managers *managers, const char *api_version);
/* Stores the object and frees its text; @ret_uid may be NULL. */
void demo_put(struct demo *demo, const char *resource, const char *ns, const char *name,
              struct buf *text, char *ret_uid);
void demo_delete(struct demo *demo, const char *resource, const char *ns, const char *name);

/* -- demo_event.c -- */
struct involved {
    const char *kind;
    const char *api_version;
    const char *ns; /* "" is none */
    const char *name;
    const char *uid;
    const char *container; /* of a pod; NULL if the event is not about a pod */
};
/* Writes a core Event, or increments the count of an equal one. @reason decides whether it is a
 * Warning. */
__attribute__((format(printf, 5, 6))) void event_write(struct demo *demo,
                                                       const struct involved *about,
                                                       const char *component, const char *reason,
                                                       const char *fmt, ...);
void events_start(struct demo *demo);
void events_free(struct demo *demo);

/* -- demo_pod.c, demo_pod_json.c -- */
void pod_new(struct demo *demo, struct owner *owner);
/* Creates a pod that is ready from the start. */
void pod_new_ready(struct demo *demo, struct owner *owner);
void pod_delete(struct demo *demo, struct pod *pod);
void pod_evict(struct demo *demo, struct pod *pod);
/* Lets it crash @times in a row. */
void pod_crash(struct demo *demo, struct pod *pod, unsigned times);
bool pod_leaving(const struct pod *pod);
void pod_write(struct demo *demo, struct pod *pod);
void pods_free(struct demo *demo);

/* -- demo_node.c, demo_node_json.c -- */
void machines_start(struct demo *demo);
/* The node for the next pod. */
struct machine *machine_for_pod(struct demo *demo);
bool machine_drain(struct demo *demo); /* false if another node is drained already */
void machine_write(struct demo *demo, struct machine *m);
void machine_write_lease(struct demo *demo, const struct machine *m);

/* -- demo_app.c, demo_app_json.c -- */
struct app *app_new(struct demo *demo, const char *ns, const char *name, const char *repository,
                    unsigned want);
bool app_is_idle(const struct app *app); /* no story changes it now */
void app_roll(struct demo *demo, struct app *app);
void app_scale(struct demo *demo, struct app *app, unsigned want);
void app_write(struct demo *demo, struct app *app);
void set_write(struct demo *demo, struct set *set);
void apps_free(struct demo *demo);

/* -- demo_job.c -- */
void cron_start(struct demo *demo);
void cron_run(struct demo *demo);
void cron_free(struct demo *demo);

/* -- demo_data.c -- */
void data_start(struct demo *demo);
void secret_rotate(struct demo *demo);
void config_edit(struct demo *demo);

/* -- demo_story.c -- */
void director_start(struct demo *demo);

#endif
