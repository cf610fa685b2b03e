/*
 * Rotates Secrets and edits ConfigMaps.
 */
#include <stdio.h>
#include <string.h>

#include "demo.h"

static const struct secret {
    const char *ns, *name, *user;
} secrets[] = {
    {"shop", "db-credentials", "c2hvcA=="},
    {"billing", "payment-gateway", "YmlsbGluZw=="},
};

static const struct config {
    const char *ns, *name, *key;
    const char *values[3];
} configs[] = {
    {"shop", "web-settings", "LOG_LEVEL", {"info", "debug", "warn"}},
    {"shop", "feature-flags", "new-checkout", {"off", "canary", "on"}},
    {"billing", "rates", "vat.percent", {"19", "20", "21"}},
};

/* A new password: letters only, which are valid base64. */
static void secret_write(struct demo *demo, const struct secret *s)
{
    static const char fields[] = "{'f:data':{'f:password':{}},'f:metadata':{'f:annotations':{}}}";
    struct managers managers = {0};
    struct buf text = {0};
    char password[25], now[STORE_TIME_SIZE];
    store_now(now);
    pick_name(demo, password, sizeof(password));
    managers_write(&managers, "external-secrets", "", fields);
    text_put(&text, "{'metadata':{'name':'%s','namespace':'%s',", s->name, s->ns);
    text_put(&text, "'annotations':{'example.com/rotated-at':'%s'}", now);
    managers_put(&text, &managers, "v1");
    text_put(&text, "},'data':{'password':'%s','username':'%s'},'type':'Opaque'}", password,
             s->user);
    demo_put(demo, "secrets", s->ns, s->name, &text, NULL);
}

static void config_write(struct demo *demo, const struct config *c, unsigned value)
{
    struct managers managers = {0};
    struct buf text = {0};
    managers_write(&managers, value ? "kubectl-edit" : "kubectl-create", "", "{'f:data':{}}");
    text_put(&text, "{'metadata':{'name':'%s','namespace':'%s'", c->name, c->ns);
    managers_put(&text, &managers, "v1");
    text_put(&text, "},'data':{'%s':'%s','revision':'%u'}}", c->key,
             c->values[value % ARRAY_LEN(c->values)], value + 1);
    demo_put(demo, "configmaps", c->ns, c->name, &text, NULL);
}

void secret_rotate(struct demo *demo)
{
    secret_write(demo, &secrets[pick(demo, ARRAY_LEN(secrets))]);
}

/* One after the other, so that each gets another value. */
void config_edit(struct demo *demo)
{
    unsigned count = ARRAY_LEN(configs);
    demo->edits++;
    config_write(demo, &configs[demo->edits % count], (demo->edits + count - 1) / count);
}

void data_start(struct demo *demo)
{
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
        secret_write(demo, &secrets[i]);
    for (size_t i = 0; i < ARRAY_LEN(configs); i++)
        config_write(demo, &configs[i], 0);
}
