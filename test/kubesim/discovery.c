/*
 * Discovery: groups, versions, resources, the version of the server and its health; and OpenAPI documents
 * in the smallest form that `kubectl explain` reads.
 */
#include <string.h>

#include "api.h"
#include "base/base.h"

static const char version_text[] = "{\n"
                                   "  \"major\": \"1\",\n"
                                   "  \"minor\": \"36\",\n"
                                   "  \"emulationMajor\": \"1\",\n"
                                   "  \"emulationMinor\": \"36\",\n"
                                   "  \"minCompatibilityMajor\": \"1\",\n"
                                   "  \"minCompatibilityMinor\": \"35\",\n"
                                   "  \"gitVersion\": \"v1.36.0+kubesim\",\n"
                                   "  \"gitCommit\": \"\",\n"
                                   "  \"gitTreeState\": \"\",\n"
                                   "  \"buildDate\": \"1970-01-01T00:00:00Z\",\n"
                                   "  \"goVersion\": \"go0\",\n"
                                   "  \"compiler\": \"cc\",\n"
                                   "  \"platform\": \"linux/amd64\"\n"
                                   "}";

static void put_group(struct buf *out, const struct resource *r)
{
    buf_printf(out,
               "\"name\":\"%s\",\"versions\":[{\"groupVersion\":\"%s\",\"version\":\"%s\"}],"
               "\"preferredVersion\":{\"groupVersion\":\"%s\",\"version\":\"%s\"}}",
               r->group, r->api_version, r->version, r->api_version, r->version);
}

/* The first resource of each group represents it: a group has one version here. */
static const struct resource *first_of(const struct store *store, const char *group)
{
    list_for_each(n, &store->resources) {
        const struct resource *r = container_of(n, struct resource, node);
        if (!r->hidden && strcmp(r->group, group) == 0)
            return r;
    }
    return NULL;
}

static void put_groups(struct buf *out, const struct store *store)
{
    const char *comma = "";
    buf_puts(out, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
    list_for_each(n, &store->resources) {
        const struct resource *r = container_of(n, struct resource, node);
        if (!r->group[0] || r->hidden || first_of(store, r->group) != r)
            continue;
        buf_printf(out, "%s{", comma);
        put_group(out, r);
        comma = ",";
    }
    buf_puts(out, "]}\n");
}

/* The category of `kubectl get all`. */
static bool is_in_all(const struct resource *r)
{
    static const char *const all[] = {"cronjobs", "daemonsets",  "deployments", "jobs",
                                      "pods",     "replicasets", "services",    "statefulsets"};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (!r->custom && strcmp(r->plural, all[i]) == 0)
            return true;
    return false;
}

static void put_resource(struct buf *out, const struct resource *r)
{
    static const char custom[] = "\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\","
                                 "\"create\",\"update\",\"watch\"";
    bool namespaces = strcmp(r->kind, "Namespace") == 0; /* resources without deletecollection */
    buf_printf(out, "{\"name\":\"%s\",\"singularName\":\"%s\",\"namespaced\":%s,\"kind\":\"%s\",",
               r->plural, r->singular, r->namespaced ? "true" : "false", r->kind);
    if (r->custom)
        buf_printf(out, "\"verbs\":[%s]", custom);
    else
        buf_printf(out,
                   "\"verbs\":[\"create\",\"delete\",%s\"get\",\"list\",\"patch\",\"update\","
                   "\"watch\"]",
                   namespaces ? "" : "\"deletecollection\",");
    if (r->short_name)
        buf_printf(out, ",\"shortNames\":[\"%s\"]", r->short_name);
    if (is_in_all(r))
        buf_puts(out, ",\"categories\":[\"all\"]");
    buf_puts(out, ",\"storageVersionHash\":\"a3ViZXNpbQ==\"}");
}

static void put_resources(struct buf *out, const struct store *store, const char *api_version)
{
    const char *comma = "";
    bool core = !strchr(api_version, '/');
    buf_puts(out, "{\"kind\":\"APIResourceList\",");
    buf_printf(out, "%s\"groupVersion\":\"%s\",\"resources\":[",
               core ? "" : "\"apiVersion\":\"v1\",", api_version);
    list_for_each(n, &store->resources) {
        const struct resource *r = container_of(n, struct resource, node);
        if (r->hidden || strcmp(r->api_version, api_version) != 0)
            continue;
        buf_puts(out, comma);
        put_resource(out, r);
        comma = ",";
    }
    buf_puts(out, "]}\n");
}

static bool version_known(const struct store *store, const char *api_version)
{
    list_for_each(n, &store->resources) {
        const struct resource *r = container_of(n, struct resource, node);
        if (!r->hidden && strcmp(r->api_version, api_version) == 0)
            return true;
    }
    return false;
}

/* ---- OpenAPI ---- */

/* Each version has its document; the hash is only an example. */
static void put_openapi_list(struct buf *out, const struct store *store)
{
    const char *comma = "";
    buf_puts(out, "{\"paths\":{");
    list_for_each(n, &store->resources) {
        const struct resource *r = container_of(n, struct resource, node);
        if (r->hidden || first_of(store, r->group) != r)
            continue;
        buf_printf(out, "%s\"%s/%s\":{\"serverRelativeURL\":\"/openapi/v3/%s/%s?hash=6B73\"}",
                   comma, r->group[0] ? "apis" : "api", r->api_version,
                   r->group[0] ? "apis" : "api", r->api_version);
        comma = ",";
    }
    buf_puts(out, "}}");
}

/* From it kubectl takes the kind of a resource. */
static void put_openapi_path(struct buf *out, const struct resource *r)
{
    buf_printf(out,
               "\"/%s/%s/%s\":{\"get\":{\"x-kubernetes-action\":\"list\","
               "\"x-kubernetes-group-version-kind\":{\"group\":\"%s\",\"kind\":\"%s\",\"version\":"
               "\"%s\"}}}",
               r->group[0] ? "apis" : "api", r->api_version, r->plural, r->group, r->kind,
               r->version);
}

static void put_openapi_schema(struct buf *out, const struct resource *r)
{
    buf_printf(out,
               "\"%s.%s\":{\"description\":\"%s is a resource of kubesim.\",\"type\":\"object\","
               "\"properties\":{\"kind\":{\"description\":\"The kind.\",\"type\":\"string\"}},"
               "\"x-kubernetes-group-version-kind\":[{\"group\":\"%s\",\"kind\":\"%s\",\"version\":"
               "\"%s\"}]}",
               r->api_version, r->kind, r->kind, r->group, r->kind, r->version);
}

static void put_each(struct buf *out, const struct store *store, const char *api_version,
                     void (*put)(struct buf *out, const struct resource *r))
{
    const char *comma = "";
    list_for_each(n, &store->resources) {
        const struct resource *r = container_of(n, struct resource, node);
        if (r->hidden || strcmp(r->api_version, api_version) != 0)
            continue;
        buf_puts(out, comma);
        put(out, r);
        comma = ",";
    }
}

static void put_openapi(struct buf *out, const struct store *store, const char *api_version)
{
    buf_puts(out, "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":"
                  "\"v1.36.0\"},\"paths\":{");
    put_each(out, store, api_version, put_openapi_path);
    buf_puts(out, "},\"components\":{\"schemas\":{");
    put_each(out, store, api_version, put_openapi_schema);
    buf_puts(out, "}}}");
}

static void not_here(struct conn *c)
{
    struct head head = {.code = 404, .type = "text/plain; charset=utf-8", .nosniff = true};
    struct buf body = {0};
    buf_puts(&body, "404 page not found\n");
    reply_whole(c, &head, &body);
}

static bool put_health(struct buf *out, const char *path)
{
    static const char *const paths[] = {"/livez", "/readyz", "/healthz"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (strcmp(path, paths[i]) == 0)
            buf_puts(out, "ok");
    }
    return out->len > 0;
}

/* False if @path does not exist. */
static bool put_document(struct buf *out, const struct kubesim *sim, const char *path)
{
    const struct store *store = &sim->store;
    const struct resource *r;
    if (strcmp(path, "/version") == 0) {
        buf_puts(out, version_text);
    } else if (strcmp(path, "/api") == 0) {
        buf_printf(out,
                   "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":"
                   "[{\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":\"127.0.0.1:%d\"}]}\n",
                   sim->settings.port);
    } else if (strcmp(path, "/apis") == 0) {
        put_groups(out, store);
    } else if (strncmp(path, "/api/", 5) == 0 && version_known(store, path + 5)) {
        put_resources(out, store, path + 5);
    } else if (strncmp(path, "/apis/", 6) == 0 && version_known(store, path + 6)) {
        put_resources(out, store, path + 6);
    } else if (strncmp(path, "/apis/", 6) == 0 && (r = first_of(store, path + 6))) {
        buf_puts(out, "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",");
        put_group(out, r);
        buf_putc(out, '\n');
    } else if (strcmp(path, "/openapi/v3") == 0) {
        put_openapi_list(out, store);
    } else if (strncmp(path, "/openapi/v3/api/", 16) == 0 && version_known(store, path + 16)) {
        put_openapi(out, store, path + 16);
    } else if (strncmp(path, "/openapi/v3/apis/", 17) == 0 && version_known(store, path + 17)) {
        put_openapi(out, store, path + 17);
    }
    return out->len > 0;
}

void discovery_answer(struct conn *c)
{
    bool is_list =
        strcmp(c->request.path, "/openapi/v3") == 0; /* of which the server sets no type */
    struct head head = {.code = 200};
    struct buf body = {0};
    if (is_list || put_health(&body, c->request.path))
        head.type = "text/plain; charset=utf-8";
    if (!body.len && !put_document(&body, c->sim, c->request.path)) {
        not_here(c);
        return;
    }
    reply_whole(c, &head, &body);
}
