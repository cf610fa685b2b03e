/*
 * replay.c - the server of the benchmark:  replay TEMPLATE CERT KEY PODS NAMESPACES
 *
 * Prints its port as a line of JSON, then executes commands from stdin, each answered by a line when
 * it is done:
 *
 *   change N [RATE]   N pods change, RATE per second (default: at once), and watches get events
 *   secretly N        N pods change without events
 *   bookmark          sends a bookmark to every watch
 *   forget            versions up to now expire: clients that reconnect must list again
 *   cut               closes every connection
 *   status            does nothing
 *
 * The answer is {"watches": open and past their first list, "connections": accepted in total}.
 */
#include "replay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "base/alloc.h"

enum {
    CONNS_MAX = 2048,
    COMMAND = 0, /* index in the poll list */
    LISTENER = 1,
    FIRST_CONN = 2,
};

struct server {
    struct world world;
    SSL_CTX *tls;
    struct conn *conns[CONNS_MAX];
    struct pollfd polled[FIRST_CONN + CONNS_MAX];
    size_t n_conns;
    size_t accepted;

    /* changes still to be made at the given rate */
    uint64_t left, made, rate, began_ns;
};

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* Prefers the cipher that an API server would choose (Go does, on CPUs with AES instructions), so that
 * all clients use the same. */
static SSL_CTX *identity(const char *cert, const char *key)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(tls, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384");
    SSL_CTX_set_options(tls, SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (SSL_CTX_use_certificate_chain_file(tls, cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1)
        die("replay: certificate");
    return tls;
}

static int listen_here(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, len) < 0 || listen(fd, CONNS_MAX) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        die("replay: listen");
    printf("{\"port\":%d}\n", ntohs(at.sin_port));
    return fd;
}

static void accept_all(struct server *s)
{
    int fd, on = 1;
    while (s->n_conns < CONNS_MAX &&
           (fd = accept4(s->polled[LISTENER].fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        s->conns[s->n_conns++] = conn_new(&s->world, s->tls, fd);
        s->accepted++;
    }
}

static void run_conns(struct server *s, size_t n_polled)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_conns; i++) {
        short happened = i < n_polled ? s->polled[FIRST_CONN + i].revents : 0;
        if (happened || conn_has_unsent(s->conns[i]))
            conn_run(s->conns[i], happened & ~POLLOUT);
        if (s->conns[i]->phase == CLOSED)
            conn_free(s->conns[i]);
        else
            s->conns[kept++] = s->conns[i];
    }
    s->n_conns = kept;
}

static void answer_command(const struct server *s)
{
    size_t watches = 0;
    for (size_t i = 0; i < s->n_conns; i++)
        watches += s->conns[i]->phase == FOLLOWING;
    printf("{\"watches\":%zu,\"connections\":%zu}\n", watches, s->accepted);
}

/* The number of changes that are due. */
static uint64_t due(const struct server *s)
{
    uint64_t by_now = s->rate ? (now_ns() - s->began_ns) * s->rate / 1000000000 : UINT64_MAX;
    return by_now < s->left + s->made ? by_now - s->made : s->left;
}

static void make_changes(struct server *s)
{
    if (s->left == 0)
        return;
    for (uint64_t n = due(s); n > 0; n--, s->left--, s->made++)
        world_change(&s->world, false);
    if (s->left == 0)
        answer_command(s);
}

static void run_command(struct server *s, char *line)
{
    const char *word = strtok(line, " \n"), *count = strtok(NULL, " \n"),
               *rate = strtok(NULL, " \n");
    uint64_t n = count ? strtoull(count, NULL, 10) : 0;
    if (strcmp(word, "change") == 0 && n > 0) {
        s->left = n;
        s->made = 0;
        s->rate = rate ? strtoull(rate, NULL, 10) : 0;
        s->began_ns = now_ns();
        return; /* answered when all are made */
    }
    for (uint64_t i = 0; strcmp(word, "secretly") == 0 && i < n; i++)
        world_change(&s->world, true);
    if (strcmp(word, "forget") == 0)
        s->world.forgotten = ++s->world.version;
    for (size_t i = 0; i < s->n_conns; i++) {
        s->conns[i]->bookmark |= strcmp(word, "bookmark") == 0;
        if (strcmp(word, "cut") == 0)
            s->conns[i]->phase = CLOSED;
    }
    answer_command(s);
}

static void read_commands(struct server *s)
{
    char line[256];
    ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);
    if (n <= 0)
        exit(EXIT_SUCCESS); /* the driver has ended */
    line[n] = '\0';
    run_command(s, line);
}

/* Polls everything; a watch that is up to date continues only after our own changes. */
static void wait_for_work(struct server *s)
{
    struct timespec tick = {.tv_nsec = 200000};
    bool pacing = s->left > 0 && s->rate > 0;
    for (size_t i = 0; i < s->n_conns; i++)
        s->polled[FIRST_CONN + i] = (struct pollfd){
            .fd = s->conns[i]->fd,
            .events = (short)(POLLIN | (s->conns[i]->wants_write ? POLLOUT : 0)),
        };
    if (ppoll(s->polled, FIRST_CONN + s->n_conns, pacing ? &tick : NULL, NULL) < 0)
        die("replay: poll");
}

int main(int argc, char **argv)
{
    static struct server s;
    if (argc != 6) {
        fprintf(stderr, "usage: replay TEMPLATE CERT KEY PODS NAMESPACES\n");
        return EXIT_FAILURE;
    }
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    world_init(&s.world, argv[1], (uint32_t)atoi(argv[4]), (uint32_t)atoi(argv[5]));
    s.tls = identity(argv[2], argv[3]);
    s.polled[COMMAND] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    s.polled[LISTENER] = (struct pollfd){.fd = listen_here(), .events = POLLIN};
    for (;;) {
        size_t n_polled = s.n_conns;
        wait_for_work(&s);
        if (s.polled[COMMAND].revents)
            read_commands(&s);
        if (s.polled[LISTENER].revents)
            accept_all(&s);
        make_changes(&s);
        run_conns(&s, n_polled);
    }
}
