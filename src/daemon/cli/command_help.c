/*
 * command_help.c - `help`, `version`, and the flags --help and --version of all commands; for
 * informerd and informerctl.
 *
 * The text is made from the tables of commands and flags, for a terminal of 80 columns. The only
 * error is that it cannot be written to stdout.
 */
#include "daemon/cli/command_help.h"

#include <string.h>

#include "informer/informer.h"

#include "base/alloc.h"

enum {
    LINE_MAX_COLUMNS = 80,
    SUMMARY_COLUMN = 43, /* of a command */
    HELP_COLUMN = 24,    /* of a flag */
};

struct help_options {
    const struct command *topic;
};

void *help_options_new(const struct command *topic)
{
    struct help_options *options = NEW(struct help_options);
    options->topic = topic;
    return options;
}

/* ---- text ---- */

/* Appends @text from @column on, which the current line has reached, and breaks it into lines. */
static void put_wrapped(struct buf *out, const char *text, size_t column)
{
    size_t at = column;
    while (*text) {
        size_t len = strcspn(text, " \n"), space = at > column;
        if (at + space + len > LINE_MAX_COLUMNS && space) {
            buf_printf(out, "\n%*s", (int)column, "");
            at = column;
            space = 0;
        }
        buf_printf(out, "%s%.*s", space ? " " : "", (int)len, text);
        at += space + len;
        text += len;
        if (*text == '\n') {
            buf_printf(out, "\n%*s", (int)column, "");
            at = column;
        }
        text += *text != '\0';
    }
    buf_putc(out, '\n');
}

static void put_flags(struct buf *out, const struct flag *flags)
{
    for (; flags->name; flags++) {
        size_t begin, len;
        if (flags->heading)
            buf_printf(out, "\n%s:\n", flags->heading);
        begin = out->len;
        if (flags->letter)
            buf_printf(out, "  -%c, ", flags->letter);
        else
            buf_puts(out, "      ");
        buf_printf(out, "--%s%s%s", flags->name, flags->value ? " " : "",
                   flags->value ? flags->value : "");
        len = out->len - begin;
        if (len >= HELP_COLUMN) {
            buf_putc(out, '\n');
            len = 0;
        }
        buf_printf(out, "%*s", (int)(HELP_COLUMN - len), "");
        put_wrapped(out, flags->help, HELP_COLUMN);
    }
}

static size_t put_usage(struct buf *out, const struct command *command)
{
    size_t begin = out->len;
    buf_printf(out, "  %s%s%s%s%s", command_program_name(), command->name[0] ? " " : "",
               command->name, command->arguments[0] ? " " : "", command->arguments);
    return out->len - begin;
}

static void put_help(struct buf *out, const struct command *topic)
{
    const struct command *const *commands = command_program.commands;
    bool overview = topic == commands[0];
    put_wrapped(out, topic->description, 0);
    buf_puts(out, "\nUsage:\n");
    for (size_t i = 0; overview && commands[i]; i++) {
        size_t len;
        if (command_is_hidden(commands[i]))
            continue;
        len = put_usage(out, commands[i]);
        if (len >= SUMMARY_COLUMN) {
            buf_putc(out, '\n');
            len = 0;
        }
        buf_printf(out, "%*s", (int)(SUMMARY_COLUMN - len), "");
        put_wrapped(out, commands[i]->summary, SUMMARY_COLUMN);
    }
    if (!overview) {
        put_usage(out, topic);
        buf_putc(out, '\n');
    }
    if (!topic->flags->heading)
        buf_printf(out, "\n%s:\n", overview ? command_program.flags_heading : "Flags");
    put_flags(out, topic->flags);
    if (topic->flags->heading)
        buf_puts(out, "\nOther flags:\n");
    put_flags(out, command_common_flags);
    if (topic->notes)
        buf_printf(out, "\n%s", topic->notes);
}

/* ---- the commands ---- */

static const struct flag no_flags[] = {{0}};

static int help_parse(void *options, int argc, char **argv)
{
    struct help_options *o = options;
    o->topic = argc ? command_find(argv[0]) : command_program.commands[0];
    if (argc > 1)
        return command_usage_error(&command_help, "unexpected argument '%s'", argv[1]);
    return o->topic ? 0 : command_unknown(argv[0]);
}

static int help_run(const void *options)
{
    const struct help_options *o = options;
    struct buf out = {0};
    int rc;
    put_help(&out, o->topic);
    rc = command_print(&out);
    buf_free(&out);
    return rc;
}

const struct command command_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "print the flags of a command",
    .description = "Print the commands of the program, or the flags of a command.",
    .flags = no_flags,
    .size = sizeof(struct help_options),
    .parse = help_parse,
    .run = help_run,
};

static int version_parse(void *options, int argc, char **argv)
{
    (void)options;
    return argc ? command_usage_error(&command_version, "unexpected argument '%s'", argv[0]) : 0;
}

static int version_run(const void *options)
{
    struct buf out = {0};
    int rc;
    (void)options;
    buf_printf(&out, "%s %s\n", command_program_name(), inf_version());
    rc = command_print(&out);
    buf_free(&out);
    return rc;
}

const struct command command_version = {
    .name = "version",
    .arguments = "",
    .summary = "print the version",
    .description = "Print the version of the program.",
    .flags = no_flags,
    .parse = version_parse,
    .run = version_run,
};
