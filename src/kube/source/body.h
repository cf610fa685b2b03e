/*
 * body.h - the body of a good answer, as events: those of a watch or the items of a list.
 *
 *     body_start(&body, request);
 *     while (body_next(&body, &input, &event, &err) == 1) ...     for each piece of input
 *     if (body_end(&body, &list, &err)) ...                       when HTTP says that it was all
 *     body_reset(&body);
 */
#ifndef KUBE_SOURCE_BODY_H
#define KUBE_SOURCE_BODY_H

#include "base/scrubber.h"
#include "kube/source/decode.h"
#include "kube/source/event_lines.h"
#include "kube/source/list_items.h"
#include "seam/source.h"

/* A zeroed one is ready to be started. */
struct body {
    enum source_want want;
    struct lines lines;      /* of a watch */
    struct list_items items; /* of a list */
    struct buf document;
    struct decoder decoder;
    struct inf_error skipped;        /* why the last one was */
    const struct scrubber *scrubber; /* borrowed: of texts that are not objects; NULL: none */
};

void body_start(struct body *body, const struct source_request *request);

/*
 * Takes the next event from the front of @input, which moves on. Returns 1 and the event, with a
 * reference to its object if it has one, all else lent until the next call; 0 when all of @input is
 * used up; or why the answer can't be read any further. An object that can't be read, but named, in an
 * event that stands on its own, and any item, is a SOURCE_SKIPPED: it never costs the others.
 */
int body_next(struct body *body, struct str *input, struct source_event *ret_event,
              struct inf_error *err);

/* Nothing more will come. @ret_why is INF_EEOF if that was a good end, else what is missing. True
 * if it was the good end of a list: @ret_list is then the caller's to free. */
bool body_end(struct body *body, struct list_head *ret_list, struct inf_error *ret_why);

/* Forgets the answer, keeps scratch memory. */
void body_reset(struct body *body);
void body_free(struct body *body);

#endif
