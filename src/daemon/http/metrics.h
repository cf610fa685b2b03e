/*
 * metrics.h - writes metrics in the text format of Prometheus, version 0.0.4.
 *
 *     struct metrics m = {.out = &page};
 *     metrics_family(&m, "informerd_objects", METRICS_GAUGE, "Objects in the cache.");
 *     metrics_sample(&m, 2, (struct metrics_label[]){{"watch", "pods"}, {"cluster", "prod"}}, 5000);
 *     metrics_sample(&m, ...)                                  the same family for another watch
 *     metrics_family(&m, ...)                                  and the next one
 *
 * Each family is started once, followed by all its samples. The caller ensures that no two samples
 * have the same labels. Help texts, label values and numbers can have any value.
 */
#ifndef DAEMON_HTTP_METRICS_H
#define DAEMON_HTTP_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum metrics_type {
    METRICS_COUNTER, /* never decreases while the process runs; its name ends in _total */
    METRICS_GAUGE,
    METRICS_HISTOGRAM, /* see metrics_histogram() */
};

struct metrics_label {
    const char *name;
    const char *value;
};

struct metrics {
    struct buf *out;
    const char *family; /* current family; borrowed */
};

void metrics_family(struct metrics *m, const char *name, enum metrics_type type, const char *help);

/* @value is written so that it reads back as the same number; whole numbers without a fraction. */
void metrics_sample(struct metrics *m, size_t n_labels, const struct metrics_label *labels,
                    double value);

/*
 * Writes the samples of a histogram in seconds. Its values are counted in @counts, which has one more than
 * @n_bounds: those of at most bounds_ms[0], those above it of at most bounds_ms[1], ... @labels has space for
 * one more than @n_labels.
 */
void metrics_histogram(struct metrics *m, size_t n_labels, struct metrics_label *labels,
                       const uint64_t *bounds_ms, size_t n_bounds, const uint64_t *counts,
                       double sum);

/* A family of one sample without labels. */
void metrics_single(struct metrics *m, const char *name, enum metrics_type type, const char *help,
                    double value);

/*
 * Writes the metrics of the process: CPU time, memory, open files, start time and build.
 * @start_seconds is in seconds since 1970 and must not change between calls. Values that the system
 * does not provide are omitted.
 */
void metrics_process(struct metrics *m, double start_seconds);

/* Resident memory and CPU time of the process; NAN if the system does not provide them. */
double metrics_resident_bytes(void);
double metrics_cpu_seconds(void);

#endif
