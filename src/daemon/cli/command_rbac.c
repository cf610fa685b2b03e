/*
 * command_rbac.c - `informerd rbac`: prints the minimal roles for a configuration.
 *
 * Normal path: a preflight check resolves the resource names (it contacts the server only for names
 * without a group), then each needed resource becomes a rule with the verbs list and watch.
 * Resources watched in all namespaces go to one ClusterRole, the others to a Role in each
 * namespace, each with a binding. Nothing is granted twice: a Role omits what the ClusterRole
 * grants. A replica gets a role for its Lease. Unless --no-identity is given there is always a ClusterRole: it
 * grants reading the identity of the cluster, and with the local API the definitions of the custom resources, for
 * the columns of tables. If a name cannot be resolved, nothing is printed to stdout and the errors go
 * to stderr.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/builtin_resource.h"
#include "base/text/json_string.h"
#include "daemon/cli/command.h"
#include "daemon/cli/preflight.h"
#include "daemon/conf/conf_replica.h"
#include "daemon/signals.h"

struct rbac_options {
    const char *conf;    /* path */
    const char *cluster; /* of the configuration; NULL: the only one */
    const char *user;    /* subject to bind; at most one of the three is set */
    const char *group;
    const char *service_account; /* "namespace:name" */
    bool no_identity;
};

/* ---- the command line ---- */

#define AT(member) offsetof(struct rbac_options, member)
static const struct flag rbac_flags[] = {
    FLAG_CONFIG(struct rbac_options),
    {0, "cluster", "NAME", AT(cluster),
     .help = "cluster of the configuration; required if it has several"},
    {0, "serviceaccount", "NAMESPACE:NAME", AT(service_account),
     .help = "service account to bind (default: informerd:informerd)"},
    {0, "user", "NAME", AT(user), .help = "user to bind instead"},
    {0, "group", "NAME", AT(group), .help = "group to bind instead"},
    {0, "no-identity", NULL, AT(no_identity),
     .help = "leave out the rule for namespace kube-system, which needs a ClusterRole"},
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

/* ---- rules ---- */

/* The resources to grant, without duplicates. */
struct grants {
    const struct preflight_result **list;
    size_t count;
    bool local_api; /* and what it needs */
    bool identity;  /* reading the uid of kube-system */
};

static bool same_scope(const struct preflight_result *a, const struct preflight_result *b)
{
    return a->ns && b->ns ? strcmp(a->ns, b->ns) == 0 : a->ns == b->ns;
}

static bool same_group(const struct preflight_result *a, const struct preflight_result *b)
{
    return same_scope(a, b) && strcmp(a->group, b->group) == 0;
}

/* Whether the i-th result is granted by an earlier equal one or by one for all namespaces. */
static bool is_granted(const struct cluster_check *check, size_t i)
{
    const struct preflight_result *a = &check->results[i];
    for (size_t j = 0; j < check->n_results; j++) {
        const struct preflight_result *b = &check->results[j];
        if (strcmp(a->group, b->group) == 0 && strcmp(a->name, b->name) == 0 &&
            ((a->ns && !b->ns) || (j < i && same_scope(a, b))))
            return true;
    }
    return false;
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

static bool same_resource(const struct preflight_result *a, const struct preflight_result *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->name, b->name) == 0;
}

/* Whether the local API reads the definition of the i-th resource, which no earlier grant has. */
static bool needs_definition(const struct grants *g, size_t i)
{
    const struct preflight_result *r = g->list[i];
    return g->local_api && *r->group && !builtin_resource_find(r->group, r->name) &&
           is_first(g, i, same_resource);
}

/* The rule for the definitions that the local API reads, if there are any: see api_columns.c. */
static void put_definitions_rule(struct buf *out, const struct grants *g)
{
    bool any = false;
    for (size_t i = 0; i < g->count; i++) {
        if (!needs_definition(g, i))
            continue;
        buf_puts(out, any ? ", "
                          : "  - apiGroups: [\"apiextensions.k8s.io\"]\n"
                            "    resources: [customresourcedefinitions]\n    resourceNames: [");
        buf_printf(out, "%s.%s", g->list[i]->name, g->list[i]->group);
        any = true;
    }
    if (any)
        buf_puts(out, "]\n    verbs: [get]\n");
}

/* The rule for the uid by which a cluster is recognised: see daemon/watch/cluster_move.c. */
static void put_identity_rule(struct buf *out)
{
    buf_puts(out, "  - apiGroups: [\"\"]\n    resources: [namespaces]\n"
                  "    resourceNames: [kube-system]\n    verbs: [get]\n");
}

/* One rule per API group. */
static void put_rules(struct buf *out, const struct grants *g, const struct preflight_result *scope)
{
    buf_puts(out, "rules:\n");
    for (size_t i = 0; i < g->count; i++) {
        if (!same_scope(g->list[i], scope) || !is_first(g, i, same_group))
            continue;
        buf_printf(out, "  - apiGroups: [\"%s\"]\n    resources: [", g->list[i]->group);
        for (size_t j = i; j < g->count; j++)
            if (same_group(g->list[j], g->list[i]))
                buf_printf(out, "%s%s", j > i ? ", " : "", g->list[j]->name);
        buf_puts(out, "]\n    verbs: [list, watch]\n");
    }
    if (scope->ns)
        return;
    put_definitions_rule(out, g);
    if (g->identity)
        put_identity_rule(out);
}

/* ---- roles and bindings ---- */

static void put_quoted(struct buf *out, const char *before, const char *text)
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
        put_quoted(out, "  namespace: ", ns);
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
    put_quoted(out, "    name: ", name ? name : colon + 1);
    if (!name)
        put_quoted(out, "    namespace: ", ns);
    free(ns);
}

/* A role for all grants of a namespace, or a ClusterRole for all namespaces, with its binding. */
static void put_role(struct buf *out, const struct grants *g, const struct preflight_result *scope,
                     const struct rbac_options *o)
{
    put_head(out, "Role", scope->ns);
    put_rules(out, g, scope);
    put_head(out, "RoleBinding", scope->ns);
    buf_printf(out,
               "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %sRole\n"
               "  name: informerd\n",
               scope->ns ? "" : "Cluster");
    put_subject(out, o);
}

/* The role for the Lease of the replicas; create can't be limited to a name. */
static void put_lease_role(struct buf *out, const struct conf_replica *replica,
                           const struct rbac_options *o)
{
    static const char *const kinds[] = {"Role", "RoleBinding"};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        buf_printf(out,
                   "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n"
                   "  name: informerd-replica\n",
                   kinds[i]);
        put_quoted(out, "  namespace: ", replica->ns);
        if (i)
            continue;
        buf_puts(out, "rules:\n  - apiGroups: [\"coordination.k8s.io\"]\n    resources: [leases]\n"
                      "    verbs: [create]\n  - apiGroups: [\"coordination.k8s.io\"]\n"
                      "    resources: [leases]\n");
        put_quoted(out, "    resourceNames:\n      - ", replica->group);
        buf_puts(out, "    verbs: [get, update]\n");
    }
    buf_puts(out, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n"
                  "  name: informerd-replica\n");
    put_subject(out, o);
}

/* Whether clients can be served. The group of a socket or the readers alone say so too: its path may be
 * known only to the service, from RUNTIME_DIRECTORY. */
static bool has_local_api(const struct conf *conf)
{
    return conf->socket.path || conf->socket.group || conf->api.listen || conf->api.n_readers;
}

/* Whether a ClusterRole is needed although no resource is watched in all namespaces. */
static bool lacks_cluster_role(const struct grants *g)
{
    bool needed = g->identity;
    for (size_t i = 0; i < g->count; i++) {
        if (!g->list[i]->ns)
            return false;
        needed |= needs_definition(g, i);
    }
    return needed;
}

static void put_roles(struct buf *out, const struct conf *conf, const struct cluster_check *check,
                      const struct rbac_options *o)
{
    static const struct preflight_result all_namespaces = {.ns = NULL};
    struct grants g = {.list = xcalloc(check->n_results + 1, sizeof(*g.list)),
                       .local_api = has_local_api(conf),
                       .identity = !o->no_identity};
    for (size_t i = 0; i < check->n_results; i++)
        if (!is_granted(check, i))
            g.list[g.count++] = &check->results[i];
    buf_printf(out, "# RBAC roles for %s%s%s, generated by 'informerd rbac'.\n", o->conf,
               o->cluster ? ", cluster " : "", o->cluster ? o->cluster : "");
    for (size_t i = 0; i < g.count; i++)
        if (is_first(&g, i, same_scope))
            put_role(out, &g, g.list[i], o);
    if (lacks_cluster_role(&g))
        put_role(out, &g, &all_namespaces, o);
    if (conf_replica_has_lease(conf) && strcmp(conf->replica.cluster, check->conf->name) == 0)
        put_lease_role(out, &conf->replica, o);
    free(g.list);
}

/* ---- the command ---- */

/* Chooses the cluster to print roles for: the one that --cluster names, or the only one. */
static int choose_cluster(const struct conf *conf, const struct rbac_options *o, const char **ret)
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

/* Prints the errors of a check that has run. Returns the exit code. */
static int print_failures(const struct preflight *p, const struct cluster_check *check)
{
    int code = preflight_exit_code(p);
    bool unknown = false;
    if (check->failure.code)
        fprintf(stderr, "informerd: %s\n", check->failure.text);
    for (size_t i = 0; i < check->n_results; i++) {
        const struct preflight_result *result = &check->results[i];
        if (result->why.code)
            fprintf(stderr, "informerd: %s\n", result->why.text);
        unknown |= !result->name;
    }
    if (unknown)
        fputs("informerd: resources with group and version, for example widgets.example.com/v1, "
              "are resolved without a server\n",
              stderr);
    return code || !unknown ? code : EX_CONFIG; /* only an optional resource is missing */
}

static int resolve_resources(struct preflight *p)
{
    const struct cluster_check *check = preflight_check(p, 0);
    const struct conf_watch *last = NULL;
    if (!preflight_needs_server(p))
        return 0;
    for (size_t i = 0; i < check->n_results; last = check->results[i++].watch)
        if (!check->results[i].name && check->results[i].watch != last)
            fprintf(stderr, "informerd: looking up resource '%s' on the server\n",
                    check->results[i].resource);
    signal(SIGPIPE, SIG_IGN);
    preflight_run(p);
    return print_failures(p, check);
}

static int rbac_run(const void *options)
{
    const struct rbac_options *o = options;
    const char *cluster = NULL;
    struct buf out = {0};
    struct preflight *p;
    struct conf conf;
    int rc = command_load_conf(o->conf, &conf);
    if (rc)
        return rc;
    signals_release();
    rc = choose_cluster(&conf, o, &cluster);
    if (!rc) {
        p = preflight_new(&conf, cluster, PREFLIGHT_RESOURCE);
        rc = resolve_resources(p);
        if (!rc) {
            put_roles(&out, &conf, preflight_check(p, 0), o);
            rc = command_print(&out);
        }
        preflight_free(p);
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
