/*
 * api_load.c - a client that loads an API server, informerd or kube-apiserver, and measures it:
 *
 *     api_load [-H 'NAME: VALUE']... [-c CERT -k KEY] [-p PID] ADDRESS watch N STUCK SECONDS TARGET
 *     api_load ...                                             ADDRESS get CONNECTIONS SECONDS TARGET...
 *     api_load ...                                             ADDRESS list COUNT TARGET
 *
 * ADDRESS is unix:PATH, http://IPv4:PORT or https://IPv4:PORT, whose certificate is not verified. -c and
 * -k are a client certificate; PID is the server, whose CPU time is measured (all of its threads).
 *
 * watch: opens N watches and prints a line when each has got the head of its response. For SECONDS it
 * counts the events that arrive; the driver makes the changes. STUCK more watches read nothing until
 * the end, then what is there; `expired` is the number of those that were ended with 410.
 *
 * get: keeps one request in progress on each connection. list: one request after the other.
 *
 * The result is a line of JSON; cpu_us is the CPU time of the server.
 */
#include "api_load.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS = 256,
    SAMPLES_MAX = 1 << 20, /* LIMIT: latencies that are kept */
    HEAD_MS = 60 * 1000,   /* for the heads of all watches */
    DRAIN_MS = 500,        /* without a byte from a stuck watch: it has got all */
};

static void usage(void)
{
    fputs(
        "usage: api_load [-H 'NAME: VALUE']... [-c CERT -k KEY] [-p PID] ADDRESS\n"
        "                watch N STUCK SECONDS TARGET | get CONNECTIONS SECONDS TARGET... | list COUNT TARGET\n",
        stderr);
    exit(EXIT_FAILURE);
}

/* The CPU time of the server. */
static double cpu_us(const struct load *l)
{
    struct timespec t = {0};
    clockid_t id;
    if (l->pid && clock_getcpuclockid(l->pid, &id) == 0)
        clock_gettime(id, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* ---- connections ---- */

static struct load_conn *open_conns(struct load *l, size_t n, const char *target, bool stuck)
{
    struct load_conn *conns = calloc(n ? n : 1, sizeof(*conns));
    for (size_t i = 0; i < n; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &conns[i]};
        load_conn_open(&conns[i], l, stuck);
        if (target)
            load_conn_send(&conns[i], target);
        if (!stuck)
            epoll_ctl(l->epoll, EPOLL_CTL_ADD, conns[i].fd, &event);
    }
    return conns;
}

static void close_conns(struct load_conn *conns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        load_conn_close(&conns[i]);
    free(conns);
}

/* Reads from the connections that have bytes; @done is called for each complete response. */
static void read_some(struct load *l, double until_us, void (*done)(struct load_conn *conn))
{
    struct epoll_event events[EVENTS];
    double left_ms = (until_us - load_now_us()) / 1e3;
    int n = epoll_wait(l->epoll, events, EVENTS, left_ms > 0 ? (int)left_ms + 1 : 0);
    for (int i = 0; i < n; i++) {
        struct load_conn *c = events[i].data.ptr;
        load_conn_read(c);
        if (c->ended)
            epoll_ctl(l->epoll, EPOLL_CTL_DEL, c->fd, NULL);
        if (c->complete && done)
            done(c);
    }
}

/* ---- watches ---- */

static void wait_for_heads(struct load *l, const struct load_conn *conns, size_t n)
{
    double until = load_now_us() + HEAD_MS * 1e3;
    size_t ready = 0;
    while (ready < n && load_now_us() < until) {
        read_some(l, until, NULL);
        while (ready < n && conns[ready].status)
            ready++;
    }
    for (size_t i = 0; i < n; i++)
        if (conns[i].status != 200) {
            fprintf(stderr, "api_load: watch %zu has status %u\n", i, conns[i].status);
            exit(EXIT_FAILURE);
        }
}

static size_t count_expired(struct load_conn *conns, size_t n)
{
    size_t expired = 0;
    for (size_t i = 0; i < n; i++) {
        load_conn_drain(&conns[i], DRAIN_MS);
        expired += conns[i].ended && strstr(conns[i].tail, "\"code\":410");
    }
    return expired;
}

static void run_watches(struct load *l, char **args)
{
    size_t n = strtoul(args[0], NULL, 10), n_stuck = strtoul(args[1], NULL, 10);
    struct load_conn *stuck = open_conns(l, n_stuck, args[3], true);
    struct load_conn *conns = open_conns(l, n, args[3], false);
    uint64_t *before = calloc(n ? n : 1, sizeof(*before));
    uint64_t least = UINT64_MAX, most = 0, total = 0, bytes = 0;
    double cpu, until;
    size_t ended = 0;
    wait_for_heads(l, conns, n);
    read_some(l, 0, NULL); /* events that came with the heads are not counted */
    for (size_t i = 0; i < n; i++) {
        before[i] = conns[i].lines;
        conns[i].bytes = 0;
    }
    printf("{\"watches\":%zu}\n", n);
    fflush(stdout);
    cpu = cpu_us(l);
    until = load_now_us() + strtod(args[2], NULL) * 1e6;
    while (load_now_us() < until)
        read_some(l, until, NULL);
    cpu = cpu_us(l) - cpu;
    for (size_t i = 0; i < n; i++) {
        uint64_t lines = conns[i].lines - before[i];
        least = lines < least ? lines : least;
        most = lines > most ? lines : most;
        total += lines;
        bytes += conns[i].bytes;
        ended += conns[i].ended;
    }
    printf(
        "{\"events\":%llu,\"least\":%llu,\"most\":%llu,\"bytes\":%llu,\"ended\":%zu,\"expired\":%zu,"
        "\"cpu_us\":%.0f}\n",
        (unsigned long long)total, (unsigned long long)(n ? least : 0), (unsigned long long)most,
        (unsigned long long)bytes, ended, count_expired(stuck, n_stuck), cpu);
    free(before);
    close_conns(conns, n);
    close_conns(stuck, n_stuck);
}

/* ---- requests ---- */

static struct requests {
    char **targets;
    size_t n_targets, next;
    double *samples;
    size_t count, failed;
    double until_us;
} requests;

static void send_next(struct load_conn *c)
{
    struct requests *r = &requests;
    c->sent_us = load_now_us();
    load_conn_send(c, r->targets[r->next++ % r->n_targets]);
}

static void note_response(struct load_conn *c)
{
    struct requests *r = &requests;
    if (r->count < SAMPLES_MAX)
        r->samples[r->count] = load_now_us() - c->sent_us;
    r->count++;
    r->failed += c->status != 200;
    if (load_now_us() < r->until_us)
        send_next(c);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(double *samples, size_t count, double part)
{
    count = count < SAMPLES_MAX ? count : SAMPLES_MAX;
    qsort(samples, count, sizeof(*samples), by_size);
    return count ? samples[(size_t)((double)(count - 1) * part)] : 0;
}

static void run_gets(struct load *l, char **args, size_t n_targets)
{
    size_t n = strtoul(args[0], NULL, 10);
    struct load_conn *conns = open_conns(l, n, NULL, false);
    struct requests *r = &requests;
    double began = load_now_us(), cpu = cpu_us(l), us;
    *r = (struct requests){.targets = args + 2, .n_targets = n_targets};
    r->samples = calloc(SAMPLES_MAX, sizeof(*r->samples));
    r->until_us = began + strtod(args[1], NULL) * 1e6;
    for (size_t i = 0; i < n; i++)
        send_next(&conns[i]);
    while (load_now_us() < r->until_us)
        read_some(l, r->until_us, note_response);
    us = load_now_us() - began;
    cpu = cpu_us(l) - cpu;
    printf("{\"requests\":%zu,\"failed\":%zu,\"per_second\":%.0f,\"p50_us\":%.0f,\"p99_us\":%.0f,"
           "\"cpu_us\":%.0f}\n",
           r->count, r->failed, (double)r->count / us * 1e6, percentile(r->samples, r->count, 0.5),
           percentile(r->samples, r->count, 0.99), cpu);
    free(r->samples);
    close_conns(conns, n);
}

static void run_lists(struct load *l, char **args)
{
    size_t count = strtoul(args[0], NULL, 10);
    struct load_conn *c = open_conns(l, 1, NULL, false);
    double *first = calloc(count + 1, sizeof(*first)), *whole = calloc(count + 1, sizeof(*whole));
    double cpu = cpu_us(l);
    unsigned status = 200;
    for (size_t i = 0; i < count && !c->ended; i++) {
        double sent = load_now_us();
        load_conn_send(c, args[1]);
        while (!c->complete && !c->ended)
            read_some(l, load_now_us() + 1e6, NULL);
        first[i] = c->first_us - sent;
        whole[i] = load_now_us() - sent;
        status = c->status == 200 ? status : c->status;
    }
    cpu = cpu_us(l) - cpu;
    printf(
        "{\"status\":%u,\"bytes\":%llu,\"first_us\":%.0f,\"first_max_us\":%.0f,\"whole_us\":%.0f,"
        "\"cpu_us\":%.0f}\n",
        status, (unsigned long long)c->bytes, percentile(first, count, 0.5),
        percentile(first, count, 1), percentile(whole, count, 0.5), cpu / (double)count);
    free(first);
    free(whole);
    close_conns(c, 1);
}

int main(int argc, char **argv)
{
    struct load l = {.headers = ""};
    int option;
    signal(SIGPIPE, SIG_IGN);
    while ((option = getopt(argc, argv, "H:c:k:p:")) != -1) {
        switch (option) {
        case 'H': load_add_header(&l, optarg); break;
        case 'c': l.cert = optarg; break;
        case 'k': l.key = optarg; break;
        case 'p': l.pid = (pid_t)strtol(optarg, NULL, 10); break;
        default: usage();
        }
    }
    argv += optind;
    argc -= optind;
    if (argc < 4 || load_init(&l, argv[0]) < 0)
        usage();
    l.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (strcmp(argv[1], "watch") == 0 && argc == 6)
        run_watches(&l, argv + 2);
    else if (strcmp(argv[1], "get") == 0 && argc >= 5)
        run_gets(&l, argv + 2, (size_t)argc - 4);
    else if (strcmp(argv[1], "list") == 0 && argc == 4)
        run_lists(&l, argv + 2);
    else
        usage();
    close(l.epoll);
    load_free(&l);
    return EXIT_SUCCESS;
}
