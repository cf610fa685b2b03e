/*
 * handler_exec.c - runs a program for each record: the record is one line of JSON on its stdin, and its
 * exit code says what became of it.
 *
 *     0               delivered
 *     75 (EX_TEMPFAIL) repeated until it works
 *     others          repeated retry.max times, then parked; likewise a signal, a timeout, too much
 *                     output, or a program that can't be started
 *
 * The part of the handler is its struct handler_program. Its output goes to the daemon's log, the first lines of each run. What limits a program is described
 * in seam/child.h.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/handler/handler_kind.h"
#include "daemon/handler/handler_program.h"

enum {
    OUTPUT_MAX = 256 * 1024, /* LIMIT: bytes of stdout, and of stderr, after which a run fails */
    OUTPUT_LINE_MAX = 500,   /* LIMIT: bytes of a line of it that are logged */
    VARIABLES_MAX = 32,      /* of a record; see put_environment() in handler.c */
};

struct exec_run {
    struct handler_run run;
    struct child_user user;
    struct child *child;
};

/* ---- the end ---- */

static void log_output(struct exec_run *r, const char *stream, enum inf_log_level level,
                       struct str text)
{
    const char *key = r->run.records[0]->object->key;
    for (int n = 0; text.len && n < HANDLER_OUTPUT_LINES; n++) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len, used = len + (end != NULL);
        handler_log(r->run.handler, level, "%s: %s: %.*s", key, stream,
                    (int)(len < OUTPUT_LINE_MAX ? len : OUTPUT_LINE_MAX), text.at);
        text = (struct str){text.at + used, text.len - used};
    }
    if (text.len)
        handler_log(r->run.handler, level, "%s: %s: %zu further bytes are not logged", key, stream,
                    text.len);
}

static enum handler_outcome outcome_of(const struct child_end *end)
{
    if (end->fate == CHILD_EXITED && end->code == 0)
        return HANDLER_DONE;
    if ((end->fate == CHILD_EXITED && end->code == EX_TEMPFAIL) ||
        (end->fate == CHILD_UNSTARTED && handler_program_is_shortage(end->code)))
        return HANDLER_RETRY;
    return HANDLER_FAILED;
}

static void on_end(struct child_user *user, const struct child_end *end)
{
    struct exec_run *r = container_of(user, struct exec_run, user);
    enum handler_outcome outcome = outcome_of(end);
    const struct handler_program *program = r->run.handler->part;
    char *why = end->fate == CHILD_UNSTARTED
                    ? xasprintf("'%.300s' cannot be started: %s", program->argv[0], end->how)
                    : xstrdup(end->how);
    log_output(r, "stdout", INF_LOG_INFO, end->output);
    log_output(r, "stderr", INF_LOG_WARN, end->errors);
    child_close(r->child);
    handler_run_end(&r->run, outcome, why);
    free(why);
}

static const struct child_user_ops user_ops = {.on_end = on_end};

/* ---- the start ---- */

/* Points at the variables in @record; @attempt is added. */
static void collect_variables(const struct handler_record *record, const char *attempt,
                              const char *ret[VARIABLES_MAX])
{
    size_t n = 0;
    for (size_t at = 0; at < record->env_len && n < VARIABLES_MAX - 2;
         at += strlen(record->text + at) + 1)
        ret[n++] = record->text + at;
    ret[n++] = attempt;
    ret[n] = NULL;
}

static struct handler_run *exec_start(struct handler *handler,
                                      struct handler_record *const *records, size_t n)
{
    const struct handler_program *program = handler->part;
    const struct handler_record *record = records[0];
    struct exec_run *r = NEW(struct exec_run);
    const char *env[VARIABLES_MAX];
    char attempt[40];
    struct child_spec spec = {
        .argv = program->argv,
        .context = program->context,
        .env = env,
        .clean_env = true,
        .input = handler_record_line(record),
        .output_max = OUTPUT_MAX,
        .errors_max = OUTPUT_MAX,
        .errors_bounded = true,
        .timeout_ms = handler->settings.timeout_ms,
    };
    assert(n == 1);
    (void)n;
    snprintf(attempt, sizeof(attempt), "INFORMERD_ATTEMPT=%" PRIu32, record->runs);
    collect_variables(record, attempt, env);
    r->user.ops = &user_ops;
    r->child = spawner_spawn(handler->host->spawner, &spec, &r->user);
    return &r->run;
}

static void exec_cancel(struct handler_run *run)
{
    struct exec_run *r = container_of(run, struct exec_run, run);
    child_close(r->child);
    free(r);
}

/* ---- the settings ---- */

static const char *exec_mode(const struct handler *handler)
{
    (void)handler;
    return "run";
}

static bool exec_is_set(const struct conf_handler *conf)
{
    return conf->exec.count > 0 && conf->mode == CONF_EXEC_RUN;
}

static void exec_configure(struct handler *handler, const struct conf_handler *conf)
{
    handler->part = handler->part ? handler->part : NEW(struct handler_program);
    handler_program_set(handler->part, conf);
}

static void exec_close(struct handler *handler)
{
    handler_program_free(handler->part);
    free(handler->part);
    handler->part = NULL;
}

const struct handler_kind handler_exec = {
    .name = "exec",
    .mode = exec_mode,
    .is_set = exec_is_set,
    .check = handler_program_check,
    .permit = handler_program_permit,
    .advise = handler_program_advise,
    .configure = exec_configure,
    .close = exec_close,
    .start = exec_start,
    .cancel = exec_cancel,
};
