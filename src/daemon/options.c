#include "daemon/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "informer/informer.h"

#define CONF_DEFAULT "/etc/informerd/informerd.conf"

static const char help[] =
    "Usage: informerd watch RESOURCE [options]\n"
    "       informerd --check-config [-c FILE]\n"
    "       informerd --print-config [-c FILE]\n"
    "\n"
    "watch prints one JSON line for each object that is there, and then for each change, for ever: what\n"
    "ends other watches (a restarted server, an expired version) only makes it catch up.\n"
    "\n"
    "RESOURCE is a plural name of the core group (pods, configmaps), or name.group/version\n"
    "(deployments.apps/v1, widgets.example.com/v1).\n"
    "\n"
    "  -n, --namespace NS   only this namespace; default: the one of the kubeconfig's context\n"
    "  -A, --all-namespaces all namespaces\n"
    "      --kubeconfig F   default: the files of $KUBECONFIG, then ~/.kube/config\n"
    "      --context NAME   default: the kubeconfig's current context\n"
    "  -o, --output FORMAT  jsonl: one JSON object a line (the only one so far)\n"
    "  -v, --verbose        tell every step on stderr\n"
    "\n"
    "The conf file, with the files conf.d/*.conf beside it: see informerd.conf(5).\n"
    "\n"
    "  -c, --config FILE    default: " CONF_DEFAULT "\n"
    "      --check-config   tell all that is wrong with it, or that it is good\n"
    "      --print-config   print every value in effect, and where it comes from\n"
    "\n"
    "  -h, --help           this text\n"
    "  -V, --version\n"
    "\n"
    "Each line of watch has: time (received, UTC), type (ADDED MODIFIED DELETED), origin (initial: was\n"
    "there at the start; live; relist: found by comparing after an interruption), kind,\n"
    "namespace, name, uid, rv (resource version), and on DELETED final: whether the last state\n"
    "is known. A RELIST line comes before what was found so; a GAP line says what is missing.\n"
    "\n"
    "It ends at SIGINT or SIGTERM with 0. Other exit codes: 64 wrong usage, 74 output failed,\n"
    "78 conf file or kubeconfig can't be used.\n";

enum {
    OPT_KUBECONFIG = 256,
    OPT_CONTEXT,
    OPT_CHECK,
    OPT_PRINT,
};

static const struct option long_options[] = {
    {"namespace", required_argument, NULL, 'n'},
    {"all-namespaces", no_argument, NULL, 'A'},
    {"kubeconfig", required_argument, NULL, OPT_KUBECONFIG},
    {"context", required_argument, NULL, OPT_CONTEXT},
    {"config", required_argument, NULL, 'c'},
    {"check-config", no_argument, NULL, OPT_CHECK},
    {"print-config", no_argument, NULL, OPT_PRINT},
    {"output", required_argument, NULL, 'o'},
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

/* One option. Returns 0 or an exit code. */
static int take(int option, char **argv, const char *value, struct options *ret)
{
    switch (option) {
    case 'n': ret->ns = value; return 0;
    case 'A': ret->all_namespaces = true; return 0;
    case OPT_KUBECONFIG: ret->kubeconfig = value; return 0;
    case OPT_CONTEXT: ret->context = value; return 0;
    case 'c': ret->conf = value; return 0;
    case OPT_CHECK: ret->command = COMMAND_CHECK; return 0;
    case OPT_PRINT: ret->command = COMMAND_PRINT; return 0;
    case 'v': ret->verbose = true; return 0;
    case 'o': return strcmp(value, "jsonl") == 0 ? 0 : usage("output is 'jsonl', not ", value);
    case 'h': return say(help, ret);
    case 'V': printf("informerd %s\n", inf_version()); return say("", ret);
    default: return bad_option(option, argv);
    }
}

/* What is asked about the conf file is said by options alone. */
static int take_conf(int argc, char **argv, struct options *ret)
{
    if (argc > 0)
        return usage("the conf file is named with -c, so what is ", argv[0]);
    if (!ret->conf)
        ret->conf = CONF_DEFAULT;
    return 0;
}

static int take_words(int argc, char **argv, struct options *ret)
{
    if (ret->conf)
        return usage("--config needs --check-config or --print-config beside it", "");
    if (argc == 0)
        return usage("no command", "");
    if (strcmp(argv[0], "watch") != 0)
        return usage("unknown command ", argv[0]);
    if (argc == 1)
        return usage("watch what? Name a resource, as in 'informerd watch pods'", "");
    if (argc > 2)
        return usage("one resource at a time, so what is ", argv[2]);
    ret->resource = argv[1];
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret)
{
    int option, rc;
    *ret = (struct options){.command = COMMAND_WATCH};
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":n:Ac:o:vhV", long_options, NULL)) != -1) {
        rc = take(option, argv, optarg, ret);
        if (rc || ret->command == COMMAND_DONE)
            return rc;
    }
    if (ret->ns && ret->all_namespaces)
        return usage("either --namespace or --all-namespaces", "");
    if (ret->command != COMMAND_WATCH)
        return take_conf(argc - optind, argv + optind, ret);
    return take_words(argc - optind, argv + optind, ret);
}
