/*
 * watch_expand.c - replaces the category `all` and --all-resources by resources of the server.
 *
 * Normal path: open a client, request the resources, and add a target for each that can be listed and
 * watched. The events of group events.k8s.io are left out: they are the same objects as those of the
 * core group. Blocks until the server responds, for at most EXPAND_TIMEOUT_MS. An error ends the command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <uv.h>

#include "informer/access.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/cli/watch_target.h"

enum {
    EXPAND_TIMEOUT_MS = 20 * 1000, /* connecting may take 15 s */
    EXPAND_MAX = 1000,             /* LIMIT: resources; each is a watch on the server */
};

struct expansion {
    struct inf_request request;
    struct inf_client *client; /* NULL: ended */
    uv_timer_t timeout;
    const char *category; /* NULL: all resources */
    const struct watch_targets *given;
    struct watch_targets *targets;
    struct inf_error *err;
    int rc;
};

/* ---- selection ---- */

static bool list_contains(const char *const *list, const char *text)
{
    while (*list && strcmp(*list, text) != 0)
        list++;
    return *list;
}

static bool list_contains_part(const char *const *list, const char *text, size_t len)
{
    while (*list && (strlen(*list) != len || strncasecmp(*list, text, len) != 0))
        list++;
    return *list;
}

/* Whether @text, as in "deployments.apps/v1" or "deploy", is this resource. */
static bool is_named(const struct inf_api_resource *r, const char *text)
{
    const char *names[] = {r->resource.name, r->resource.kind, NULL};
    size_t len = strcspn(text, "./");
    const char *group = text[len] == '.' ? text + len + 1 : NULL;
    if (group && (strlen(r->resource.group) != strcspn(group, "/") ||
                  strncmp(r->resource.group, group, strcspn(group, "/")) != 0))
        return false;
    return list_contains_part(names, text, len) || list_contains_part(r->short_names, text, len);
}

static bool is_selected(const struct expansion *e, const struct inf_api_resource *r)
{
    if (!r->preferred || !list_contains(r->verbs, "list") || !list_contains(r->verbs, "watch"))
        return false;
    if (strcmp(r->resource.group, "events.k8s.io") == 0 && strcmp(r->resource.name, "events") == 0)
        return false;
    for (size_t i = 0; i < e->given->count; i++) /* it would be printed twice */
        if (!e->given->items[i].name && is_named(r, e->given->items[i].resource))
            return false;
    return !e->category || list_contains(r->categories, e->category);
}

static void add_resource(struct watch_targets *targets, const struct inf_api_resource *r)
{
    char *name = r->resource.group[0] ? xasprintf("%s.%s/%s", r->resource.name, r->resource.group,
                                                  r->resource.version)
                                      : xstrdup(r->resource.name);
    watch_targets_add(targets, name, NULL);
    targets->items[targets->count - 1].expanded = true;
    targets->items[targets->count - 1].cluster_scoped = !r->namespaced;
    free(name);
}

/* ---- the request ---- */

static void end_expansion(struct expansion *e)
{
    inf_client_close(e->client, NULL);
    e->client = NULL;
    uv_close((uv_handle_t *)&e->timeout, NULL);
}

static void expand_on_timeout(uv_timer_t *timer)
{
    struct expansion *e = timer->data;
    e->rc = err_set(e->err, INF_ETIMEOUT, "%s: no response within %d s",
                    inf_client_server(e->client), EXPAND_TIMEOUT_MS / 1000);
    end_expansion(e);
}

static void expand_on_resources(struct inf_request *request,
                                const struct inf_api_resource *resources, size_t n,
                                const struct inf_error *why)
{
    struct expansion *e = container_of(request, struct expansion, request);
    if (why && why->code == INF_ECANCELED)
        return; /* timed out */
    if (why) {
        *e->err = *why;
        e->rc = -why->code;
    }
    for (size_t i = 0; i < n && e->rc == 0; i++) {
        if (e->targets->count == EXPAND_MAX)
            e->rc =
                err_set(e->err, INF_EINVAL,
                        "the server has more than %d resources; name those to watch", EXPAND_MAX);
        else if (is_selected(e, &resources[i]))
            add_resource(e->targets, &resources[i]);
    }
    end_expansion(e);
}

/* A group that does not respond. */
static void expand_on_log(void *data, enum inf_log_level level, const char *line)
{
    (void)data;
    (void)level;
    fprintf(stderr, "informerd: %s\n", line);
}

/* Adds the resources of @category, or all if it is NULL. */
static int expand_category(const struct inf_client_options *options, const char *category,
                           const struct watch_targets *given, struct watch_targets *targets,
                           struct inf_error *err)
{
    struct expansion e = {.category = category, .given = given, .targets = targets, .err = err};
    struct inf_client_options how = *options;
    size_t before = targets->count;
    uv_loop_t uv;
    how.log = expand_on_log;
    how.log_level = INF_LOG_WARN;
    uv_loop_init(&uv);
    e.client = inf_client_open(&uv, &how, err);
    if (!e.client) {
        uv_loop_close(&uv);
        return -err->code;
    }
    uv_timer_init(&uv, &e.timeout);
    e.timeout.data = &e;
    uv_timer_start(&e.timeout, expand_on_timeout, EXPAND_TIMEOUT_MS, 0);
    inf_resources_request(e.client, &e.request, expand_on_resources);
    uv_run(&uv, UV_RUN_DEFAULT);
    uv_loop_close(&uv);
    if (e.rc == 0 && targets->count == before)
        e.rc = err_set(err, INF_ENOTFOUND, "the server has no resources %s%s%sthat can be watched",
                       category ? "of category '" : "", category ? category : "",
                       category ? "' " : "");
    return e.rc;
}

int watch_targets_expand(const struct inf_client_options *how, bool all,
                         struct watch_targets *targets, struct inf_error *err)
{
    struct watch_targets expanded = {0};
    int rc = all ? expand_category(how, NULL, targets, &expanded, err) : 0;
    for (size_t i = 0; rc == 0 && i < targets->count; i++) {
        const struct watch_target *target = &targets->items[i];
        if (watch_target_is_category(target))
            rc = expand_category(how, WATCH_CATEGORY, targets, &expanded, err);
        else
            watch_targets_add(&expanded, target->resource, target->name);
    }
    if (rc < 0) {
        watch_targets_free(&expanded);
        return rc;
    }
    watch_targets_free(targets);
    *targets = expanded;
    return 0;
}
