/*
 * conf_doc.c - generates the sample file and the options section of informerd.conf(5) by walking
 * the option table. Used at build time only.
 */
#include "daemon/conf/conf_doc.h"

#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "daemon/conf/conf_table.h"

/* ---- parts of an option ---- */

/* "off" of "(off)". */
static void put_absence(const struct conf_option *option, struct buf *out)
{
    buf_put(out, option->preset + 1, strlen(option->preset) - 2);
}

/* "duration", "list of names", "one of: debug, info", "mapping". */
static void put_form(const struct conf_option *option, struct buf *out)
{
    if (option->table) {
        buf_puts(out, option->count ? "list of mappings" : "mapping");
        return;
    }
    buf_puts(out, option->type->form);
    if (option->of)
        buf_printf(out, " of %ss", option->of->form);
    if (option->choices) {
        buf_puts(out, ": ");
        conf_choices_write(option, ~0u, out);
    }
}

/* ---- the sample ---- */

static void sample_help(const struct conf_option *option, int indent, struct buf *out)
{
    buf_printf(out, "%*s# %s", indent, "", option->help);
    if (option->choices) {
        buf_puts(out, " (");
        conf_choices_write(option, ~0u, out);
        buf_putc(out, ')');
    }
    if (option->preset && conf_preset_is_unset(option)) {
        buf_puts(out, "; default: ");
        put_absence(option, out);
    }
    buf_putc(out, '\n');
}

static void sample_value(const struct conf_option *option, struct buf *out)
{
    const char *value = conf_preset_is_unset(option) ? option->example : option->preset;
    bool quotes = strchr(value, ':') || strchr(value, '!');
    buf_printf(out, "%s: %s%s%s\n", option->name, quotes ? "\"" : "", value, quotes ? "\"" : "");
}

static bool is_unset(const struct conf_option *option)
{
    if (!option->table || option->count)
        return conf_preset_is_unset(option);
    for (size_t i = 0; i < option->table->count; i++)
        if (!is_unset(&option->table->options[i]))
            return false;
    return true;
}

static bool is_required(const struct conf_option *option)
{
    return !option->table && !option->preset;
}

static bool is_commented(const struct conf_option *option)
{
    return !option->count && !option->shown && !is_required(option) && is_unset(option);
}

/* One example entry. Its first option, which starts the entry, and required ones are never commented
 * out. */
static void sample_entry(const struct conf_table *table, int indent, struct buf *out);

static void sample_table(const struct conf_table *table, size_t begin, int indent, struct buf *out)
{
    for (size_t i = begin; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (!indent)
            buf_putc(out, '\n');
        sample_help(option, indent, out);
        buf_printf(out, "%*s%s", indent, "", is_commented(option) ? "#" : "");
        if (!option->table) {
            sample_value(option, out);
            continue;
        }
        buf_printf(out, "%s:\n", option->name);
        if (option->count)
            sample_entry(option->table, indent + 2, out);
        else
            sample_table(option->table, 0, indent + 2, out);
    }
}

static void sample_entry(const struct conf_table *table, int indent, struct buf *out)
{
    sample_help(&table->options[0], indent, out);
    buf_printf(out, "%*s- ", indent, "");
    sample_value(&table->options[0], out);
    sample_table(table, 1, indent + 2, out);
}

void conf_doc_sample(struct buf *out)
{
    buf_puts(out, "# informerd.conf - every option at its default. See informerd.conf(5).\n"
                  "#\n"
                  "# Each list shows one example entry. Options without a default are commented "
                  "out.\n");
    sample_table(&conf_table, 0, 0, out);
}

/* ---- the manual ---- */

/* Escapes backslashes and hyphens for man. */
static void man_text(const char *text, size_t len, struct buf *out)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\\')
            buf_puts(out, "\\e");
        else if (text[i] == '-')
            buf_puts(out, "\\-");
        else
            buf_putc(out, text[i]);
}

static void man_default(const struct conf_option *option, struct buf *out)
{
    struct buf text = {0};
    if (!option->preset) {
        buf_puts(out, "; required");
        return;
    }
    buf_puts(out, "; default: ");
    if (conf_preset_is_unset(option))
        put_absence(option, &text);
    else
        buf_puts(&text, option->preset);
    man_text(text.bytes, text.len, out);
    buf_free(&text);
}

static void man_option(const struct conf_option *option, struct buf *out)
{
    struct buf form = {0};
    buf_printf(out, ".TP\n.B %s\n%c", option->name, toupper((unsigned char)option->help[0]));
    man_text(option->help + 1, strlen(option->help) - 1, out);
    buf_puts(out, ".\n.br\n(");
    put_form(option, &form);
    man_text(form.bytes, form.len, out);
    buf_free(&form);
    if (!option->table || option->count)
        man_default(option, out);
    buf_puts(out, ")\n");
}

/* The options of a table, then its nested tables, each under its own heading. */
static void man_table(const char *name, const struct conf_table *table, struct buf *out)
{
    if (*name)
        buf_printf(out, ".SS %s\n", name);
    for (size_t i = 0; i < table->count; i++)
        man_option(&table->options[i], out);
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        struct buf inner = {0};
        if (!option->table)
            continue;
        buf_printf(&inner, "%s%s%s%s", name, *name ? "." : "", option->name,
                   option->count ? "[]" : "");
        buf_putc(&inner, '\0');
        man_table(inner.bytes, option->table, out);
        buf_free(&inner);
    }
}

static const char man_begin[] =
    ".\\\" Generated from the option table of informerd by conf_doc.\n"
    ".TH INFORMERD.CONF 5\n"
    ".nh\n"
    ".ad l\n"
    ".SH NAME\n"
    "informerd.conf \\- configuration file of informerd\n"
    ".SH DESCRIPTION\n"
    "The file is YAML: one mapping with the options below. All options have a default except\n"
    ".B resource\n"
    "of a watch,\n"
    ".B path\n"
    "of an event log,\n"
    ".B level\n"
    "of a rule in levels,\n"
    ".B name\n"
    "of a reader, a handler and a sink, what a handler does\n"
    ".RB ( exec ,\n"
    ".BR webhook \" or \" client ),\n"
    "and\n"
    ".BR url \" and \" stream\n"
    "of a sink. Unknown keys, duplicate keys and values of the wrong type are errors.\n"
    ".B informerd \\-\\-check\\-config\n"
    "lists all errors with file, line and column.\n"
    ".B informerd \\-\\-print\\-config\n"
    "prints the effective value of each option and its origin. YAML anchors, aliases and tags are\n"
    "not supported.\n"
    ".PP\n"
    "The files\n"
    ".I conf.d/*.conf\n"
    "in the same directory are read after it, in the order of their names. Mappings are\n"
    "merged key by key, and a later value replaces an earlier one. The entries of clusters, "
    "watches,\n"
    "event_logs, handlers, sinks, levels and api.readers are appended to the earlier entries. A relative file path is relative to\n"
    "the file\n"
    "that contains it.\n"
    ".SS Values\n"
    "A duration is a number with a unit: 500ms, 30s, 5m, 1h.\n"
    "A size is a number of bytes, or of KiB, MiB or GiB: 512, 64K, 16M, 1G.\n"
    "A name consists of lower case letters, digits, \\(aq\\-\\(aq, \\(aq_\\(aq, \\(aq.\\(aq\n"
    "and \\(aq/\\(aq, and begins and ends with a letter or digit.\n"
    "A label selector has the syntax of kubectl: app in (web, api), !canary.\n"
    "A field path selects fields of an object: spec.nodeName,\n"
    "metadata.annotations[\"a.b/c\"], status.conditions[type=Ready].status,\n"
    "spec.containers[*].image.\n"
    ".PP\n"
    "In values, ${NAME} is replaced by the environment variable NAME. ${NAME:\\-default} is\n"
    "replaced by the default if the variable is unset or empty. Write $$ for a literal dollar\n"
    "sign. Keys are not expanded. Inside YAML braces and brackets such a value needs quotes.\n"
    ".SH OPTIONS\n";

static const char man_end[] =
    ".SH FILES\n"
    ".TP\n"
    ".I /etc/informerd/informerd.conf\n"
    "Default configuration file, used without\n"
    ".BR \\-c .\n"
    ".TP\n"
    ".I /etc/informerd/conf.d/*.conf\n"
    "Additional configuration files.\n"
    ".SH EXAMPLES\n"
    "Write every change of every pod to stdout:\n"
    ".PP\n"
    ".EX\n"
    "watches: [{resource: pods}]\n"
    "event_logs: [{path: stdout}]\n"
    ".EE\n"
    ".PP\n"
    "Write container restarts in the namespace shop, and every change of Deployments:\n"
    ".PP\n"
    ".EX\n"
    "clusters:\n"
    "  \\- name: prod\n"
    "    kubeconfig: ${PROD_KUBECONFIG:\\-/etc/informerd/prod.kubeconfig}\n"
    "watches:\n"
    "  \\- resource: pods\n"
    "    namespaces: [shop]\n"
    "    indexes: {node: spec.nodeName}\n"
    "  \\- name: deployments\n"
    "    resource: deployments.apps/v1\n"
    "event_logs:\n"
    "  \\- path: /var/log/informerd/restarts.jsonl\n"
    "    watches: [pods]\n"
    "    verbs: [MODIFIED]\n"
    "    changed: [\"status.containerStatuses[*].restartCount\"]\n"
    "  \\- path: /var/log/informerd/deployments.jsonl\n"
    "    watches: [deployments]\n"
    "    object: full\n"
    "    rotate: {size: 64M, keep: 10}\n"
    ".EE\n"
    ".PP\n"
    "Do not write updates that change only times or generations. Make restarts errors, switch off\n"
    "the built\\-in rule pod\\-evicted, and add two rules:\n"
    ".PP\n"
    ".EX\n"
    "watches:\n"
    "  \\- resource: pods\n"
    "  \\- resource: configmaps\n"
    "  \\- resource: deployments.apps/v1\n"
    "    ignore: [status\\-timestamps, observed\\-generation]\n"
    "event_logs: [{path: stdout}]\n"
    "levels:\n"
    "  \\- {name: container\\-restarted, level: error}\n"
    "  \\- {name: pod\\-evicted, level: info}\n"
    "  \\- {name: flags, kind: ConfigMap, changed: data, level: warn}\n"
    "  \\- name: scaled\\-to\\-zero\n"
    "    kind: Deployment\n"
    "    when: spec.replicas=0\n"
    "    level: warn\n"
    ".EE\n"
    ".SH SEE ALSO\n"
    ".BR informerd (8),\n"
    ".BR informerd\\-events (5)\n";

void conf_doc_man(struct buf *out)
{
    buf_puts(out, man_begin);
    man_table("", &conf_table, out);
    buf_puts(out, man_end);
}
