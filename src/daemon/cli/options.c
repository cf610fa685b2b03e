/*
 * options.c - parses the command line with getopt_long(), then checks which options the command
 * allows.
 *
 * --help and --version are printed at once. An error is one line on stderr that names the argument
 * and refers to --help; the exit code is EX_USAGE.
 */
#include "daemon/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "informer/informer.h"

#include "base/base.h"

#define CONF_DEFAULT "/etc/informerd/informerd.conf"

static const char help[] =
    "informerd keeps a live copy of Kubernetes objects and logs every change.\n"
    "\n"
    "Usage:\n"
    "  informerd [-c FILE]                      run as a service\n"
    "  informerd watch RESOURCE[,...] [flags]   print objects and their changes to stdout\n"
    "  informerd rbac [-c FILE] [flags]         print the RBAC roles that a configuration needs\n"
    "\n"
    "Service flags:\n"
    "  -c, --config FILE     configuration file (default " CONF_DEFAULT ");\n"
    "                        the files conf.d/*.conf in the same directory are read after it\n"
    "      --check-config    validate the configuration and list all errors\n"
    "      --online          with --check-config: also check access to each cluster\n"
    "      --print-config    print the effective configuration with the origin of each value\n"
    "\n"
    "Watch flags:\n"
    "  -n, --namespace NS    watch this namespace (default: the namespace of the context)\n"
    "  -A, --all-namespaces  watch all namespaces\n"
    "  -l, --selector SEL    label selector, for example 'app in (web, api),!canary'\n"
    "      --field-selector SEL\n"
    "                        field selector, for example spec.nodeName=node-1\n"
    "      --kubeconfig F    kubeconfig file (default: $KUBECONFIG, ~/.kube/config, in-cluster)\n"
    "      --context NAME    kubeconfig context (default: the current context)\n"
    "      --cluster NAME    kubeconfig cluster (default: the cluster of the context)\n"
    "      --user NAME       kubeconfig user (default: the user of the context)\n"
    "      --as USER         user to impersonate\n"
    "  -o, --output FORMAT   short: one line of text per change (default on a terminal)\n"
    "                        jsonl: one JSON object per line (default elsewhere)\n"
    "                        full: like jsonl, with the whole object\n"
    "      --every-update    also print node and lease heartbeats, and updates without a change\n"
    "  -v, --verbose         log every step to stderr\n"
    "\n"
    "  RESOURCE is a name as in kubectl (pods, po, Pod, deployments.apps) or name.group/version\n"
    "  (deployments.apps/v1). The latter needs no API discovery.\n"
    "\n"
    "RBAC flags:\n"
    "  -c, --config FILE     configuration file, as for the service\n"
    "      --user NAME, --group NAME, --serviceaccount NAMESPACE:NAME\n"
    "                        subject to bind (default: --serviceaccount informerd:informerd)\n"
    "      --cluster NAME    cluster of the configuration; required if it has several\n"
    "\n"
    "  The output is for 'kubectl apply -f -'. The API server is queried only to resolve resource\n"
    "  names that do not include their group.\n"
    "\n"
    "Other flags:\n"
    "  -h, --help            print this help\n"
    "  -V, --version         print the version\n"
    "\n"
    "Signals: HUP reload configuration, USR1 reopen logs, USR2 dump state, TERM/INT stop.\n"
    "TERM and INT write pending records first; a second one stops at once.\n"
    "\n"
    "Exit codes:\n"
    "   0  success, or stopped by TERM or INT\n"
    "  64  invalid command line\n"
    "  69  a cluster is not available\n"
    "  74  a file, an address or the output failed\n"
    "  77  state_dir is not writable, or access to a resource is denied\n"
    "  78  the configuration or a kubeconfig is invalid\n";

enum {
    OPT_KUBECONFIG = 256,
    OPT_CONTEXT,
    OPT_CLUSTER,
    OPT_USER,
    OPT_AS,
    OPT_GROUP,
    OPT_ACCOUNT,
    OPT_ONLINE,
    OPT_CHECK,
    OPT_PRINT,
    OPT_FIELDS,
    OPT_EVERY_UPDATE,
};

static const struct option long_options[] = {
    {"namespace", required_argument, NULL, 'n'},
    {"all-namespaces", no_argument, NULL, 'A'},
    {"selector", required_argument, NULL, 'l'},
    {"field-selector", required_argument, NULL, OPT_FIELDS},
    {"kubeconfig", required_argument, NULL, OPT_KUBECONFIG},
    {"context", required_argument, NULL, OPT_CONTEXT},
    {"cluster", required_argument, NULL, OPT_CLUSTER},
    {"user", required_argument, NULL, OPT_USER},
    {"as", required_argument, NULL, OPT_AS},
    {"group", required_argument, NULL, OPT_GROUP},
    {"serviceaccount", required_argument, NULL, OPT_ACCOUNT},
    {"online", no_argument, NULL, OPT_ONLINE},
    {"config", required_argument, NULL, 'c'},
    {"check-config", no_argument, NULL, OPT_CHECK},
    {"print-config", no_argument, NULL, OPT_PRINT},
    {"output", required_argument, NULL, 'o'},
    {"every-update", no_argument, NULL, OPT_EVERY_UPDATE},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

__attribute__((format(printf, 1, 2))) static int usage_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("informerd: ", stderr);
    vfprintf(stderr, fmt, args);
    fputs(" (see 'informerd --help')\n", stderr);
    va_end(args);
    return EX_USAGE;
}

static int print_text(const char *text, struct options *ret)
{
    ret->command = COMMAND_DONE;
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "informerd: stdout: %s\n", strerror(errno));
    return EX_IOERR;
}

/* Reports the error that getopt_long() found in the last argument it looked at: getopt's own
 * messages do not mention --help. */
static int bad_option(int option, char **argv)
{
    const char *word = argv[optind - 1];
    char letter[] = {'-', (char)optopt, '\0'};
    bool is_long = strncmp(word, "--", 2) == 0;
    if (option == ':')
        return usage_error("option '%s' needs a value", word);
    if (is_long && optopt)
        return usage_error("option '%s' takes no value", word);
    return usage_error("unknown option '%s'", is_long ? word : letter);
}

static int parse_format(const char *value, struct options *ret)
{
    static const char *const names[] = {
        [FORMAT_SHORT] = "short", [FORMAT_JSONL] = "jsonl", [FORMAT_FULL] = "full"};
    for (size_t i = FORMAT_SHORT; i < ARRAY_LEN(names); i++)
        if (strcmp(value, names[i]) == 0) {
            ret->format = (enum format)i;
            return 0;
        }
    return usage_error("unknown output format '%s'; use short, jsonl or full", value);
}

/* Stores one option in @ret. Returns 0 or an exit code. */
static int apply_option(int option, char **argv, const char *value, struct options *ret)
{
    switch (option) {
    case 'n': ret->ns = value; return 0;
    case 'A': ret->all_namespaces = true; return 0;
    case OPT_KUBECONFIG: ret->kubeconfig = value; return 0;
    case OPT_CONTEXT: ret->context = value; return 0;
    case OPT_CLUSTER: ret->cluster = value; return 0;
    case OPT_USER: ret->user = value; return 0;
    case OPT_AS: ret->as = value; return 0;
    case OPT_GROUP: ret->group = value; return 0;
    case OPT_ACCOUNT: ret->service_account = value; return 0;
    case OPT_ONLINE: ret->online = true; return 0;
    case 'c': ret->conf = value; return 0;
    case OPT_CHECK: ret->command = COMMAND_CHECK; return 0;
    case OPT_PRINT: ret->command = COMMAND_PRINT; return 0;
    case 'v': ret->verbose = true; return 0;
    case 'l': ret->label_selector = value; return 0;
    case OPT_FIELDS: ret->field_selector = value; return 0;
    case OPT_EVERY_UPDATE: ret->every_update = true; return 0;
    case 'o': return parse_format(value, ret);
    case 'h': return print_text(help, ret);
    case 'V': printf("informerd %s\n", inf_version()); return print_text("", ret);
    default: return bad_option(option, argv);
    }
}

/* Options that only `watch` has; `rbac` has --cluster and --user too. */
static bool has_watch_options(const struct options *o)
{
    return o->ns || o->all_namespaces || o->label_selector || o->field_selector || o->kubeconfig ||
           o->context || o->as || o->format || o->verbose || o->every_update;
}

static bool has_rbac_options(const struct options *o)
{
    return o->group || o->service_account;
}

static int find_conf(struct options *ret)
{
    if (!ret->conf && access(CONF_DEFAULT, F_OK) < 0 && errno == ENOENT)
        return usage_error("configuration file " CONF_DEFAULT " does not exist; specify one with "
                           "-c, or run 'informerd watch pods', which needs none");
    if (!ret->conf)
        ret->conf = CONF_DEFAULT;
    return 0;
}

/* The commands that have no name: run the service, --check-config and --print-config. */
static int parse_service(int argc, char **argv, struct options *ret)
{
    if (argc > 0)
        return ret->command == COMMAND_RUN
                   ? usage_error("unknown command '%s'", argv[0])
                   : usage_error("unexpected argument '%s'; specify the configuration file with -c",
                                 argv[0]);
    if (has_watch_options(ret) || ret->cluster || ret->user)
        return usage_error("watch flags are valid only for 'informerd watch'; the service is "
                           "configured by its configuration file");
    if (has_rbac_options(ret))
        return usage_error("--group and --serviceaccount are valid only for 'informerd rbac'");
    if (ret->online && ret->command != COMMAND_CHECK)
        return usage_error("--online is valid only with --check-config");
    return find_conf(ret);
}

/* "namespace:name", as in kubectl. */
static bool is_account(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon && colon > text && colon[1] && !strchr(colon + 1, ':');
}

static int parse_rbac(int argc, char **argv, struct options *ret)
{
    ret->command = COMMAND_RBAC;
    if (argc > 1)
        return usage_error("unexpected argument '%s'; specify the configuration file with -c",
                           argv[1]);
    if (has_watch_options(ret) || ret->online)
        return usage_error("watch flags and --online are not valid for 'informerd rbac'");
    if (!!ret->user + !!ret->group + !!ret->service_account > 1)
        return usage_error("use only one of --user, --group and --serviceaccount");
    if ((ret->user && !ret->user[0]) || (ret->group && !ret->group[0]))
        return usage_error("--user and --group need a name");
    if (ret->service_account && !is_account(ret->service_account))
        return usage_error("--serviceaccount must be NAMESPACE:NAME, not '%s'",
                           ret->service_account);
    return find_conf(ret);
}

/* Whether the first @len bytes of @word are an element of the comma-separated list @rest. */
static bool is_among(const char *word, size_t len, const char *rest)
{
    for (; *rest; rest += *rest == ',') {
        size_t n = strcspn(rest, ",");
        if (n == len && memcmp(rest, word, n) == 0)
            return true;
        rest += n;
    }
    return false;
}

static bool has_duplicate(const char *resources)
{
    for (const char *word = resources; *word;) {
        size_t len = strcspn(word, ",");
        const char *rest = word + len + (word[len] == ',');
        if (is_among(word, len, rest))
            return true;
        word = rest;
    }
    return false;
}

static int parse_watch(int argc, char **argv, struct options *ret)
{
    ret->command = COMMAND_WATCH;
    if (has_rbac_options(ret) || ret->online)
        return usage_error("--group, --serviceaccount and --online are not valid for 'informerd "
                           "watch'");
    if (ret->conf)
        return usage_error("-c is not valid for 'informerd watch', which reads no configuration "
                           "file");
    if (ret->ns && ret->all_namespaces)
        return usage_error("use only one of --namespace and --all-namespaces");
    if (ret->ns && !ret->ns[0])
        return usage_error("--namespace needs a name");
    if (argc == 1 || !argv[1][0])
        return usage_error("missing resource; for example 'informerd watch pods'");
    if (argc > 2)
        return usage_error("unexpected argument '%s'; separate resources with commas", argv[2]);
    if (has_duplicate(argv[1]))
        return usage_error("duplicate resource in '%s'; name each resource once", argv[1]);
    ret->resource = argv[1];
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret)
{
    int option, rc;
    *ret = (struct options){.command = COMMAND_RUN};
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":n:Ac:l:o:vhV", long_options, NULL)) != -1) {
        rc = apply_option(option, argv, optarg, ret);
        if (rc || ret->command == COMMAND_DONE)
            return rc;
    }
    argc -= optind;
    argv += optind;
    if (ret->command == COMMAND_RUN && argc > 0 && strcmp(argv[0], "watch") == 0)
        return parse_watch(argc, argv, ret);
    if (ret->command == COMMAND_RUN && argc > 0 && strcmp(argv[0], "rbac") == 0)
        return parse_rbac(argc, argv, ret);
    return parse_service(argc, argv, ret);
}
