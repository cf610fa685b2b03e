/*
 * conf_world.c - loads configurations for tests. An unexpected result fails the test.
 */
#include "conf_world.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"

int conf_world_setup(void **state)
{
    char *dir = xstrdup("/tmp/test_conf.XXXXXX");
    *state = dir;
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

int conf_world_teardown(void **state)
{
    char *dir = *state;
    int rc = chdir("/") || nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(dir);
    return rc;
}

void conf_world_put(const char *name, const char *text)
{
    const char *slash = strrchr(name, '/');
    char *dir = slash ? xstrndup(name, (size_t)(slash - name)) : NULL;
    int fd;
    if (dir)
        mkdir(dir, 0700);
    free(dir);
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static char *text_of(struct buf *buf)
{
    buf_putc(buf, '\0');
    return buf->bytes;
}

static struct conf expect_valid(int rc, struct conf *conf, struct conf_errors *errors)
{
    if (rc)
        fail_msg("%s", text_of(&errors->text));
    assert_int_equal(errors->count, 0);
    conf_errors_free(errors);
    return *conf;
}

static char *expect_errors(int rc, const struct conf *conf, struct conf_errors *errors)
{
    assert_int_equal(rc, -INF_ECONF);
    assert_int_equal(conf->n_watches, 77); /* untouched */
    assert_true(errors->count > 0);
    return text_of(&errors->text);
}

struct conf conf_world_text(const char *text)
{
    struct conf conf;
    struct conf_errors errors = {0};
    int rc = conf_load_text("x.conf", text, strlen(text), &conf, &errors);
    return expect_valid(rc, &conf, &errors);
}

struct conf conf_world_file(void)
{
    struct conf conf;
    struct conf_errors errors = {0};
    int rc = conf_load("x.conf", &conf, &errors);
    return expect_valid(rc, &conf, &errors);
}

char *conf_world_text_errors(const char *text)
{
    struct conf conf = {.n_watches = 77};
    struct conf_errors errors = {0};
    int rc = conf_load_text("x.conf", text, strlen(text), &conf, &errors);
    return expect_errors(rc, &conf, &errors);
}

char *conf_world_file_errors(void)
{
    struct conf conf = {.n_watches = 77};
    struct conf_errors errors = {0};
    int rc = conf_load("x.conf", &conf, &errors);
    return expect_errors(rc, &conf, &errors);
}

char *conf_world_print(const struct conf *conf)
{
    struct buf out = {0};
    conf_print(conf, &out);
    return text_of(&out);
}

/* A comment ends the line and follows two blanks. */
char *conf_world_effect(const struct conf *conf)
{
    char *text = conf_world_print(conf), *line, *rest = text, *comment;
    struct buf out = {0};
    while ((line = strsep(&rest, "\n"))) {
        comment = strstr(line, "  # ");
        if (comment)
            *comment = '\0';
        buf_printf(&out, "%s\n", line);
    }
    free(text);
    return text_of(&out);
}
