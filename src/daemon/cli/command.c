/*
 * command.c - the parser of the command line, for the commands of the running program.
 *
 * Normal path: getopt_long() splits the command line with the flags of all commands, because flags
 * may precede the command. Then the command is known, its flags are stored in its options, and its
 * own parse function checks them.
 *
 * An error is one line on stderr that names the argument and refers to --help; the exit code is
 * EX_USAGE. For a flag of another command, the error names that command.
 */
#include "daemon/cli/command.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text/nearest.h"
#include "daemon/cli/command_help.h"
#include "daemon/conf/conf_logs.h"

const char *command_program_name(void)
{
    return command_program.plugin &&
                   strcmp(program_invocation_short_name, command_program.plugin) == 0
               ? command_program.plugin_name
               : command_program.name;
}

const struct command *command_find(const char *name)
{
    const struct command *const *commands = command_program.commands;
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* ---- flags ---- */

enum {
    FLAGS_MAX = 64, /* different flags of all commands */
    FLAG_HELP = 0,  /* in command_common_flags */
    FLAG_VERSION = 1,
};

const struct flag command_common_flags[] = {
    [FLAG_HELP] = {'h', "help", NULL, 0, .help = "print this help"},
    [FLAG_VERSION] = {'V', "version", NULL, 0, .help = "print the version"},
    {0},
};

/* The flags of all commands, each name once, in the form that getopt_long() needs. */
struct flag_index {
    const struct flag *flags[FLAGS_MAX];
    struct flag_values values[FLAGS_MAX]; /* from the command line */
    struct option long_options[FLAGS_MAX + 1];
    char letters[2 * FLAGS_MAX + 2];
    int count;
};

static const struct flag *flag_find(const struct flag *flags, const char *name)
{
    for (; flags->name; flags++)
        if (strcmp(flags->name, name) == 0)
            return flags;
    return NULL;
}

static void index_add(struct flag_index *index, const struct flag *flags)
{
    for (; flags->name; flags++) {
        size_t len = strlen(index->letters);
        int i = 0;
        while (i < index->count && strcmp(index->flags[i]->name, flags->name) != 0)
            i++;
        if (i < index->count)
            continue;
        assert(i < FLAGS_MAX);
        index->flags[i] = flags;
        index->long_options[i] = (struct option){
            flags->name, flags->value ? required_argument : no_argument, NULL, 256 + i};
        if (flags->letter)
            snprintf(index->letters + len, sizeof(index->letters) - len, "%c%s", flags->letter,
                     flags->value ? ":" : "");
        index->count++;
    }
}

/* The position of the flag for a result of getopt_long(); -1: the result is an error. */
static int index_find(const struct flag_index *index, int option)
{
    if (option >= 256)
        return option - 256;
    for (int i = 0; i < index->count; i++)
        if (index->flags[i]->letter == option)
            return i;
    return -1;
}

/* Reports a flag that no command has, with a similar one of @command. */
static int report_unknown_flag(const struct command *command, const char *argument)
{
    char *name = xstrndup(argument, strcspn(argument, "="));
    struct nearest nearest = {0};
    for (const struct flag *flag = command->flags; flag->name; flag++)
        nearest_try(&nearest, name + strlen("--"), flag->name);
    for (const struct flag *flag = command_common_flags; flag->name; flag++)
        nearest_try(&nearest, name + strlen("--"), flag->name);
    free(name);
    if (nearest.word)
        return command_usage_error(command, "unknown flag '%s'; did you mean '--%s'?", argument,
                                   nearest.word);
    return command_usage_error(command, "unknown flag '%s'", argument);
}

/* Reports the error that getopt_long() found in the last argument it looked at: getopt's own
 * messages do not mention --help. */
static int report_bad_flag(const struct command *command, int option, char **argv)
{
    const char *argument = argv[optind - 1];
    char letter[] = {'-', (char)optopt, '\0'};
    bool is_long = strncmp(argument, "--", 2) == 0;
    if (option == ':')
        return command_usage_error(command, "flag '%s' needs a value", argument);
    if (is_long && optopt)
        return command_usage_error(command, "flag '%s' takes no value", argument);
    if (is_long)
        return report_unknown_flag(command, argument);
    return command_usage_error(command, "unknown flag '%s'", letter);
}

/* Reports a flag that @command does not have, and names the commands that have it. */
static int report_foreign_flag(const struct command *command, const struct flag *flag)
{
    const struct command *const *commands = command_program.commands;
    const char *program = command_program_name();
    struct buf owners = {0};
    int rc;
    for (size_t i = 0; commands[i]; i++)
        if (flag_find(commands[i]->flags, flag->name))
            buf_printf(&owners, "%s'%s%s%s'", owners.len ? " and " : "", program,
                       commands[i]->name[0] ? " " : "", commands[i]->name);
    rc = command_usage_error(command, "--%s is a flag of %.*s, not of '%s%s%s'", flag->name,
                             (int)owners.len, owners.bytes, program, command->name[0] ? " " : "",
                             command->name);
    buf_free(&owners);
    return rc;
}

/* Stores the value of a flag of @command. Of a flag that is not repeatable, the last one counts. */
static int store_flag(const struct command *command, const struct flag *flag,
                      const struct flag_values *values, char *options)
{
    for (size_t i = 0; flag->value && i < values->count; i++)
        if (!values->items[i][0])
            return command_usage_error(command, "flag '--%s' needs a value", flag->name);
    if (!flag->value)
        options[flag->offset] = true;
    else if (flag->repeatable)
        memcpy(options + flag->offset, values, sizeof(*values));
    else
        memcpy(options + flag->offset, &values->items[values->count - 1], sizeof(const char *));
    return 0;
}

/* Stores the given flags in @options. */
static int store_flags(const struct command *command, const struct flag_index *index, char *options)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < index->count; i++) {
        const struct flag *flag = flag_find(command->flags, index->flags[i]->name);
        if (!index->values[i].count)
            continue;
        rc = flag ? store_flag(command, flag, &index->values[i], options)
                  : report_foreign_flag(command, index->flags[i]);
    }
    return rc;
}

/* Remembers one occurrence of the i-th flag. Returns false if there are too many. */
static bool index_give(struct flag_index *index, int i, const char *value)
{
    struct flag_values *values = &index->values[i];
    if (!index->flags[i]->repeatable)
        values->count = 0;
    if (values->count == FLAG_VALUES_MAX)
        return false;
    values->items[values->count++] = value;
    return true;
}

/* ---- parsing ---- */

/* Removes the command from the arguments. Without one it is the first of the program. */
static const struct command *take_command(int *argc, char ***argv)
{
    const struct command *command = *argc > 0 && (**argv)[0] ? command_find(**argv) : NULL;
    if (!command)
        return command_program.commands[0];
    --*argc;
    ++*argv;
    return command;
}

int command_line_parse(int argc, char **argv, const struct command **ret_command,
                       void **ret_options)
{
    const struct command *const *commands = command_program.commands;
    struct flag_index index = {.letters = ":"};
    const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
    char *options;
    int option, rc;
    index_add(&index, command_common_flags);
    for (size_t i = 0; commands[i]; i++)
        index_add(&index, commands[i]->flags);
    opterr = 0;
    while ((option = getopt_long(argc, argv, index.letters, index.long_options, NULL)) != -1) {
        int i = index_find(&index, option);
        if (i < 0)
            return report_bad_flag(command ? command : commands[0], option, argv);
        if (!index_give(&index, i, optarg ? optarg : ""))
            return command_usage_error(command ? command : commands[0],
                                       "flag '--%s' is given more than %d times; separate values "
                                       "with commas",
                                       index.flags[i]->name, FLAG_VALUES_MAX);
    }
    argc -= optind;
    argv += optind;
    command = take_command(&argc, &argv);
    if (index.values[FLAG_HELP].count) {
        *ret_options = help_options_new(command);
        *ret_command = &command_help;
        return 0;
    }
    if (index.values[FLAG_VERSION].count) {
        *ret_options = NULL;
        *ret_command = &command_version;
        return 0;
    }
    options = xcalloc(1, command->size + 1);
    rc = store_flags(command, &index, options);
    rc = rc ? rc : command->parse(options, argc, argv);
    if (rc) {
        free(options);
        return rc;
    }
    *ret_command = command;
    *ret_options = options;
    return 0;
}

/* ---- for commands ---- */

int command_usage_error(const struct command *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s: ", command_program_name());
    vfprintf(stderr, fmt, args);
    fprintf(stderr, " (see '%s%s%s --help')\n", command_program_name(), command->name[0] ? " " : "",
            command->name);
    va_end(args);
    return EX_USAGE;
}

int command_unknown(const char *name)
{
    const struct command *const *commands = command_program.commands;
    struct nearest nearest = {0};
    for (size_t i = 1; commands[i]; i++) /* the first has no name */
        if (!command_is_hidden(commands[i]))
            nearest_try(&nearest, name, commands[i]->name);
    if (nearest.word)
        return command_usage_error(commands[0], "unknown command '%s'; did you mean '%s'?", name,
                                   nearest.word);
    return command_usage_error(commands[0], "unknown command '%s'", name);
}

int command_print(const struct buf *text)
{
    if (!text->len ||
        (fwrite(text->bytes, 1, text->len, stdout) == text->len && fflush(stdout) == 0))
        return 0;
    fprintf(stderr, "%s: stdout: %s\n", command_program_name(), strerror(errno));
    return EX_IOERR;
}

int command_default_conf(const struct command *command, const char **path)
{
    if (!*path && access(INFORMERD_CONF, F_OK) < 0 && errno == ENOENT) {
        command_usage_error(command, "configuration file " INFORMERD_CONF " does not exist; "
                                     "specify one with -c, or run 'informerd watch pods', which "
                                     "needs none");
        return EX_CONFIG; /* as for a missing file that -c names */
    }
    if (!*path)
        *path = INFORMERD_CONF;
    return 0;
}

int command_load_conf(const char *path, struct conf *ret)
{
    struct conf_errors errors = {0};
    int rc;
    if (access(path, R_OK) < 0) {
        bool missing = errno == ENOENT;
        fprintf(stderr, "informerd: configuration file '%s': %s%s\n", path, strerror(errno),
                missing ? "; check the flag -c, or run 'informerd watch pods', which needs no file"
                        : "");
        return EX_CONFIG;
    }
    rc = conf_load(path, ret, &errors);
    if (rc == 0) {
        rc = conf_logs_check(ret, &errors);
        if (rc)
            conf_free(ret);
    }
    if (rc)
        fwrite(errors.text.bytes, 1, errors.text.len, stderr);
    conf_errors_free(&errors);
    return rc ? EX_CONFIG : 0;
}
