#include "daemon/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "informer/informer.h"

#include "base/base.h"

#define CONF_DEFAULT "/etc/informerd/informerd.conf"

static const char help[] =
    "Usage: informerd [-c FILE]\n"
    "       informerd watch RESOURCE[,RESOURCE] [options]\n"
    "       informerd rbac [-c FILE] [--user NAME]\n"
    "\n"
    "Keeps a live copy of objects of Kubernetes clusters and writes down every change. It never gives\n"
    "up: what ends other watches (a restarted server, an expired version) only makes it catch up.\n"
    "\n"
    "As a service: what to watch and where to write it is in the conf file, with the files\n"
    "conf.d/*.conf beside it. See informerd.conf(5) and the sample, which has every option.\n"
    "\n"
    "  -c, --config FILE    default: " CONF_DEFAULT "\n"
    "      --check-config   tell all that is wrong with it, or that it is good\n"
    "        --online       and ask its clusters: are they there, who are we, may we watch all that?\n"
    "      --print-config   print every value in effect, and where it comes from\n"
    "\n"
    "rbac prints the smallest roles that allow what the conf watches, for kubectl apply -f -; a server\n"
    "is asked only what names without their group mean.\n"
    "\n"
    "      --user NAME, --group NAME, --serviceaccount NAMESPACE:NAME  who is to be allowed it;\n"
    "                       default: informerd:informerd\n"
    "      --cluster NAME   of the conf, if it has several\n"
    "\n"
    "Without a conf file: watch prints what is there, and then each change, to stdout. RESOURCE is\n"
    "a name as kubectl takes it (pods, po, Pod, deployments.apps), or name.group/version\n"
    "(deployments.apps/v1), which needs no look at what the server has.\n"
    "\n"
    "  -n, --namespace NS   only this namespace; default: the one of the kubeconfig's context\n"
    "  -A, --all-namespaces all namespaces\n"
    "  -l, --selector SEL   only objects with such labels: 'app in (web, api),!canary'\n"
    "      --field-selector SEL  only objects with such fields: spec.nodeName=node-1\n"
    "      --kubeconfig F   default: the files of $KUBECONFIG, ~/.kube/config, the cluster we are in\n"
    "      --context NAME   default: the kubeconfig's current context\n"
    "      --cluster NAME, --user NAME  instead of the context's\n"
    "      --as USER        act as this user, if we may\n"
    "  -o, --output FORMAT  short: a line to read for each change, the default on a terminal;\n"
    "                       jsonl: one JSON object a line, the default elsewhere;\n"
    "                       full: the same with the whole object in it\n"
    "      --every-update   print also heartbeats of nodes and leases, and updates in which nothing\n"
    "                       changed\n"
    "  -v, --verbose        tell every step on stderr\n"
    "\n"
    "  -h, --help           this text\n"
    "  -V, --version\n"
    "\n"
    "Signals: HUP reads the conf anew, USR1 opens the event logs anew, USR2 writes down how things\n"
    "are, INT and TERM end it with 0 after what is left was written; a second one ends at once.\n"
    "Exit codes: 64 wrong usage, 69 a cluster can't be asked, 74 a file, an address or the output\n"
    "failed, 77 state_dir is not ours to write or a watch is not allowed, 78 conf file or kubeconfig\n"
    "can't be used.\n";

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

static int usage(const char *what, const char *detail)
{
    fprintf(stderr, "informerd: %s%s; try 'informerd --help'\n", what, detail);
    return EX_USAGE;
}

static int say(const char *text, struct options *ret)
{
    ret->command = COMMAND_DONE;
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "informerd: stdout: %s\n", strerror(errno));
    return EX_IOERR;
}

/* getopt's own sentences would not say where to read on. @argv is what it has looked at last. */
static int bad_option(int option, char **argv)
{
    const char *word = argv[optind - 1];
    char letter[] = {'-', (char)optopt, '\0'};
    bool is_long = strncmp(word, "--", 2) == 0;
    if (option == ':')
        return usage("a value is missing after ", word);
    if (is_long && optopt)
        return usage("no value belongs to ", word);
    return usage("unknown option ", is_long ? word : letter);
}

static int take_format(const char *value, struct options *ret)
{
    static const char *const names[] = {
        [FORMAT_SHORT] = "short", [FORMAT_JSONL] = "jsonl", [FORMAT_FULL] = "full"};
    for (size_t i = FORMAT_SHORT; i < ARRAY_LEN(names); i++)
        if (strcmp(value, names[i]) == 0) {
            ret->format = (enum format)i;
            return 0;
        }
    return usage("output is 'short', 'jsonl' or 'full', not ", value);
}

/* One option. Returns 0 or an exit code. */
static int take(int option, char **argv, const char *value, struct options *ret)
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
    case 'o': return take_format(value, ret);
    case 'h': return say(help, ret);
    case 'V': printf("informerd %s\n", inf_version()); return say("", ret);
    default: return bad_option(option, argv);
    }
}

/* Of `watch` alone. */
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
        return usage("there is no conf file " CONF_DEFAULT "; name one with -c, or watch without "
                     "one, as in 'informerd watch pods'",
                     "");
    if (!ret->conf)
        ret->conf = CONF_DEFAULT;
    return 0;
}

/* What goes by the conf file is said by options alone. */
static int take_conf(int argc, char **argv, struct options *ret)
{
    if (argc > 0)
        return usage(ret->command == COMMAND_RUN ? "unknown command "
                                                 : "the conf file is named with -c, so what is ",
                     argv[0]);
    if (has_watch_options(ret) || ret->cluster || ret->user)
        return usage("such options are for 'informerd watch'; with a conf file it says all that",
                     "");
    if (has_rbac_options(ret))
        return usage("such options are for 'informerd rbac'", "");
    if (ret->online && ret->command != COMMAND_CHECK)
        return usage("--online belongs to --check-config", "");
    return find_conf(ret);
}

/* "namespace:name", as kubectl takes it. */
static bool is_account(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon && colon > text && colon[1] && !strchr(colon + 1, ':');
}

static int take_rbac(int argc, char **argv, struct options *ret)
{
    ret->command = COMMAND_RBAC;
    if (argc > 1)
        return usage("the conf file is named with -c, so what is ", argv[1]);
    if (has_watch_options(ret) || ret->online)
        return usage("such options are not for 'informerd rbac'", "");
    if (!!ret->user + !!ret->group + !!ret->service_account > 1)
        return usage("one of --user, --group and --serviceaccount", "");
    if ((ret->user && !ret->user[0]) || (ret->group && !ret->group[0]))
        return usage("--user and --group need a name", "");
    if (ret->service_account && !is_account(ret->service_account))
        return usage("--serviceaccount is NAMESPACE:NAME, not ", ret->service_account);
    return find_conf(ret);
}

/* Whether the first @len bytes of @word are among the words of @rest, which has commas between them. */
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

static bool names_one_twice(const char *resources)
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

static int take_watch(int argc, char **argv, struct options *ret)
{
    ret->command = COMMAND_WATCH;
    if (has_rbac_options(ret) || ret->online)
        return usage("such options are not for 'informerd watch'", "");
    if (ret->conf)
        return usage("'informerd watch' has no conf file, so what is -c for", "");
    if (ret->ns && ret->all_namespaces)
        return usage("either --namespace or --all-namespaces", "");
    if (ret->ns && !ret->ns[0])
        return usage("--namespace needs a name", "");
    if (argc == 1 || !argv[1][0])
        return usage("watch what? Name a resource, as in 'informerd watch pods'", "");
    if (argc > 2)
        return usage("several resources have commas between them, so what is ", argv[2]);
    if (names_one_twice(argv[1]))
        return usage("each resource is named once, not as in ", argv[1]);
    ret->resource = argv[1];
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret)
{
    int option, rc;
    *ret = (struct options){.command = COMMAND_RUN};
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":n:Ac:l:o:vhV", long_options, NULL)) != -1) {
        rc = take(option, argv, optarg, ret);
        if (rc || ret->command == COMMAND_DONE)
            return rc;
    }
    argc -= optind;
    argv += optind;
    if (ret->command == COMMAND_RUN && argc > 0 && strcmp(argv[0], "watch") == 0)
        return take_watch(argc, argv, ret);
    if (ret->command == COMMAND_RUN && argc > 0 && strcmp(argv[0], "rbac") == 0)
        return take_rbac(argc, argv, ret);
    return take_conf(argc, argv, ret);
}
