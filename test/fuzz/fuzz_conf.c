/*
 * fuzz_conf.c - any text as a configuration: either errors, each a line with its position, or a
 * configuration that is printed the same after it was printed and read again.
 */
#include "daemon/conf/conf.h"
#include "fuzz.h"

/* Without the comments, which give the origin of each value. */
static char *effect(const struct conf *conf)
{
    struct buf out = {0}, bare = {0};
    char *line, *rest;
    conf_print(conf, &out);
    buf_putc(&out, '\0');
    rest = out.bytes;
    while ((line = strsep(&rest, "\n"))) {
        char *comment = line + strlen(line);
        while (comment > line && strncmp(comment, "  # ", 4) != 0)
            comment--;
        buf_printf(&bare, "%.*s\n", (int)(comment > line ? comment - line : 0), line);
    }
    buf_putc(&bare, '\0');
    buf_free(&out);
    return bare.bytes;
}

static void check_printed(const struct conf *conf)
{
    struct conf again;
    struct conf_errors errors = {0};
    struct buf out = {0};
    char *before, *after;
    conf_print(conf, &out);
    MUST(conf_load_text("/x/printed", out.bytes, out.len, &again, &errors) == 0);
    before = effect(conf);
    after = effect(&again);
    MUST(strcmp(before, after) == 0);
    free(before);
    free(after);
    buf_free(&out);
    conf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct conf conf;
    struct conf_errors errors = {0};
    int rc = conf_load_text("/x/fuzzed", (const char *)bytes, len, &conf, &errors);
    MUST((rc == 0) == (errors.count == 0));
    if (rc == 0) {
        check_printed(&conf);
        conf_free(&conf);
    } else {
        MUST(rc == -INF_ECONF && errors.text.len && errors.text.bytes[errors.text.len - 1] == '\n');
        MUST(strncmp(errors.text.bytes, "/x/fuzzed:", 10) == 0);
    }
    conf_errors_free(&errors);
    return 0;
}
