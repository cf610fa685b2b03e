/*
 * faults.h - injected faults.
 *
 * A fault has a kind, conditions for the requests that it applies to, a number of times, and
 * parameters. Faults are added by the control interface or a script, or chosen at random with a
 * seed. Each request (or connection) takes the first fault that matches.
 */
#ifndef KUBESIM_FAULTS_H
#define KUBESIM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/rng.h"
#include "params.h"

enum fault_kind {
    FAULT_NONE,
    FAULT_REFUSE,   /* the port is closed for `ms` */
    FAULT_RESET,    /* RST instead of an answer, or after `bytes` of its body */
    FAULT_HOLE,     /* no (further) answer, the connection stays open */
    FAULT_CUT,      /* closed after `bytes` of the body */
    FAULT_STALL,    /* a pause of `ms` after `bytes` of the body */
    FAULT_DRIP,     /* byte by byte, `ms` apart */
    FAULT_GARBAGE,  /* invalid HTTP (text=http) or JSON (text=json), after `events` */
    FAULT_HUGE,     /* an event of `size` bytes, after `events` */
    FAULT_DEEP,     /* an event nested `size` deep, after `events` */
    FAULT_UNKNOWN,  /* an event of an unknown type, after `events` */
    FAULT_ERROR,    /* an ERROR event with `code`, after `events`; the stream ends */
    FAULT_EACH,     /* the stream ends after each event */
    FAULT_BLIND,    /* the stream sends nothing, and ends regularly after `ms` */
    FAULT_NO_END,   /* no bookmark that ends the initial events */
    FAULT_STATUS,   /* `code` instead of an answer; text=json, plain, html, empty,
                       or the message */
    FAULT_REDIRECT, /* 302 to `text` */
    FAULT_HTML,     /* 200 and an HTML page, as from a proxy that requires a login */
    FAULT_TYPE,     /* the regular answer, with `text` as its content type */
    FAULT_PRETTY,   /* pretty-printed */
    FAULT_TRUNCATE, /* a list that ends after `events` items, with valid framing */
    FAULT_EXPIRE,   /* this continue token has expired */
    FAULT_WARNING,  /* the regular answer, with `text` as a Warning header */
    FAULT_SECOND,   /* a second, unsolicited response */
};

enum fault_at {
    AT_REQUEST,
    AT_ACCEPT,
    AT_BODY,
};

enum {
    FAULT_WORD_MAX = 160,
};

struct fault {
    struct list node; /* in faults.list; unused in copies */
    enum fault_kind kind;
    enum fault_at at;
    uint64_t number;
    char verb[FAULT_WORD_MAX]; /* list watch watchlist get create update delete other; "": any */
    char path[FAULT_WORD_MAX]; /* a part of the target; "": any */
    char text[FAULT_WORD_MAX];
    uint64_t skip;  /* matches to let pass first */
    uint64_t times; /* left; 0: unlimited */
    uint64_t bytes;
    uint64_t events;
    uint64_t ms;
    uint64_t size;
    uint64_t code;
    uint64_t retry_after;
    bool date; /* Retry-After is a date */
};

struct faults {
    struct list list;
    uint64_t made;  /* faults ever added */
    uint64_t taken; /* faults that were applied */
    struct rng rng;
    uint64_t chance; /* of a random fault, in percent of the requests */
};

void faults_init(struct faults *f);
void faults_clear(struct faults *f);

/* Reads a fault from @params ("do" is its kind); false if the kind is unknown. */
bool fault_parse(struct fault *ret, const struct params *params);
void faults_add(struct faults *f, const struct fault *fault);

/* A copy of the fault for this request, FAULT_NONE if it has none. New connections pass NULL for
 * both. */
struct fault faults_take(struct faults *f, const char *verb, const char *target);

/* As JSON: [{"do":"cut","number":1,...}] */
void faults_put(struct buf *out, const struct faults *f);

/* The faults for --help. */
void faults_help(struct buf *out);

#endif
