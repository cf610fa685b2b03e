/*
 * control.c - the commands of the control interface, in one table. A command reads its parameters
 * and changes the simulator; invalid parameters give a Status with code 400, an unknown command
 * 404.
 */
#include "control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/alloc.h"
#include "base/base.h"
#include "fill.h"

static bool refuse(struct command_call *call, const char *why)
{
    status_set(call->ret, 400, "BadRequest", "%s", why);
    return false;
}

static struct resource *find_resource(struct command_call *call)
{
    const char *name = params_get(call->params, "resource", "");
    const char *kind = params_get(call->params, "kind", NULL);
    struct store *store = &call->sim->store;
    struct resource *r = store_named(store, name);
    if (!r && kind) {
        char *spec = xasprintf("%s=%s", name, kind);
        r = store_add_custom(store, spec);
        free(spec);
    }
    if (!r)
        refuse(
            call,
            "resource= is unknown (kind= adds a custom resource such as widgets.example.com/v1)");
    return r;
}

static bool run_fault(struct command_call *call)
{
    struct fault f;
    if (!fault_parse(&f, call->params))
        return refuse(call, "do= is not a known fault; see --help");
    if (f.kind == FAULT_REFUSE && !f.verb[0] && !f.path[0])
        listener_refuse(call->sim, f.ms);
    else
        faults_add(&call->sim->faults, &f);
    return true;
}

static bool run_faults(struct command_call *call)
{
    faults_put(call->out, &call->sim->faults);
    return true;
}

static bool run_clear(struct command_call *call)
{
    faults_clear(&call->sim->faults);
    call->sim->faults.chance = 0;
    return true;
}

static bool run_compact(struct command_call *call)
{
    struct store *store = &call->sim->store;
    uint64_t rv = params_number(call->params, "rv", store->rv);
    list_for_each(n, &store->resources)
        history_compact(&container_of(n, struct resource, node)->history, rv);
    return true;
}

/* Ends the connections whose target contains @part; END_NOT leaves them open. */
static void end_watches(struct kubesim *sim, enum ending how, const char *part)
{
    list_for_each_safe(n, &sim->conns) {
        struct conn *c = container_of(n, struct conn, node);
        if (!conn_watches(c) || !strstr(c->request.target, part))
            continue;
        if (how == END_NOT)
            watch_end(c);
        else
            conn_end(c, how);
    }
}

static bool run_close(struct command_call *call)
{
    const char *how = params_get(call->params, "how", "cut");
    const char *part = params_get(call->params, "path", "");
    if (strcmp(how, "end") == 0)
        end_watches(call->sim, END_NOT, part);
    else if (strcmp(how, "cut") == 0)
        end_watches(call->sim, END_CUT, part);
    else if (strcmp(how, "reset") == 0)
        end_watches(call->sim, END_RESET, part);
    else
        return refuse(call, "how= must be end, cut or reset");
    return true;
}

static bool run_rewind(struct command_call *call)
{
    struct store *store = &call->sim->store;
    uint64_t rv = params_number(call->params, "rv", 0);
    list_for_each(n, &store->resources) {
        if (rv < container_of(n, struct resource, node)->history.floor)
            return refuse(call, "rv= is older than the history");
    }
    if (rv > store->rv)
        return refuse(call, "rv= is newer than the current resource version");
    end_watches(call->sim, END_CUT, "");
    store_rewind(store, rv);
    return true;
}

static bool run_bookmark(struct command_call *call)
{
    watches_bookmark(call->sim);
    return true;
}

static bool run_tokens(struct command_call *call)
{
    const char *at = params_get(call->params, "set", NULL);
    if (!at)
        return refuse(call, "set=TOKEN,TOKEN is required; an empty set= removes all tokens");
    tokens_clear(call->sim);
    while (*at) {
        size_t n = strcspn(at, ",");
        char *token = xstrndup(at, n);
        token_add(call->sim, token);
        free(token);
        at += n + (at[n] == ',');
    }
    call->sim->settings.anonymous = call->sim->tokens.count ? ANONYMOUS_REFUSE : ANONYMOUS_ALLOW;
    return true;
}

static bool run_allow(struct command_call *call)
{
    const char *at = params_get(call->params, "set", "");
    rules_clear(call->sim);
    while (*at) {
        size_t n = strcspn(at, ",");
        char *rule = xstrndup(at, n);
        rule_add(call->sim, rule);
        free(rule);
        at += n + (at[n] == ',');
    }
    return true;
}

static bool run_put(struct command_call *call)
{
    struct resource *r = find_resource(call);
    struct object *o;
    if (!r)
        return false;
    o = store_put(r, PUT_EITHER, params_get(call->params, "namespace", NULL),
                  params_get(call->params, "name", NULL), call->body, call->body_len, call->ret);
    if (o)
        object_put(call->out, o, FORM_WHOLE, 0);
    return o != NULL;
}

static bool run_delete(struct command_call *call)
{
    struct resource *r = find_resource(call);
    return r && store_delete(r, params_get(call->params, "namespace", ""),
                             params_get(call->params, "name", ""), call->ret);
}

static bool run_resource(struct command_call *call)
{
    if (store_add_custom(&call->sim->store, params_get(call->params, "spec", "")))
        return true;
    return refuse(call, "spec= must have the form widgets.example.com/v1=Widget[,cluster]");
}

static bool run_serve(struct command_call *call)
{
    struct resource *r = find_resource(call);
    if (r)
        r->hidden = params_number(call->params, "on", 1) == 0;
    return r != NULL;
}

static bool run_fill(struct command_call *call)
{
    struct fill fill = {.resource = find_resource(call)};
    fill.count = params_number(call->params, "count", 1000);
    fill.bytes = params_number(call->params, "bytes", 2000);
    fill.namespaces = params_number(call->params, "namespaces", 1);
    fill.prefix = params_get(call->params, "prefix", "filled");
    if (fill.namespaces == 0 || fill.bytes > 100 * 1024 * 1024)
        return refuse(call, "namespaces= must not be 0, bytes= must not exceed 100 MiB");
    if (fill.resource)
        fill_run(&fill);
    return fill.resource != NULL;
}

static bool run_churn(struct command_call *call)
{
    struct resource *r = find_resource(call);
    if (r)
        churn_start(call->sim, r, params_number(call->params, "count", 100),
                    params_number(call->params, "rate", 0));
    return r != NULL;
}

static bool run_calm(struct command_call *call)
{
    jobs_end(call->sim);
    return true;
}

static bool run_set(struct command_call *call)
{
    struct settings *s = &call->sim->settings;
    const struct params *p = call->params;
    uint64_t window = params_number(p, "history", call->sim->store.window);
    s->watch_list = params_number(p, "watch_list", s->watch_list) != 0;
    s->gzip = params_number(p, "gzip", s->gzip) != 0;
    s->gzip_watch = params_number(p, "gzip_watch", s->gzip_watch) != 0;
    s->chunk = params_number(p, "chunk", s->chunk);
    s->no_reviews = params_number(p, "reviews", !s->no_reviews) == 0;
    if (window == 0)
        return refuse(call, "history= must not be 0");
    call->sim->store.window = (size_t)window;
    list_for_each(n, &call->sim->store.resources)
        history_resize(&container_of(n, struct resource, node)->history, (size_t)window);
    return true;
}

static bool run_stats(struct command_call *call)
{
    struct kubesim *sim = call->sim;
    const struct journal *j = &sim->journal;
    const char *comma = "";
    size_t watching = 0;
    list_for_each(n, &sim->conns)
        watching += conn_watches(container_of(n, struct conn, node));
    buf_printf(call->out, "{\"resourceVersion\":\"%llu\",", (unsigned long long)sim->store.rv);
    buf_printf(call->out, "\"requests\":%llu,\"paths\":", (unsigned long long)j->requests);
    journal_put_paths(call->out, j);
    buf_putc(call->out, ',');
    buf_printf(call->out, "\"connections\":{\"open\":%llu,\"opened\":%llu},",
               (unsigned long long)(j->opened - j->closed), (unsigned long long)j->opened);
    buf_printf(call->out, "\"tls\":{\"handshakes\":%llu,\"resumed\":%llu},",
               (unsigned long long)j->handshakes, (unsigned long long)j->resumed);
    buf_printf(call->out, "\"watches\":{\"open\":%zu,\"opened\":%llu},", watching,
               (unsigned long long)j->watches);
    buf_printf(call->out, "\"faults\":%llu,\"sent\":%llu,\"objects\":{",
               (unsigned long long)sim->faults.taken, (unsigned long long)j->sent);
    list_for_each(n, &sim->store.resources) {
        const struct resource *r = container_of(n, struct resource, node);
        if (!r->count)
            continue;
        buf_printf(call->out, "%s\"%s%s%s\":%zu", comma, r->plural, r->group[0] ? "." : "",
                   r->group, r->count);
        comma = ",";
    }
    buf_puts(call->out, "}}");
    return true;
}

static bool run_requests(struct command_call *call)
{
    journal_put(call->out, &call->sim->journal);
    return true;
}

static bool run_forget(struct command_call *call)
{
    journal_clear(&call->sim->journal);
    return true;
}

static bool run_quit(struct command_call *call)
{
    kubesim_end_soon(call->sim);
    return true;
}

static const struct {
    const char *name;
    bool (*run)(struct command_call *call);
    const char *help;
} commands[] = {
    {"fault", run_fault, "do=NAME [verb= path= skip= times=1 at= bytes= events= ms= ...]"},
    {"faults", run_faults, "list the pending faults"},
    {"clear", run_clear, "remove all faults"},
    {"compact", run_compact, "[rv=]: remove the history up to this version"},
    {"rewind", run_rewind, "rv=: restore the state at this version, as after a restored etcd"},
    {"bookmark", run_bookmark, "send a bookmark to all watches"},
    {"close", run_close, "[path= how=cut|end|reset]: close the watches"},
    {"tokens", run_tokens, "set=A,B: accepted bearer tokens"},
    {"allow", run_allow, "set=pods,deployments.apps@shop: what may be listed and watched"},
    {"resource", run_resource, "spec=widgets.example.com/v1=Widget[,cluster]"},
    {"serve", run_serve, "resource= [on=1]: on=0 hides it, as if its CRD had been deleted"},
    {"put", run_put, "resource= [kind= namespace= name=]: store the object in the body"},
    {"delete", run_delete, "resource= [namespace=] name="},
    {"fill", run_fill, "resource= [count=1000 bytes=2000 namespaces=1 prefix=filled]"},
    {"churn", run_churn, "resource= [count=100 rate=0]: change filled objects, rate per second"},
    {"calm", run_calm, "end all churns"},
    {"set", run_set, "[history= watch_list=0|1 gzip=0|1 gzip_watch=0|1 chunk=BYTES reviews=0|1]"},
    {"stats", run_stats, "counters"},
    {"requests", run_requests, "the last requests"},
    {"forget", run_forget, "reset counters and requests"},
    {"quit", run_quit, "the end"},
};

bool control_run(const char *name, struct command_call *call)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(call);
    }
    status_set(call->ret, 404, "NotFound", "unknown command \"%.60s\"", name);
    return false;
}

void control_help(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        buf_printf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
}

void control_answer(struct conn *c)
{
    struct head head = {.code = 200};
    struct buf out = {0};
    struct status s;
    struct command_call call = {.sim = c->sim, .params = &c->request.query, .out = &out, .ret = &s};
    call.body = c->request.body;
    call.body_len = c->request.body_len;
    if (!control_run(c->request.path + strlen("/kubesim/"), &call)) {
        buf_free(&out);
        {
            reply_status(c, &s);
            return;
        }
    }
    buf_puts(&out, out.len ? "\n" : "{}\n");
    reply_whole(c, &head, &out);
}
