/*
 * faults.h - what goes wrong, when, and how often.
 *
 * A fault has a name, words that say which requests it is for, a number of times, and its
 * measures. It is put on the list by the control interface or a script, or made up from a seed.
 * Each request (or connection) takes the first that fits.
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
    FAULT_REFUSE,   /* nobody listens for `ms` */
    FAULT_RESET,    /* RST instead of an answer, or after `bytes` of its body */
    FAULT_HOLE,     /* no (more) answer, and the connection stays */
    FAULT_CUT,      /* closed after `bytes` of the body */
    FAULT_STALL,    /* nothing for `ms` after `bytes` of the body */
    FAULT_DRIP,     /* byte by byte, `ms` apart */
    FAULT_GARBAGE,  /* no HTTP (text=http), no JSON (text=json), after `events` */
    FAULT_HUGE,     /* an event of `size` bytes, after `events` */
    FAULT_DEEP,     /* an event nested `size` deep, after `events` */
    FAULT_UNKNOWN,  /* an event of a type that nobody knows, after `events` */
    FAULT_ERROR,    /* an ERROR event with `code`, after `events`; the stream ends */
    FAULT_EACH,     /* the stream ends after each event */
    FAULT_BLIND,    /* the stream shows nothing, and ends in good order after `ms` */
    FAULT_NO_END,   /* no bookmark that ends the initial events */
    FAULT_STATUS,   /* `code` instead of an answer; text=json, plain, html, empty,
                       or the message */
    FAULT_REDIRECT, /* 302 to `text` */
    FAULT_HTML,     /* 200 and a page, as from a proxy that wants a login */
    FAULT_TYPE,     /* the right answer, with `text` as its content type */
    FAULT_PRETTY,   /* laid out for people */
    FAULT_TRUNCATE, /* a list that stops after `events` items, in an answer that is whole */
    FAULT_EXPIRE,   /* this continue token has expired */
    FAULT_WARNING,  /* the right answer, with `text` as a Warning */
    FAULT_SECOND,   /* a second answer that nobody asked for */
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
    uint64_t skip;  /* pass this many first */
    uint64_t times; /* left; 0 is for ever */
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
    uint64_t made;  /* how many there ever were */
    uint64_t taken; /* how many were had */
    struct rng rng;
    uint64_t chance; /* of a made-up one, in percent of the requests */
};

void faults_init(struct faults *f);
void faults_clear(struct faults *f);

/* The kind by its name in @params ("do"); false if there is no such. */
bool fault_parse(struct fault *ret, const struct params *params);
void faults_add(struct faults *f, const struct fault *fault);

/* A copy of the fault for this request, FAULT_NONE if it has none. Connections that are only just
 * coming in ask with NULL for both. */
struct fault faults_take(struct faults *f, const char *verb, const char *target);

/* As JSON: [{"do":"cut","number":1,...}] */
void faults_put(struct buf *out, const struct faults *f);

/* The words for --help. */
void faults_help(struct buf *out);

#endif
