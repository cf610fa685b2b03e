#include "kube/auth.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"

enum {
    TOKEN_MAX = 64 * 1024, /* LIMIT: bytes of a token file */
};

static char *bearer(const char *token, size_t len)
{
    return xasprintf("Bearer %.*s", (int)len, token);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* @text without the white space around it; empty unless that is one word, fit for a header. */
static struct str only_word(struct str text)
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

static int read_token_file(const char *path, char **ret_value, struct inf_error *err)
{
    struct str word;
    char *text;
    size_t len;
    if (file_read(path, TOKEN_MAX, &text, &len, err) < 0) {
        err->code = INF_EIO; /* a missing file must not look like a missing resource */
        return err_wrap(err, "token");
    }
    word = only_word((struct str){text, len});
    if (word.len)
        *ret_value = bearer(word.at, word.len);
    else
        err_set(err, INF_EIO, "token file '%s': expected one word, the token", path);
    secret_free(text);
    return word.len ? 0 : -INF_EIO;
}

int auth_header(const struct auth *auth, char **ret_value, struct inf_error *err)
{
    int rc = 0;
    *ret_value = NULL;
    if (auth->token_file)
        rc = read_token_file(auth->token_file, ret_value, err);
    if (!*ret_value && auth->token) {
        *ret_value = bearer(auth->token, strlen(auth->token));
        rc = 0;
    }
    return rc;
}
