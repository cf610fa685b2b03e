/*
 * outlet.h - an output of the journal with its filter and format. Shared by journal.c, which makes
 * lines, and journal_outputs.c, which manages the outputs.
 */
#ifndef DAEMON_JOURNAL_OUTLET_H
#define DAEMON_JOURNAL_OUTLET_H

#include "base/base.h"
#include "daemon/journal/journal.h"

struct outlet {
    struct output output;
    struct journal *journal;
    struct list node;
    struct filter *filter;
    const struct record_format *format;
    struct record_options record;
    unsigned notes;   /* a mask of 1 << NOTE_START ... */
    uint64_t dropped; /* daemon records dropped because the buffer was full */
    uint64_t unsaid;  /* of these, not yet reported by a GAP */
};

static inline struct outlet *outlet_after(const struct outlet *o)
{
    return container_of(o->node.next, struct outlet, node);
}

#define for_each_outlet_of(o, list)                                                              \
    for (struct outlet *o = container_of((list)->next, struct outlet, node); &o->node != (list); \
         o = outlet_after(o))

#define for_each_outlet(o, journal) for_each_outlet_of(o, &(journal)->outputs)

/* Writes a GAP to this log: @lines of it were not written before a reload removed it. */
void journal_say_lost(struct outlet *o, uint64_t lines);

/* Writes a GAP to this log: @lines of it were written to its file after that was removed, or may
 * have been. */
void journal_say_removed(struct outlet *o, uint64_t lines);

/* Holds or resumes the watches after an output became full or has room again. */
void journal_weigh(struct journal *journal);

/* Calls on_drained() if the journal is draining and no output has anything left to write. */
void journal_check_drained(struct journal *journal);

#endif
