/*
 * read_kubeconfig.c - read_kubeconfig FILE...: prints each file as informerd reads it, one JSON object per line, for compare.py.
 *
 *     {"tree":{"at":[1,1],"map":[[{"at":[1,1],"text":"kind"},{"at":[1,7],"text":"Config"}]]},"config":{...}}
 *     {"error":"FILE:3:1: ...","refused":"..."}
 *
 * "tree" or "error" is the result of base/text/yaml.h, "config" or "refused" that of kube/config/kubeconfig.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text/json_string.h"
#include "base/text/yaml.h"
#include "kube/config/kubeconfig.h"

static void put_member(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(out, "%s\"%s\":", out->bytes[out->len - 1] == '{' ? "" : ",", name);
    json_put_string(out, str_of(value));
}

/* ---- the tree ---- */

static void put_node(struct buf *out, const struct yaml_node *node);

static void put_children(struct buf *out, const struct yaml_node *node)
{
    for (const struct yaml_node *n = node->first; n; n = n->next) {
        buf_puts(out, n == node->first ? "" : ",");
        if (n->key) {
            buf_putc(out, '[');
            put_node(out, n->key);
            buf_putc(out, ',');
        }
        put_node(out, n);
        buf_puts(out, n->key ? "]" : "");
    }
}

static void put_node(struct buf *out, const struct yaml_node *node)
{
    buf_printf(out, "{\"at\":[%zu,%zu]", node->line, node->column);
    if (node->kind == YAML_SCALAR) {
        buf_printf(out, ",\"plain\":%s", node->plain ? "true" : "false");
        put_member(out, "text", node->text);
    } else {
        buf_printf(out, ",\"%s\":[", node->kind == YAML_MAPPING ? "map" : "list");
        put_children(out, node);
        buf_putc(out, ']');
    }
    buf_putc(out, '}');
}

static void put_tree(struct buf *out, const char *path)
{
    struct yaml_node *root = NULL;
    struct inf_error err;
    char *text;
    size_t len;
    int rc = file_read(path, YAML_TEXT_MAX, &text, &len, &err);
    if (!rc) {
        rc = yaml_parse(path, text, len, &root, &err);
        free(text);
    }
    if (rc) {
        put_member(out, "error", err.text);
        return;
    }
    buf_puts(out, "\"tree\":");
    put_node(out, root);
    yaml_tree_free(root);
}

/* ---- what it means ---- */

static void put_list(struct buf *out, const char *name, char **list)
{
    buf_printf(out, ",\"%s\":[", name);
    for (char **at = list; *at; at++) {
        buf_puts(out, at == list ? "" : ",");
        json_put_string(out, str_of(*at));
    }
    buf_putc(out, ']');
}

static void put_impersonation(struct buf *out, const struct kubeconfig *c)
{
    buf_puts(out, ",\"impersonate\":[");
    for (size_t i = 0; i < c->n_impersonate; i++) {
        buf_puts(out, i ? ",[" : "[");
        json_put_string(out, str_of(c->impersonate[i].name));
        buf_putc(out, ',');
        json_put_string(out, str_of(c->impersonate[i].value));
        buf_putc(out, ']');
    }
    buf_putc(out, ']');
}

static void put_config(struct buf *out, const struct kubeconfig *c)
{
    buf_puts(out, ",\"config\":{");
    put_member(out, "context", c->context);
    put_member(out, "cluster", c->cluster);
    put_member(out, "user", c->user);
    put_member(out, "server", c->server);
    put_member(out, "namespace", c->namespace);
    put_member(out, "tls_server_name", c->tls_server_name);
    put_member(out, "ca", c->ca_pem);
    put_member(out, "cert", c->cert_pem);
    put_member(out, "key", c->key_pem);
    put_member(out, "token", c->token);
    put_member(out, "token_file", c->token_file);
    put_member(out, "basic", c->basic);
    put_member(out, "proxy", c->proxy_url);
    put_member(out, "extension", c->exec_extension);
    buf_printf(out, ",\"insecure\":%s,\"no_compression\":%s", c->insecure ? "true" : "false",
               c->no_compression ? "true" : "false");
    put_impersonation(out, c);
    if (c->exec) {
        put_member(out, "exec_version", c->exec->api_version);
        put_list(out, "argv", c->exec->argv);
        put_list(out, "env", c->exec->env);
    }
    buf_putc(out, '}');
}

static void put_file(struct buf *out, const char *path)
{
    struct kubeconfig c;
    struct inf_error err;
    buf_putc(out, '{');
    put_tree(out, path);
    if (kubeconfig_load(&(struct kubeconfig_choice){.path = path}, &c, &err) < 0) {
        put_member(out, "refused", err.text);
    } else {
        put_config(out, &c);
        kubeconfig_free(&c);
    }
    buf_puts(out, "}\n");
}

int main(int argc, char **argv)
{
    struct buf out = {0};
    bool failed;
    for (int i = 1; i < argc; i++)
        put_file(&out, argv[i]);
    failed = fwrite(out.bytes, 1, out.len, stdout) != out.len || fflush(stdout) != 0;
    buf_free(&out);
    return failed;
}
