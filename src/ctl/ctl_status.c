/*
 * ctl_status.c - `informerctl status`: problems and what to do about them, then the watches, event logs and
 * handlers of informerd and their state.
 *
 * The exit code is 0 if all watches are live, otherwise 1, so that scripts can use it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/timestamp.h"
#include "base/text/utf8.h"
#include "ctl/ctl.h"
#include "ctl/ctl_table.h"
#include "ctl/ctl_text.h"
#include "daemon/cli/terminal.h"

struct status_options {
    const char *socket;
    const char *output;
};

static const char *const status_outputs[] = {"json", NULL};

struct page {
    const struct json_node *root;
    bool colour;
    bool live; /* all watches are */
    struct buf problems;
    struct buf tables;
};

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

/* One of several replicas: "replica node-1_12_ab of group informerd: standby, node-2_9_cd leads". */
static void put_replica(struct buf *out, const struct json_node *root)
{
    const struct json_node *replica = ctl_json_get(root, "replica");
    char *fields[] = {ctl_json_text(replica, "identity"), ctl_json_text(replica, "group"),
                      ctl_json_text(replica, "role"), ctl_json_text(replica, "holder"),
                      ctl_json_text(replica, "error")};
    bool other = strcmp(fields[0], fields[3]) != 0 && fields[3][0];
    struct buf line = {0};
    buf_printf(&line, "replica %s of group %s: %s", fields[0], fields[1], fields[2]);
    if (other)
        buf_printf(&line, ", %s leads", fields[3]);
    if (fields[4][0])
        buf_printf(&line, ": %s", fields[4]);
    if (replica) {
        utf8_put_visible(out, (struct str){line.bytes, line.len});
        buf_putc(out, '\n');
    }
    buf_free(&line);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        free(fields[i]);
}

/* ---- problems ---- */

/* What to do about a state. The error that is printed before it can be more specific. */
static const struct {
    const char *type, *state, *remedy;
} remedies[] = {
    {"watch", "held", "an event log, a handler or memory.backlog is full: see the problems below"},
    {"watch", "failing", "check the server and the network; informerd retries by itself"},
    {"watch", "stale", "check the connection to the server; informerd reconnects by itself"},
    {"watch", "restored", "wait: it has objects of the last run and connects to the server"},
    {"watch", "syncing", "wait: the first list of objects is in progress"},
    {"watch", "waiting", "wait: the resource does not exist in the cluster yet"},
    {"watch", "forbidden", "grant the permission; 'informerd rbac' prints the rules"},
    {"watch", "unauthorized", "renew the credentials of the cluster in the configuration"},
    {"watch", "not found", "check `resource` in the configuration, or install its CRD"},
    {"event log", "",
     "make room, fix its permissions, or stop the program that has locked it; it is opened again "
     "by itself, or at once by 'informerctl reopen'"},
};

static const char *remedy_of(const char *type, const char *state)
{
    for (size_t i = 0; i < ARRAY_LEN(remedies); i++)
        if (strcmp(remedies[i].type, type) == 0 &&
            (!remedies[i].state[0] || strcmp(remedies[i].state, state) == 0))
            return remedies[i].remedy;
    return NULL;
}

static void add_problem(struct page *p, const char *type, const char *name, const char *state,
                        const char *reason, const char *remedy)
{
    struct buf line = {0};
    buf_printf(&line, "%s %s: %s%s%s", type, name, state, reason[0] ? ": " : "", reason);
    buf_puts(&p->problems, p->colour ? CTL_RED : "");
    utf8_put_visible(&p->problems, (struct str){line.bytes, line.len});
    buf_printf(&p->problems, "%s\n", p->colour ? CTL_PLAIN : "");
    if (remedy)
        buf_printf(&p->problems, "  %s\n", remedy);
    buf_free(&line);
}

/* Of a handler that fails and has parked nothing: its records wait. */
static const char *handler_remedy(const struct json_node *handler)
{
    char *kind = ctl_json_text(handler, "kind");
    bool client = strcmp(kind, "client") == 0;
    free(kind);
    return client ? "start the program that takes its records, such as informerd-kafka; until then "
                    "they wait"
                  : "correct this and, if it is in the configuration, run 'informerctl reload'; "
                    "until then the records wait";
}

/* A handler that delivers again can still have parked records of an earlier failure. */
static void add_handler_problem(struct page *p, const struct json_node *handler, const char *name,
                                const char *state)
{
    uint64_t parked = ctl_json_number(handler, "parked");
    char *error = ctl_json_text(handler, "error");
    char *what = parked ? xasprintf("%s, %" PRIu64 " record%s parked", state, parked,
                                    parked == 1 ? " is" : "s are")
                        : xstrdup(state);
    char *remedy =
        parked ? xasprintf(
                     "'informerctl handler parked %s' lists them, 'informerctl handler retry %s' "
                     "delivers them again",
                     name, name)
               : xstrdup(handler_remedy(handler));
    if (error[0] || parked)
        add_problem(p, "handler", name, what, error, remedy);
    free(remedy);
    free(what);
    free(error);
}

/* ---- tables ---- */

/* Of the last event; "-": there was none. */
static char *event_age_text(const struct json_node *watch)
{
    const struct json_node *age = ctl_json_get(watch, "event_age_ms");
    return age && !str_eq(age->text, STR("null"))
               ? ctl_age_text(ctl_json_number(watch, "event_age_ms"))
               : xstrdup("-");
}

static void add_watch(struct page *p, struct ctl_table *table, const struct json_node *watch,
                      bool clusters)
{
    char *cells[] = {
        ctl_json_text(watch, "watch"),   ctl_json_text(watch, "state"),
        ctl_json_text(watch, "objects"), event_age_text(watch),
        ctl_json_text(watch, "cluster"),
    };
    char *error = ctl_json_text(watch, "error");
    if (strcmp(cells[1], "live") != 0) {
        char *name = clusters ? xasprintf("%s/%s", cells[4], cells[0]) : xstrdup(cells[0]);
        add_problem(p, "watch", name, cells[1], error, remedy_of("watch", cells[1]));
        p->live = false;
        free(name);
    }
    ctl_table_add(table, ARRAY_LEN(cells) - !clusters, (const char *const *)cells);
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        free(cells[i]);
    free(error);
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

static void put_watches(struct page *p)
{
    static const char *const header[] = {"WATCH", "STATE", "OBJECTS", "LAST EVENT", "CLUSTER"};
    const struct json_node *watches = ctl_json_get(p->root, "watches");
    bool clusters = has_clusters(watches);
    struct ctl_table table = {0};
    if (!watches || !watches->first) {
        buf_puts(&p->tables, "\nNo watches are configured.\n");
        return;
    }
    ctl_table_add(&table, ARRAY_LEN(header) - !clusters, header);
    for (const struct json_node *w = watches->first; w; w = w->next)
        add_watch(p, &table, w, clusters);
    buf_putc(&p->tables, '\n');
    ctl_table_put(&table, &p->tables);
    ctl_table_free(&table);
}

static void put_logs(struct page *p)
{
    static const char *const header[] = {"EVENT LOG", "STATE", "UNWRITTEN"};
    const struct json_node *logs = ctl_json_get(p->root, "event_logs");
    struct ctl_table table = {0};
    if (!logs || !logs->first)
        return;
    ctl_table_add(&table, ARRAY_LEN(header), header);
    for (const struct json_node *log = logs->first; log; log = log->next) {
        char *cells[] = {ctl_json_text(log, "path"), ctl_json_text(log, "state"),
                         ctl_bytes_text(ctl_json_number(log, "unwritten_bytes"))};
        char *error = ctl_json_text(log, "error");
        if (error[0] || strcmp(cells[1], "writable") != 0)
            add_problem(p, "event log", cells[0], cells[1], error,
                        remedy_of("event log", cells[1]));
        ctl_table_add(&table, ARRAY_LEN(cells), (const char *const *)cells);
        for (size_t i = 0; i < ARRAY_LEN(cells); i++)
            free(cells[i]);
        free(error);
    }
    buf_putc(&p->tables, '\n');
    ctl_table_put(&table, &p->tables);
    ctl_table_free(&table);
}

static void put_handlers(struct page *p)
{
    static const char *const header[] = {"HANDLER", "STATE", "WAITING", "PARKED"};
    const struct json_node *handlers = ctl_json_get(p->root, "handlers");
    struct ctl_table table = {0};
    if (!handlers || !handlers->first)
        return;
    ctl_table_add(&table, ARRAY_LEN(header), header);
    for (const struct json_node *h = handlers->first; h; h = h->next) {
        char *cells[] = {ctl_json_text(h, "name"), ctl_json_text(h, "state"),
                         ctl_json_text(h, "records"), ctl_json_text(h, "parked")};
        add_handler_problem(p, h, cells[0], cells[1]);
        ctl_table_add(&table, ARRAY_LEN(cells), (const char *const *)cells);
        for (size_t i = 0; i < ARRAY_LEN(cells); i++)
            free(cells[i]);
    }
    buf_putc(&p->tables, '\n');
    ctl_table_put(&table, &p->tables);
    ctl_table_free(&table);
}

/* ---- the command ---- */

static int print_page(const struct json_node *root)
{
    struct page page = {.root = root, .colour = terminal_has_colours(STDOUT_FILENO), .live = true};
    struct buf out = {0};
    int rc;
    put_watches(&page);
    put_logs(&page);
    put_handlers(&page);
    put_daemon(&out, root);
    put_replica(&out, root);
    if (page.problems.len) {
        buf_putc(&out, '\n');
        buf_put(&out, page.problems.bytes, page.problems.len);
    }
    buf_put(&out, page.tables.bytes, page.tables.len);
    rc = command_print(&out);
    buf_free(&out);
    buf_free(&page.problems);
    buf_free(&page.tables);
    return rc ? rc : page.live ? 0 : EXIT_FAILURE;
}

static bool watches_are_live(const struct json_node *root)
{
    const struct json_node *watches = ctl_json_get(root, "watches");
    for (const struct json_node *w = watches ? watches->first : NULL; w; w = w->next)
        if (!ctl_json_is(w, "state", "live"))
            return false;
    return true;
}

static int status_run(const void *options)
{
    const struct status_options *o = options;
    struct client *client = NULL;
    struct ctl_answer answer = {0};
    int rc = ctl_connect(o->socket, &client);
    if (rc == 0)
        rc = ctl_fetch(client, "/informerd/v1/status", NULL, &answer);
    if (rc == 0 && !o->output) {
        rc = print_page(answer.root);
    } else if (rc == 0) {
        rc = command_print(&answer.reply.body);
        rc = rc ? rc : watches_are_live(answer.root) ? 0 : EXIT_FAILURE;
    }
    ctl_answer_free(&answer);
    client_close(client);
    return rc;
}

static int status_parse(void *options, int argc, char **argv)
{
    const struct status_options *o = options;
    if (argc)
        return command_usage_error(&ctl_status, "unexpected argument '%s'", argv[0]);
    if (o->output && strcmp(o->output, "json") != 0)
        return command_usage_error(&ctl_status, "unknown output format '%s'; use json", o->output);
    return 0;
}

static const struct flag status_flags[] = {
    {'o', "output", "FORMAT", offsetof(struct status_options, output),
     .help = "output format: json (default: text)", .choices = status_outputs},
    FLAG_SOCKET(struct status_options),
    {0},
};

const struct command ctl_status = {
    .name = "status",
    .arguments = "[flags]",
    .summary = "print problems and the state of watches and outputs",
    .description = "Print problems with their remedies, and the state of the watches, event logs "
                   "and handlers of informerd. The exit code is 1 if a watch is not live.",
    .flags = status_flags,
    .size = sizeof(struct status_options),
    .parse = status_parse,
    .run = status_run,
};
