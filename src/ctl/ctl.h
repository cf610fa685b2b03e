/*
 * ctl.h - the commands of informerctl, and what they share.
 *
 * A command is a struct command (daemon/cli/command.h) in a file ctl_NAME.c and a row of the table in
 * ctl.c. The first member of its options is the socket, for FLAG_SOCKET.
 *
 * Exit codes: 0 success, 1 the server refused or found nothing, 64 usage, 69 informerd is not reachable,
 * 74 stdout, 77 no permission.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include "informer/error.h"

#include "ctl/client.h"
#include "ctl/ctl_json.h"
#include "daemon/cli/command.h"

extern const struct command ctl_overview;
extern const struct command ctl_get;
extern const struct command ctl_complete;
extern const struct command ctl_completion;
extern const struct command ctl_status;
extern const struct command ctl_tail;
extern const struct command ctl_history;
extern const struct command ctl_show;
extern const struct command ctl_handler;
extern const struct command ctl_kubeconfig;
extern const struct command ctl_token;
extern const struct command ctl_page;
extern const struct command ctl_top;
extern const struct command ctl_reload;
extern const struct command ctl_reopen;
extern const struct command ctl_dump;

/* The flag of all commands. */
#define FLAG_SOCKET(type)                                                                 \
    {                                                                                     \
        's', "socket", "FILE", offsetof(type, socket),                                    \
            .help = "Unix socket of informerd (default: $INFORMERD_SOCKET,\n"             \
                    "$RUNTIME_DIRECTORY/informerd.sock or /run/informerd/informerd.sock)" \
    }

/* The options of commands that have no other flags and no arguments. */
struct ctl_plain_options {
    const char *socket;
};
extern const struct flag ctl_plain_flags[];
int ctl_plain_parse(void *options, int argc, char **argv);

/* Prints the text of an error to stderr: those of informerd as kubectl prints those of a server, others with the
 * name of the program. */
void ctl_print_error(const char *text);

/* Prints @err to stderr and returns its exit code. */
int ctl_fail(const struct inf_error *err);
int ctl_exit_code(const struct inf_error *err);

/* Requests @target of informerd at @socket and parses the answer. Returns 0; the caller frees @ret with
 * ctl_answer_free(). Otherwise prints the error and returns the exit code. */
struct ctl_answer {
    struct client_reply reply;
    struct arena arena;
    struct json_node *tree;       /* to be changed by the caller */
    const struct json_node *root; /* the same */
};
int ctl_fetch(struct client *client, const char *target, const char *accept,
              struct ctl_answer *ret);
void ctl_answer_free(struct ctl_answer *answer);

/* The same, for callers that print errors themselves. Returns 0 or an error. */
int ctl_request(struct client *client, const char *target, const char *accept,
                struct ctl_answer *ret, struct inf_error *err);

/* The URL of the server at @address of api.listen. The caller frees it. */
char *ctl_server_url(const char *address);

/* Connects, or prints the error. Returns 0 or the exit code. */
int ctl_connect(const char *socket, struct client **ret);

#endif
