/*
 * journal_outputs.c - the set of outputs: adding, keeping and removing them at each reload, and
 * closing them at the end.
 *
 * Normal path: journal_set_outputs() keeps outputs by path, finishes those that were removed, and
 * opens new ones. A removed output stays in `leaving` until its lines are written and its file is
 * closed; on_closed() frees it. Lines that it could not write are reported by a GAP, and remembered
 * in case the log is configured again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "daemon/journal/outlet.h"
#include "daemon/pool.h"

/* ---- callbacks of outputs ---- */

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

/* ---- lost lines ---- */

static size_t find_lost(const struct journal *j, const char *name)
{
    size_t i = 0;
    while (i < j->n_lost && strcmp(j->lost[i].name, name) != 0)
        i++;
    return i;
}

static uint64_t forget_lost(struct journal *j, size_t i)
{
    uint64_t lines = j->lost[i].lines;
    free(j->lost[i].name);
    j->n_lost--;
    memmove(&j->lost[i], &j->lost[i + 1], (j->n_lost - i) * sizeof(j->lost[0]));
    return lines;
}

static void remember_lost(struct journal *j, const char *name, uint64_t lines)
{
    size_t i = find_lost(j, name);
    if (i < j->n_lost)
        lines += forget_lost(j, i);
    if (j->n_lost == JOURNAL_LOST_MAX)
        forget_lost(j, 0);
    j->lost[j->n_lost++] = (struct journal_lost){xstrdup(name), lines};
}

/* At shutdown the daemon itself logs the lines that were not written. */
static void on_dropped(struct output *output, uint64_t lines)
{
    struct journal *j = outlet_of(output)->journal;
    char *msg;
    if (j->closing)
        return;
    remember_lost(j, output_name(output), lines);
    msg = xasprintf(
        "event log %s was removed from the configuration before all its lines were written",
        output_name(output));
    journal_note(j, NULL,
                 &(struct note){.type = NOTE_GAP,
                                .level = INF_LOG_WARN,
                                .reason = "unwritten",
                                .msg = msg,
                                .count = (int64_t)lines});
    free(msg);
}

/* Reported only in that log: the others have these lines. */
static void on_removed(struct output *output, uint64_t lines)
{
    struct outlet *o = outlet_of(output);
    journal_say_removed(o, lines);
    journal_flush(o->journal);
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

/* Counters that never decrease. */
static void add_counters(const struct outlet *o, struct journal_stats *sum)
{
    sum->bytes += o->output.bytes;
    sum->failures += o->output.failures;
    sum->rotations += o->output.rotations;
    sum->dropped += o->dropped;
}

static void open_waiting_outlets(struct journal *j);

static void on_closed(struct output *output)
{
    struct outlet *o = outlet_of(output);
    struct journal *j = o->journal;
    add_counters(o, &j->past);
    list_remove(&o->node);
    filter_free(o->filter);
    free(o);
    open_waiting_outlets(j);
    journal_check_drained(j);
    check_closed(j);
}

static const struct output_events events = {
    .on_hold = on_hold,
    .on_idle = on_idle,
    .on_say = on_say,
    .on_lost = on_lost,
    .on_closed = on_closed,
    .on_dropped = on_dropped,
    .on_removed = on_removed,
};

/* ---- the set of outputs ---- */

static const char *settings_name(const struct journal_output_settings *s)
{
    return s->file.path ? s->file.path : "stdout";
}

static struct outlet *find_outlet(struct list *outlets, const char *name)
{
    for_each_outlet_of(o, outlets) if (strcmp(output_name(&o->output), name) == 0) return o;
    return NULL;
}

static void move_to_leaving(struct outlet *o)
{
    list_remove(&o->node);
    list_push(&o->journal->leaving, &o->node);
}

/* Lines whose numbers are not reserved yet are released later, by journal_flush(). */
static void remove_outlet(struct outlet *o)
{
    move_to_leaving(o);
    if (seq_ready(o->journal->seq))
        output_flush(&o->output);
    output_finish(&o->output);
}

static void close_now(struct outlet *o)
{
    if (!o->output.closing)
        output_close(&o->output);
}

/* Outputs that may occupy a thread of the pool. */
static size_t files_in_use(const struct journal *j)
{
    size_t n = 0;
    for_each_outlet(o, j)
        n += o->output.path && !o->output.waits;
    for_each_outlet_of(o, &j->leaving) n += o->output.path && !o->output.waits;
    return n;
}

/* Two outputs with the file of one path would mix their lines. */
static bool path_is_in_use(const struct journal *j, const char *name)
{
    for_each_outlet_of(o, &j->leaving) if (!o->output.waits &&
                                           strcmp(output_name(&o->output), name) == 0) return true;
    return false;
}

static bool may_open(const struct journal *j, const struct journal_output_settings *s)
{
    return !path_is_in_use(j, settings_name(s)) && (!s->file.path || files_in_use(j) < POOL_LOGS);
}

static void open_waiting(struct journal *j, struct list *outlets)
{
    for_each_outlet_of(o, outlets) if (o->output.waits && !o->output.closing &&
                                       !path_is_in_use(j, output_name(&o->output)) &&
                                       files_in_use(j) < POOL_LOGS) output_begin(&o->output);
}

/* A removed output that never got its file has lines to write, too. */
static void open_waiting_outlets(struct journal *j)
{
    open_waiting(j, &j->leaving);
    open_waiting(j, &j->outputs);
}

static void log_waiting(struct journal *j, const char *name)
{
    char *line = xasprintf(
        "event log %s: not opened yet; waiting until a removed event log is closed", name);
    j->log(j->owner, INF_LOG_WARN, line);
    free(line);
}

static void open_outlet(struct outlet *o, const struct journal_output_settings *s)
{
    struct journal *j = o->journal;
    struct output_settings file = s->file;
    size_t lost = find_lost(j, settings_name(s));
    file.waits = !may_open(j, s);
    file.budget = j->budget;
    list_push(&j->outputs, &o->node);
    output_init(&o->output, j->clock, j->disk, &file, &events);
    if (file.waits)
        log_waiting(j, settings_name(s));
    if (lost < j->n_lost)
        journal_say_lost(o, forget_lost(j, lost));
}

/* There is at most one: several of a name may be closing. */
static struct outlet *find_leaving(struct journal *j, const char *name)
{
    for_each_outlet_of(o, &j->leaving) if (!o->output.closing &&
                                           strcmp(output_name(&o->output), name) == 0) return o;
    return NULL;
}

/* The output of that name. One that is leaving is kept then, unless it is closing already. */
static struct outlet *find_known(struct journal *j, const char *name)
{
    struct outlet *o = find_outlet(&j->outputs, name);
    if (o)
        return o;
    o = find_leaving(j, name);
    if (!o)
        return NULL;
    list_remove(&o->node);
    list_push(&j->outputs, &o->node);
    output_resume(&o->output);
    return o;
}

/* Takes ownership of @filter. */
static void configure_outlet(struct journal *j, const struct journal_output_settings *s,
                             struct filter *filter)
{
    struct outlet *o = find_known(j, settings_name(s));
    bool is_new = !o;
    if (is_new) {
        o = NEW(struct outlet);
        o->journal = j;
    }
    filter_free(o->filter);
    o->filter = filter;
    o->format = s->format ? s->format : record_formats[0];
    o->record = s->record;
    if (!o->record.max_line)
        o->record.max_line = RECORD_LINE_DEFAULT;
    o->notes = s->notes ? s->notes : ~0u;
    if (is_new)
        open_outlet(o, s);
    else
        output_change(&o->output, &s->file);
}

static bool is_named(const struct journal_output_settings *settings, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings_name(&settings[i]), name) == 0)
            return true;
    return false;
}

static int make_filters(const struct journal_output_settings *settings, size_t n,
                        struct filter **filters, struct inf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (is_named(settings, i, settings_name(&settings[i])))
            return err_set(err, INF_EINVAL, "event log '%s' is configured twice",
                           settings_name(&settings[i]));
        filters[i] = filter_make(&settings[i].filter, err);
        if (!filters[i])
            return err ? err_wrap(err, "event log '%s'", settings_name(&settings[i])) : -INF_EINVAL;
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
                remove_outlet(o);
        }
        for (size_t i = 0; i < n; i++)
            configure_outlet(journal, &settings[i], filters[i]);
        journal_weigh(journal);
    }
    free(filters);
    return rc;
}

/* ---- all outputs ---- */

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
    journal->closing = true;
    list_for_each_safe(node, &journal->outputs)
        move_to_leaving(container_of(node, struct outlet, node));
    list_for_each_safe(node, &journal->leaving)
        close_now(container_of(node, struct outlet, node));
    list_for_each_safe(node, &journal->watches)
        list_remove(node);
    while (journal->n_lost)
        forget_lost(journal, 0);
    check_closed(journal);
}

void journal_each_output(const struct journal *journal, bool leaving,
                         void (*each)(void *ctx, const struct output *output), void *ctx)
{
    for_each_outlet(o, journal)
        each(ctx, &o->output);
    if (!leaving)
        return;
    for_each_outlet_of(o, &journal->leaving) each(ctx, &o->output);
}

void journal_stats(const struct journal *journal, struct journal_stats *ret)
{
    *ret = journal->past;
    ret->next_seq = journal->seq->next;
    for_each_outlet_of(o, &journal->leaving)
    {
        add_counters(o, ret);
        ret->unwritten += output_unwritten(&o->output);
    }
    for_each_outlet(o, journal) {
        add_counters(o, ret);
        ret->unwritten += output_unwritten(&o->output);
        ret->outputs++;
        ret->failing += o->output.failing;
        ret->held += o->output.held;
    }
}
