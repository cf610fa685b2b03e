/*
 * journal_outputs.c - which outputs there are, from the first conf to the last line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "daemon/outlet.h"

/* ---- what outputs say ---- */

static struct outlet *outlet_of(struct output *output)
{
    return container_of(output, struct outlet, output);
}

static void on_hold(struct output *output, bool hold)
{
    (void)hold;
    journal_weigh(outlet_of(output)->journal);
}

static void on_idle(struct output *output)
{
    journal_check_drained(outlet_of(output)->journal);
}

static void on_say(struct output *output, enum inf_log_level level, const char *line)
{
    struct journal *j = outlet_of(output)->journal;
    j->log(j->owner, level, line);
}

static void on_lost(struct output *output, int error)
{
    struct journal *j = outlet_of(output)->journal;
    if (j->on_lost)
        j->on_lost(j, error);
    journal_check_drained(j);
}

static void on_seq_closed(struct seq *seq)
{
    struct journal *j = seq->owner;
    j->on_closed(j);
}

static void check_closed(struct journal *j)
{
    if (j->closing && list_empty(&j->leaving))
        seq_close(j->seq, on_seq_closed);
}

/* What only ever grows. */
static void count(const struct outlet *o, struct journal_stats *sum)
{
    sum->bytes += o->output.bytes;
    sum->failures += o->output.failures;
    sum->rotations += o->output.rotations;
    sum->dropped += o->dropped;
}

static void on_closed(struct output *output)
{
    struct outlet *o = outlet_of(output);
    struct journal *j = o->journal;
    count(o, &j->past);
    list_remove(&o->node);
    filter_free(o->filter);
    free(o);
    journal_check_drained(j);
    check_closed(j);
}

static const struct output_events events = {
    .on_hold = on_hold,
    .on_idle = on_idle,
    .on_say = on_say,
    .on_lost = on_lost,
    .on_closed = on_closed,
};

/* ---- which there are ---- */

static const char *name_of(const struct journal_output_settings *s)
{
    return s->file.path ? s->file.path : "stdout";
}

static struct outlet *find(struct list *outlets, const char *name)
{
    for_each_outlet_of(o, outlets) if (strcmp(output_name(&o->output), name) == 0) return o;
    return NULL;
}

static void leave(struct outlet *o)
{
    list_remove(&o->node);
    list_push(&o->journal->leaving, &o->node);
}

/* No line goes out before its number is reserved for good, not even now. */
static void finish(struct outlet *o)
{
    leave(o);
    if (seq_ready(o->journal->seq))
        output_finish(&o->output);
    else
        output_close(&o->output);
}

static void close_now(struct outlet *o)
{
    if (!o->output.closing)
        output_close(&o->output);
}

/* One that is just leaving would write its old lines behind the new ones. */
static struct outlet *open_outlet(struct journal *j, const char *name)
{
    struct outlet *before = find(&j->leaving, name);
    struct outlet *o = NEW(struct outlet);
    o->journal = j;
    list_push(&j->outputs, &o->node);
    if (before)
        close_now(before);
    return o;
}

/* Takes over @filter. */
static void adopt(struct journal *j, const struct journal_output_settings *s, struct filter *filter)
{
    struct outlet *o = find(&j->outputs, name_of(s));
    bool is_new = !o;
    if (is_new)
        o = open_outlet(j, name_of(s));
    filter_free(o->filter);
    o->filter = filter;
    o->form = s->form;
    o->record = s->record;
    if (!o->record.max_line)
        o->record.max_line = RECORD_LINE_DEFAULT;
    o->short_format = s->short_format;
    o->notes = s->notes ? s->notes : ~0u;
    if (is_new)
        output_init(&o->output, j->clock, j->disk, &s->file, &events);
    else
        output_change(&o->output, &s->file);
}

static bool is_named(const struct journal_output_settings *settings, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name_of(&settings[i]), name) == 0)
            return true;
    return false;
}

static int make_filters(const struct journal_output_settings *settings, size_t n,
                        struct filter **filters, struct inf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (is_named(settings, i, name_of(&settings[i])))
            return err_set(err, INF_EINVAL, "event log '%s' is there twice", name_of(&settings[i]));
        filters[i] = filter_make(&settings[i].filter, err);
        if (!filters[i])
            return err ? err_wrap(err, "event log '%s'", name_of(&settings[i])) : -INF_EINVAL;
    }
    return 0;
}

int journal_set_outputs(struct journal *journal, const struct journal_output_settings *settings,
                        size_t n, struct inf_error *err)
{
    struct filter **filters = xcalloc(n ? n : 1, sizeof(struct filter *));
    int rc = make_filters(settings, n, filters, err);
    for (size_t i = 0; rc < 0 && i < n; i++)
        filter_free(filters[i]);
    if (rc == 0) {
        list_for_each_safe(node, &journal->outputs) {
            struct outlet *o = container_of(node, struct outlet, node);
            if (!is_named(settings, n, output_name(&o->output)))
                finish(o);
        }
        for (size_t i = 0; i < n; i++)
            adopt(journal, &settings[i], filters[i]);
        journal_weigh(journal);
    }
    free(filters);
    return rc;
}

/* ---- all of them ---- */

void journal_check_drained(struct journal *journal)
{
    if (!journal->draining)
        return;
    for_each_outlet(o, journal)
        if (!output_idle(&o->output))
            return;
    for_each_outlet_of(o, &journal->leaving) if (!o->output.closing) return;
    journal->draining = false;
    journal->on_drained(journal);
}

void journal_close(struct journal *journal)
{
    journal->draining = false;
    list_for_each_safe(node, &journal->outputs)
        leave(container_of(node, struct outlet, node));
    list_for_each_safe(node, &journal->leaving)
        close_now(container_of(node, struct outlet, node));
    list_for_each_safe(node, &journal->watches)
        list_remove(node);
    journal->closing = true;
    check_closed(journal);
}

void journal_stats(const struct journal *journal, struct journal_stats *ret)
{
    *ret = journal->past;
    ret->next_seq = journal->seq->next;
    for_each_outlet_of(o, &journal->leaving)
    {
        count(o, ret);
        ret->unwritten += output_unwritten(&o->output);
    }
    for_each_outlet(o, journal) {
        count(o, ret);
        ret->unwritten += output_unwritten(&o->output);
        ret->outputs++;
        ret->failing += o->output.failing;
        ret->held += o->output.held;
    }
}
