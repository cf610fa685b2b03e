/*
 * auth_token_file.c - a token in a file that another process renews.
 *
 * The file is read when a request needs it, at most about once a minute, and immediately after the
 * server has rejected the token. If the kubeconfig also has a literal token, that is used until the
 * file has been read.
 *
 * A file that can't be read or does not hold a single token is an error only if there is no token at
 * all. Otherwise the previous one is kept (it may still be valid; only the server can decide that),
 * one warning is logged, and the file is read again after TOKEN_RETRY_MS.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "kube/auth/auth_method.h"

enum {
    TOKEN_MAX = 64 * 1024, /* LIMIT: bytes of a token file */
    TOKEN_GOOD_MS =
        50000, /* shorter than the minute that kubelet leaves between renewal and expiry */
    TOKEN_RETRY_MS = 10000, /* after a file that can't be read */
};

struct token_file {
    char *token;     /* the contents; NULL: the file has never been read */
    uint64_t due_ms; /* when to read it again */
    bool warned;     /* a warning was logged since the file was last readable */
};

static bool token_file_applies(const struct kubeconfig *config)
{
    return config->token_file;
}

static void token_file_start(struct auth *a)
{
    a->state = NEW(struct token_file);
    if (a->settings.config->token)
        auth_set_bearer(a, a->settings.config->token);
}

/* Whether messages may name the path. The tokenFile of a user that was never readable may be a
 * token in the wrong field. */
static bool path_may_be_shown(const struct auth *a)
{
    const struct token_file *f = a->state;
    return f->token || !a->settings.config->user;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* @text without surrounding white space; empty if that can't be sent in a header as one token. */
static struct str trim_token(struct str text)
{
    while (text.len && is_blank(text.at[text.len - 1]))
        text.len--;
    while (text.len && is_blank(text.at[0]))
        text = (struct str){text.at + 1, text.len - 1};
    return str_is_token(text) ? text : (struct str){0};
}

static int read_token(const struct auth *a, char **ret_token, struct inf_error *err)
{
    const struct kubeconfig *config = a->settings.config;
    struct str token;
    char *text;
    size_t len;
    if (file_read_unnamed(config->token_file, TOKEN_MAX, &text, &len, err) < 0) {
        err->code = INF_EIO; /* a missing file must not look like a missing resource */
        return path_may_be_shown(a) ? err_wrap(err, "token file '%s'", config->token_file)
                                    : err_wrap(err, "tokenFile of user '%s'", config->user);
    }
    token = trim_token((struct str){text, len});
    if (token.len)
        *ret_token = xstrndup(token.at, token.len);
    else
        err_set(err, INF_EIO, "token file '%s': expected a single token without white space",
                config->token_file);
    secret_wipe(text, len);
    free(text);
    return token.len ? 0 : -INF_EIO;
}

/* Returns 1 if the token has changed, 0 if it has not, or -INF_EIO if the file was never readable. */
static int reread_file(struct auth *a, struct inf_error *err)
{
    struct token_file *f = a->state;
    uint64_t now = clock_now_ms(a->settings.clock);
    char *token = NULL;
    bool changed;
    if (read_token(a, &token, err) < 0) {
        if (!f->token)
            return -INF_EIO;
        if (!f->warned)
            log_line(a->settings.log, LOG_WARN, "%s; keeping the previous token", err->text);
        f->warned = true;
        f->due_ms = now + TOKEN_RETRY_MS;
        return 0;
    }
    changed = !f->token || strcmp(f->token, token) != 0;
    secret_free(f->token);
    f->token = token;
    f->due_ms = now + TOKEN_GOOD_MS;
    f->warned = false;
    if (changed)
        auth_set_bearer(a, token);
    return changed;
}

static int token_file_get(struct auth *a, struct inf_error *err)
{
    const struct token_file *f = a->state;
    if (f->token && clock_now_ms(a->settings.clock) < f->due_ms)
        return 0;
    return reread_file(a, err) < 0 && !a->settings.config->token ? -INF_EIO : 0;
}

static bool token_file_refused(struct auth *a)
{
    struct inf_error err;
    return reread_file(a, &err) == 1;
}

static void token_file_renew(struct auth *a)
{
    struct token_file *f = a->state;
    f->due_ms = 0;
}

static char *token_file_describe(const struct auth *a)
{
    const struct kubeconfig *config = a->settings.config;
    return path_may_be_shown(a) ? xasprintf("the token in '%s'", config->token_file)
                                : xasprintf("the token of user '%s'", config->user);
}

static void token_file_stop(struct auth *a)
{
    struct token_file *f = a->state;
    secret_free(f->token);
    free(f);
}

const struct auth_method auth_token_file = {.applies = token_file_applies,
                                            .start = token_file_start,
                                            .get = token_file_get,
                                            .refused = token_file_refused,
                                            .renew = token_file_renew,
                                            .describe = token_file_describe,
                                            .stop = token_file_stop};
