/*
 * The command line: one row an option.
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
    OPT_HELP = 256, /* behind all letters */
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
    const char *value; /* NULL: takes none */
    enum option_id id;
    const char *help;
} rows[] = {
    {"port", "N", OPT_PORT, "listen there on 127.0.0.1; 0, the default, takes a free one"},
    {"tls", "CERT", OPT_TLS, "speak TLS; the file with the key is the next word"},
    {"self-signed", "DIR", OPT_SELF_SIGNED,
     "speak TLS with certificates made now; writes ca.crt, server.crt, server.key, kubeconfig"},
    {"names", "LIST", OPT_NAMES, "whom that certificate is for; DNS:localhost,IP:127.0.0.1"},
    {"expired", NULL, OPT_EXPIRED, "that certificate was good until an hour ago"},
    {"kubeconfig", "FILE", OPT_KUBECONFIG, "write a kubeconfig for this server there"},
    {"token", "T", OPT_TOKEN, "let only those in who have it; repeatable"},
    {"anonymous", "HOW", OPT_ANONYMOUS,
     "who has no token: allow (default without --token), forbid (403), refuse (401)"},
    {"allow", "RULE", OPT_ALLOW,
     "pods or deployments.apps@shop: may be listed and watched, and no other; repeatable"},
    {"resource", "SPEC", OPT_RESOURCE, "widgets.example.com/v1=Widget[,cluster]; repeatable"},
    {"history", "N", OPT_HISTORY, "changes remembered per resource; 10000"},
    {"bookmark-every", "MS", OPT_BOOKMARK, "to watches that want them; 60000"},
    {"chunk", "N", OPT_CHUNK, "no chunk of an answer longer than this; 0: as it comes"},
    {"no-watch-list", NULL, OPT_NO_WATCH_LIST, "refuse sendInitialEvents with 422"},
    {"no-gzip", NULL, OPT_NO_GZIP, "never compress"},
    {"gzip-watch", NULL, OPT_GZIP_WATCH, "compress watch-lists too, a member a flush"},
    {"script", "FILE", OPT_SCRIPT, "lines 'MS COMMAND key=value ...', each at its time"},
    {"seed", "N", OPT_SEED, "make up faults and uids, the same ones for the same number"},
    {"fault-rate", "PERCENT", OPT_CHANCE,
     "of the requests that get a made-up fault; 10 with --seed and no --demo"},
    {"demo", NULL, OPT_DEMO, "play a small living cluster; --seed then chooses its stories"},
    {"pace", "N", OPT_PACE, "the demo goes N times as fast; 1"},
    {"stdin", NULL, OPT_STDIN, "end when stdin is closed"},
    {"help", NULL, OPT_HELP, "this"},
};

static int show_help(void)
{
    struct buf out = {0};
    buf_puts(&out, "kubesim: a simulated Kubernetes API server, for tests.\n\n"
                   "When it listens it says so on stdout, in one line: {\"url\":..., "
                   "\"kubeconfig\":...}\n\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *name = xasprintf("--%s %s", rows[i].name, rows[i].value ? rows[i].value : "");
        buf_printf(&out, "  %-22s %s\n", name, rows[i].help);
        free(name);
    }
    buf_puts(&out, "\nCommands, as POST /kubesim/COMMAND?key=value or in a script:\n");
    control_help(&out);
    buf_puts(&out, "\nFaults (verb= one of list watch watchlist get create update delete other, "
                   "path= a part of the target,\nskip= matches to let pass, times=0 for ever):\n");
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
    case OPT_ANONYMOUS: s->anonymous_said = true; return take_anonymous(s, value);
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
    case OPT_CHANCE: s->chance_said = true; return take_number(&s->chance, value, 0, 100);
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
            fprintf(stderr, "kubesim: --%s %s: see --help\n", options[which].name,
                    optarg ? optarg : "");
            return EX_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "kubesim: '%s' is no option: see --help\n", argv[optind]);
        return EX_USAGE;
    }
    if (s->seeded && !s->chance_said && !s->demo)
        s->chance = CHANCE;
    if (sim->tokens.count && !s->anonymous_said)
        s->anonymous = ANONYMOUS_REFUSE;
    return -1;
}
