/*
 * metrics_process.c - metrics of the process, under the standard names of Prometheus client
 * libraries. Values that the system does not provide are omitted.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "informer/informer.h"

#include "base/base.h"
#include "daemon/http/metrics.h"

/* The values are NAN if the system does not provide them. */

double metrics_cpu_seconds(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0)
        return (double)NAN; /* UNTESTED: it can't fail */
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

double metrics_resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    double bytes = (double)NAN;
    unsigned long all, resident;
    if (!file)
        return bytes;
    if (fscanf(file, "%lu %lu", &all, &resident) == 2)
        bytes = (double)resident * (double)sysconf(_SC_PAGESIZE);
    fclose(file);
    return bytes;
}

static double open_files(void)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;
    size_t n = 0;
    if (!directory)
        return (double)NAN;
    while ((entry = readdir(directory)))
        n += entry->d_name[0] != '.';
    closedir(directory);
    return (double)(n - 1); /* without the descriptor of the directory itself */
}

static const struct {
    const char *name;
    enum metrics_type type;
    const char *help;
    double (*read)(void);
} families[] = {
    {"process_cpu_seconds_total", METRICS_COUNTER, "Total user and system CPU time.",
     metrics_cpu_seconds},
    {"process_resident_memory_bytes", METRICS_GAUGE, "Resident memory.", metrics_resident_bytes},
    {"process_open_fds", METRICS_GAUGE, "Open file descriptors.", open_files},
};

void metrics_process(struct metrics *m, double start_seconds)
{
    struct metrics_label version = {"version", inf_version()};
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        double value = families[i].read();
        if (!isnan(value))
            metrics_single(m, families[i].name, families[i].type, families[i].help, value);
    }
    metrics_single(m, "process_start_time_seconds", METRICS_GAUGE,
                   "Start time of the process, in seconds since 1970.", start_seconds);
    metrics_family(m, "informerd_build_info", METRICS_GAUGE, "Build information; always 1.");
    metrics_sample(m, 1, &version, 1);
}
