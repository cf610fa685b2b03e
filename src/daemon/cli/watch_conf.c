/*
 * watch_conf.c - the configuration of `informerd watch`, from its options.
 *
 * Normal path: read the namespace of the context from the kubeconfig if no namespace is given, convert
 * the options to the text of a configuration file and load that, so that the same rules and checks
 * apply to both.
 *
 * Each named object becomes a watch with the field selector metadata.name, which the server can
 * evaluate without looking at other objects: a few such watches cost it less than sending all objects
 * of the resource.
 *
 * Resources of a category are left out if they may not be watched; only for that, and for the scope of
 * resources with several namespaces, the server is contacted here.
 *
 * Of an invalid configuration the first error is printed, with the flag instead of the position in
 * the generated text.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <uv.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/builtin_resource.h"
#include "daemon/cli/command_watch.h"
#include "daemon/cli/preflight.h"
#include "daemon/cli/watch_target.h"
#include "daemon/conf/conf_type.h"
#include "daemon/daemon.h"

/* ---- the text ---- */

static void put_option(struct buf *out, const char *before, const char *value)
{
    if (!value)
        return;
    buf_puts(out, before);
    conf_text_write(value, out);
    buf_putc(out, '\n');
}

/* Writes the values of a flag as a list; with @split, each value at its commas. */
static void put_values(struct buf *out, const char *before, const struct flag_values *values,
                       bool split)
{
    if (!values->count)
        return;
    buf_printf(out, "%s[", before);
    for (size_t i = 0; i < values->count; i++) {
        char *copy = xstrdup(values->items[i]), *rest = copy, *item;
        const char *comma = i ? ", " : "";
        while ((item = split ? strsep(&rest, ",") : rest)) {
            buf_puts(out, comma);
            conf_text_write(item, out);
            comma = ", ";
            rest = split ? rest : NULL;
        }
        free(copy);
    }
    buf_puts(out, "]\n");
}

/* Watches of one resource need different names: their final names are set after loading, because
 * names of objects may contain other characters than names of watches. */
static void put_watch(struct buf *out, const struct watch_options *options,
                      const struct watch_target *target, size_t number,
                      const struct flag_values *namespaces)
{
    put_option(out, "  - resource: ", target->resource);
    if (target->name)
        buf_printf(out, "    name: \"%zu\"\n", number);
    if (!target->cluster_scoped && !inf_resource_is_cluster_scoped(target->resource))
        put_values(out, "    namespaces: ", namespaces, true);
    put_option(out, "    label_selector: ", options->label_selector);
    if (target->name)
        buf_printf(out, "    field_selector: \"metadata.name=%s\"\n", target->name);
    put_option(out, "    field_selector: ", options->field_selector);
    if (options->every_update)
        buf_puts(out, "    ignore: []\n");
    put_values(out, "    ignore: ", &options->ignore, true);
}

/* In the case in which records have them. */
static void put_verbs(struct buf *out, const struct flag_values *verbs)
{
    size_t begin = out->len;
    put_values(out, "", verbs, true);
    for (size_t i = begin; i < out->len; i++)
        out->bytes[i] = (char)toupper((unsigned char)out->bytes[i]);
}

static void put_event_log(struct buf *out, const struct watch_options *options, const char *format)
{
    bool full = strcmp(format, "full") == 0;
    buf_printf(out, "event_logs:\n  - path: stdout\n    object: %s\n", full ? "full" : "diff");
    put_option(out, "    format: ", full ? "jsonl" : format);
    put_values(out, "    names: ", &options->names, false);
    if (options->verbs.count)
        buf_puts(out, "    verbs: ");
    put_verbs(out, &options->verbs);
    put_option(out, "    level: ", options->level);
    put_values(out, "    changed: ", &options->changed, false);
    if (options->only_changes)
        buf_puts(out, "    initial: false\n");
}

static void put_conf(struct buf *out, const struct watch_options *options,
                     const struct watch_targets *targets, const struct flag_values *namespaces)
{
    const char *format = options->output         ? options->output
                         : isatty(STDOUT_FILENO) ? "short"
                                                 : "jsonl";
    buf_printf(out, "log: {level: %s}\n", options->verbose ? "debug" : "warn");
    buf_puts(out, "clusters:\n  - name: default\n");
    put_option(out, "    kubeconfig: ", options->kubeconfig);
    put_option(out, "    context: ", options->context);
    put_option(out, "    cluster: ", options->cluster);
    put_option(out, "    user: ", options->user);
    put_option(out, "    as: ", options->as);
    put_values(out, "    as_groups: ", &options->as_groups, true);
    put_option(out, "    server: ", options->server);
    put_option(out, "    ca: ", options->ca);
    put_option(out, "    token_file: ", options->token_file);
    buf_puts(out, "watches:\n");
    for (size_t i = 0; i < targets->count; i++)
        put_watch(out, options, &targets->items[i], i, namespaces);
    put_event_log(out, options, format);
}

/* ---- loading ---- */

/* Without the groups to impersonate: every user may read what these clients request. */
static struct inf_client_options client_options(const struct watch_options *options)
{
    return (struct inf_client_options){.kubeconfig = options->kubeconfig,
                                       .context = options->context,
                                       .cluster = options->cluster,
                                       .user = options->user,
                                       .as = options->as,
                                       .server = options->server,
                                       .ca_file = options->ca,
                                       .token = options->token,
                                       .token_file = options->token_file};
}

/* Reads the namespace of the context from the kubeconfig. Opens a client for that and closes it.
 * The caller frees the result; NULL with @err set if the kubeconfig cannot be used. */
static char *context_namespace(const struct watch_options *options, struct inf_error *err)
{
    struct inf_client_options how = {.kubeconfig = options->kubeconfig,
                                     .context = options->context,
                                     .cluster = options->cluster,
                                     .user = options->user,
                                     .server = options->server};
    struct inf_client *client;
    char *ns = NULL;
    uv_loop_t uv;
    uv_loop_init(&uv);
    client = inf_client_open(&uv, &how, err);
    if (client)
        ns = xstrdup(inf_client_namespace(client));
    inf_client_close(client, NULL);
    uv_run(&uv, UV_RUN_DEFAULT);
    uv_loop_close(&uv);
    return ns;
}

/* Prints the first error, "command line:6:15: watches[0].label_selector: ...", with the flag
 * instead of position and key. An error of the resource names it. */
static int report_first_error(const struct conf_errors *errors)
{
    static const struct {
        const char *key, *flag;
    } flags[] = {
        {"].namespaces", "--namespace: "},
        {"].label_selector", "--selector: "},
        {"].field_selector", "--field-selector: "},
        {"].ignore", "--ignore: "},
        {"].names", "--name: "},
        {"].verbs", "--verb: "},
        {"].level", "--level: "},
        {"].changed", "--changed: "},
        {"].kubeconfig", "--kubeconfig: "},
        {"].context", "--context: "},
        {"].cluster", "--cluster: "},
        {"].user", "--user: "},
        {"].as", "--as: "},
        {"].as_groups", "--as-group: "},
        {"].server", "--server: "},
        {"].ca", "--certificate-authority: "},
        {"].token_file", "--token-file: "},
    };
    size_t len = strcspn(errors->text.bytes, "\n");
    char *line = xstrndup(errors->text.bytes, len);
    const char *key = strchr(line, ']'), *message = key ? strstr(key, ": ") : NULL, *flag = "";
    for (size_t i = 0; message && i < ARRAY_LEN(flags); i++)
        if (strlen(flags[i].key) == strcspn(key, ":[") &&
            strncmp(key, flags[i].key, strlen(flags[i].key)) == 0)
            flag = flags[i].flag;
    fprintf(stderr, "informerd: %s%s\n", flag, message ? message + strlen(": ") : line);
    free(line);
    return EX_USAGE;
}

/* Sets what a configuration file cannot express. -n is ignored for cluster-scoped resources; several
 * namespaces would print each object several times, so they are refused if the scope is found later. */
static void complete_conf(struct conf *conf, const struct watch_options *options,
                          const struct watch_targets *targets)
{
    conf->clusters[0].token = options->token;
    if (isatty(STDERR_FILENO))
        conf->log.format = CONF_LOG_TEXT;
    for (size_t i = 0; i < targets->count; i++) {
        struct conf_watch *watch = &conf->watches[i];
        watch->ns_is_default = watch->namespaces.count <= 1;
        if (!targets->items[i].name)
            continue;
        free(watch->name);
        watch->name = xasprintf("%s/%s", targets->items[i].resource, targets->items[i].name);
    }
}

static int load_conf(const struct watch_options *options, const struct watch_targets *targets,
                     const struct flag_values *namespaces, struct conf *ret)
{
    struct conf_errors errors = {0};
    struct buf text = {0};
    int rc = 0;
    put_conf(&text, options, targets, namespaces);
    if (conf_load_text("command line", text.bytes, text.len, ret, &errors) < 0)
        rc = report_first_error(&errors);
    else
        complete_conf(ret, options, targets);
    conf_errors_free(&errors);
    buf_free(&text);
    return rc;
}

/* ---- checks that need the server ---- */

static bool is_scope_known(const struct watch_target *target)
{
    return target->expanded || builtin_resource_find("", target->resource) ||
           builtin_resource_parse(target->resource);
}

/* Whether there are several namespaces, and a resource whose scope is not known. */
static bool needs_scope(const struct watch_targets *targets, const struct flag_values *namespaces)
{
    bool several =
        namespaces->count > 1 || (namespaces->count && strchr(namespaces->items[0], ','));
    for (size_t i = 0; several && i < targets->count; i++)
        if (!is_scope_known(&targets->items[i]))
            return true;
    return false;
}

/* The objects of a cluster-scoped resource would be printed once for each namespace, so with several
 * namespaces the scope must be known. Failed requests are ignored: the watches report them. */
static int find_scopes(const struct watch_options *options, struct watch_targets *targets)
{
    struct flag_values none = {.count = 0};
    const struct cluster_check *check;
    struct preflight *p;
    struct conf conf;
    int rc = load_conf(options, targets, &none, &conf);
    if (rc)
        return rc;
    p = preflight_new(&conf, NULL, PREFLIGHT_ACCESS);
    preflight_run(p);
    check = preflight_check(p, 0);
    for (size_t i = 0; i < check->n_results; i++) {
        const struct preflight_result *result = &check->results[i];
        targets->items[result->watch - conf.watches].cluster_scoped |= result->cluster_wide;
    }
    preflight_free(p);
    conf_free(&conf);
    return 0;
}

/* Marks the resources of `all` and --all-resources that are not allowed in one of the namespaces. */
static void find_denied(const struct conf *conf, const struct watch_targets *targets, bool *denied)
{
    struct preflight *p = preflight_new(conf, NULL, PREFLIGHT_ACCESS);
    const struct cluster_check *check;
    preflight_run(p);
    check = preflight_check(p, 0);
    for (size_t i = 0; i < check->n_results; i++) {
        size_t target = (size_t)(check->results[i].watch - conf->watches);
        denied[target] |=
            check->results[i].verdict == VERDICT_MISSING && targets->items[target].expanded;
    }
    preflight_free(p);
}

/* Removes those watches, and prints their names. Returns whether there were any. */
static bool remove_denied(const struct conf *conf, struct watch_targets *targets)
{
    bool *denied = xcalloc(targets->count + 1, sizeof(*denied));
    struct buf names = {0};
    size_t kept = 0, before = targets->count;
    find_denied(conf, targets, denied);
    for (size_t i = 0; i < targets->count; i++) {
        if (!denied[i]) {
            targets->items[kept++] = targets->items[i];
            continue;
        }
        buf_printf(&names, "%s%s", names.len ? ", " : "", targets->items[i].resource);
        free(targets->items[i].resource);
    }
    targets->count = kept;
    if (names.len)
        fprintf(stderr, "informerd: left out, because you may not list and watch them: %.*s\n",
                (int)names.len, names.bytes);
    free(denied);
    buf_free(&names);
    return kept < before;
}

static bool any_expanded(const struct watch_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        if (targets->items[i].expanded)
            return true;
    return false;
}

static int load_checked(const struct watch_options *options, struct watch_targets *targets,
                        const struct flag_values *namespaces, struct conf *ret)
{
    int rc = 0;
    if (needs_scope(targets, namespaces))
        rc = find_scopes(options, targets);
    if (rc == 0)
        rc = load_conf(options, targets, namespaces, ret);
    if (rc == 0 && any_expanded(targets) && remove_denied(ret, targets)) {
        conf_free(ret);
        rc = targets->count ? load_conf(options, targets, namespaces, ret) : EX_NOPERM;
    }
    return rc;
}

/* ---- all of it ---- */

int watch_conf(const struct watch_options *options, struct conf *ret)
{
    struct inf_client_options how = client_options(options);
    struct watch_targets targets = {0};
    struct flag_values namespaces = options->ns;
    struct inf_error err;
    char *ns = NULL;
    int rc = 0;
    if (!options->all_resources &&
        watch_targets_parse(options->argc, options->argv, &targets, &err) < 0)
        return command_usage_error(&command_watch, "%s", err.text);
    if (!namespaces.count && !options->all_namespaces) {
        ns = context_namespace(options, &err);
        if (!ns) {
            fprintf(stderr, "informerd: %s\n", err.text);
            watch_targets_free(&targets);
            return EX_CONFIG;
        }
        namespaces = (struct flag_values){.items = {ns}, .count = 1};
    }
    if (watch_targets_expand(&how, options->all_resources, &targets, &err) < 0) {
        fprintf(stderr, "informerd: %s%s\n", err.text, watch_session_remedy(err.code));
        rc = daemon_exit_code(&err, true);
    }
    if (rc == 0)
        rc = load_checked(options, &targets, &namespaces, ret);
    free(ns);
    watch_targets_free(&targets);
    return rc;
}
