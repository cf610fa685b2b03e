/*
 * ctl_top.h - the parts of `informerctl top`.
 *
 *     ctl_top.c          the command: requests, keys, signals, the time of the next picture
 *     ctl_top_model.c    what is shown: the last status, rates, the objects that change most
 *     ctl_top_view.c     the picture: lines of text for a screen of some size
 *     ctl_screen.c       the terminal
 */
#ifndef CTL_CTL_TOP_H
#define CTL_CTL_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hashmap.h"
#include "base/str.h"
#include "daemon/format/json_tree.h"

#define TOP_NEVER UINT64_MAX /* an age: it has not happened */

/* ---- model ---- */

struct top_watch {
    char *cluster, *name, *state, *error;
    uint64_t objects, bytes, event_age_ms;
    uint64_t changes; /* since the start of informerd */
    double rate;      /* of changes, per second */
    size_t position;  /* in the configuration */
};

/* An event log or a handler. */
struct top_output {
    const char *type; /* "event log" or "handler" */
    char *name, *state, *error;
    uint64_t waiting;   /* bytes of a log, records of a handler */
    uint64_t oldest_ms; /* of what is waiting; TOP_NEVER: nothing is */
    uint64_t parked;    /* of a handler */
};

/* An object or a manager with its changes, of which old ones count less and less. */
struct top_talker {
    struct hash_node node;
    char *name;
    double weight; /* at `time_ms` */
    uint64_t time_ms;
    uint64_t changes; /* all that were seen */
};

enum {
    TALKERS_MAX =
        10000, /* LIMIT: objects or managers that are counted; the least active are dropped */
};

struct top_talkers {
    struct hashmap by_name;
    struct top_talker **items;
    size_t count;
    uint64_t since_ms; /* of the first change */
};

/* A zeroed struct has no data. */
struct top_model {
    bool has_status;
    char *version;
    uint64_t uptime_ms, seq, resident_bytes, cpu_ms;
    double rate, cpu; /* changes per second; share of one CPU */
    uint64_t backlog_bytes, backlog_limit_bytes;
    struct top_watch *watches;
    size_t n_watches;
    struct top_output *outputs;
    size_t n_outputs;
    uint64_t status_ms; /* when it arrived */
    struct top_talkers objects, managers;
    char *no_events; /* why there are no talkers; NULL: there are */
    char *problem;   /* why there is no current status; NULL: there is one */
};

/* Takes over a status of informerd that arrived at @now_ms. Rates are those since the one before. */
void top_model_status(struct top_model *model, const struct json_node *status, uint64_t now_ms);

/* Counts a change, a line of the event stream. */
void top_model_change(struct top_model *model, const struct json_node *record, uint64_t now_ms);

/* Sets the problem; NULL: there is none. */
void top_model_problem(struct top_model *model, const char *problem);

/* Sets why the event stream is not available. */
void top_model_no_events(struct top_model *model, const char *reason);

/* Sorts by changes per second. */
void top_talkers_sort(struct top_talkers *talkers, uint64_t now_ms);
double top_talker_rate(const struct top_talkers *talkers, const struct top_talker *talker,
                       uint64_t now_ms);

void top_model_free(struct top_model *model);

/* ---- view ---- */

enum top_sort {
    TOP_BY_RATE,
    TOP_BY_OBJECTS,
    TOP_BY_MEMORY,
    TOP_BY_AGE,
    TOP_BY_NAME,
    TOP_BY_CONFIGURATION,
};

struct top_view {
    unsigned width, height; /* 0: unlimited, and nothing is cut */
    bool colour;
    bool help;     /* the keys instead of the tables */
    bool managers; /* the managers that change most instead of the objects */
    enum top_sort sort;
};

/* Appends the lines of the picture, each with a line end; with a height at most that many. Sorts the
 * watches of @model. */
void top_view_put(const struct top_view *view, struct top_model *model, uint64_t now_ms,
                  struct buf *out);

/* Changes the view as @key says. Returns false if there is no such key. */
bool top_view_key(struct top_view *view, char key);

#endif
