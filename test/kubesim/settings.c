/*
 * The command line: one row per option.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/alloc.h"
#include "base/base.h"
#include "control.h"
#include "kubesim.h"

enum option_id {
    OPT_HELP = 256, /* above all letters */
    OPT_PORT,
    OPT_TLS,
    OPT_SELF_SIGNED,
    OPT_NAMES,
    OPT_EXPIRED,
    OPT_KUBECONFIG,
    OPT_TOKEN,
    OPT_ANONYMOUS,
    OPT_ALLOW,
    OPT_RESOURCE,
    OPT_HISTORY,
    OPT_BOOKMARK,
    OPT_CHUNK,
    OPT_NO_WATCH_LIST,
    OPT_NO_GZIP,
    OPT_GZIP_WATCH,
    OPT_SCRIPT,
    OPT_SEED,
    OPT_CHANCE,
    OPT_DEMO,
    OPT_PACE,
    OPT_STDIN,
};

enum {
    CHANCE = 10,      /* percent */
    PACE_MAX = 10000, /* LIMIT: a day in nine seconds */
};

static const struct {
    const char *name;
    const char *value; /* NULL: no value */
    enum option_id id;
    const char *help;
} rows[] = {
    {"port", "N", OPT_PORT, "port on 127.0.0.1; 0 (default): any free port"},
    {"tls", "CERT", OPT_TLS, "use TLS with this certificate; the key file is the next argument"},
    {"self-signed", "DIR", OPT_SELF_SIGNED,
     "use TLS with generated certificates and, without --token, a generated token; writes ca.crt, "
     "server.crt, server.key, kubeconfig"},
    {"names", "LIST", OPT_NAMES, "names in that certificate; default DNS:localhost,IP:127.0.0.1"},
    {"expired", NULL, OPT_EXPIRED, "that certificate expired an hour ago"},
    {"kubeconfig", "FILE", OPT_KUBECONFIG, "write a kubeconfig for this server to FILE"},
    {"token", "T", OPT_TOKEN, "accept only requests with this bearer token; repeatable"},
    {"anonymous", "HOW", OPT_ANONYMOUS,
     "requests without token: allow (default without --token), forbid (403), refuse (401)"},
    {"allow", "RULE", OPT_ALLOW,
     "allow lists and watches of only pods or deployments.apps@shop; repeatable"},
    {"resource", "SPEC", OPT_RESOURCE, "widgets.example.com/v1=Widget[,cluster]; repeatable"},
    {"history", "N", OPT_HISTORY, "changes kept per resource; default 10000"},
    {"bookmark-every", "MS", OPT_BOOKMARK, "interval of bookmarks; default 60000"},
    {"chunk", "N", OPT_CHUNK, "maximum size of a chunk; 0 (default): unlimited"},
    {"no-watch-list", NULL, OPT_NO_WATCH_LIST, "refuse sendInitialEvents with 422"},
    {"no-gzip", NULL, OPT_NO_GZIP, "never compress"},
    {"gzip-watch", NULL, OPT_GZIP_WATCH, "compress watch-lists too, one gzip member per flush"},
    {"script", "FILE", OPT_SCRIPT, "run the lines 'MS COMMAND key=value ...', each at its time"},
    {"seed", "N", OPT_SEED, "seed of random faults and uids"},
    {"fault-rate", "PERCENT", OPT_CHANCE,
     "requests that get a random fault; default 10 with --seed and without --demo"},
    {"demo", NULL, OPT_DEMO,
     "simulate a small cluster that changes by itself; --seed chooses the changes"},
    {"pace", "N", OPT_PACE, "run the demo N times as fast; default 1"},
    {"stdin", NULL, OPT_STDIN, "exit when stdin is closed"},
    {"help", NULL, OPT_HELP, "this"},
};

static int show_help(void)
{
    struct buf out = {0};
    buf_puts(&out, "kubesim: a simulated Kubernetes API server, for tests.\n\n"
                   "Prints one line to stdout when it listens: {\"url\":..., "
                   "\"kubeconfig\":...}\n\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *name = xasprintf("--%s %s", rows[i].name, rows[i].value ? rows[i].value : "");
        buf_printf(&out, "  %-22s %s\n", name, rows[i].help);
        free(name);
    }
    buf_puts(&out, "\nCommands, as POST /kubesim/COMMAND?key=value or in a script:\n");
    control_help(&out);
    buf_puts(&out, "\nFaults (verb= one of list watch watchlist get create update delete other, "
                   "path= a part of the target,\nskip= matches to let pass, times=0 unlimited):\n");
    faults_help(&out);
    fwrite(out.bytes, 1, out.len, stdout);
    buf_free(&out);
    return EX_OK;
}

static bool take_anonymous(struct settings *s, const char *how)
{
    static const char *const ways[] = {"allow", "forbid", "refuse"};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        if (strcmp(ways[i], how) == 0) {
            s->anonymous = (enum anonymous)i;
            return true;
        }
    }
    return false;
}

static bool take_number(uint64_t *ret, const char *text, uint64_t least, uint64_t most)
{
    uint64_t n;
    if (!parse_number(text, &n) || n < least || n > most)
        return false;
    *ret = n;
    return true;
}

static bool take_option(struct kubesim *sim, enum option_id id, const char *value, char **argv)
{
    struct settings *s = &sim->settings;
    uint64_t port = 0;
    switch (id) {
    case OPT_PORT:
        if (!take_number(&port, value, 0, 65535))
            return false;
        s->port = (int)port;
        return true;
    case OPT_TLS:
        s->cert = value;
        s->key = argv[optind];
        return argv[optind++] != NULL;
    case OPT_SELF_SIGNED: s->self_signed = value; return true;
    case OPT_NAMES: s->names = value; return true;
    case OPT_EXPIRED: s->expired = true; return true;
    case OPT_KUBECONFIG: s->kubeconfig = value; return true;
    case OPT_TOKEN: token_add(sim, value); return true;
    case OPT_ANONYMOUS: s->anonymous_given = true; return take_anonymous(s, value);
    case OPT_ALLOW: rule_add(sim, value); return true;
    case OPT_RESOURCE: return store_add_custom(&sim->store, value) != NULL;
    case OPT_HISTORY: return take_number(&s->window, value, 1, 100 * 1000 * 1000);
    case OPT_BOOKMARK: return take_number(&s->bookmark_ms, value, 1, INT_MAX);
    case OPT_CHUNK: return take_number(&s->chunk, value, 0, INT_MAX);
    case OPT_NO_WATCH_LIST: s->watch_list = false; return true;
    case OPT_NO_GZIP: s->gzip = s->gzip_watch = false; return true;
    case OPT_GZIP_WATCH: s->gzip_watch = true; return true;
    case OPT_SCRIPT: s->script = value; return true;
    case OPT_SEED: s->seeded = true; return take_number(&s->seed, value, 0, UINT64_MAX);
    case OPT_CHANCE: s->chance_given = true; return take_number(&s->chance, value, 0, 100);
    case OPT_DEMO: s->demo = true; return true;
    case OPT_PACE: return take_number(&s->pace, value, 1, PACE_MAX);
    case OPT_STDIN: s->until_eof = true; return true;
    case OPT_HELP: break;
    }
    return false;
}

int settings_parse(struct kubesim *sim, int argc, char **argv)
{
    struct option options[ARRAY_LEN(rows) + 1] = {0};
    struct settings *s = &sim->settings;
    int id, which = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        options[i] = (struct option){rows[i].name, rows[i].value ? required_argument : no_argument,
                                     NULL, (int)rows[i].id};
    while ((id = getopt_long(argc, argv, "", options, &which)) != -1) {
        if (id == OPT_HELP)
            return show_help();
        if (id == '?')
            return EX_USAGE;
        if (!take_option(sim, (enum option_id)id, optarg, argv)) {
            fprintf(stderr, "kubesim: invalid value: --%s %s; see --help\n", options[which].name,
                    optarg ? optarg : "");
            return EX_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "kubesim: unknown option '%s'; see --help\n", argv[optind]);
        return EX_USAGE;
    }
    if (s->seeded && !s->chance_given && !s->demo)
        s->chance = CHANCE;
    if (sim->tokens.count && !s->anonymous_given)
        s->anonymous = ANONYMOUS_REFUSE;
    return -1;
}
