/*
 * metrics.h - a page of metrics in Prometheus' text format, version 0.0.4.
 *
 *     struct metrics m = {.out = &page};
 *     metrics_family(&m, "informerd_objects", METRICS_GAUGE, "Objects in the store.");
 *     metrics_sample(&m, 2, (struct metrics_label[]){{"watch", "pods"}, {"cluster", "prod"}}, 5000);
 *     metrics_sample(&m, ...)                                  the same family for another watch
 *     metrics_family(&m, ...)                                  and the next one
 *
 * A family is begun once, and all its samples follow. That no two have the same labels is up to the
 * caller; help, label values and numbers may be anything.
 */
#ifndef DAEMON_HTTP_METRICS_H
#define DAEMON_HTTP_METRICS_H

#include <stddef.h>

#include "base/buf.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum metrics_type {
    METRICS_COUNTER, /* only grows while the process lives; its name ends in _total */
    METRICS_GAUGE,
};

struct metrics_label {
    const char *name;
    const char *value;
};

struct metrics {
    struct buf *out;
    const char *family; /* whose samples come now; borrowed */
};

void metrics_family(struct metrics *m, const char *name, enum metrics_type type, const char *help);

/* @value is written so that reading it gives the same number; a whole one as a whole one. */
void metrics_sample(struct metrics *m, size_t n_labels, const struct metrics_label *labels,
                    double value);

/* A family of one sample without labels. */
void metrics_single(struct metrics *m, const char *name, enum metrics_type type, const char *help,
                    double value);

/*
 * What every page has about its process: processor time, memory, open files, start and build.
 * @start_seconds since 1970, remembered by the caller, as it must never change. What the system does
 * not tell is left out.
 */
void metrics_process(struct metrics *m, double start_seconds);

#endif
