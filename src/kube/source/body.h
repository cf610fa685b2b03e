/*
 * body.h - the body of a successful response, as events.
 *
 *     body_start(&body, request);
 *     while (body_next(&body, &input, &event, &err) == 1) ...     for each piece of input
 *     if (body_end(&body, &list, &err)) ...                       when the HTTP body is complete
 *     body_reset(&body);
 */
#ifndef KUBE_SOURCE_BODY_H
#define KUBE_SOURCE_BODY_H

#include "base/scrubber.h"
#include "core/select/shard.h"
#include "kube/source/decode.h"
#include "kube/source/event_lines.h"
#include "kube/source/list_items.h"
#include "seam/source.h"

/* Zeroed: ready for body_start(). */
struct body {
    enum source_want want;
    struct lines lines;      /* of a watch */
    struct list_items items; /* of a list */
    struct buf document;
    struct decoder decoder;
    struct shard shard;              /* objects of other shards are dropped */
    uint64_t *other_shards;          /* counts them; NULL: not counted */
    struct inf_error skipped;        /* the reason of the last SOURCE_SKIPPED */
    const struct scrubber *scrubber; /* borrowed; cleans texts that are not objects; NULL: none */
};

void body_start(struct body *body, const struct source_request *request);

/*
 * Takes the next event from the front of @input and advances it. Returns 1 and the event, with a
 * reference to its object if it has one, everything else borrowed until the next call; 0 when
 * @input is used up; or an error that ends the response. An object that can't be decoded is a
 * SOURCE_SKIPPED if it is an item of a list, or if its event is complete and contains its name:
 * it does not affect others.
 */
int body_next(struct body *body, struct str *input, struct source_event *ret_event,
              struct inf_error *err);

/* The body has ended. Sets @ret_why to INF_EEOF if it is complete, else to the error. Returns true at
 * the complete end of a list; the caller then frees @ret_list. */
bool body_end(struct body *body, struct list_head *ret_list, struct inf_error *ret_why);

/* Ready for another response; keeps scratch memory. */
void body_reset(struct body *body);
void body_free(struct body *body);

#endif
