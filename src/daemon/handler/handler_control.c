/*
 * handler_control.c - the table of commands, and command files.
 *
 * Normal path: find the handler and the row of the command, run it, describe the result. A command file is
 * read and removed before its commands are carried out, so that none is carried out twice. Reading a file
 * blocks; that happens only at a reload, as for the configuration.
 */
#include "daemon/handler/handler_control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/file.h"

/* ---- commands ---- */

static size_t control_pause(struct handlers *hs, struct handler *h, uint64_t seq)
{
    (void)seq;
    handlers_pause(hs, h, true);
    return 1;
}

static size_t control_resume(struct handlers *hs, struct handler *h, uint64_t seq)
{
    (void)seq;
    handlers_pause(hs, h, false);
    return 1;
}

static size_t control_retry(struct handlers *hs, struct handler *h, uint64_t seq)
{
    size_t count = handler_queue_unpark(&h->queue, seq, handler_schedule_record, h);
    journal_flush(hs->host.journal);
    return count;
}

static size_t control_drop(struct handlers *hs, struct handler *h, uint64_t seq)
{
    size_t count = handler_queue_drop_parked(&h->queue, seq);
    journal_flush(hs->host.journal);
    return count;
}

static const struct control_row {
    const char *name;
    bool takes_seq;
    size_t (*run)(struct handlers *hs, struct handler *h, uint64_t seq); /* returns how many */
    const char *result; /* after that number, if it takes a sequence number */
} control_rows[] = {
    {"pause", false, control_pause, "paused: no further run is started until it is resumed"},
    {"resume", false, control_resume, "resumed"},
    {"retry", true, control_retry, "parked records are delivered again"},
    {"drop", true, control_drop, "parked records are dropped"},
};

static const struct control_row *find_row(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(control_rows); i++)
        if (strcmp(control_rows[i].name, name) == 0)
            return &control_rows[i];
    return NULL;
}

int handler_control(struct handlers *handlers, const char *command, const char *name, uint64_t seq,
                    struct buf *result, struct inf_error *err)
{
    const struct control_row *row = find_row(command);
    struct handler *h = handlers_find(handlers, name);
    size_t count;
    if (!row)
        return err_set(err, INF_EINVAL, "unknown command '%.40s'; use pause, resume, retry or drop",
                       command);
    if (!h)
        return err_set(err, INF_ENOTFOUND, "no handler is named '%.200s'", name);
    if (seq && !row->takes_seq)
        return err_set(err, INF_EINVAL, "%s takes no sequence number", row->name);
    count = row->run(handlers, h, seq);
    if (seq && !count)
        return err_set(err, INF_ENOTFOUND,
                       "handler '%.200s' has no parked record with sequence number %" PRIu64, name,
                       seq);
    if (row->takes_seq)
        buf_printf(result, "%zu ", count);
    buf_puts(result, row->result);
    return 0;
}

/* ---- command files ---- */

/* "retry 12": cuts the number off. Returns false if it is none. */
static bool split_line(char *line, uint64_t *ret_seq)
{
    char *blank = strchr(line, ' '), *end;
    *ret_seq = 0;
    if (!blank)
        return true;
    *blank = '\0';
    errno = 0;
    *ret_seq = strtoull(blank + 1, &end, 10);
    return blank[1] >= '1' && blank[1] <= '9' && !*end && !errno;
}

static void run_line(struct handlers *hs, struct handler *h, char *line)
{
    struct buf result = {0};
    struct inf_error err;
    uint64_t seq;
    int rc = split_line(line, &seq)
                 ? handler_control(hs, line, h->name, seq, &result, &err)
                 : err_set(&err, INF_EINVAL, "'%.40s' takes a sequence number", line);
    buf_putc(&result, '\0');
    if (rc < 0)
        handler_log(h, INF_LOG_ERROR, "command file: %s", err.text);
    else
        handler_log(h, INF_LOG_INFO, "command file: %s", result.bytes);
    buf_free(&result);
}

static void run_file(struct handlers *hs, struct handler *h, const char *path)
{
    struct inf_error err;
    char *text = NULL, *rest, *line;
    size_t len;
    int rc = file_read(path, HANDLER_COMMANDS_MAX, &text, &len, &err);
    if (rc == -INF_ENOTFOUND)
        return;
    if (unlink(path) < 0) {
        handler_log(h, INF_LOG_ERROR, "command file '%s' is ignored, it can't be removed: %s", path,
                    strerror(errno));
    } else if (rc < 0) {
        handler_log(h, INF_LOG_ERROR, "command %s", err.text);
    } else {
        for (line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
            run_line(hs, h, line);
    }
    free(text);
}

void handler_control_files(struct handlers *handlers, const char *dir)
{
    list_for_each(node, &handlers->handlers) {
        struct handler *h = container_of(node, struct handler, node);
        char *path = xasprintf("%s/handler-%s.cmd", dir, h->name);
        for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/'));)
            *slash = '_';
        run_file(handlers, h, path);
        free(path);
    }
}
