/*
 * adhoc.c - `informerd watch`: converts the command line to the text of a configuration file and
 * loads that, so that the same rules and checks apply to both.
 *
 * Normal path: adhoc_conf() reads the namespace of the context from the kubeconfig if no namespace
 * option is given, writes the YAML and loads it. It prints the first error only, without the
 * position in the generated text.
 */
#include "daemon/cli/adhoc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <uv.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json_string.h"
#include "base/str.h"

/* Writes @text as a JSON string, which is also a YAML scalar. "$$" is a literal dollar sign. */
static void put_scalar(struct buf *out, struct str text)
{
    struct buf doubled = {0};
    for (size_t i = 0; i < text.len; i++) {
        buf_putc(&doubled, text.at[i]);
        if (text.at[i] == '$')
            buf_putc(&doubled, '$');
    }
    json_put_string(out, (struct str){doubled.bytes, doubled.len});
    buf_free(&doubled);
}

static void put_option(struct buf *out, const char *before, const char *value)
{
    if (!value)
        return;
    buf_puts(out, before);
    put_scalar(out, str_of(value));
    buf_putc(out, '\n');
}

/* The namespace of the context is only a default; it is ignored for cluster-scoped resources. */
static bool has_namespace(struct str resource, const struct options *options)
{
    char *text = xstrndup(resource.at, resource.len);
    bool wide = inf_resource_is_cluster_wide(text);
    free(text);
    return options->ns || !wide;
}

static void put_watch(struct buf *out, struct str resource, const struct options *options,
                      const char *ns)
{
    buf_puts(out, "  - resource: ");
    put_scalar(out, resource);
    buf_putc(out, '\n');
    if (ns && has_namespace(resource, options)) {
        buf_puts(out, "    namespaces: [");
        put_scalar(out, str_of(ns));
        buf_puts(out, "]\n");
    }
    put_option(out, "    label_selector: ", options->label_selector);
    put_option(out, "    field_selector: ", options->field_selector);
    if (options->every_update)
        buf_puts(out, "    ignore: []\n");
}

static void put_watches(struct buf *out, const struct options *options, const char *ns)
{
    const char *rest = options->resource;
    buf_puts(out, "watches:\n");
    for (;;) {
        size_t len = strcspn(rest, ",");
        put_watch(out, (struct str){rest, len}, options, ns);
        if (!rest[len])
            return;
        rest += len + 1;
    }
}

static void put_conf(struct buf *out, const struct options *options, const char *ns)
{
    bool people = options->format == FORMAT_SHORT ||
                  (options->format == FORMAT_UNSAID && isatty(STDOUT_FILENO));
    buf_printf(out, "log: {level: %s}\n", options->verbose ? "debug" : people ? "warn" : "info");
    buf_puts(out, "clusters:\n  - name: default\n");
    put_option(out, "    kubeconfig: ", options->kubeconfig);
    put_option(out, "    context: ", options->context);
    put_option(out, "    cluster: ", options->cluster);
    put_option(out, "    user: ", options->user);
    put_option(out, "    as: ", options->as);
    put_watches(out, options, ns);
    buf_printf(out, "event_logs:\n  - path: stdout\n    format: %s\n    object: %s\n",
               people ? "short" : "jsonl", options->format == FORMAT_FULL ? "full" : "diff");
}

/* Reads the namespace of the context from the kubeconfig. Opens a client for that and closes it.
 * The caller frees the result; NULL with @err set if the kubeconfig cannot be used. */
static char *context_namespace(const struct options *options, struct inf_error *err)
{
    struct inf_client_options how = {.kubeconfig = options->kubeconfig,
                                     .context = options->context,
                                     .cluster = options->cluster,
                                     .user = options->user};
    struct inf_client *client;
    char *ns = NULL;
    uv_loop_t uv;
    uv_loop_init(&uv);
    client = inf_client_open(&uv, &how, err);
    if (client)
        ns = xstrdup(inf_client_namespace(client));
    inf_client_close(client);
    uv_run(&uv, UV_RUN_DEFAULT);
    uv_loop_close(&uv);
    return ns;
}

/* Prints the first error without its position in the generated text: of "command line:6:15:
 * watches[0].label_selector: ..." the part from the key on, without the key if the message "
                                 "repeats it. */
static void print_first_error(const struct conf_errors *errors)
{
    struct str line = {errors->text.bytes, errors->text.len};
    const char *end = memchr(line.at, '\n', line.len);
    const char *key = memmem(line.at, line.len, "].", 2), *text;
    line.len = end ? (size_t)(end - line.at) : line.len;
    if (key) {
        line = (struct str){key + 2, line.len - (size_t)(key + 2 - line.at)};
        text = memmem(line.at, line.len, ": ", 2);
        if (text && strncmp(text + 2, line.at, (size_t)(text - line.at)) == 0)
            line = (struct str){text + 2, line.len - (size_t)(text + 2 - line.at)};
    }
    fprintf(stderr, "informerd: %.*s\n", (int)line.len, line.at);
}

int adhoc_conf(const struct options *options, struct conf *ret)
{
    struct conf_errors errors = {0};
    struct inf_error err;
    struct buf text = {0};
    char *ns = options->ns ? xstrdup(options->ns) : NULL;
    int rc;
    if (!ns && !options->all_namespaces && !(ns = context_namespace(options, &err))) {
        fprintf(stderr, "informerd: %s\n", err.text);
        return EX_CONFIG;
    }
    put_conf(&text, options, ns);
    rc = conf_load_text("command line", text.bytes, text.len, ret, &errors);
    if (rc < 0)
        print_first_error(&errors);
    for (size_t i = 0; rc == 0 && i < ret->n_watches; i++)
        ret->watches[i].ns_is_default = !options->ns;
    conf_errors_free(&errors);
    buf_free(&text);
    free(ns);
    return rc < 0 ? EX_USAGE : 0;
}
