/*
 * metrics.c - writes metrics in the text format of Prometheus. Help texts and label values are
 * escaped; numbers are written with the fewest digits that read back as the same value.
 */
#include "daemon/http/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Label values also escape quotes; HELP lines do not need that. */
static void put_escaped(struct buf *out, const char *text, bool quoted)
{
    for (; *text; text++) {
        if (*text == '\n') {
            buf_puts(out, "\\n");
            continue;
        }
        if (*text == '\\' || (quoted && *text == '"'))
            buf_putc(out, '\\');
        buf_putc(out, *text);
    }
}

/* Fast path for small whole numbers, which nearly all values are: hundreds of watches have
 * thousands of samples, and printf() is slow. Returns false for other values. */
static bool put_whole(struct buf *out, double value)
{
    char digits[20];
    size_t n = sizeof(digits);
    uint64_t whole = value >= 0 && value < 1e15 ? (uint64_t)value : 0;
    double again = (double)whole;
    if (memcmp(&again, &value, sizeof(value)) != 0)
        return false;
    do {
        digits[--n] = (char)('0' + whole % 10);
        whole /= 10;
    } while (whole);
    buf_put(out, digits + n, sizeof(digits) - n);
    return true;
}

/* The fewest digits that read back as the same number. */
static void put_value(struct buf *out, double value)
{
    char text[32];
    if (put_whole(out, value))
        return;
    if (!isfinite(value)) {
        buf_puts(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double again;
        snprintf(text, sizeof(text), "%.*g", digits, value);
        again = strtod(text, NULL);
        if (memcmp(&again, &value, sizeof(value)) == 0)
            break;
    }
    buf_puts(out, text);
}

static const char *const type_names[] = {
    [METRICS_COUNTER] = "counter", [METRICS_GAUGE] = "gauge", [METRICS_HISTOGRAM] = "histogram"};

void metrics_family(struct metrics *m, const char *name, enum metrics_type type, const char *help)
{
    buf_printf(m->out, "# HELP %s ", name);
    put_escaped(m->out, help, false);
    buf_printf(m->out, "\n# TYPE %s %s\n", name, type_names[type]);
    m->family = name;
}

/* @suffix follows the name of the family. */
static void put_sample(struct metrics *m, const char *suffix, size_t n_labels,
                       const struct metrics_label *labels, double value)
{
    assert(m->family && "a sample belongs to a family");
    buf_puts(m->out, m->family);
    buf_puts(m->out, suffix);
    for (size_t i = 0; i < n_labels; i++) {
        buf_putc(m->out, i ? ',' : '{');
        buf_puts(m->out, labels[i].name);
        buf_puts(m->out, "=\"");
        put_escaped(m->out, labels[i].value, true);
        buf_putc(m->out, '"');
    }
    buf_puts(m->out, n_labels ? "} " : " ");
    put_value(m->out, value);
    buf_putc(m->out, '\n');
}

void metrics_sample(struct metrics *m, size_t n_labels, const struct metrics_label *labels,
                    double value)
{
    put_sample(m, "", n_labels, labels, value);
}

void metrics_histogram(struct metrics *m, size_t n_labels, struct metrics_label *labels,
                       const uint64_t *bounds_ms, size_t n_bounds, const uint64_t *counts,
                       double sum)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= n_bounds; i++) {
        struct buf bound = {0};
        put_value(&bound, i < n_bounds ? (double)bounds_ms[i] / 1000 : (double)INFINITY);
        buf_putc(&bound, '\0');
        labels[n_labels] = (struct metrics_label){"le", bound.bytes};
        count += counts[i];
        put_sample(m, "_bucket", n_labels + 1, labels, (double)count);
        buf_free(&bound);
    }
    put_sample(m, "_sum", n_labels, labels, sum);
    put_sample(m, "_count", n_labels, labels, (double)count);
}

void metrics_single(struct metrics *m, const char *name, enum metrics_type type, const char *help,
                    double value)
{
    metrics_family(m, name, type, help);
    metrics_sample(m, 0, NULL, value);
}
