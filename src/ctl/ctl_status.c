/*
 * ctl_status.c - `informerctl status`: the watches and event logs of informerd and their state.
 *
 * The exit code is 0 if all watches are live, otherwise 1, so that scripts can use it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/timestamp.h"
#include "ctl/ctl.h"
#include "ctl/ctl_table.h"
#include "ctl/ctl_text.h"

static void put_daemon(struct buf *out, const struct json_node *root)
{
    char *version = ctl_json_text(root, "version"), *now = ctl_json_text(root, "time");
    char *started = ctl_json_text(root, "started"), *age;
    int64_t now_us = 0, started_us = 0;
    (void)timestamp_parse(now, &now_us);
    (void)timestamp_parse(started, &started_us);
    age = ctl_age_text(now_us > started_us ? (uint64_t)(now_us - started_us) / 1000 : 0);
    buf_printf(out, "informerd %s, up %s, next sequence number %" PRIu64 "\n", version, age,
               ctl_json_number(root, "seq"));
    free(age);
    free(version);
    free(now);
    free(started);
}

/* Of the last event; "-": there was none. */
static char *event_age_text(const struct json_node *watch)
{
    const struct json_node *age = ctl_json_get(watch, "event_age_ms");
    return age && !str_eq(age->text, STR("null"))
               ? ctl_age_text(ctl_json_number(watch, "event_age_ms"))
               : xstrdup("-");
}

/* Returns whether it is live. */
static bool add_watch(struct ctl_table *table, const struct json_node *watch, bool clusters)
{
    char *cells[] = {
        ctl_json_text(watch, "watch"),   ctl_json_text(watch, "state"),
        ctl_json_text(watch, "objects"), event_age_text(watch),
        ctl_json_text(watch, "cluster"), ctl_json_text(watch, "error"),
    };
    const char *row[ARRAY_LEN(cells)];
    bool live = strcmp(cells[1], "live") == 0;
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        if (i != 4 || clusters)
            row[n++] = cells[i];
    ctl_table_add(table, row[n - 1][0] ? n : n - 1, row);
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        free(cells[i]);
    return live;
}

/* Whether the watches are of several clusters. */
static bool has_clusters(const struct json_node *watches)
{
    const struct json_node *first = watches ? watches->first : NULL;
    for (const struct json_node *w = first; w; w = w->next) {
        const struct json_node *a = ctl_json_get(first, "cluster"), *b = ctl_json_get(w, "cluster");
        if (a && b && !str_eq(a->text, b->text))
            return true;
    }
    return false;
}

static bool put_watches(struct buf *out, const struct json_node *watches)
{
    static const char *const header[] = {"WATCH", "STATE", "OBJECTS", "LAST EVENT", "REASON"};
    static const char *const all[] = {"WATCH",      "STATE",   "OBJECTS",
                                      "LAST EVENT", "CLUSTER", "REASON"};
    bool clusters = has_clusters(watches), live = true;
    struct ctl_table table = {0};
    if (!watches || !watches->first) {
        buf_puts(out, "\nNo watches are configured.\n");
        return true;
    }
    ctl_table_add(&table, ARRAY_LEN(header) + clusters, clusters ? all : header);
    for (const struct json_node *w = watches->first; w; w = w->next)
        live = add_watch(&table, w, clusters) && live;
    buf_putc(out, '\n');
    ctl_table_put(&table, out);
    ctl_table_free(&table);
    return live;
}

static void put_logs(struct buf *out, const struct json_node *logs)
{
    static const char *const header[] = {"EVENT LOG", "STATE", "UNWRITTEN", "REASON"};
    struct ctl_table table = {0};
    if (!logs || !logs->first)
        return;
    ctl_table_add(&table, ARRAY_LEN(header), header);
    for (const struct json_node *log = logs->first; log; log = log->next) {
        char *cells[] = {ctl_json_text(log, "path"), ctl_json_text(log, "state"),
                         ctl_json_text(log, "unwritten_bytes"), ctl_json_text(log, "error")};
        ctl_table_add(&table, cells[3][0] ? 4 : 3, (const char *const *)cells);
        for (size_t i = 0; i < ARRAY_LEN(cells); i++)
            free(cells[i]);
    }
    buf_putc(out, '\n');
    ctl_table_put(&table, out);
    ctl_table_free(&table);
}

static int status_run(const void *options)
{
    const struct ctl_plain_options *o = options;
    struct client *client = NULL;
    struct ctl_answer answer = {0};
    struct buf out = {0};
    bool live = false;
    int rc = ctl_connect(o->socket, &client);
    if (rc == 0)
        rc = ctl_fetch(client, "/informerd/v1/status", NULL, &answer);
    if (rc == 0) {
        put_daemon(&out, answer.root);
        live = put_watches(&out, ctl_json_get(answer.root, "watches"));
        put_logs(&out, ctl_json_get(answer.root, "event_logs"));
        rc = command_print(&out);
        rc = rc ? rc : live ? 0 : EXIT_FAILURE;
    }
    buf_free(&out);
    ctl_answer_free(&answer);
    client_close(client);
    return rc;
}

const struct command ctl_status = {
    .name = "status",
    .arguments = "",
    .summary = "print the state of watches and event logs",
    .description = "Print the state of the watches and event logs of informerd. The exit code is 1 "
                   "if a watch is not live.",
    .flags = ctl_plain_flags,
    .size = sizeof(struct ctl_plain_options),
    .parse = ctl_plain_parse,
    .run = status_run,
};
