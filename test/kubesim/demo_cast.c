/*
 * The initial objects: namespaces, nodes, deployments with their pods, and their secrets and
 * configmaps.
 */
#include <string.h>

#include "demo.h"

static void namespace_write(struct demo *demo, const char *name)
{
    struct buf text = {0};
    text_put(&text, "{'metadata':{'name':'%s','labels':{'kubernetes.io/metadata.name':'%s'}},",
             name, name);
    text_put(&text, "'spec':{'finalizers':['kubernetes']},'status':{'phase':'Active'}}");
    demo_put(demo, "namespaces", "", name, &text, NULL);
}

void cast_start(struct demo *demo)
{
    static const char *const namespaces[] = {"default", "kube-system", "kube-node-lease", "shop",
                                             "billing"};
    static const struct {
        const char *ns, *name, *repository;
        unsigned count;
    } apps[] = {
        {"shop", "web", "shop/web", 3},
        {"shop", "api", "shop/api", 2},
        {"shop", "worker", "shop/worker", 2},
        {"billing", "ledger", "billing/ledger", 2},
        {"kube-system", "coredns", "registry.k8s.io/coredns/coredns", 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
        namespace_write(demo, namespaces[i]);
    machines_start(demo);
    data_start(demo);
    for (size_t i = 0; i < ARRAY_LEN(apps); i++) {
        struct app *app =
            app_new(demo, apps[i].ns, apps[i].name, apps[i].repository, apps[i].count);
        app->fixed = strcmp(app->ns, "kube-system") == 0;
    }
    cron_start(demo);
    events_start(demo);
    director_start(demo);
}
