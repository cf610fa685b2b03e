/*
 * ctl_handler.c - `informerctl handler`: the state of handlers, their parked records, and commands to them.
 *
 * The actions are rows of a table. `ls` and `parked` print tables; the others print what informerd has done.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/ctl.h"
#include "ctl/ctl_table.h"

struct handler_options {
    const char *socket;
    const struct handler_action *action;
    const char *name; /* NULL: none */
    const char *seq;  /* NULL: none */
};

struct handler_action {
    const char *name;
    bool takes_name, takes_seq;
    void (*put)(struct buf *out, const struct json_node *root); /* NULL: prints the message */
};

/* ---- output ---- */

/* Adds a row of the members @names of @node; an empty last one is omitted. */
static void add_row(struct ctl_table *table, const struct json_node *node, size_t n,
                    const char *const *names)
{
    char *cells[CTL_COLUMNS_MAX];
    for (size_t i = 0; i < n; i++)
        cells[i] = ctl_json_text(node, names[i]);
    ctl_table_add(table, cells[n - 1][0] ? n : n - 1, (const char *const *)cells);
    for (size_t i = 0; i < n; i++)
        free(cells[i]);
}

static void put_rows(struct buf *out, const struct json_node *list, size_t n,
                     const char *const *header, const char *const *names, const char *none)
{
    struct ctl_table table = {0};
    if (!list || !list->first) {
        buf_printf(out, "%s\n", none);
        return;
    }
    ctl_table_add(&table, n, header);
    for (const struct json_node *node = list->first; node; node = node->next)
        add_row(&table, node, n, names);
    ctl_table_put(&table, out);
    ctl_table_free(&table);
}

static void put_handlers(struct buf *out, const struct json_node *root)
{
    static const char *const header[] = {"NAME",     "KIND",     "MODE",    "STATE",
                                         "POSITION", "WAITING",  "RUNNING", "PARKED",
                                         "RUNS",     "FAILURES", "REASON"};
    static const char *const names[] = {"name",     "kind",     "mode",    "state",
                                        "position", "records",  "running", "parked",
                                        "runs",     "failures", "error"};
    put_rows(out, ctl_json_get(root, "handlers"), ARRAY_LEN(header), header, names,
             "No handlers are configured.");
}

static void put_parked(struct buf *out, const struct json_node *root)
{
    static const char *const header[] = {"SEQ",      "OBJECT", "TYPE",  "TIME",
                                         "ATTEMPTS", "PARKED", "REASON"};
    static const char *const names[] = {"seq",      "object", "type",  "time",
                                        "attempts", "parked", "reason"};
    uint64_t omitted = ctl_json_number(root, "omitted");
    put_rows(out, ctl_json_get(root, "records"), ARRAY_LEN(header), header, names,
             "No records are parked.");
    if (omitted)
        buf_printf(out, "%" PRIu64 " further records are not shown.\n", omitted);
}

/* ---- the command ---- */

static const struct handler_action actions[] = {
    {"ls", false, false, put_handlers}, {"parked", true, false, put_parked},
    {"retry", true, true, NULL},        {"drop", true, true, NULL},
    {"pause", true, false, NULL},       {"resume", true, false, NULL},
};

static const struct handler_action *find_action(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    return NULL;
}

static void put_target(struct buf *target, const struct handler_options *o)
{
    buf_puts(target, "/informerd/v1/handlers");
    if (o->name) {
        buf_puts(target, o->action->put ? "/parked?name=" : "/control?name=");
        client_put_escaped(target, o->name);
    }
    if (!o->action->put)
        buf_printf(target, "&command=%s", o->action->name);
    if (o->seq)
        buf_printf(target, "&seq=%s", o->seq);
    buf_putc(target, '\0');
}

static int handler_run(const void *options)
{
    const struct handler_options *o = options;
    struct client *client = NULL;
    struct ctl_answer answer = {0};
    struct buf target = {0}, out = {0};
    int rc = ctl_connect(o->socket, &client);
    put_target(&target, o);
    if (rc == 0)
        rc = ctl_fetch(client, target.bytes, NULL, &answer);
    if (rc == 0 && o->action->put) {
        o->action->put(&out, answer.root);
    } else if (rc == 0) {
        char *message = ctl_json_text(answer.root, "message");
        buf_printf(&out, "%s\n", message);
        free(message);
    }
    if (rc == 0)
        rc = command_print(&out);
    buf_free(&target);
    buf_free(&out);
    ctl_answer_free(&answer);
    client_close(client);
    return rc;
}

static int handler_parse(void *options, int argc, char **argv)
{
    struct handler_options *o = options;
    int n = 1;
    if (!argc)
        return command_usage_error(&ctl_handler,
                                   "missing action: ls, parked, retry, drop, pause or resume");
    o->action = find_action(argv[0]);
    if (!o->action)
        return command_usage_error(
            &ctl_handler, "unknown action '%s'; use ls, parked, retry, drop, pause or resume",
            argv[0]);
    if (o->action->takes_name && argc < 2)
        return command_usage_error(&ctl_handler, "missing name of the handler");
    if (o->action->takes_name)
        o->name = argv[n++];
    if (o->action->takes_seq && argc > n)
        o->seq = argv[n++];
    if (argc > n)
        return command_usage_error(&ctl_handler, "unexpected argument '%s'", argv[n]);
    if (o->seq && (o->seq[0] == '0' || o->seq[strspn(o->seq, "0123456789")] || !o->seq[0]))
        return command_usage_error(&ctl_handler, "'%s' is not a sequence number", o->seq);
    return 0;
}

static const struct flag handler_flags[] = {FLAG_SOCKET(struct handler_options), {0}};

const struct command ctl_handler = {
    .name = "handler",
    .arguments = "ACTION [NAME [SEQ]]",
    .summary = "show and control handlers",
    .description =
        "Show and control handlers. Actions: ls (the state of all), parked NAME (the records that "
        "one has parked), retry NAME [SEQ] and drop NAME [SEQ] (deliver parked records again, or "
        "remove them: the one with sequence number SEQ, or all), pause NAME (start no runs, also "
        "after a restart), resume NAME.",
    .flags = handler_flags,
    .size = sizeof(struct handler_options),
    .parse = handler_parse,
    .run = handler_run,
};
