/*
 * fuzz_discovery.c - a resource name, a newline, a discovery document. Everything kept of the document
 * is valid in a URL path, and the name is resolved to a resource of the document.
 */
#include "fuzz.h"
#include "kube/discovery/resource_name.h"

static void check_table(const struct discovery *d)
{
    for (size_t i = 0; i < d->n_resources; i++) {
        const struct api_resource *r = &d->resources[i];
        MUST(resource_is_label(r->name, strlen(r->name)));
        MUST(resource_is_label(r->version, strlen(r->version)));
        MUST(!r->group[0] || resource_is_group(r->group, strlen(r->group)));
    }
}

static void check_word(const char *text, const struct discovery *d)
{
    struct resource_name name;
    const struct api_resource *found = NULL;
    struct inf_error err = {.code = 0};
    int rc;
    if (resource_name_parse(text, &name, &err) < 0) {
        MUST(err.code == INF_EINVAL);
        return;
    }
    rc = resource_name_find(&name, d, &found, &err);
    MUST(rc == 0 ? found->watchable : err.code == -rc);
    MUST(rc != 0 || !name.group || strcmp(found->group, name.group) == 0);
    MUST(rc != 0 || !name.version || strcmp(found->version, name.version) == 0);
    resource_name_free(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fuzz_input input = fuzz_split(bytes, len);
    struct discovery d = {.n_resources = 0};
    discovery_add(&d, input.json, NULL);
    check_table(&d);
    check_word(input.text, &d);
    discovery_free(&d);
    fuzz_free(&input);
    return 0;
}
