/*
 * ctl_complete.c - `informerctl __complete WORD...`: the values that the last word can be completed to, for
 * the completion scripts and for kubectl.
 *
 * The protocol is that of kubectl and other programs made with cobra: one value per line, with a tab and a
 * description after it, then a line with a colon and a number whose bits say what the shell does. Commands,
 * flags and choices come from the tables of commands; resources, namespaces and names from informerd. If it
 * is not reachable there are none of these: completion prints no errors.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/ctl.h"
#include "ctl/ctl_resource.h"

/* Bits of the last line. */
enum {
    NO_SPACE = 2, /* add no blank after the value */
    NO_FILES = 4, /* do not offer files */
};

#define METADATA_TYPE                                                   \
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," \
    "application/json"

struct complete_options {
    int argc;
    char **argv;
};

/* What the words before the last one mean. */
struct line {
    const struct command *command;
    const char *arguments[2]; /* the first ones of the command */
    size_t n_arguments;
    const struct flag *flag; /* whose value is completed; NULL: none */
    const char *socket, *ns;
    bool all_namespaces;
};

struct completion {
    struct line line;
    struct client *client; /* NULL: not reachable */
    const char *word;      /* the last one */
    size_t kept;           /* bytes of it that are not completed: "pods," */
    bool slash;            /* only RESOURCE/NAME is possible */
    int directive;
    struct buf out;
};

/* ---- words ---- */

static const struct flag *find_flag(const struct flag *flags, const char *word, size_t len)
{
    for (; flags && flags->name; flags++) {
        bool is_long = len > 2 && strncmp(word, "--", 2) == 0;
        if (is_long ? strlen(flags->name) == len - 2 && strncmp(flags->name, word + 2, len - 2) == 0
                    : len == 2 && flags->letter == word[1])
            return flags;
    }
    return NULL;
}

/* The flag @word of any command: flags may precede the command. */
static const struct flag *flag_of(const struct line *l, const char *word, size_t len)
{
    const struct flag *flag = l->command ? find_flag(l->command->flags, word, len) : NULL;
    for (size_t i = 0; !flag && command_program.commands[i]; i++)
        flag = find_flag(command_program.commands[i]->flags, word, len);
    return flag;
}

static void take_flag(struct line *l, const struct flag *flag, const char *value)
{
    if (strcmp(flag->name, "socket") == 0)
        l->socket = value;
    else if (strcmp(flag->name, "namespace") == 0)
        l->ns = value;
    else if (strcmp(flag->name, "all-namespaces") == 0)
        l->all_namespaces = true;
}

/* Reads the words before the last one. bash splits "--flag=value" into three. */
static void read_words(struct line *l, char **words, int n)
{
    for (int i = 0; i < n; i++) {
        const char *word = words[i], *sign = strchr(word, '=');
        const struct flag *flag = NULL;
        if (strcmp(word, "=") == 0)
            continue;
        if (word[0] == '-' && word[1])
            flag = flag_of(l, word, sign ? (size_t)(sign - word) : strlen(word));
        if (flag && flag->value && !sign) {
            i += i + 1 < n && strcmp(words[i + 1], "=") == 0;
            l->flag = i + 1 == n ? flag : NULL;
            if (++i < n)
                take_flag(l, flag, words[i]);
        } else if (flag) {
            take_flag(l, flag, sign ? sign + 1 : "");
        } else if (word[0] != '-' && !l->command) {
            l->command = command_find(word);
        } else if (word[0] != '-' && l->n_arguments < ARRAY_LEN(l->arguments)) {
            l->arguments[l->n_arguments++] = word;
        }
    }
}

/* ---- values ---- */

/* Adds @value if the word can be completed to it. @help may be NULL. No blank follows a value that ends in
 * '=' or '/'. */
static void offer(struct completion *c, const char *value, const char *help)
{
    const char *typed = c->word + c->kept;
    if (strncmp(value, typed, strlen(typed)) != 0)
        return;
    buf_printf(&c->out, "%.*s%s", (int)c->kept, c->word, value);
    if (help)
        buf_printf(&c->out, "\t%.*s", (int)strcspn(help, "\n;("), help);
    buf_putc(&c->out, '\n');
    if (value[0] && strchr("=/", value[strlen(value) - 1]))
        c->directive |= NO_SPACE;
}

static void offer_commands(struct completion *c)
{
    for (size_t i = 1; command_program.commands[i]; i++) /* the first has no name */
        if (!command_is_hidden(command_program.commands[i]))
            offer(c, command_program.commands[i]->name, command_program.commands[i]->summary);
}

static void offer_flags(struct completion *c, const struct flag *flags)
{
    for (; flags->name; flags++) {
        char *name = xasprintf("--%s", flags->name), letter[] = {'-', flags->letter, '\0'};
        offer(c, name, flags->help);
        if (flags->letter && strcmp(c->word, "-") == 0)
            offer(c, letter, flags->help);
        free(name);
    }
}

static void offer_choices(struct completion *c, const char *const *choices)
{
    for (size_t i = 0; choices[i]; i++)
        offer(c, choices[i], NULL);
}

/* ---- values from informerd ---- */

/* Offers a member of the metadata, "name" or "namespace", of the objects of @resource in a namespace or in
 * all, each value once: the list is sorted by namespace and name. */
static void offer_objects(struct completion *c, const struct ctl_resource *resource, const char *ns,
                          const char *member)
{
    char *last = xstrdup("");
    struct ctl_answer answer = {0};
    struct buf target = {0};
    struct inf_error err;
    const struct json_node *items;
    ctl_resource_put_path(resource, ns, NULL, &target);
    buf_putc(&target, '\0');
    if (ctl_request(c->client, target.bytes, METADATA_TYPE, &answer, &err) == 0) {
        items = ctl_json_get(answer.root, "items");
        for (const struct json_node *i = items ? items->first : NULL; i; i = i->next) {
            char *value = ctl_json_text(ctl_json_get(i, "metadata"), member);
            if (value[0] && strcmp(value, last) != 0)
                offer(c, value, NULL);
            free(last);
            last = value;
        }
    }
    free(last);
    ctl_answer_free(&answer);
    buf_free(&target);
}

static void offer_names(struct completion *c, const char *word)
{
    struct ctl_resource resource = {0};
    struct inf_error err;
    const char *ns = c->line.all_namespaces ? NULL : c->line.ns ? c->line.ns : "default";
    if (!c->client || ctl_resource_find(c->client, word, &resource, &err) < 0)
        return;
    offer_objects(c, &resource, ns, "name");
    ctl_resource_free(&resource);
}

/* If namespaces are not watched: those of the objects of the resource on the command line, or of pods. */
static void offer_namespaces(struct completion *c)
{
    const char *first = c->line.n_arguments ? c->line.arguments[0] : "pods";
    char *word = xstrndup(first, strcspn(first, ",/"));
    struct ctl_resource resource = {0};
    struct inf_error err;
    if (c->client && ctl_resource_find(c->client, "namespaces", &resource, &err) == 0)
        offer_objects(c, &resource, NULL, "name");
    else if (c->client && ctl_resource_find(c->client, word, &resource, &err) == 0)
        offer_objects(c, &resource, NULL, "namespace");
    ctl_resource_free(&resource);
    free(word);
}

static bool on_resource(void *ctx, const char *group, const char *version,
                        const struct json_node *node)
{
    struct completion *c = ctx;
    char *name = ctl_json_text(node, "resource"), *full;
    (void)version;
    full = xasprintf("%s%s%s%s", name, group[0] ? "." : "", group, c->slash ? "/" : "");
    offer(c, full, NULL);
    free(full);
    free(name);
    return true;
}

static void offer_resources(struct completion *c)
{
    struct ctl_discovery discovery;
    struct inf_error err;
    if (!c->client || ctl_discovery_load(c->client, &discovery, &err) < 0)
        return;
    ctl_discovery_each(&discovery, on_resource, c);
    ctl_discovery_free(&discovery);
}

/* "pods", "pods,serv", "pod/web" or, after a resource, "web". */
static void offer_targets(struct completion *c)
{
    const char *first = c->line.n_arguments ? c->line.arguments[0] : NULL;
    const char *slash = strchr(c->word, '/'), *comma = strrchr(c->word, ',');
    if (first && !strchr(first, '/')) {
        char *word = xstrndup(first, strcspn(first, ","));
        offer_names(c, word);
        free(word);
    } else if (slash) {
        char *word = xstrndup(c->word, (size_t)(slash - c->word));
        c->kept = (size_t)(slash - c->word) + 1;
        offer_names(c, word);
        free(word);
    } else {
        c->kept = comma ? (size_t)(comma - c->word) + 1 : 0;
        offer_resources(c);
    }
}

/* ---- the command ---- */

/* The alternatives of "bash|zsh|fish". */
static void offer_alternatives(struct completion *c, const char *alternatives)
{
    for (const char *at = alternatives; *at; at += *at == '|') {
        size_t len = strcspn(at, "|");
        char *value = xstrndup(at, len);
        offer(c, value, NULL);
        free(value);
        at += len;
    }
}

/* What an argument can be is in the usage line of the command. */
static void offer_arguments(struct completion *c)
{
    const char *usage = c->line.command->arguments + strspn(c->line.command->arguments, "[");
    c->slash = strncmp(usage, "RESOURCE/NAME", 13) == 0;
    if (strncmp(usage, "RESOURCE", 8) == 0)
        offer_targets(c);
    else if (!c->line.n_arguments && strcmp(usage, "COMMAND]") == 0)
        offer_commands(c);
    else if (!c->line.n_arguments && strchr(usage, '|') && !strpbrk(usage, " ["))
        offer_alternatives(c, usage);
}

static void offer_value(struct completion *c, const struct flag *flag)
{
    if (flag->choices)
        offer_choices(c, flag->choices);
    else if (strcmp(flag->value, "NS") == 0)
        offer_namespaces(c);
    else if (strcmp(flag->value, "FILE") == 0)
        c->directive = 0;
}

static void complete(struct completion *c)
{
    const char *sign = strchr(c->word, '=');
    const struct flag *flag = c->line.flag;
    if (!flag && sign && strncmp(c->word, "--", 2) == 0) {
        flag = flag_of(&c->line, c->word, (size_t)(sign - c->word));
        c->kept = (size_t)(sign - c->word) + 1;
        if (!flag || !flag->value)
            return;
    }
    if (flag) {
        offer_value(c, flag);
    } else if (c->word[0] == '-') {
        offer_flags(c, c->line.command ? c->line.command->flags : ctl_overview.flags);
        offer_flags(c, command_common_flags);
    } else if (!c->line.command) {
        offer_commands(c);
    } else {
        offer_arguments(c);
    }
}

static int complete_run(const void *options)
{
    const struct complete_options *o = options;
    struct completion c = {.word = o->argc ? o->argv[o->argc - 1] : "", .directive = NO_FILES};
    struct inf_error err;
    int rc;
    if (strcmp(c.word, "=") == 0)
        c.word = "";
    read_words(&c.line, o->argv, o->argc ? o->argc - 1 : 0);
    (void)client_open(c.line.socket, &c.client, &err);
    complete(&c);
    buf_printf(&c.out, ":%d\n", c.directive);
    rc = command_print(&c.out);
    buf_free(&c.out);
    client_close(c.client);
    return rc;
}

static int complete_parse(void *options, int argc, char **argv)
{
    struct complete_options *o = options;
    o->argc = argc;
    o->argv = argv;
    return 0;
}

static const struct flag complete_flags[] = {{0}};

const struct command ctl_complete = {
    .name = "__complete",
    .arguments = "-- [WORD ...]",
    .summary = "print the values to which the last word can be completed",
    .description = "Print the values to which the last word of a command line can be completed, "
                   "for the scripts of 'informerctl completion'.",
    .flags = complete_flags,
    .size = sizeof(struct complete_options),
    .parse = complete_parse,
    .run = complete_run,
};
