/*
 * body.c - turns the bytes of a response into events, by what was requested.
 *
 *     watch      event_lines.h, or event_frame.h for anything unusual  ->  decode.h
 *     list       list_items.h  ->  decode.h
 *     document   event_frame.h: one JSON text, passed on as it is
 *
 * An object that can't be decoded but has a name is skipped with a message. Anything else that can't
 * be read ends the response with an error.
 */
#include "kube/source/body.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/json/json_text.h"
#include "kube/source/object_hint.h"

void body_start(struct body *body, const struct source_request *request)
{
    body->want = request->want;
}

void body_reset(struct body *body)
{
    lines_reset(&body->lines);
    list_items_reset(&body->items);
    buf_free(&body->document);
}

void body_free(struct body *body)
{
    body_reset(body);
    decoder_free(&body->decoder);
}

/* Completes @event, a SOURCE_SKIPPED, with the reason @err. */
static int skip_object(struct body *body, struct source_event *event, const struct inf_error *err)
{
    body->skipped = *err;
    scrubber_clean_text(body->scrubber, body->skipped.text);
    event->text = body->skipped.text;
    return 1;
}

/* ---- a watch ---- */

static void name_event(struct str text, struct inf_error *err)
{
    struct str object;
    char *hint = NULL;
    if (json_member_get(text, STR("object"), &object))
        hint = hint_of(object, STR(""));
    if (hint)
        err_wrap(err, "%s", hint);
    free(hint);
}

/* An event that is not written as servers write it, or can't be decoded. */
static int next_frame(struct body *body, struct str *input, struct source_event *ret_event,
                      struct inf_error *err)
{
    struct str text;
    int rc = lines_next(&body->lines, input, &text);
    bool cut = rc == -INF_ETOOBIG;
    if (rc == 0)
        return 0;
    if (rc == -INF_EDECODE && decode_guess(&body->decoder, text, ret_event))
        return 1; /* deep only where the shape drops it: as a guess it would have been accepted too */
    if (rc > 0)
        rc = decode_event(&body->decoder, text, ret_event, err);
    else if (rc == -INF_ETOOBIG)
        err_set(err, INF_ETOOBIG, "watch event exceeds frame_max=%d bytes", FRAME_MAX);
    else
        err_set(err, INF_EDECODE, "watch event is nested deeper than %d levels", FRAME_DEPTH_MAX);
    if (rc == 0)
        return 1;
    name_event(text, err);
    return decode_unreadable(text, cut, ret_event) ? skip_object(body, ret_event, err) : rc;
}

static void count_other_shard(struct body *body)
{
    if (body->other_shards)
        ++*body->other_shards;
}

static int next_of_watch(struct body *body, struct str *input, struct source_event *ret_event,
                         struct inf_error *err)
{
    struct str line;
    enum lines_result result;
    while ((result = lines_guess(&body->lines, input, &line)) == LINES_GUESS &&
           shard_is_part(body->shard) && decode_is_other_shard(line, body->shard)) {
        count_other_shard(body);
        lines_accept(&body->lines, input);
    }
    switch (result) {
    case LINES_MORE: return 0;
    case LINES_NONE: break;
    case LINES_GUESS:
        if (!decode_guess(&body->decoder, line, ret_event))
            break;
        lines_accept(&body->lines, input);
        return 1;
    }
    return next_frame(body, input, ret_event, err);
}

/* ---- a document ---- */

static int next_of_document(struct body *body, struct str *input, struct source_event *ret_event,
                            struct inf_error *err)
{
    struct str text;
    int rc = lines_next(&body->lines, input, &text);
    if (rc < 0)
        return err_set(err, -rc, "the document exceeds the size or nesting limit");
    if (rc == 0)
        return 0;
    buf_clear(&body->document);
    buf_put(&body->document, text.at, text.len);
    body->document.len = scrubber_clean(body->scrubber, body->document.bytes, body->document.len);
    buf_putc(&body->document, '\0');
    *ret_event = (struct source_event){
        .type = SOURCE_TEXT, .resource_version = "", .text = body->document.bytes};
    return 1;
}

/* ---- a list ---- */

static bool item_is_other_shard(const struct body *body, struct str text)
{
    struct str uid;
    return shard_is_part(body->shard) && hint_uid(text, &uid) && !shard_has(body->shard, uid);
}

static int next_of_list(struct body *body, struct str *input, struct source_event *ret_event,
                        struct inf_error *err)
{
    struct object_defaults defaults;
    struct str text;
    char *hint;
    bool whole;
    int rc;
    while ((rc = list_items_next(&body->items, input, &text, err)) == ITEMS_ONE &&
           item_is_other_shard(body, text))
        count_other_shard(body);
    if (rc <= 0)
        return rc;
    defaults = list_head_defaults(&body->items.head);
    whole = rc == ITEMS_ONE ||
            err->code == INF_EDECODE; /* it may be deep only where the shape drops it */
    if (whole && decode_item(&body->decoder, text, &defaults, ret_event, err) == 0)
        return 1;
    hint = hint_of(text, defaults.kind);
    err_wrap(err, "item %zu of the list%s%s", body->items.count, hint ? ", " : "",
             hint ? hint : "");
    free(hint);
    if (!decode_unreadable_item(text, &defaults, ret_event))
        return -err->code;
    return skip_object(body, ret_event, err);
}

/* ---- all of them ---- */

/* Versions are written to logs and records unchanged, so one that contains our credential is refused.
 * Numbers, which all servers use, are never a credential. */
static int check_version(const struct body *body, const char *version, struct inf_error *err)
{
    if (!version[strspn(version, "0123456789")] || !scrubber_finds(body->scrubber, version))
        return 0;
    return err_set(err, INF_EPROTO,
                   "the server returned one of our credentials as a resourceVersion");
}

/* For what could not be dropped before it was decoded. An identity may lack the uid: it is kept. */
static bool event_is_other_shard(const struct body *body, const struct source_event *event)
{
    const char *uid = event->object ? inf_object_uid(event->object) : "";
    return event->object && (*uid || !object_is_identity(event->object)) &&
           !shard_has(body->shard, str_of(uid));
}

static int next_event(struct body *body, struct str *input, struct source_event *ret_event,
                      struct inf_error *err)
{
    int rc = 0;
    switch (body->want) {
    case SOURCE_LIST: rc = next_of_list(body, input, ret_event, err); break;
    case SOURCE_DOCUMENT: rc = next_of_document(body, input, ret_event, err); break;
    case SOURCE_WATCH_LIST:
    case SOURCE_WATCH: rc = next_of_watch(body, input, ret_event, err); break;
    }
    return rc;
}

int body_next(struct body *body, struct str *input, struct source_event *ret_event,
              struct inf_error *err)
{
    int rc;
    while ((rc = next_event(body, input, ret_event, err)) == 1 && shard_is_part(body->shard) &&
           event_is_other_shard(body, ret_event)) {
        count_other_shard(body);
        inf_object_unref(ret_event->object);
    }
    if (rc == 1 && check_version(body, ret_event->resource_version, err) < 0) {
        inf_object_unref(ret_event->object);
        return -err->code;
    }
    return rc;
}

bool body_end(struct body *body, struct list_head *ret_list, struct inf_error *ret_why)
{
    bool document = body->want == SOURCE_DOCUMENT;
    struct list_head *head = &body->items.head;
    if (body->want == SOURCE_LIST) {
        if (list_items_end(&body->items, ret_why) < 0 ||
            (head->resource_version && check_version(body, head->resource_version, ret_why) < 0))
            return false;
        *ret_list = *head;
        *head = (struct list_head){0}; /* owned by the caller now */
        err_set(ret_why, INF_EEOF, "the list is complete");
        return true;
    }
    if (lines_between(&body->lines))
        err_set(ret_why, INF_EEOF,
                document ? "the document is complete" : "the server ended the watch");
    else
        err_set(ret_why, INF_ECUT,
                document ? "the document ended in the middle"
                         : "the watch ended in the middle of an event");
    return false;
}
