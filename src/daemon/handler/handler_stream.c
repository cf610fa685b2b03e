/*
 * handler_stream.c - handlers with `mode: stream`: one program runs all the time, gets records as lines of JSON
 * on stdin, and acknowledges them on stdout.
 *
 *     ACK SEQ            delivered; SEQ alone means the same
 *     NAK SEQ [REASON]   failed: repeated retry.max times, then parked
 *     RETRY SEQ [REASON] a temporary problem: repeated until it works
 *
 *           record                      exits, or is stopped
 *     idle ────────> running ────────> [ending] ────────> waiting ──> idle
 *      ^                └──── new settings ──> ending ──────┐  back-off
 *      └────────────────────────────────────────────────────┘
 *
 * Each record in flight is a run of its own, so the rules of handler_delivery.c hold: at most one record of an
 * object is in flight, and at most `concurrency` altogether. A program that does not read fills its pipe and
 * then `unwritten`; no further records are taken then. One that does not acknowledge a record within `timeout`
 * is ended.
 *
 * When the program ends, its records are sent again to the next one. If it had a single record, that one has
 * failed. If there were several, any of them may be the cause: they are sent one at a time until each is
 * settled.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"
#include "base/hashmap.h"
#include "base/sm.h"
#include "daemon/handler/handler_kind.h"
#include "daemon/handler/handler_program.h"

enum {
    UNWRITTEN_MAX = 1024 * 1024, /* above it no further records are taken */
    LINE_MAX_BYTES = 1024,       /* LIMIT: bytes of a line on stdout, of which some are logged */
    OUTPUT_MAX = 1024 * 1024,    /* LIMIT: bytes of stdout that are not evaluated yet */
    ERRORS_MAX = 1024 * 1024,    /* LIMIT: bytes of stderr in a minute */
    ERRORS_LINE_MAX = 500,       /* LIMIT: bytes of a line of stderr that are logged */
    MINUTE_MS = 60 * 1000,
};

enum stream_state {
    STREAM_IDLE,
    STREAM_RUNNING,
    STREAM_ENDING,  /* it is being ended, and not to be used */
    STREAM_WAITING, /* for the end of the back-off */
};

/* clang-format off */
static const struct sm_state stream_states[] = {
    [STREAM_IDLE]    = {"idle",    SM_TO(STREAM_RUNNING)},
    [STREAM_RUNNING] = {"running", SM_TO(STREAM_ENDING) | SM_TO(STREAM_WAITING)},
    [STREAM_ENDING]  = {"ending",  SM_TO(STREAM_IDLE) | SM_TO(STREAM_WAITING)},
    [STREAM_WAITING] = {"waiting", SM_TO(STREAM_IDLE)},
};
/* clang-format on */

/* The part of a handler. */
struct stream_part {
    struct handler *handler;
    struct handler_program program;
    struct sm sm;
    bool outdated; /* the program was started with former settings */
    struct child_user user;
    struct child *child;    /* NULL: idle or waiting */
    struct buf unwritten;   /* lines for its stdin */
    struct buf output;      /* of its stdout, not evaluated */
    struct buf errors;      /* an incomplete line of its stderr */
    uint64_t errors_ms;     /* when the current minute of stderr began */
    size_t errors_bytes;    /* in that minute */
    size_t errors_lines;    /* in that minute */
    struct task writer;     /* writes `unwritten` */
    struct task reader;     /* evaluates `output` */
    struct timer timer;     /* while waiting: the back-off; while running: see on_timer() */
    uint32_t failed_starts; /* programs that ended since the last acknowledgement */
    size_t suspects;        /* records to be sent one at a time */
    struct hashmap by_seq;  /* of struct stream_run */
};

struct stream_run {
    struct handler_run run;
    struct hash_node node; /* under `seq`, which grows and needs no other hash */
    uint64_t seq;
};

/* Ends the program; stream_on_end() follows. */
static void stop_program(struct stream_part *p, const char *why)
{
    if (p->sm.state != STREAM_RUNNING || !p->child)
        return;
    sm_move(&p->sm, STREAM_ENDING, "%s", why);
    child_stop(p->child, why);
}

/* ---- acknowledgements ---- */

static bool has_seq(const void *key, const struct hash_node *node)
{
    return container_of(node, const struct stream_run, node)->seq == *(const uint64_t *)key;
}

/* A program may write a million wrong acknowledgements while thousands of records are in flight. */
static struct stream_run *find_run(const struct stream_part *p, uint64_t seq)
{
    struct hash_node *node = hashmap_find(&p->by_seq, seq, has_seq, &seq);
    return node ? container_of(node, struct stream_run, node) : NULL;
}

static const struct acknowledgement {
    const char *word; /* with the blank after it; "": none */
    enum handler_outcome outcome;
    const char *why; /* unless the line has a reason */
} acknowledgements[] = {
    {"ACK ", HANDLER_DONE, ""},
    {"NAK ", HANDLER_FAILED, "not accepted by the program"},
    {"RETRY ", HANDLER_RETRY, "a temporary problem of the program"},
    {"", HANDLER_DONE, ""},
};

/* Returns false if @line, which is NUL-terminated, is no acknowledgement. */
static bool parse_line(const char *line, const struct acknowledgement **ret, uint64_t *ret_seq,
                       const char **ret_why)
{
    for (size_t i = 0; i < ARRAY_LEN(acknowledgements); i++) {
        const struct acknowledgement *a = &acknowledgements[i];
        const char *number = line + strlen(a->word);
        char *end;
        if (strncmp(line, a->word, strlen(a->word)) != 0)
            continue;
        if (*number < '0' || *number > '9')
            return false;
        *ret_seq = strtoull(number, &end, 10);
        *ret_why = *end ? end + 1 : a->why;
        *ret = a;
        return !*end || (*end == ' ' && a->word[0]);
    }
    return false; /* UNTESTED: the last row matches every line */
}

/* Returns false if the handler may be freed now. */
static bool settle(struct stream_part *p, struct stream_run *r, enum handler_outcome outcome,
                   const char *why)
{
    bool last = p->handler->stopped && p->handler->n_runs == 1;
    hashmap_remove(&p->by_seq, &r->node);
    handler_run_end(&r->run, outcome, why);
    return !last;
}

/* Returns false if the handler may be freed now. */
static bool evaluate_line(struct stream_part *p, const char *line)
{
    const struct acknowledgement *ack;
    const char *why;
    uint64_t seq;
    struct stream_run *r;
    if (!parse_line(line, &ack, &seq, &why)) {
        char *error = xasprintf("unexpected line on its stdout: '%.60s'", line);
        stop_program(p, error);
        free(error);
        return true;
    }
    r = find_run(p, seq);
    if (!r) {
        handler_log(p->handler, INF_LOG_WARN,
                    "acknowledges record %" PRIu64 ", which was not sent or is settled", seq);
        return true;
    }
    p->failed_starts = 0;
    p->suspects -= p->suspects > 0;
    return settle(p, r, ack->outcome, why);
}

/* Evaluates the lines of the output, all or as long as there is time. Returns false if the handler may be
 * freed now. */
static bool evaluate_output(struct stream_part *p, bool all)
{
    size_t used = 0;
    bool alive = true;
    char *newline;
    while (alive && p->output.len > used &&
           (newline = memchr(p->output.bytes + used, '\n', p->output.len - used))) {
        const char *line = p->output.bytes + used;
        *newline = '\0';
        used = (size_t)(newline - p->output.bytes) + 1;
        alive = evaluate_line(p, line);
        if (alive && !all && clock_over_budget(p->handler->host->clock)) {
            task_schedule(p->handler->host->clock, &p->reader);
            break;
        }
    }
    if (!alive)
        return false;
    buf_consume(&p->output, used);
    if (p->output.len > LINE_MAX_BYTES && !memchr(p->output.bytes, '\n', p->output.len))
        stop_program(p, "a line of its stdout is too long");
    return true;
}

static void stream_read(struct task *task)
{
    evaluate_output(container_of(task, struct stream_part, reader), false);
}

static void stream_on_output(struct child_user *user, struct str bytes)
{
    struct stream_part *p = container_of(user, struct stream_part, user);
    if (buf_append(&p->output, bytes.at, bytes.len, OUTPUT_MAX) < 0)
        stop_program(p, "it writes to its stdout without end");
    task_schedule(p->handler->host->clock, &p->reader);
}

/* ---- stderr ---- */

/* Logs the whole lines, and at the end of the program the rest; at most HANDLER_OUTPUT_LINES in a minute. */
static void log_errors(struct stream_part *p, bool at_end)
{
    size_t used = 0;
    const char *newline;
    while (p->errors.len > used &&
           ((newline = memchr(p->errors.bytes + used, '\n', p->errors.len - used)) || at_end ||
            p->errors.len - used > ERRORS_LINE_MAX)) {
        const char *line = p->errors.bytes + used;
        size_t len = newline ? (size_t)(newline - line) : p->errors.len - used;
        if (p->errors_lines++ < HANDLER_OUTPUT_LINES)
            handler_log(p->handler, INF_LOG_WARN, "stderr: %.*s",
                        (int)(len < ERRORS_LINE_MAX ? len : ERRORS_LINE_MAX), line);
        used += len + (newline != NULL);
    }
    buf_consume(&p->errors, used);
}

static void stream_on_errors(struct child_user *user, struct str bytes)
{
    struct stream_part *p = container_of(user, struct stream_part, user);
    uint64_t now_ms = clock_now_ms(p->handler->host->clock);
    if (now_ms - p->errors_ms >= MINUTE_MS) {
        p->errors_ms = now_ms;
        p->errors_bytes = p->errors_lines = 0;
    }
    p->errors_bytes += bytes.len;
    if (p->errors_bytes > ERRORS_MAX) {
        stop_program(p, "it writes too much to its stderr");
        return;
    }
    buf_put(&p->errors, bytes.at, bytes.len);
    log_errors(p, false);
}

/* ---- sending ---- */

static void stream_write(struct task *task)
{
    struct stream_part *p = container_of(task, struct stream_part, writer);
    bool was_full = p->unwritten.len > UNWRITTEN_MAX;
    if (!p->child || !p->unwritten.len)
        return;
    buf_consume(&p->unwritten,
                child_write(p->child, (struct str){p->unwritten.bytes, p->unwritten.len}));
    if (was_full && p->unwritten.len <= UNWRITTEN_MAX)
        task_schedule(p->handler->host->clock, &p->handler->pump);
}

static void stream_on_writable(struct child_user *user)
{
    struct stream_part *p = container_of(user, struct stream_part, user);
    task_schedule(p->handler->host->clock, &p->writer);
}

static struct handler_run *stream_start(struct handler *handler,
                                        struct handler_record *const *records, size_t n)
{
    struct stream_part *p = handler->part;
    struct stream_run *r = NEW(struct stream_run);
    struct str line = handler_record_line(records[0]);
    assert(n == 1);
    (void)n;
    r->seq = handler_record_seq(records[0]);
    hashmap_add(&p->by_seq, &r->node, r->seq);
    buf_put(&p->unwritten, line.at, line.len);
    task_schedule(handler->host->clock, &p->writer);
    if (!p->timer.running)
        timer_start(handler->host->clock, &p->timer, handler->settings.timeout_ms);
    return &r->run;
}

/* The end of its program or of the handler follows. */
static void stream_cancel(struct handler_run *run)
{
    struct stream_run *r = container_of(run, struct stream_run, run);
    struct stream_part *p = run->handler->part;
    hashmap_remove(&p->by_seq, &r->node);
    free(r);
}

/* ---- the end of the program ---- */

/* Returns false if the handler may be freed now. */
static bool return_records(struct stream_part *p, const struct child_end *end, const char *why)
{
    bool to_blame = p->handler->n_runs == 1 && end->fate != CHILD_UNSTARTED;
    if (!to_blame)
        p->suspects = end->fate == CHILD_UNSTARTED ? p->suspects : p->handler->n_runs;
    list_for_each_safe(node, &p->handler->runs) {
        struct stream_run *r = container_of(node, struct stream_run, run.node);
        if (to_blame)
            p->suspects -= p->suspects > 0;
        if (!settle(p, r, to_blame ? HANDLER_FAILED : HANDLER_AGAIN, why))
            return false;
    }
    return true;
}

static void start_back_off(struct stream_part *p, const char *why)
{
    struct handler *h = p->handler;
    uint64_t ms =
        backoff_ms(h->settings.backoff_min_ms, h->settings.backoff_max_ms, p->failed_starts++);
    sm_move(&p->sm, STREAM_WAITING, "%s", why);
    snprintf(h->last_error, sizeof(h->last_error), "%s", why);
    handler_log(h, INF_LOG_WARN, "%s; started again in %.1f s", why, (double)ms / 1000);
    timer_start(h->host->clock, &p->timer, ms);
}

/* What it has acknowledged before its end counts. */
static void stream_on_end(struct child_user *user, const struct child_end *end)
{
    struct stream_part *p = container_of(user, struct stream_part, user);
    bool expected = p->outdated && p->sm.state == STREAM_ENDING;
    char *why =
        xasprintf("the program %s%s",
                  end->fate == CHILD_UNSTARTED ? "cannot be started: " : "has ended: ", end->how);
    child_close(p->child);
    p->child = NULL;
    timer_stop(p->handler->host->clock, &p->timer);
    buf_clear(&p->unwritten);
    log_errors(p, true);
    if (evaluate_output(p, true)) {
        buf_clear(&p->output);
        if (expected)
            sm_move(&p->sm, STREAM_IDLE, "new settings");
        else
            start_back_off(p, why);
        if (return_records(p, end, why) && !p->handler->stopped)
            task_schedule(p->handler->host->clock, &p->handler->pump);
    }
    free(why);
}

static const struct child_user_ops user_ops = {
    .on_end = stream_on_end,
    .on_output = stream_on_output,
    .on_errors = stream_on_errors,
    .on_writable = stream_on_writable,
};

/* While it runs, the timer is not restarted for each record: when it fires, the oldest one decides. */
static void on_timer(struct timer *timer)
{
    struct stream_part *p = container_of(timer, struct stream_part, timer);
    struct handler *h = p->handler;
    uint64_t age_ms;
    char why[80];
    if (p->sm.state == STREAM_WAITING) {
        sm_move(&p->sm, STREAM_IDLE, "end of the back-off");
        task_schedule(h->host->clock, &h->pump);
        return;
    }
    if (list_empty(&h->runs))
        return;
    age_ms = clock_now_ms(h->host->clock) -
             container_of(h->runs.next, struct handler_run, node)->began_ms;
    if (age_ms < h->settings.timeout_ms) {
        timer_start(h->host->clock, timer, h->settings.timeout_ms - age_ms);
        return;
    }
    snprintf(why, sizeof(why), "a record was not acknowledged within %g s",
             (double)h->settings.timeout_ms / 1000);
    stop_program(p, why);
}

/* ---- the start of the program ---- */

static void start_program(struct stream_part *p)
{
    char *name = xasprintf("INFORMERD_HANDLER=%s", p->handler->name);
    const char *env[] = {name, NULL};
    struct child_spec spec = {
        .argv = p->program.argv,
        .env = env,
        .clean_env = true,
        .streamed = true,
        .context = p->program.context,
    };
    p->outdated = false;
    sm_move(&p->sm, STREAM_RUNNING, "%s", p->program.argv[0]);
    p->child = spawner_spawn(p->handler->host->spawner, &spec, &p->user);
    free(name);
}

/* The first record starts the program. */
static bool stream_is_ready(struct handler *handler)
{
    struct stream_part *p = handler->part;
    if (p->outdated && p->sm.state == STREAM_RUNNING) {
        if (!handler->n_runs)
            stop_program(p, "it has new settings");
        return false;
    }
    switch ((enum stream_state)p->sm.state) {
    case STREAM_IDLE: start_program(p); break;
    case STREAM_RUNNING: break;
    case STREAM_ENDING:
    case STREAM_WAITING: return false;
    }
    return p->unwritten.len <= UNWRITTEN_MAX && (!p->suspects || !handler->n_runs);
}

/* ---- the settings ---- */

static const char *stream_mode(const struct handler *handler)
{
    (void)handler;
    return "stream";
}

static bool stream_is_set(const struct conf_handler *conf)
{
    return conf->exec.count > 0 && conf->mode == CONF_EXEC_STREAM;
}

static struct stream_part *part_new(struct handler *handler)
{
    struct stream_part *p = NEW(struct stream_part);
    p->handler = handler;
    p->user.ops = &user_ops;
    p->timer.fire = on_timer;
    task_init(&p->writer, PHASE_FLUSH, stream_write);
    task_init(&p->reader, PHASE_PUMP, stream_read);
    sm_init(&p->sm, stream_states, STREAM_IDLE, "stream", NULL);
    return p;
}

static void stream_configure(struct handler *handler, const struct conf_handler *conf)
{
    struct stream_part *p = handler->part ? handler->part : part_new(handler);
    handler->part = p;
    if (handler_program_set(&p->program, conf))
        p->outdated = true;
}

static void stream_interrupt(struct handler *handler)
{
    stop_program(handler->part, "this replica no longer leads");
}

static void stream_close(struct handler *handler)
{
    struct stream_part *p = handler->part;
    timer_stop(handler->host->clock, &p->timer);
    task_cancel(&p->writer);
    task_cancel(&p->reader);
    if (p->child)
        child_close(p->child);
    buf_free(&p->unwritten);
    buf_free(&p->output);
    buf_free(&p->errors);
    hashmap_free(&p->by_seq);
    handler_program_free(&p->program);
    free(p);
    handler->part = NULL;
}

const struct handler_kind handler_stream = {
    .name = "exec",
    .mode = stream_mode,
    .is_set = stream_is_set,
    .check = handler_program_check,
    .permit = handler_program_permit,
    .advise = handler_program_advise,
    .configure = stream_configure,
    .interrupt = stream_interrupt,
    .close = stream_close,
    .is_ready = stream_is_ready,
    .start = stream_start,
    .cancel = stream_cancel,
};
