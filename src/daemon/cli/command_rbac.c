/*
 * command_rbac.c - `informerd rbac`: prints the minimal roles for a configuration.
 *
 * Normal path: a preflight check resolves the resource names (it contacts the server only for names
 * without a group), then each needed resource becomes a rule with the verbs list and watch.
 * Resources watched in all namespaces go to one ClusterRole, the others to a Role in each
 * namespace, each with a binding. Nothing is granted twice: a Role omits what the ClusterRole
 * grants. If a name cannot be resolved, nothing is printed to stdout and the errors go to stderr.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/alloc.h"
#include "base/json_string.h"
#include "daemon/cli/command.h"
#include "daemon/cli/preflight.h"
#include "daemon/signals.h"

struct rbac_options {
    const char *conf;    /* path */
    const char *cluster; /* of the configuration; NULL: the only one */
    const char *user;    /* subject to bind; at most one of the three is set */
    const char *group;
    const char *service_account; /* "namespace:name" */
};

/* ---- the command line ---- */

#define AT(member) offsetof(struct rbac_options, member)
static const struct flag rbac_flags[] = {
    FLAG_CONFIG(struct rbac_options),
    {0, "cluster", "NAME", AT(cluster), "cluster of the configuration; required if it has several"},
    {0, "serviceaccount", "NAMESPACE:NAME", AT(service_account),
     "service account to bind (default: informerd:informerd)"},
    {0, "user", "NAME", AT(user), "user to bind instead"},
    {0, "group", "NAME", AT(group), "group to bind instead"},
    {0},
};
#undef AT

static int rbac_parse(void *options, int argc, char **argv)
{
    struct rbac_options *o = options;
    const char *account = o->service_account ? o->service_account : "informerd:informerd";
    const char *colon = strchr(account, ':');
    if (argc > 0)
        return command_usage_error(&command_rbac,
                                   "unexpected argument '%s'; specify the configuration file "
                                   "with -c",
                                   argv[0]);
    if (!!o->user + !!o->group + !!o->service_account > 1)
        return command_usage_error(&command_rbac,
                                   "use only one of --user, --group and --serviceaccount");
    if (!colon || colon == account || !colon[1] || strchr(colon + 1, ':'))
        return command_usage_error(&command_rbac,
                                   "--serviceaccount must be NAMESPACE:NAME, not '%s'", account);
    o->service_account = account;
    return command_default_conf(&command_rbac, &o->conf);
}

/* The resources to grant, without duplicates. */
struct grants {
    const struct preflight_result **list;
    size_t count;
};

/* ---- rules ---- */

static bool same_place(const struct preflight_result *a, const struct preflight_result *b)
{
    return a->ns && b->ns ? strcmp(a->ns, b->ns) == 0 : a->ns == b->ns;
}

static bool same_group(const struct preflight_result *a, const struct preflight_result *b)
{
    return same_place(a, b) && strcmp(a->group, b->group) == 0;
}

static bool same_resource(const struct preflight_result *a, const struct preflight_result *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->name, b->name) == 0;
}

/* Whether the i-th result is granted by an earlier equal one or by one for all namespaces. */
static bool is_granted(const struct preflight_cluster *site, size_t i)
{
    const struct preflight_result *a = &site->answers[i];
    for (size_t j = 0; j < site->n_answers; j++) {
        const struct preflight_result *b = &site->answers[j];
        if (same_resource(a, b) && ((a->ns && !b->ns) || (j < i && same_place(a, b))))
            return true;
    }
    return false;
}

static struct grants grants_of(const struct preflight_cluster *site)
{
    struct grants g = {.list = xcalloc(site->n_answers + 1, sizeof(*g.list))};
    for (size_t i = 0; i < site->n_answers; i++)
        if (!is_granted(site, i))
            g.list[g.count++] = &site->answers[i];
    return g;
}

/* Whether no earlier grant equals the i-th according to @same. */
static bool is_first(const struct grants *g, size_t i,
                     bool (*same)(const struct preflight_result *a,
                                  const struct preflight_result *b))
{
    for (size_t j = 0; j < i; j++)
        if (same(g->list[j], g->list[i]))
            return false;
    return true;
}

static void put_resources(struct buf *out, const struct grants *g, size_t first)
{
    for (size_t i = first; i < g->count; i++)
        if (same_group(g->list[i], g->list[first]))
            buf_printf(out, "%s%s", i > first ? ", " : "", g->list[i]->name);
}

/* One rule per API group. */
static void put_rules(struct buf *out, const struct grants *g, const struct preflight_result *place)
{
    buf_puts(out, "rules:\n");
    for (size_t i = 0; i < g->count; i++) {
        if (!same_place(g->list[i], place) || !is_first(g, i, same_group))
            continue;
        buf_printf(out, "  - apiGroups: [\"%s\"]\n    resources: [", g->list[i]->group);
        put_resources(out, g, i);
        buf_puts(out, "]\n    verbs: [list, watch]\n");
    }
}

/* ---- roles and bindings ---- */

static void put_text(struct buf *out, const char *before, const char *text)
{
    buf_puts(out, before);
    json_put_string(out, str_of(text)); /* a JSON string is a valid YAML scalar */
    buf_putc(out, '\n');
}

static void put_head(struct buf *out, const char *kind, const char *ns)
{
    buf_printf(out,
               "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s%s\nmetadata:\n"
               "  name: informerd\n",
               ns ? "" : "Cluster", kind);
    if (ns)
        put_text(out, "  namespace: ", ns);
}

static void put_subject(struct buf *out, const struct rbac_options *o)
{
    const char *name = o->user ? o->user : o->group;
    const char *colon = strchr(o->service_account, ':');
    char *ns = xstrndup(o->service_account, (size_t)(colon - o->service_account));
    buf_printf(out, "subjects:\n  - kind: %s\n",
               o->user    ? "User"
               : o->group ? "Group"
                          : "ServiceAccount");
    if (name)
        buf_puts(out, "    apiGroup: rbac.authorization.k8s.io\n");
    put_text(out, "    name: ", name ? name : colon + 1);
    if (!name)
        put_text(out, "    namespace: ", ns);
    free(ns);
}

static void put_role(struct buf *out, const struct grants *g, const struct preflight_result *place,
                     const struct rbac_options *o)
{
    put_head(out, "Role", place->ns);
    put_rules(out, g, place);
    put_head(out, "RoleBinding", place->ns);
    buf_printf(out,
               "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %sRole\n"
               "  name: informerd\n",
               place->ns ? "" : "Cluster");
    put_subject(out, o);
}

static void put_roles(struct buf *out, const struct preflight_cluster *site,
                      const struct rbac_options *o)
{
    struct grants g = grants_of(site);
    buf_printf(out, "# RBAC roles for %s%s%s, generated by 'informerd rbac'.\n", o->conf,
               o->cluster ? ", cluster " : "", o->cluster ? o->cluster : "");
    for (size_t i = 0; i < g.count; i++)
        if (is_first(&g, i, same_place))
            put_role(out, &g, g.list[i], o);
    free(g.list);
}

/* ---- the command ---- */

/* Chooses the cluster to print roles for: the one that --cluster names, or the only one. */
static int choose_site(const struct conf *conf, const struct rbac_options *o, const char **ret)
{
    for (size_t i = 0; o->cluster && i < conf->n_clusters; i++)
        if (strcmp(conf->clusters[i].name, o->cluster) == 0) {
            *ret = o->cluster;
            return 0;
        }
    if (o->cluster) {
        fprintf(stderr, "informerd: the configuration has no cluster '%s'\n", o->cluster);
        return EX_USAGE;
    }
    if (conf->n_clusters > 1) {
        fprintf(stderr,
                "informerd: the configuration has several clusters; choose one, for example "
                "--cluster %s\n",
                conf->clusters[0].name);
        return EX_USAGE;
    }
    *ret = conf->clusters[0].name;
    return 0;
}

static int print_failures(const struct preflight *q, const struct preflight_cluster *site)
{
    int code = preflight_exit_code(q);
    bool unknown = false;
    if (site->failure.code)
        fprintf(stderr, "informerd: %s\n", site->failure.text);
    for (size_t i = 0; i < site->n_answers; i++) {
        const struct preflight_result *a = &site->answers[i];
        if (a->why.code)
            fprintf(stderr, "informerd: %s\n", a->why.text);
        unknown |= !a->name;
    }
    if (unknown)
        fputs("informerd: resources with group and version, for example widgets.example.com/v1, "
              "are resolved without a server\n",
              stderr);
    return code || !unknown ? code : EX_CONFIG; /* only an optional resource is missing */
}

static void print_lookups(const struct preflight_cluster *site)
{
    for (size_t i = 0; i < site->n_answers; i++) {
        const struct preflight_result *a = &site->answers[i];
        if (!a->name && (i == 0 || a[-1].watch != a->watch))
            fprintf(stderr, "informerd: looking up resource '%s' on the server\n", a->resource);
    }
}

static int resolve_resources(struct preflight *q)
{
    const struct preflight_cluster *site = preflight_site(q, 0);
    if (!preflight_needs_server(q))
        return 0;
    signal(SIGPIPE, SIG_IGN);
    print_lookups(site);
    preflight_run(q);
    return print_failures(q, site);
}

static int rbac_run(const void *options)
{
    const struct rbac_options *o = options;
    const char *cluster = NULL;
    struct buf out = {0};
    struct preflight *q;
    struct conf conf;
    int rc = command_load_conf(o->conf, &conf);
    if (rc)
        return rc;
    signals_release();
    rc = choose_site(&conf, o, &cluster);
    if (!rc) {
        q = preflight_new(&conf, cluster, PREFLIGHT_RESOURCE);
        rc = resolve_resources(q);
        if (!rc) {
            put_roles(&out, preflight_site(q, 0), o);
            rc = command_print(&out);
        }
        preflight_free(q);
    }
    buf_free(&out);
    conf_free(&conf);
    return rc;
}

const struct command command_rbac = {
    .name = "rbac",
    .arguments = "[-c FILE] [flags]",
    .summary = "print RBAC roles for a configuration",
    .description =
        "Print the smallest RBAC roles that a configuration needs, with bindings, as YAML "
        "for 'kubectl apply -f -'. The API server is queried only to resolve resource "
        "names that do not include their group.",
    .flags = rbac_flags,
    .size = sizeof(struct rbac_options),
    .parse = rbac_parse,
    .run = rbac_run,
};
