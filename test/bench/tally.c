/* tally.c - keeps the latencies in an array and sorts it when an answer is due; see tally.h. */
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void answer_if_due(struct tally *t)
{
    if (t->expected == 0 || t->delivered < t->expected)
        return;
    t->expected = 0;
    qsort(t->late_ns, t->n, sizeof(*t->late_ns), by_size);
    printf("{\"delivered\":%llu", (unsigned long long)t->delivered);
    if (t->n > 0)
        printf(",\"p50\":%lld,\"p99\":%lld,\"p999\":%lld,\"max\":%lld",
               (long long)t->late_ns[t->n / 2], (long long)t->late_ns[t->n * 99 / 100],
               (long long)t->late_ns[t->n * 999 / 1000], (long long)t->late_ns[t->n - 1]);
    printf("}\n");
    fflush(stdout);
    t->n = 0;
}

/* The stamp is "sent 1000022334455667788": a leading 1 that keeps the width, then nanoseconds. */
void tally_add(struct tally *t, const char *sent)
{
    if (t->n == t->room) {
        t->room = t->room ? t->room * 2 : 4096;
        t->late_ns = xrealloc(t->late_ns, t->room * sizeof(*t->late_ns));
    }
    t->late_ns[t->n++] = now_ns() - (int64_t)strtoull(sent + strlen("sent 1"), NULL, 10);
    t->delivered++;
    answer_if_due(t);
}

void tally_run_command(struct tally *t, const char *line)
{
    if (strncmp(line, "expect ", 7) != 0)
        return;
    t->expected = strtoull(line + 7, NULL, 10);
    answer_if_due(t);
}
