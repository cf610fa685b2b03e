/*
 * world.h - a random story: the simulated server, the engine, and the handlers that record its events.
 */
#ifndef TEST_RANDOM_WORLD_H
#define TEST_RANDOM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/informer.h"

#include "apiserver.h"
#include "base/rng.h"
#include "core/dispatch/pipeline.h"
#include "core/object/object_packer.h"
#include "sim.h"

enum {
    KEYS = 24,
};

struct world;

/* A handler that records and checks its events. */
struct witness {
    struct inf_handler handler;
    struct world *world;
    const char *name;
    const struct inf_object *known[KEYS]; /* references */
    bool added;
    bool synced;
    bool may_drop_events; /* its options allow to drop events */
    uint64_t events, gaps;
    char last_live[24]; /* the version of the last live event; "" after a gap */
    bool gap_seen;      /* since the last live event */
    bool relist_added;  /* the current relist delivered an object that exists */
    char
        recreated[32]; /* its last event was a delete after that: an add of this name must follow */
};

enum {
    FAST,
    SLOW,       /* paused at times; makes the stream wait */
    COALESCING, /* paused at times; gets the newest states */
    DROPPING,
    LATE, /* added and removed at random */
    WITNESSES,
};

/* The state of a story. */
struct world {
    uint64_t seed;
    struct rng rng;
    struct sim sim;
    struct apiserver server;
    struct pack_context *packing; /* used by half of the seeds */
    struct pipeline_settings settings;
    struct pipeline pipeline;
    struct witness witnesses[WITNESSES];
    char store_version[24];
    unsigned faults;
    bool rewound;      /* the server was restored once: versions are not compared from then on */
    bool faults_ended; /* no more faults */
    bool gone;

    /* what the first handler has saved: restart.c */
    const struct inf_object *saved[KEYS]; /* references */
    size_t restored;                      /* number of them that the next process has taken */
    char saved_version[24], unsaved_version[24];
    struct pack_context *disk_packing;
    struct object_packer disk_packer;
    unsigned restarts;
    uint64_t relists; /* of the earlier processes */
};

/* Ends the program with a message that names the seed. */
__attribute__((format(printf, 2, 3), noreturn)) void fail(const struct world *w, const char *fmt,
                                                          ...);

/* A number below @sides, determined by the seed. */
uint64_t dice(struct world *w, uint64_t sides);

/* The key with number @i, as `namespace/name`. */
const char *key_name(size_t i, char ret[32]);

/* Two objects that can't be decoded at times. */
extern const char *const POISONS[2];

void set_up_witnesses(struct world *w);
void add_witness(struct world *w, size_t i);

/* Releases the objects that @t knows. */
void forget_all(struct witness *t);

/* Creates the engine; it is not started. */
void init_pipeline(struct world *w);

/* The number of relists of all processes. */
uint64_t count_relists(const struct world *w);

/* Ends the process and starts another one with the saved objects. on_batch_end of the first handler
 * saves them. */
void restart(struct world *w);
void save_at_batch_end(struct inf_handler *handler, struct inf_informer *informer);
void restart_done(struct world *w);

/* Pauses, resumes, adds or removes one of the handlers. */
void play_handlers(struct world *w);

#endif
