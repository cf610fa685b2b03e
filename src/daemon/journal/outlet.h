/*
 * outlet.h - an output of the journal with what it wants: between journal.c, which makes lines, and
 * journal_outputs.c, which has the outputs.
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
    enum journal_form form;
    struct record_options record;
    struct text_format_options text_format;
    unsigned notes;   /* of 1 << NOTE_START ... */
    uint64_t dropped; /* notes that found no room */
    uint64_t unsaid;  /* of these, not told by a GAP yet */
};

static inline struct outlet *outlet_after(const struct outlet *o)
{
    return container_of(o->node.next, struct outlet, node);
}

#define for_each_outlet_of(o, list)                                                              \
    for (struct outlet *o = container_of((list)->next, struct outlet, node); &o->node != (list); \
         o = outlet_after(o))

#define for_each_outlet(o, journal) for_each_outlet_of(o, &(journal)->outputs)

/* Says in this log that @lines of it were not written before a reload removed it. */
void journal_say_lost(struct outlet *o, uint64_t lines);

/* Says in this log that @lines of it were written to its file after that was removed, or may have been. */
void journal_say_removed(struct outlet *o, uint64_t lines);

/* An output became full, or is not any more: tells the watches. */
void journal_weigh(struct journal *journal);

/* An output has nothing to do any more: perhaps none has. */
void journal_check_drained(struct journal *journal);

#endif
