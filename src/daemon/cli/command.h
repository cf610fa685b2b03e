/*
 * command.h - the command line: commands, their flags, and what commands share.
 *
 * A command is a struct command in a file command_NAME.c and a row in the table of program_informerd.c. It
 * has a struct for its options. A flag with a value is stored in a const char * of it, a repeatable
 * one in a struct flag_values, a flag without a value in a bool:
 *
 *     struct watch_options {
 *         const char *ns;
 *         bool verbose;
 *     };
 *     static const struct flag flags[] = {
 *         {'n', "namespace", "NS", offsetof(struct watch_options, ns), .help = "watch this namespace"},
 *         {'v', "verbose", NULL, offsetof(struct watch_options, verbose), .help = "log every step"},
 *         {0},
 *     };
 *
 * A flag that several commands have must have the same letter in all of them, and a value in all or
 * none.
 */
#ifndef DAEMON_CLI_COMMAND_H
#define DAEMON_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "daemon/cli/install_paths.h"
#include "daemon/conf/conf.h"

struct flag {
    char letter; /* 0: none */
    const char *name;
    const char *value; /* its name in the help; NULL: takes no value */
    size_t offset;     /* of the member */
    const char *help;  /* starts in lower case, no full stop; a line break starts a new line */
    const char *const *choices; /* its values, for completion; ends with NULL; NULL: any value */
    bool repeatable;            /* may be given several times; the values may also have commas */
    const char *heading; /* in the help before this flag and the following ones; NULL: none */
};

enum {
    FLAG_VALUES_MAX = 64, /* LIMIT: values of a repeatable flag, before commas are split */
};

/* The values of a repeatable flag in the order of the command line. */
struct flag_values {
    const char *items[FLAG_VALUES_MAX];
    size_t count;
};

struct command {
    const char *name;         /* "": the service, which has no command name */
    const char *arguments;    /* for the usage line */
    const char *summary;      /* one line for the list of commands */
    const char *description;  /* sentences before the flags */
    const struct flag *flags; /* ends with an empty one */
    const char *notes;        /* after the flags; may be NULL */
    size_t size;              /* of the struct for its options */

    /* Completes and checks @options after the flags are stored. @argv has the @argc arguments after
     * the command, which outlive the options. Returns 0, or the exit code of
     * command_usage_error(). */
    int (*parse)(void *options, int argc, char **argv);

    /* Runs the command. It prints its own errors. Returns the exit code. */
    int (*run)(const void *options);
};

extern const struct command command_service;
extern const struct command command_watch;
extern const struct command command_rbac;
extern const struct command command_state;
extern const struct command command_completion;
extern const struct command command_help;
extern const struct command command_version;

/* A command for programs, which begins with two underscores and is not in the help. */
static inline bool command_is_hidden(const struct command *command)
{
    return command->name[0] == '_' && command->name[1] == '_';
}

/* The flags of all commands, --help and --version. Ends with an empty one. */
extern const struct flag command_common_flags[];

/* A program: its commands and its name in messages. The first command has no name and stands for a command
 * line without a command. */
struct program {
    const char *name;
    const struct command *const *commands; /* ends with NULL */
    const char *flags_heading;             /* of the flags of the first command, in the help */
    const char *plugin; /* file name under which it is a plugin of another program; NULL: none */
    const char *plugin_name; /* its name then */
};

/* The running program. Each program defines its own: program_informerd.c, ctl/ctl.c. */
extern const struct program command_program;

/* The name of the running program in messages. */
const char *command_program_name(void);

/* The command named @name; NULL: there is none. */
const struct command *command_find(const char *name);

/*
 * Parses a command line. Flags may precede the command. --help and --version become commands.
 *
 * Returns 0 with the command and its options, which the caller frees; or an exit code after
 * printing the error and its remedy to stderr.
 */
int command_line_parse(int argc, char **argv, const struct command **ret_command,
                       void **ret_options);

/* ---- for commands ---- */

/* Prints an error and a reference to the help of @command. Returns the exit code for it. */
__attribute__((format(printf, 2, 3))) int command_usage_error(const struct command *command,
                                                              const char *fmt, ...);

/* Prints that no command is named @name, with a similar name. Returns the exit code for it. */
int command_unknown(const char *name);

/* Writes @text to stdout. Returns 0, or an exit code after printing the error. */
int command_print(const struct buf *text);

/* The flag -c of commands that read a configuration file into the member `conf` of @type. */
#define FLAG_CONFIG(type)                                                       \
    {                                                                           \
        'c', "config", "FILE", offsetof(type, conf),                            \
            .help = "configuration file; conf.d/*.conf beside it is read too\n" \
                    "(default: " INFORMERD_CONF ")"                             \
    }

/* Sets *@path to the default unless it is set. Returns 0, or an exit code if there is no file. */
int command_default_conf(const struct command *command, const char **path);

/* Loads the configuration, or prints all its errors to stderr. Returns 0 or the exit code. */
int command_load_conf(const char *path, struct conf *ret);

#endif
