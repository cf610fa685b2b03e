/*
 * auth_token.c - reads the token file and keeps its contents.
 *
 * A file that can't be read or does not hold a single token is an error only if there is no
 * previous token. Otherwise one warning is logged, and the file is read again after TOKEN_RETRY_MS.
 */
#include "kube/auth/auth_token.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"

enum {
    TOKEN_MAX = 64 * 1024, /* LIMIT: bytes of a token file */
    TOKEN_GOOD_MS =
        50000, /* shorter than the minute that kubelet leaves between renewal and expiry */
    TOKEN_RETRY_MS = 10000, /* after a file that can't be read */
};

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
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] <= ' ' || text.at[i] == 0x7f)
            return (struct str){0};
    return text;
}

static int set_read_error(const struct auth_token *t, struct inf_error *err)
{
    err->code = INF_EIO; /* a missing file must not look like a missing resource */
    if (t->user && !t->token)
        return err_wrap(err, "tokenFile of user '%s'", t->user);
    return err_wrap(err, "token file '%s'", t->path);
}

static int read_token(const struct auth_token *t, char **ret_token, struct inf_error *err)
{
    struct str word;
    char *text;
    size_t len;
    if (file_read_unnamed(t->path, TOKEN_MAX, &text, &len, err) < 0)
        return set_read_error(t, err);
    word = trim_token((struct str){text, len});
    if (word.len)
        *ret_token = xstrndup(word.at, word.len);
    else
        err_set(err, INF_EIO, "token file '%s': expected a single token without white space",
                t->path);
    secret_wipe(text, len);
    free(text);
    return word.len ? 0 : -INF_EIO;
}

/* Takes ownership of @token. Returns whether it has changed. */
static bool replace_token(struct auth_token *t, char *token)
{
    bool changed = !t->token || strcmp(t->token, token) != 0;
    secret_free(t->token);
    t->token = token;
    t->due_ms = clock_now_ms(t->clock) + TOKEN_GOOD_MS;
    t->complained = false;
    return changed;
}

static int keep_previous(struct auth_token *t, const struct inf_error *why)
{
    if (!t->token)
        return -INF_EIO;
    if (!t->complained)
        log_line(t->log, LOG_WARN, "%s; keeping the previous token", why->text);
    t->complained = true;
    t->due_ms = clock_now_ms(t->clock) + TOKEN_RETRY_MS;
    return 0;
}

static int reread_file(struct auth_token *t, struct inf_error *err)
{
    char *token = NULL;
    if (read_token(t, &token, err) == 0)
        return replace_token(t, token);
    return keep_previous(t, err);
}

int auth_token_renew(struct auth_token *t, struct inf_error *err)
{
    return t->token && clock_now_ms(t->clock) < t->due_ms ? 0 : reread_file(t, err);
}

bool auth_token_refused(struct auth_token *t)
{
    struct inf_error err;
    return reread_file(t, &err) == 1;
}

void auth_token_free(struct auth_token *t)
{
    secret_free(t->token);
    t->token = NULL;
}
