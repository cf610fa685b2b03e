/*
 * metrics_process.c - metrics of the process, under the standard names of Prometheus client
 * libraries.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "informer/informer.h"

#include "daemon/http/metrics.h"

static double timeval_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void put_cpu(struct metrics *m)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        metrics_single(m, "process_cpu_seconds_total", METRICS_COUNTER,
                       "Total user and system CPU time.",
                       timeval_seconds(used.ru_utime) + timeval_seconds(used.ru_stime));
}

static void put_memory(struct metrics *m)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long all, resident;
    if (!file)
        return;
    if (fscanf(file, "%lu %lu", &all, &resident) == 2)
        metrics_single(m, "process_resident_memory_bytes", METRICS_GAUGE, "Resident memory.",
                       (double)resident * (double)sysconf(_SC_PAGESIZE));
    fclose(file);
}

static void put_files(struct metrics *m)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;
    size_t n = 0;
    if (!directory)
        return;
    while ((entry = readdir(directory)))
        n += entry->d_name[0] != '.';
    closedir(directory);
    metrics_single(m, "process_open_fds", METRICS_GAUGE, "Open file descriptors.",
                   (double)(n - 1)); /* without the descriptor of the directory itself */
}

void metrics_process(struct metrics *m, double start_seconds)
{
    struct metrics_label version = {"version", inf_version()};
    put_cpu(m);
    put_memory(m);
    put_files(m);
    metrics_single(m, "process_start_time_seconds", METRICS_GAUGE,
                   "Start time of the process, in seconds since 1970.", start_seconds);
    metrics_family(m, "informerd_build_info", METRICS_GAUGE, "Build information; always 1.");
    metrics_sample(m, 1, &version, 1);
}
