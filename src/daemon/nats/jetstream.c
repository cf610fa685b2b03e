/*
 * jetstream.c - reads replies. A reply that is not understood counts as unavailable, and is repeated.
 */
#include "daemon/nats/jetstream.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/err.h"
#include "base/json/json.h"
#include "base/text/base64.h"
#include "daemon/nats/nats_record.h"

enum {
    NO_RESPONDERS = 503,
};

/* "err_code" of replies. */
enum {
    CODE_NO_MESSAGE = 10037,
    CODE_NOT_ENABLED_FOR_ACCOUNT = 10039,
    CODE_TOO_BIG = 10054,
    CODE_STREAM_NOT_FOUND = 10059,
    CODE_WRONG_SEQUENCE = 10071,
    CODE_NOT_ENABLED = 10076,
    CODE_DUPLICATE_IN_PROCESS = 10158,
    CODE_WRONG_SEQUENCE_IN_PROCESS = 10164,
};

struct reply_error {
    unsigned code; /* 0: none */
    char text[JETSTREAM_TEXT_MAX + 1];
};

/* ---- values ---- */

static struct str member_of(struct str object, const char *name)
{
    struct json_walk walk;
    struct json_member m;
    json_walk_start(&walk, object);
    while (json_walk_next(&walk, &m))
        if (json_key_is(m.key, name))
            return m.value;
    return (struct str){0};
}

static bool is_object(struct str value)
{
    return value.len && value.at[0] == '{';
}

static bool is_true(struct str value)
{
    return value.len && json_value_is(value, STR("true"));
}

static void copy_text(struct str value, char *buf, size_t size)
{
    json_value_copy(value, buf, size);
    for (; *buf; buf++)
        if (*buf < ' ' || *buf == 0x7f)
            *buf = '?';
}

static struct reply_error error_of(struct str payload)
{
    struct str error = member_of(payload, "error");
    struct reply_error e = {0};
    if (!is_object(error))
        return e;
    e.code = (unsigned)nats_version_read(member_of(error, "err_code"));
    e.code = e.code ? e.code : 1;
    copy_text(member_of(error, "description"), e.text, sizeof(e.text));
    return e;
}

/* ---- acknowledgements ---- */

static enum jetstream_outcome outcome_of(unsigned code)
{
    switch (code) {
    case CODE_WRONG_SEQUENCE:
    case CODE_WRONG_SEQUENCE_IN_PROCESS:
    case CODE_DUPLICATE_IN_PROCESS: return JETSTREAM_CONFLICT;
    case CODE_TOO_BIG: return JETSTREAM_TOO_BIG;
    default: return JETSTREAM_UNAVAILABLE;
    }
}

void jetstream_ack_read(const struct nats_message *reply, struct jetstream_ack *ret)
{
    struct reply_error error;
    *ret = (struct jetstream_ack){.outcome = JETSTREAM_UNAVAILABLE};
    if (nats_headers_status(reply->headers) == NO_RESPONDERS) {
        snprintf(ret->why, sizeof(ret->why), "no stream takes this subject");
        return;
    }
    error = error_of(reply->payload);
    ret->seq = nats_version_read(member_of(reply->payload, "seq"));
    ret->duplicate = is_true(member_of(reply->payload, "duplicate"));
    if (error.code) {
        ret->outcome = outcome_of(error.code);
        snprintf(ret->why, sizeof(ret->why), "%s (error %u)", error.text, error.code);
    } else if (ret->seq) {
        ret->outcome = JETSTREAM_STORED;
    } else {
        snprintf(ret->why, sizeof(ret->why), "the acknowledgement can't be read");
    }
}

/* ---- streams ---- */

static int describe(const struct reply_error *error, const char *stream, struct inf_error *err)
{
    switch (error->code) {
    case CODE_STREAM_NOT_FOUND:
        return err_set(err, INF_ESERVER,
                       "there is no stream %s; create it, or correct the name in nats.stream",
                       stream);
    case CODE_NOT_ENABLED:
    case CODE_NOT_ENABLED_FOR_ACCOUNT:
        return err_set(err, INF_ESERVER, "%s; enable JetStream in the server for this account",
                       error->text);
    default:
        return err_set(err, INF_ESERVER, "stream %s: %s (error %u)", stream, error->text,
                       error->code);
    }
}

int jetstream_stream_read(const struct nats_message *reply, const char *stream,
                          struct jetstream_stream *ret, struct inf_error *err)
{
    struct str config = member_of(reply->payload, "config");
    struct reply_error error = error_of(reply->payload);
    uint64_t max;
    if (nats_headers_status(reply->headers) == NO_RESPONDERS)
        return err_set(err, INF_ESERVER,
                       "JetStream does not answer; is it enabled in the server for this account?");
    if (error.code)
        return describe(&error, stream, err);
    if (!is_object(config))
        return err_set(err, INF_ESERVER, "stream %s: its description can't be read", stream);
    if (is_true(member_of(config, "no_ack")))
        return err_set(err, INF_ESERVER,
                       "stream %s has no_ack, so it confirms nothing; remove that option", stream);
    max = nats_version_read(member_of(config, "max_msg_size")); /* -1: no limit */
    ret->max_message = max && max < SIZE_MAX ? (size_t)max : SIZE_MAX;
    ret->direct = is_true(member_of(config, "allow_direct"));
    return 0;
}

/* ---- stored messages ---- */

static enum jetstream_found read_direct(const struct nats_message *reply,
                                        const struct nats_last *last, struct jetstream_last *ret)
{
    struct str seq;
    int status = nats_headers_status(reply->headers);
    if (status)
        return status == 404 ? JETSTREAM_NONE : JETSTREAM_UNKNOWN;
    if (!nats_headers_get(reply->headers, "Nats-Sequence", &seq))
        return JETSTREAM_UNKNOWN;
    ret->seq = nats_version_read(seq);
    ret->is_ours = nats_headers_position(reply->headers, last, &ret->position);
    return JETSTREAM_FOUND;
}

static enum jetstream_found read_stored(const struct nats_message *reply,
                                        const struct nats_last *last, struct jetstream_last *ret)
{
    struct str message = member_of(reply->payload, "message"), encoded;
    struct buf text = {0};
    char *headers = NULL;
    size_t len = 0;
    if (!is_object(message))
        return error_of(reply->payload).code == CODE_NO_MESSAGE ? JETSTREAM_NONE
                                                                : JETSTREAM_UNKNOWN;
    ret->seq = nats_version_read(member_of(message, "seq"));
    encoded = member_of(message, "hdrs");
    json_value_put(&text, encoded);
    if (base64_decode(text.bytes, text.len, &headers, &len) == 0)
        ret->is_ours = nats_headers_position((struct str){headers, len}, last, &ret->position);
    free(headers);
    buf_free(&text);
    return JETSTREAM_FOUND;
}

enum jetstream_found jetstream_last_read(const struct nats_message *reply, bool direct,
                                         const struct nats_last *last, struct jetstream_last *ret)
{
    enum jetstream_found found;
    *ret = (struct jetstream_last){0};
    if (direct)
        found = read_direct(reply, last, ret);
    else if (nats_headers_status(reply->headers))
        found = JETSTREAM_UNKNOWN;
    else
        found = read_stored(reply, last, ret);
    return found == JETSTREAM_FOUND && !ret->seq ? JETSTREAM_UNKNOWN : found;
}
