/*
 * preflight.h - the clusters of the conf, asked before anything is watched: who are you, who are we,
 * what is this word, may we watch it there?
 *
 *     q = preflight_new(conf, NULL, PREFLIGHT_ACCESS);
 *     preflight_run(q);                                  until all is answered, or it is too late
 *     ... preflight_site(q, i)->answers[j] ...
 *     preflight_free(q);
 *
 * A watch with namespace_selector needs to list and watch namespaces, and its resource in each
 * namespace that is selected now: when all other questions of a cluster are answered, the namespaces
 * are listed, and questions are added. If they can't be listed it is asked for in all namespaces.
 *
 * All clusters are asked at once, each a few things at a time; one that is silent for too long is
 * given up, and takes nothing from the others.
 */
#ifndef DAEMON_CLI_PREFLIGHT_H
#define DAEMON_CLI_PREFLIGHT_H

#include <stdbool.h>

#include "informer/access.h"

#include "daemon/conf/conf.h"
#include "seam/clock.h"

enum {
    PREFLIGHT_PATIENCE_MS = 20 * 1000, /* for the next answer of a cluster; a connection has 15 s */
};

enum preflight_kind {
    PREFLIGHT_ACCESS, /* all of the above */
    PREFLIGHT_RESOURCE, /* only what words mean, and only of those that say nothing without a server */
};

enum verdict {
    VERDICT_NONE, /* it was not answered: see the site's failure */
    VERDICT_OK,
    VERDICT_MISSING, /* we may not list or not watch it */
    VERDICT_WAITS,   /* it is optional, and not there */
    VERDICT_WRONG,   /* the server has no such thing, or the word means several */
    VERDICT_FAILED,  /* something went wrong on the way */
};

struct preflight;
struct preflight_cluster;

/* One resource in one place, which a watch of the conf needs to list and watch. */
struct preflight_result {
    const struct conf_watch *watch;
    const char *resource; /* a word, as in the conf */
    const char *ns;       /* NULL: all */
    bool selects;         /* the namespaces themselves, for namespace_selector */
    bool none_selected;   /* no namespace is selected now: only what the word means was asked */
    enum verdict verdict;
    struct inf_error why;         /* of the last three */
    bool may_list, may_watch;     /* of the others */
    char *group, *version, *name; /* what the word means; NULL: not known */
    bool cluster_wide;            /* it is in no namespace, as far as that is known */

    /* its own */
    struct preflight_cluster *site;
    char *own_ns;  /* `ns`, if it is not the conf's */
    bool expanded; /* `selects`: the namespaces are known */
};

/* A cluster. */
struct preflight_cluster {
    const struct conf_cluster *conf;
    char *server;             /* its URL; NULL: that was not to be had */
    struct inf_error failure; /* why it could not be asked, or not to the end; code 0: it could */
    char *version;            /* NULL: not told */
    char *user;               /* NULL: not told */
    char *groups;             /* "a, b"; NULL: none */
    struct preflight_result *answers;
    size_t n_answers;

    /* its own */
    struct preflight *preflight;
    struct cluster *cluster; /* NULL: closed */
    struct timer patience;
    size_t begun;                    /* answers that were asked for, or need not be */
    size_t open;                     /* of them, those that are not there yet */
    struct inf_informer *namespaces; /* that a selector selects, being listed; NULL: none are */
    struct inf_handler handler;      /* of them */
    size_t selecting;                /* the answer whose namespaces these are */
};

/* About @cluster alone, or all of the conf if it is NULL. @conf must outlive it. */
struct preflight *preflight_new(const struct conf *conf, const char *cluster,
                                enum preflight_kind kind);

/* Returns when all that can be known is. */
void preflight_run(struct preflight *preflight);

/* Whether a server has to be asked for any of it. */
bool preflight_needs_server(const struct preflight *preflight);

size_t preflight_count(const struct preflight *preflight);
const struct preflight_cluster *preflight_site(const struct preflight *preflight, size_t i);

/* The exit code of the worst of it: EX_CONFIG, EX_NOPERM, EX_UNAVAILABLE or 0. */
int preflight_exit_code(const struct preflight *preflight);

void preflight_free(struct preflight *preflight);

#endif
