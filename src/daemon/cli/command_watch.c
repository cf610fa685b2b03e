/*
 * command_watch.c - `informerd watch`: prints the objects of some resources and their changes.
 *
 * Normal path: watch_parse() checks the command line. watch_conf() reads the namespace of the
 * context from the kubeconfig if no namespace is given, converts the options to the text of a
 * configuration file and loads that, so that the same rules and checks apply to both. Then the
 * daemon runs with it.
 *
 * Of an invalid configuration the first error is printed, with the flag instead of the position in
 * the generated text.
 */
#include "daemon/cli/command_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <uv.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "daemon/conf/conf_type.h"
#include "daemon/daemon.h"
#include "daemon/journal/record_format.h"

/* ---- the command line ---- */

#define AT(member) offsetof(struct watch_options, member)
static const struct flag watch_flags[] = {
    {'n', "namespace", "NS", AT(ns), "namespace to watch (default: that of the context)"},
    {'A', "all-namespaces", NULL, AT(all_namespaces), "watch all namespaces"},
    {'l', "selector", "SEL", AT(label_selector),
     "label selector, for example 'app in (web, api),!canary'"},
    {0, "field-selector", "SEL", AT(field_selector),
     "field selector, for example spec.nodeName=node-1"},
    {0, "kubeconfig", "FILE", AT(kubeconfig),
     "kubeconfig file (default: $KUBECONFIG, then ~/.kube/config, then the service account of the "
     "pod)"},
    {0, "context", "NAME", AT(context), "kubeconfig context (default: the current context)"},
    {0, "cluster", "NAME", AT(cluster), "kubeconfig cluster (default: the cluster of the context)"},
    {0, "user", "NAME", AT(user), "kubeconfig user (default: the user of the context)"},
    {0, "as", "USER", AT(as), "user to impersonate"},
    {'o', "output", "FORMAT", AT(output),
     "short: a line of text per change (default on a terminal)\n"
     "jsonl: a JSON object per line (default elsewhere)\n"
     "full: like jsonl, with the whole object"},
    {0, "every-update", NULL, AT(every_update),
     "also print heartbeats of nodes and leases, and updates without a change"},
    {'v', "verbose", NULL, AT(verbose), "log every step to stderr"},
    {0},
};
#undef AT

/* Returns 0 if each resource is named once. */
static int check_resources(const char *resources)
{
    for (const char *name = resources;; name++) {
        size_t len = strcspn(name, ",");
        if (!len)
            return command_usage_error(&command_watch, "empty resource name in '%s'", resources);
        for (const char *other = resources; other < name; other += strcspn(other, ",") + 1)
            if (strcspn(other, ",") == len && strncasecmp(other, name, len) == 0)
                return command_usage_error(&command_watch,
                                           "duplicate resource in '%s'; name each resource once",
                                           resources);
        name += len;
        if (!*name)
            return 0;
    }
}

/* Returns 0 if @output is a record format or "full". */
static int check_output(const char *output)
{
    struct buf names = {0};
    bool known = strcmp(output, "full") == 0;
    for (const char *const *name = record_format_names; *name; name++) {
        known = known || strcmp(output, *name) == 0;
        buf_printf(&names, "%s, ", *name);
    }
    buf_puts(&names, "full");
    buf_putc(&names, '\0');
    if (!known)
        command_usage_error(&command_watch, "unknown output format '%s'; use one of: %s", output,
                            names.bytes);
    buf_free(&names);
    return known ? 0 : EX_USAGE;
}

static int watch_parse(void *options, int argc, char **argv)
{
    struct watch_options *o = options;
    int rc = o->output ? check_output(o->output) : 0;
    if (rc)
        return rc;
    if (o->ns && o->all_namespaces)
        return command_usage_error(&command_watch,
                                   "use only one of --namespace and --all-namespaces");
    if (argc == 0 || !argv[0][0])
        return command_usage_error(&command_watch,
                                   "missing resource; for example 'informerd watch pods'");
    if (argc > 1)
        return command_usage_error(
            &command_watch, "unexpected argument '%s'; separate resources with commas", argv[1]);
    o->resources = argv[0];
    return check_resources(o->resources);
}

/* ---- the configuration ---- */

static void put_option(struct buf *out, const char *before, const char *value)
{
    if (!value)
        return;
    buf_puts(out, before);
    conf_text_write(value, out);
    buf_putc(out, '\n');
}

static void put_watch(struct buf *out, const struct watch_options *options, const char *resource,
                      const char *ns)
{
    put_option(out, "  - resource: ", resource);
    /* the namespace of the context is only a default; it is ignored for cluster-scoped resources */
    if (ns && (options->ns || !inf_resource_is_cluster_scoped(resource)))
        put_option(out, "    namespaces:\n      - ", ns);
    put_option(out, "    label_selector: ", options->label_selector);
    put_option(out, "    field_selector: ", options->field_selector);
    if (options->every_update)
        buf_puts(out, "    ignore: []\n");
}

static void put_conf(struct buf *out, const struct watch_options *options, const char *ns)
{
    const char *format = options->output         ? options->output
                         : isatty(STDOUT_FILENO) ? "short"
                                                 : "jsonl";
    bool full = strcmp(format, "full") == 0, text = strcmp(format, "short") == 0;
    char *resources = xstrdup(options->resources), *rest = resources, *resource;
    buf_printf(out, "log: {level: %s}\n", options->verbose ? "debug" : text ? "warn" : "info");
    buf_puts(out, "clusters:\n  - name: default\n");
    put_option(out, "    kubeconfig: ", options->kubeconfig);
    put_option(out, "    context: ", options->context);
    put_option(out, "    cluster: ", options->cluster);
    put_option(out, "    user: ", options->user);
    put_option(out, "    as: ", options->as);
    buf_puts(out, "watches:\n");
    while ((resource = strsep(&rest, ",")))
        put_watch(out, options, resource, ns);
    free(resources);
    buf_printf(out, "event_logs:\n  - path: stdout\n    format: %s\n    object: %s\n",
               full ? "jsonl" : format, full ? "full" : "diff");
}

/* Reads the namespace of the context from the kubeconfig. Opens a client for that and closes it.
 * The caller frees the result; NULL with @err set if the kubeconfig cannot be used. */
static char *context_namespace(const struct watch_options *options, struct inf_error *err)
{
    struct inf_client_options how = {.kubeconfig = options->kubeconfig,
                                     .context = options->context,
                                     .cluster = options->cluster,
                                     .user = options->user};
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
        {"].kubeconfig", "--kubeconfig: "},
        {"].context", "--context: "},
        {"].cluster", "--cluster: "},
        {"].user", "--user: "},
        {"].as", "--as: "},
    };
    size_t len = strcspn(errors->text.bytes, "\n");
    char *line = xstrndup(errors->text.bytes, len);
    const char *key = strchr(line, ']'), *message = key ? strstr(key, ": ") : NULL, *flag = "";
    for (size_t i = 0; message && i < ARRAY_LEN(flags); i++)
        if (strncmp(key, flags[i].key, strlen(flags[i].key)) == 0)
            flag = flags[i].flag;
    fprintf(stderr, "informerd: %s%s\n", flag, message ? message + strlen(": ") : line);
    free(line);
    return EX_USAGE;
}

int watch_conf(const struct watch_options *options, struct conf *ret)
{
    struct conf_errors errors = {0};
    struct inf_error err;
    struct buf text = {0};
    char *ns = options->ns ? xstrdup(options->ns) : NULL;
    int rc = 0;
    if (!ns && !options->all_namespaces && !(ns = context_namespace(options, &err))) {
        fprintf(stderr, "informerd: %s\n", err.text);
        return EX_CONFIG;
    }
    put_conf(&text, options, ns);
    if (conf_load_text("command line", text.bytes, text.len, ret, &errors) < 0)
        rc = report_first_error(&errors);
    for (size_t i = 0; rc == 0 && i < ret->n_watches; i++)
        ret->watches[i].ns_is_default = !options->ns;
    conf_errors_free(&errors);
    buf_free(&text);
    free(ns);
    return rc;
}

static int watch_run(const void *options)
{
    struct conf conf;
    int rc = watch_conf(options, &conf);
    return rc ? rc : daemon_run(&conf, &(struct daemon_options){.ad_hoc = true});
}

const struct command command_watch = {
    .name = "watch",
    .arguments = "RESOURCE[,...] [flags]",
    .summary = "print objects and their changes",
    .description =
        "Print the existing objects of one or several resources, and then every change, to "
        "stdout. No configuration file is needed.",
    .flags = watch_flags,
    .notes = "RESOURCE is a name as in kubectl (pods, po, Pod, deployments.apps) or\n"
             "name.group/version (deployments.apps/v1). The latter needs no API discovery.\n"
             "\n"
             "Examples:\n"
             "  informerd watch pods,deployments.apps/v1 -n shop\n"
             "  informerd watch pods -A -l app=web -o jsonl\n",
    .size = sizeof(struct watch_options),
    .parse = watch_parse,
    .run = watch_run,
};
