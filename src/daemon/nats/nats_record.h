/*
 * nats_record.h - what a record becomes in JetStream: its subject, its headers and its payload, which is the line.
 *
 *     subject   k8s.{cluster}.{resource}.{namespace}.{name}, each name as one token: other characters than letters, digits,
 *               '_' and '-' are percent-encoded, and an empty name is '_'
 *     headers   Nats-Msg-Id          CLUSTER/UID/TYPE/VERSION: a repetition within the duplicate window of the stream is
 *                                    dropped. The version is always part of it: an object that leaves a selection and
 *                                    enters it again is added twice. With another template also a hash of the subject:
 *                                    several sinks or watches may publish the same change under different subjects
 *               Nats-Expected-Stream, Nats-Expected-Last-Subject-Sequence
 *               Informerd-Log, -Seq, -Type, -Resource, -Uid, -Rv: for consumers, and for nats_position.h
 */
#ifndef DAEMON_NATS_NATS_RECORD_H
#define DAEMON_NATS_NATS_RECORD_H

#include "base/buf.h"
#include "daemon/nats/nats_position.h"

#define NATS_SUBJECT_PRESET "k8s.{cluster}.{resource}.{namespace}.{name}"

enum {
    NATS_SUBJECT_MAX = 2048, /* LIMIT: bytes; a server takes lines of 4096 */
    NATS_TEMPLATE_MAX = 512, /* LIMIT: bytes of a template */
    NATS_HEADERS_ROOM =
        512, /* of the headers that nats_record_put_headers() adds, besides the id */
    NATS_PAYLOAD_MIN = 1024, /* a smaller limit of the server is not usable */
};

struct nats_record {
    char *subject;
    uint64_t subject_hash;
    char *id;           /* of the message */
    struct buf headers; /* those that do not change */
    struct str payload; /* in the line, or in `shortened` */
    struct buf shortened;
    struct nats_position position;
};

/* Checks a template. Returns 0, or -INF_ECONF with the remedy. */
int nats_template_check(const char *text, struct inf_error *err);

/*
 * Makes the message of @line, which must outlive it. With its headers it has at most @limit bytes. Returns 0; -INF_EPROTO if it is
 * no record of a change; or -INF_ETOOBIG if not even the identity of the object fits, or the subject is too long.
 */
int nats_record_make(const char *subject_template, struct str line, size_t limit,
                     const struct nats_last *last, struct nats_record *ret, struct inf_error *err);
void nats_record_free(struct nats_record *record);

/* Appends all headers. @seq: of the last message of the subject; 0: there must be none. With @repeated the id is unique:
 * the one of the change was used before. */
void nats_record_put_headers(const struct nats_record *record, const char *stream, uint64_t seq,
                             bool repeated, struct buf *out);

/* The position of a stored message, by its headers. Returns false if informerd has not published it. */
bool nats_headers_position(struct str headers, const struct nats_last *last,
                           struct nats_position *ret);

#endif
