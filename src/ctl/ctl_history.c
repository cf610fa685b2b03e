/*
 * ctl_history.c - `informerctl history`: what happened to an object, or in a namespace.
 *
 * Normal path: the resource is looked up, then the records come from informerd's event log, the oldest
 * first, and are printed as a timeline. Records of informerd itself (GAP, RELIST, START ...) are kept back
 * until a change follows, so that only those between two changes are shown.
 */
#include "ctl/ctl_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "ctl/ctl.h"

enum {
    NOTES_MAX = 64 * 1024, /* LIMIT: bytes of records that are kept back; older ones are dropped */
    LIMIT_MAX = 10000,     /* LIMIT: the largest --limit that informerd accepts */
};

/* ---- reading ---- */

struct history_reader {
    struct client_follower follower;
    history_record_fn *each;
    void *ctx;
    struct buf notes; /* lines that are kept back */
    bool any;         /* a change was passed on */
};

static bool is_change_line(const struct json_node *record)
{
    return ctl_json_is(record, "type", "ADDED") || ctl_json_is(record, "type", "MODIFIED") ||
           ctl_json_is(record, "type", "DELETED");
}

static bool pass_line(struct history_reader *r, struct str line)
{
    struct arena arena = {0};
    bool more = r->each(r->ctx, line, json_tree_make(&arena, line));
    arena_free(&arena);
    return more;
}

static bool pass_notes(struct history_reader *r)
{
    struct str rest = {r->notes.bytes, r->notes.len};
    bool more = true;
    while (more && rest.len) {
        const char *end = memchr(rest.at, '\n', rest.len);
        more = pass_line(r, (struct str){rest.at, (size_t)(end - rest.at)});
        rest = (struct str){end + 1, rest.len - (size_t)(end - rest.at) - 1};
    }
    buf_clear(&r->notes);
    return more;
}

static void keep_note(struct history_reader *r, struct str line)
{
    buf_put(&r->notes, line.at, line.len);
    buf_putc(&r->notes, '\n');
    while (r->notes.len > NOTES_MAX)
        buf_consume(&r->notes,
                    (size_t)((char *)memchr(r->notes.bytes, '\n', r->notes.len) - r->notes.bytes) +
                        1);
}

static bool on_line(struct client_follower *follower, struct str line)
{
    struct history_reader *r = container_of(follower, struct history_reader, follower);
    struct arena arena = {0};
    const struct json_node *record = json_tree_make(&arena, line);
    bool change = is_change_line(record), gap = ctl_json_is(record, "type", "GAP"), more = true;
    if (change || (gap && !r->any)) {
        more = pass_notes(r) && r->each(r->ctx, line, record);
        r->any = true;
    } else if (r->any) {
        keep_note(r, line);
    }
    arena_free(&arena);
    return more;
}

static void put_parameter(struct buf *target, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(target, "&%s=", name);
    client_put_escaped(target, value);
}

static int put_time(struct buf *target, const char *name, const char *value, struct inf_error *err)
{
    if (!value)
        return 0;
    buf_printf(target, "&%s=", name);
    if (ctl_time_put(target, value, false, (int64_t)time(NULL) * 1000000, err) < 0)
        return err_wrap(err, "--%s", name);
    return 0;
}

static int put_target(struct buf *target, const struct history_request *q, struct inf_error *err)
{
    buf_puts(target, "/informerd/v1/history?notes=true");
    if (q->resource) {
        buf_puts(target, "&resource=");
        client_put_escaped(target, q->resource->name);
        if (q->resource->group[0])
            buf_printf(target, ".%s", q->resource->group);
    }
    put_parameter(target, "namespace", q->ns);
    put_parameter(target, "name", q->name);
    put_parameter(target, "uid", q->uid);
    if (q->limit)
        buf_printf(target, "&limit=%u", q->limit);
    if (put_time(target, "since", q->since, err) < 0 ||
        put_time(target, "until", q->until, err) < 0)
        return -INF_EINVAL;
    buf_putc(target, '\0');
    return 0;
}

int history_read(struct client *client, const struct history_request *request,
                 history_record_fn *each, void *ctx, struct inf_error *err)
{
    struct history_reader r = {.follower = {on_line}, .each = each, .ctx = ctx};
    struct buf target = {0};
    int rc = put_target(&target, request, err);
    if (rc == 0)
        rc = client_follow(client, target.bytes, NULL, &r.follower, err);
    buf_free(&target);
    buf_free(&r.notes);
    return rc;
}

void history_split(int argc, char **argv, char **ret_resource, const char **ret_name)
{
    const char *slash = strchr(argv[0], '/');
    *ret_resource = slash ? xstrndup(argv[0], (size_t)(slash - argv[0])) : xstrdup(argv[0]);
    *ret_name = slash ? slash + 1 : argc > 1 ? argv[1] : NULL;
}

/* ---- the command ---- */

struct history_options {
    const char *socket;
    const char *ns;
    const char *uid;
    const char *since;
    const char *until;
    const char *limit;
    const char *output;
    int argc;
    char **argv;
};

static const char *const history_formats[] = {"timeline", "jsonl", NULL};

struct history {
    struct ctl_timeline timeline;
    bool as_jsonl;
    size_t records;
    int rc;
};

static bool print_record(void *ctx, struct str line, const struct json_node *record)
{
    struct history *h = ctx;
    struct buf out = {0};
    if (h->as_jsonl) {
        buf_put(&out, line.at, line.len);
        buf_putc(&out, '\n');
    } else {
        ctl_timeline_put(&h->timeline, &out, record);
    }
    h->records++;
    h->rc = command_print(&out);
    buf_free(&out);
    return h->rc == 0;
}

static int run_request(struct client *client, const struct history_options *o,
                       const struct history_request *request)
{
    struct record_options options = ctl_record_options();
    struct history h = {.timeline = {.options = &options, .with_names = !request->name && !o->uid},
                        .as_jsonl = o->output && strcmp(o->output, "jsonl") == 0};
    struct inf_error err;
    int rc = history_read(client, request, print_record, &h, &err);
    if (rc == -INF_EINVAL && strncmp(err.text, "--", 2) == 0)
        return command_usage_error(&ctl_history, "%s", err.text);
    if (rc < 0)
        return ctl_fail(&err);
    if (!h.records && h.rc == 0)
        fprintf(stderr, "No records found.\n");
    return h.rc;
}

/* Objects of a namespace are in the namespace `default` unless -n says otherwise, as in kubectl. */
static int history_run(const void *options)
{
    const struct history_options *o = options;
    struct history_request request = {
        .ns = o->ns, .uid = o->uid, .since = o->since, .until = o->until};
    struct ctl_resource resource = {0};
    struct client *client = NULL;
    struct inf_error err;
    char *word = NULL;
    int rc = ctl_connect(o->socket, &client);
    request.limit = o->limit ? (unsigned)strtoul(o->limit, NULL, 10) : 0;
    if (o->argc)
        history_split(o->argc, o->argv, &word, &request.name);
    if (rc == 0 && word && ctl_resource_find(client, word, &resource, &err) < 0)
        rc = ctl_fail(&err);
    if (rc == 0 && word) {
        request.resource = &resource;
        request.ns = !resource.namespaced ? NULL : o->ns ? o->ns : request.name ? "default" : NULL;
    }
    if (rc == 0)
        rc = run_request(client, o, &request);
    ctl_resource_free(&resource);
    free(word);
    client_close(client);
    return rc;
}

static bool is_limit(const char *text)
{
    unsigned long value = strtoul(text, NULL, 10);
    return text[0] && !text[strspn(text, "0123456789")] && value >= 1 && value <= LIMIT_MAX;
}

static int history_parse(void *options, int argc, char **argv)
{
    struct history_options *o = options;
    o->argc = argc;
    o->argv = argv;
    if (!argc && !o->ns && !o->uid)
        return command_usage_error(&ctl_history,
                                   "missing object; for example 'history pod/web-0', or -n NS");
    if (argc > 2 || (argc == 2 && strchr(argv[0], '/')))
        return command_usage_error(&ctl_history, "unexpected argument '%s'", argv[argc - 1]);
    if (o->limit && !is_limit(o->limit))
        return command_usage_error(&ctl_history, "--limit: '%s' is not a number from 1 to %d",
                                   o->limit, LIMIT_MAX);
    if (o->output && strcmp(o->output, "timeline") != 0 && strcmp(o->output, "jsonl") != 0)
        return command_usage_error(&ctl_history,
                                   "unknown output format '%s'; use timeline or jsonl", o->output);
    return 0;
}

static const struct flag history_flags[] = {
    {'n', "namespace", "NS", offsetof(struct history_options, ns),
     .help = "namespace of the object (default: default); without an object, everything that "
             "happened in this namespace"},
    {0, "uid", "UID", offsetof(struct history_options, uid),
     .help = "only the object with this uid; others may have had the same name"},
    {0, "since", "TIME", offsetof(struct history_options, since),
     .help = "only from then on: 10m (before now), 10:02, 2026-11-18T10:02:00Z"},
    {0, "until", "TIME", offsetof(struct history_options, until), .help = "only up to then"},
    {0, "limit", "N", offsetof(struct history_options, limit),
     .help = "only the newest records, up to 10000"},
    {'o', "output", "FORMAT", offsetof(struct history_options, output),
     .help = "timeline (default) or jsonl", .choices = history_formats},
    FLAG_SOCKET(struct history_options),
    {0},
};

const struct command ctl_history = {
    .name = "history",
    .arguments = "[RESOURCE[/NAME]] [flags]",
    .summary = "print what happened to an object or in a namespace",
    .description =
        "Print the records of an object, of all objects of a resource, or of a namespace, "
        "from the event log of informerd: which fields changed, their old and new values, "
        "the program that changed them, Events about the object, and gaps.",
    .flags = history_flags,
    .size = sizeof(struct history_options),
    .parse = history_parse,
    .run = history_run,
};
