/*
 * log_reader.c - reads an event log while informerd writes it, and reports to the driver on behalf
 * of informerd:  log_reader LOG WATCHES
 *
 * A change counts as delivered when its line is in the file. The time to notice the line is included
 * in informerd's latency.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "tally.h"

struct log {
    int fd;
    char bytes[1024 * 1024];
    size_t len;
    int unsynced; /* watches */
    struct tally tally;
};

static void take_line(struct log *log, char *line, size_t len)
{
    char *sent;
    if (memmem(line, len, "\"type\":\"SYNCED\"", 15)) {
        if (--log->unsynced == 0)
            printf("synced\n");
    } else if (memmem(line, len, "\"type\":\"MODIFIED\"", 17)) {
        sent = memmem(line, len, "\"new\":\"sent 1", 13);
        if (sent)
            tally_add(&log->tally, sent + strlen("\"new\":\""));
    }
}

static void take_lines(struct log *log)
{
    char *line = log->bytes, *end = log->bytes + log->len, *newline;
    while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        *newline = '\0';
        take_line(log, line, (size_t)(newline - line));
        line = newline + 1;
    }
    log->len = (size_t)(end - line);
    memmove(log->bytes, line, log->len);
}

static void read_log(struct log *log)
{
    ssize_t n;
    while ((n = read(log->fd, log->bytes + log->len, sizeof(log->bytes) - log->len)) > 0) {
        log->len += (size_t)n;
        take_lines(log);
    }
}

static void read_command(struct log *log)
{
    char line[64];
    ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);
    if (n <= 0)
        exit(EXIT_SUCCESS);
    line[n] = '\0';
    tally_run_command(&log->tally, line);
}

int main(int argc, char **argv)
{
    static struct log log;
    char noticed[4096];
    int notices = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = notices, .events = POLLIN}};
    if (argc != 3 || (log.fd = open(argv[1], O_RDONLY | O_CREAT | O_CLOEXEC, 0600)) < 0 ||
        inotify_add_watch(notices, argv[1], IN_MODIFY) < 0) {
        fprintf(stderr, "usage: log_reader LOG WATCHES\n");
        return EXIT_FAILURE;
    }
    log.unsynced = atoi(argv[2]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (;;) {
        poll(polled, 2, -1);
        if (polled[0].revents)
            read_command(&log);
        while (read(notices, noticed, sizeof(noticed)) > 0)
            ;
        read_log(&log);
    }
}
