/*
 * webhook_preset.h - the bodies of webhook requests, as a table: one file and one row each.
 *
 * A preset writes the records of a run as one body, and may read the response to it. Records are complete
 * lines of format/jsonl_format.c, so their members can be copied as they are written.
 */
#ifndef DAEMON_HANDLER_WEBHOOK_PRESET_H
#define DAEMON_HANDLER_WEBHOOK_PRESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/str.h"
#include "daemon/handler/handler.h"

struct webhook_record {
    struct str line; /* a JSON object, without the newline */
    struct str log, seq;
    int64_t time_us; /* when the change was received */
};

struct webhook_preset {
    const char *name;         /* in the conf */
    const char *content_type; /* of the body */
    const char *batch_type;   /* of put_body() with `batch`, if it differs; otherwise NULL */

    /* Appends the body for @n records, at least 1; @batch: the handler may send several. */
    void (*put_body)(struct buf *out, const struct webhook_record *records, size_t n, bool batch);

    /*
     * Reads the body of a response with a status of 2xx, which may report that records failed: stores what
     * became of each of the @n records, and appends the reason to @why. Returns false if the body can't be
     * read. NULL: such a response accepts all records, and its body is ignored.
     */
    bool (*read_response)(struct str body, size_t n, enum handler_outcome *ret_outcomes,
                          struct buf *why);
};

extern const struct webhook_preset webhook_preset_jsonl;
extern const struct webhook_preset webhook_preset_cloudevents;
extern const struct webhook_preset webhook_preset_loki;
extern const struct webhook_preset webhook_preset_elastic_bulk;
extern const struct webhook_preset webhook_preset_otlp_json;
extern const struct webhook_preset webhook_preset_slack;

/* NULL, with @err listing the names (@err may be NULL), if there is none of this name. */
const struct webhook_preset *webhook_preset_find(const char *name, struct inf_error *err);

/* ---- for presets ---- */

/* The member @name of the record as written, in quotes if it is a string; empty: there is none. */
struct str webhook_field(const struct webhook_record *record, const char *name);

/* Whether the member is the string @text. */
bool webhook_field_is(const struct webhook_record *record, const char *name, const char *text);

/* Appends the member, or "" in quotes. */
void webhook_put_field(struct buf *out, const struct webhook_record *record, const char *name);

/* Appends the member as text, without quotes and escapes. */
void webhook_put_text(struct buf *out, const struct webhook_record *record, const char *name);

/* Appends the text that identifies the record: LOG-SEQ. */
void webhook_put_id(struct buf *out, const struct webhook_record *record);

#endif
