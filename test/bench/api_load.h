/*
 * api_load.h - the connections of api_load: HTTP/1.1 over a Unix socket, TCP or TLS.
 *
 * A connection has one request at a time. Connecting and sending block; reading does not.
 */
#ifndef BENCH_API_LOAD_H
#define BENCH_API_LOAD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include <llhttp.h>
#include <openssl/types.h>

struct load {
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_in in;
    } address;
    socklen_t address_len;
    SSL_CTX *tls;       /* NULL: plain */
    char headers[4096]; /* of each request */
    const char *cert, *key;
    pid_t pid; /* of the server; 0: not given */
    int epoll;
};

struct load_conn {
    const struct load *load;
    int fd;
    SSL *ssl;
    llhttp_t parser;
    unsigned status; /* of the response; 0: its head is incomplete */
    bool complete;   /* the response */
    bool ended;      /* the response of a watch, or the connection */
    uint64_t bytes;  /* of the body of the current response */
    uint64_t lines;  /* of all bodies: the events of a watch */
    char tail[512];  /* the end of the body, as a string */
    double sent_us;
    double first_us; /* when the first byte of the body was read */
};

/* The time, monotonic. */
double load_now_us(void);

/* Parses @address. Returns 0 or -1. */
int load_init(struct load *load, const char *address);
void load_add_header(struct load *load, const char *header);
void load_free(struct load *load);

/* All of these end the program on failures. @stuck: the kernel shall keep little of what is not read. */
void load_conn_open(struct load_conn *conn, const struct load *load, bool stuck);
void load_conn_send(struct load_conn *conn, const char *target);
/* Reads what is there. */
void load_conn_read(struct load_conn *conn);
/* Reads until the end, or until nothing arrives for @ms. */
void load_conn_drain(struct load_conn *conn, int ms);
void load_conn_close(struct load_conn *conn);

#endif
