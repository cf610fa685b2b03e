/*
 * journal_logs.c - the set of event logs: adding, keeping and removing them at each reload, and closing
 * them at the end.
 *
 * Normal path: journal_set_logs() keeps logs by target, finishes those that were removed, and opens new
 * ones. A removed log stays in `leaving` until its lines are written and its sink is closed;
 * on_closed() frees it. Lines that it could not write are reported by a GAP, and remembered in case the
 * log is configured again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "daemon/journal/journal.h"
#include "daemon/pool.h"

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

/* ---- which logs may be opened ---- */

/* Two logs with the file of one path would mix their lines. */
static bool target_is_in_use(const struct journal *j, const char *target)
{
    for_each_log(log, &j->leaving)
        if (log->sm.state != EVENT_LOG_WAITING && strcmp(log->name, target) == 0)
            return true;
    return false;
}

static size_t count_on_pool(const struct list *logs)
{
    size_t n = 0;
    for_each_log(log, logs)
        n += log->sink->type->on_pool && log->sm.state != EVENT_LOG_WAITING;
    return n;
}

static bool may_begin(const struct journal *j, const struct event_log *log)
{
    if (target_is_in_use(j, log->name))
        return false;
    return !log->sink->type->on_pool ||
           count_on_pool(&j->logs) + count_on_pool(&j->leaving) < POOL_LOGS;
}

static void begin_log(struct journal *j, struct event_log *log)
{
    event_log_restore(log, j->state ? inf_state_queue(j->state, log->name) : NULL);
    if (j->ahead_from)
        event_log_restore_ahead(log, j->seq->log, j->ahead_from);
    event_log_begin(log);
}

static void begin_waiting_in(struct journal *j, struct list *logs)
{
    for_each_log(log, logs)
        if (log->sm.state == EVENT_LOG_WAITING && may_begin(j, log))
            begin_log(j, log);
}

/* ---- callbacks of event logs ---- */

static void on_hold(struct event_log *log)
{
    journal_update_holds(log->owner);
}

static void on_idle(struct event_log *log)
{
    journal_check_drained(log->owner);
}

static void on_log(struct event_log *log, enum inf_log_level level, const char *line)
{
    struct journal *j = log->owner;
    j->log(j->owner, level, line);
}

static void on_print(struct event_log *log)
{
    struct journal *j = log->owner;
    if (j->on_print)
        j->on_print(j);
}

static void on_lost(struct event_log *log, int error)
{
    struct journal *j = log->owner;
    if (j->on_lost)
        j->on_lost(j, error);
    journal_check_drained(j);
}

/* At shutdown the daemon itself logs the lines that were not written. */
static void on_dropped(struct event_log *log, uint64_t lines)
{
    struct journal *j = log->owner;
    char *msg;
    if (j->closing)
        return;
    remember_lost(j, log->name, lines);
    msg = xasprintf(
        "event log %s was removed from the configuration before all its lines were written",
        log->name);
    journal_note(j, NULL,
                 &(struct note){.type = NOTE_GAP,
                                .level = INF_LOG_WARN,
                                .reason = "unwritten",
                                .msg = msg,
                                .count = (int64_t)lines});
    free(msg);
}

static void on_lines(struct event_log *log)
{
    journal_flush(log->owner);
}

static void on_written(struct event_log *log)
{
    struct journal *j = log->owner;
    list_for_each_safe(node, &j->followers) {
        struct journal_follower *follower = container_of(node, struct journal_follower, node);
        follower->on_written(follower, log);
    }
}

/* Reported only in that log: the others have these lines. */
static void on_removed(struct event_log *log, uint64_t lines)
{
    journal_gap_in_log(log->owner, log, "removed",
                       "the file of this log was removed while lines were written to it", lines);
    journal_flush(log->owner);
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
static void add_counters(const struct event_log *log, struct journal_stats *sum)
{
    sum->bytes += log->bytes;
    sum->failures += log->failures;
    sum->rotations += log->sink->rotations;
    sum->dropped += log->dropped;
}

/* A removed log that never got its sink has lines to write, too, so `leaving` comes first. */
static void on_closed(struct event_log *log)
{
    struct journal *j = log->owner;
    add_counters(log, &j->past);
    list_remove(&log->node);
    if (log->queue && !j->closing)
        inf_state_queue_drop(log->queue);
    free(log);
    begin_waiting_in(j, &j->leaving);
    begin_waiting_in(j, &j->logs);
    if (j->state && !j->closing)
        journal_flush(j); /* the lines of a log that waited are not saved yet */
    journal_check_drained(j);
    check_closed(j);
}

static const struct event_log_events events = {
    .on_hold = on_hold,
    .on_idle = on_idle,
    .on_log = on_log,
    .on_print = on_print,
    .on_lost = on_lost,
    .on_closed = on_closed,
    .on_dropped = on_dropped,
    .on_lines = on_lines,
    .on_removed = on_removed,
    .on_written = on_written,
};

/* ---- reloading ---- */

/* Its lines are released by journal_flush(), now or when their numbers are reserved. */
static void remove_log(struct journal *j, struct event_log *log)
{
    list_remove(&log->node);
    list_push(&j->leaving, &log->node);
    event_log_release_events(log, NULL);
    journal_flush(j);
    event_log_finish(log);
}

/* The log with this target. One that is leaving is kept, unless it is closing already. */
static struct event_log *find_log(struct journal *j, const char *target)
{
    for_each_log(log, &j->logs)
        if (strcmp(log->name, target) == 0)
            return log;
    for_each_log(log, &j->leaving) {
        if (log->sm.state != EVENT_LOG_CLOSING && strcmp(log->name, target) == 0) {
            list_remove(&log->node);
            list_push(&j->logs, &log->node);
            event_log_resume(log);
            return log;
        }
    }
    return NULL;
}

/* What is made of the settings of a log, and can fail. */
struct log_parts {
    struct filter *filter;
    struct record_fields *fields; /* NULL: none */
};

/* Takes ownership of @parts. */
static void add_log(struct journal *j, const struct event_log_settings *s,
                    const struct log_parts *parts)
{
    const char *target = s->sink.target;
    struct event_log *log = NEW(struct event_log);
    size_t lost = find_lost(j, target);
    event_log_init(log, j->clock, j->disk, j->budget, target, &events);
    log->owner = j;
    list_push(&j->logs, &log->node);
    event_log_configure(log, s, parts->filter, parts->fields);
    if (may_begin(j, log)) {
        begin_log(j, log);
    } else {
        char *line = xasprintf(
            "event log %s: not opened yet; waiting until a removed event log is closed", target);
        j->log(j->owner, INF_LOG_WARN, line);
        free(line);
    }
    if (lost < j->n_lost)
        journal_gap_in_log(
            j, log, "unwritten",
            "lines of this log were not written before it was removed from the configuration",
            forget_lost(j, lost));
}

static bool is_listed(const struct event_log_settings *settings, size_t n, const char *target)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].sink.target, target) == 0)
            return true;
    return false;
}

static int make_parts(const struct event_log_settings *settings, size_t n, struct log_parts *parts,
                      struct inf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct event_log_settings *s = &settings[i];
        const char *target = s->sink.target;
        if (is_listed(settings, i, target))
            return err_set(err, INF_EINVAL, "event log '%s' is configured twice", target);
        parts[i].filter = filter_make(&s->filter, err);
        if (parts[i].filter && s->n_fields)
            parts[i].fields = record_fields_make(s->fields, s->n_fields, err);
        if (!parts[i].filter || (s->n_fields && !parts[i].fields))
            return err ? err_wrap(err, "event log '%s'", target) : -INF_EINVAL;
    }
    return 0;
}

/* The context that at least one log or output writes. */
static unsigned context_parts(const struct journal *j)
{
    unsigned parts = 0;
    for_each_log(log, &j->logs)
        parts |= log->format->has_context ? log->record.context : 0;
    for_each_output(output, &j->outputs)
        parts |= output->context;
    return parts;
}

void journal_update_outputs(struct journal *journal)
{
    journal->reader.context_parts = context_parts(journal);
    journal_update_holds(journal);
}

void journal_add_output(struct journal *journal, struct journal_output *output)
{
    list_push(&journal->outputs, &output->node);
    journal_update_outputs(journal);
}

void journal_remove_output(struct journal *journal, struct journal_output *output)
{
    list_remove(&output->node);
    journal_update_outputs(journal);
}

int journal_set_logs(struct journal *journal, const struct event_log_settings *settings, size_t n,
                     struct inf_error *err)
{
    struct log_parts *parts = xcalloc(n ? n : 1, sizeof(*parts));
    int rc = make_parts(settings, n, parts, err);
    for (size_t i = 0; rc < 0 && i < n; i++) {
        filter_free(parts[i].filter);
        record_fields_free(parts[i].fields);
    }
    if (rc == 0) {
        list_for_each_safe(node, &journal->logs) {
            struct event_log *log = container_of(node, struct event_log, node);
            if (!is_listed(settings, n, log->name))
                remove_log(journal, log);
        }
        for (size_t i = 0; i < n; i++) {
            struct event_log *log = find_log(journal, settings[i].sink.target);
            if (log)
                event_log_configure(log, &settings[i], parts[i].filter, parts[i].fields);
            else
                add_log(journal, &settings[i], &parts[i]);
        }
        journal_update_outputs(journal);
    }
    free(parts);
    return rc;
}

/* ---- all logs ---- */

void journal_check_drained(struct journal *journal)
{
    if (!journal->draining)
        return;
    for_each_log(log, &journal->logs)
        if (!event_log_is_idle(log))
            return;
    for_each_log(log, &journal->leaving)
        if (log->sm.state != EVENT_LOG_CLOSING)
            return;
    journal->draining = false;
    journal->on_drained(journal);
}

void journal_close(struct journal *journal)
{
    journal->draining = false;
    journal->closing = true;
    list_for_each_safe(node, &journal->logs) {
        list_remove(node);
        list_push(&journal->leaving, node);
    }
    list_for_each_safe(node, &journal->leaving) {
        struct event_log *log = container_of(node, struct event_log, node);
        if (log->sm.state != EVENT_LOG_CLOSING)
            event_log_close(log);
    }
    list_for_each_safe(node, &journal->watches)
        list_remove(node);
    while (journal->n_lost)
        forget_lost(journal, 0);
    change_reader_done(&journal->reader);
    journal_set_levels(journal, NULL);
    check_closed(journal);
}

void journal_each_log(const struct journal *journal, bool leaving,
                      void (*each)(void *ctx, const struct event_log *log), void *ctx)
{
    for_each_log(log, &journal->logs)
        each(ctx, log);
    if (!leaving)
        return;
    for_each_log(log, &journal->leaving)
        each(ctx, log);
}

void journal_stats(const struct journal *journal, struct journal_stats *ret)
{
    *ret = journal->past;
    ret->next_seq = journal->seq->next;
    for_each_log(log, &journal->leaving) {
        add_counters(log, ret);
        ret->unwritten += event_log_unwritten(log);
    }
    for_each_log(log, &journal->logs) {
        add_counters(log, ret);
        ret->unwritten += event_log_unwritten(log);
        ret->logs++;
        ret->failing += event_log_is_failing(log);
        ret->held += log->held;
    }
}
