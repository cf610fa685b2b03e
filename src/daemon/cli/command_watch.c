/*
 * command_watch.c - `informerd watch`: prints the objects of some resources and their changes.
 *
 * Normal path: watch_parse() checks the command line, watch_conf() converts it to a configuration, and
 * the daemon runs with that. Errors name the flag or the argument.
 */
#include "daemon/cli/command_watch.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/buf.h"
#include "base/text/nearest.h"
#include "daemon/cli/watch_target.h"
#include "daemon/conf/conf_type.h"
#include "daemon/daemon.h"
#include "daemon/format/record_format.h"
#include "daemon/journal/noise.h"
#include "daemon/rule/until_condition.h"

/* ---- the command line ---- */

static const char *const colours[] = {"auto", "always", "never", NULL};
static const char *const verbs[] = {"ADDED", "MODIFIED", "DELETED", NULL};
static const char *const levels[] = {"info", "warn", "error", NULL};
static const char *const outputs[] = {
    "short", "wide", "diff",      "jsonl",           "full", "json",
    "yaml",  "name", "jsonpath=", "custom-columns=", NULL};

#define AT(member) offsetof(struct watch_options, member)
static const struct flag watch_flags[] = {
    {'n', "namespace", "NS", AT(ns),
     .help =
         "namespaces to watch, separated by commas or with several flags (default: that of the context); "
         "ignored for cluster-scoped resources",
     .repeatable = true, .heading = "Objects"},
    {'A', "all-namespaces", NULL, AT(all_namespaces), .help = "watch all namespaces"},
    {0, "all-resources", NULL, AT(all_resources),
     .help = "instead of RESOURCE: watch all resources of the server that you may list and watch"},
    {'l', "selector", "SEL", AT(label_selector),
     .help = "label selector, for example 'app in (web, api),!canary'"},
    {0, "field-selector", "SEL", AT(field_selector),
     .help = "field selector, for example spec.nodeName=node-1"},
    {0, "name", "REGEX", AT(names),
     .help =
         "print only objects whose name matches this regular expression (POSIX extended, as with "
         "grep -E); may be repeated",
     .repeatable = true},
    {0, "verb", "VERB", AT(verbs), .help = "print only these changes: ADDED, MODIFIED, DELETED",
     .choices = verbs, .repeatable = true, .heading = "Changes"},
    {0, "level", "LEVEL", AT(level),
     .help =
         "print only changes of this level or a higher one: info (all), warn, error; see LEVELS "
         "in informerd-events(5)",
     .choices = levels},
    {0, "changed", "PATH", AT(changed),
     .help = "print MODIFIED only if this field changed, for example status.phase; may be repeated",
     .repeatable = true},
    {0, "only-changes", NULL, AT(only_changes),
     .help = "do not print the objects that exist at the start"},
    {0, "until", "COND", AT(until),
     .help = "end with exit code 0 when this holds for one object, as with kubectl wait: create, "
             "delete, condition=Ready[=False], jsonpath={.status.phase}=Running or "
             "status.phase=Running"},
    {0, "until-all", NULL, AT(until_all),
     .help = "with --until: wait until it holds for all objects"},
    {0, "timeout", "DURATION", AT(timeout),
     .help = "end after this long, for example 90s or 5m; the exit code is 75 with --until, "
             "otherwise 0"},
    {0, "ignore", "WHAT", AT(ignore),
     .help =
         "do not print updates that change nothing but this, instead of the default: a field path or "
         "a preset such as status-timestamps; see the option ignore in informerd.conf(5)",
     .choices = noise_presets, .repeatable = true},
    {0, "every-update", NULL, AT(every_update),
     .help = "also print heartbeats of nodes and leases, and updates without a change"},
    {0, "kubeconfig", "FILE", AT(kubeconfig),
     .help =
         "kubeconfig file (default: $KUBECONFIG, then ~/.kube/config, then the service account of the "
         "pod)",
     .heading = "Cluster"},
    {0, "context", "NAME", AT(context),
     .help = "kubeconfig context (default: the current context)"},
    {0, "cluster", "NAME", AT(cluster),
     .help = "kubeconfig cluster (default: the cluster of the context)"},
    {0, "user", "NAME", AT(user), .help = "kubeconfig user (default: the user of the context)"},
    {0, "as", "USER", AT(as), .help = "user to impersonate"},
    {0, "as-group", "GROUP", AT(as_groups),
     .help = "with --as: group to impersonate; may be repeated", .repeatable = true},
    {0, "server", "URL", AT(server), .help = "URL of the API server, instead of a kubeconfig"},
    {0, "certificate-authority", "FILE", AT(ca),
     .help = "file with the certificate authorities to trust"},
    {0, "token", "TOKEN", AT(token),
     .help =
         "bearer token, instead of other credentials; other users of this machine can see it in "
         "the list of processes: prefer --token-file"},
    {0, "token-file", "FILE", AT(token_file), .help = "file with the bearer token"},
    {'o', "output", "FORMAT", AT(output),
     .help = "short: a line of text per change (default on a terminal)\n"
             "wide: the same with node and owner, not cut\n"
             "diff: the old and new values as YAML, on several lines\n"
             "jsonl: a JSON object per line (default elsewhere)\n"
             "full: like jsonl, with the whole object\n"
             "json, yaml: the whole object per change, as kubectl prints it\n"
             "name: pod/web-0, deployment.apps/web\n"
             "jsonpath=TEMPLATE: fields, '{.metadata.name} {.status.phase}'\n"
             "custom-columns=SPEC: a table, NAME:.metadata.name,PHASE:.status.phase",
     .choices = outputs, .heading = "Output"},
    {0, "color", "WHEN", AT(color),
     .help = "colours: auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always, never",
     .choices = colours},
    {0, "no-trunc", NULL, AT(no_trunc), .help = "do not cut lines at the width of the terminal"},
    {'v', "verbose", NULL, AT(verbose), .help = "log every step to stderr"},
    {0},
};
#undef AT

static bool is_output(const char *output)
{
    size_t len = strcspn(output, "=");
    for (size_t i = 0; outputs[i]; i++)
        if (strcspn(outputs[i], "=") == len && strncmp(output, outputs[i], len) == 0)
            return true;
    return false;
}

static int report_unknown_output(const char *output)
{
    struct nearest nearest = {0};
    struct buf names = {0};
    for (size_t i = 0; outputs[i]; i++)
        nearest_try(&nearest, output, outputs[i]);
    record_format_put_names(&names);
    if (nearest.word)
        command_usage_error(&command_watch, "--output: unknown format '%s'; did you mean '%s'?",
                            output, nearest.word);
    else
        command_usage_error(&command_watch,
                            "--output: unknown format '%s'; valid formats: full, %.*s", output,
                            (int)names.len, names.bytes);
    buf_free(&names);
    return EX_USAGE;
}

/* Returns 0 if @output is a record format or "full". */
static int check_output(const char *output)
{
    struct inf_error err = {0};
    if (!is_output(output))
        return report_unknown_output(output);
    if (strcmp(output, "full") == 0 || record_format_check(output, &err) == 0)
        return 0;
    return command_usage_error(&command_watch, "--output: %s", err.text);
}

/* The index of @color in enum terminal_colour; -1: it is none. */
static int find_colour(const char *color)
{
    for (int i = 0; color && colours[i]; i++)
        if (strcmp(color, colours[i]) == 0)
            return i;
    return color ? -1 : TERMINAL_COLOUR_AUTO;
}

static int check_until(const struct watch_options *o)
{
    struct until_condition until;
    struct inf_error err;
    uint64_t ms;
    if (o->until_all && !o->until)
        return command_usage_error(&command_watch, "--until-all is valid only with --until");
    if (o->timeout && (!conf_number_parse(&conf_type_duration, o->timeout, &ms) || !ms))
        return command_usage_error(&command_watch, "--timeout: '%s' is not %s", o->timeout,
                                   conf_type_duration.number->form);
    if (!o->until)
        return 0;
    if (until_condition_parse(o->until, &until, &err) < 0)
        return command_usage_error(&command_watch, "--until: %s", err.text);
    until_condition_free(&until);
    return 0;
}

static int watch_parse(void *options, int argc, char **argv)
{
    struct watch_options *o = options;
    struct watch_targets targets;
    struct inf_error err;
    int rc = o->output ? check_output(o->output) : 0;
    if (rc)
        return rc;
    if (find_colour(o->color) < 0)
        return command_usage_error(&command_watch,
                                   "--color: '%s' is not one of auto, always, never", o->color);
    if (o->ns.count && o->all_namespaces)
        return command_usage_error(&command_watch,
                                   "use only one of --namespace and --all-namespaces");
    if (o->ignore.count && o->every_update)
        return command_usage_error(&command_watch, "use only one of --ignore and --every-update");
    if (o->token && o->token_file)
        return command_usage_error(&command_watch, "use only one of --token and --token-file");
    if (o->as_groups.count && !o->as)
        return command_usage_error(&command_watch, "--as-group requires --as");
    if (o->server && (o->kubeconfig || o->context || o->cluster || o->user))
        return command_usage_error(&command_watch,
                                   "--server cannot be combined with --kubeconfig, --context, "
                                   "--cluster and --user");
    rc = check_until(o);
    if (rc)
        return rc;
    if (o->all_resources && argc)
        return command_usage_error(&command_watch, "--all-resources cannot be combined with '%s'",
                                   argv[0]);
    if (o->all_resources)
        return 0;
    if (watch_targets_parse(argc, argv, &targets, &err) < 0)
        return command_usage_error(&command_watch, "%s", err.text);
    o->named = targets.items[0].name;
    watch_targets_free(&targets);
    if (o->named && (o->label_selector || o->field_selector))
        return command_usage_error(&command_watch,
                                   "names and selectors cannot be combined; use one of them");
    o->argc = argc;
    o->argv = argv;
    return 0;
}

/* ---- the command ---- */

static int watch_run(const void *options)
{
    const struct watch_options *o = options;
    struct daemon_options how = {.ad_hoc = true,
                                 .colour = (enum terminal_colour)find_colour(o->color),
                                 .no_trunc = o->no_trunc,
                                 .until = {.text = o->until,
                                           .all = o->until_all,
                                           .named = o->named,
                                           .names = o->names.items,
                                           .n_names = o->names.count}};
    struct conf conf;
    int rc = watch_conf(o, &conf);
    if (rc == 0 && o->timeout)
        conf_number_parse(&conf_type_duration, o->timeout, &how.timeout_ms);
    return rc ? rc : daemon_run(&conf, &how);
}

const struct command command_watch = {
    .name = "watch",
    .arguments = "RESOURCE[,...] [NAME...]",
    .summary = "print objects and their changes",
    .description =
        "Print the existing objects of one or several resources, and then every change, to "
        "stdout. No configuration file is needed.",
    .flags = watch_flags,
    .notes = "RESOURCE is a name as in kubectl (pods, po, Pod, deployments.apps) or\n"
             "name.group/version (deployments.apps/v1). The latter needs no API discovery.\n"
             "'all' is the category of that name: pods, services, deployments and others.\n"
             "Objects are named as in kubectl: 'pods web-0 web-1' or 'pods/web-0 svc/web'.\n"
             "\n"
             "Examples:\n"
             "  informerd watch pods,deployments.apps/v1 -n shop\n"
             "  informerd watch pods --name '^web-' --changed status.phase\n"
             "  informerd watch pods -A -l app=web -o jsonl\n"
             "  informerd watch pods web-0 --until condition=Ready --timeout 2m\n",
    .size = sizeof(struct watch_options),
    .parse = watch_parse,
    .run = watch_run,
};
