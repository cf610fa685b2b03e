#include "kubeconfig_place.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void put_config(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

int kubeconfig_place_setup(void **state)
{
    char *dir = xstrdup("/tmp/kubeconfig_place.XXXXXX");
    *state = dir;
    if (!mkdtemp(dir) || chdir(dir) < 0 || setenv("HOME", dir, 1) < 0)
        return -1;
    unsetenv("KUBECONFIG");
    put_config("ca.pem", "the authority\n");
    put_config("empty.pem", "");
    return 0;
}

int kubeconfig_place_teardown(void **state)
{
    char *dir = *state;
    int rc = chdir("/") || nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(dir);
    return rc;
}

struct kubeconfig load_config(const char *path, const char *context)
{
    struct kubeconfig c;
    struct inf_error err = {0};
    if (kubeconfig_load(&(struct kubeconfig_choice){.path = path, .context = context}, &c, &err) <
        0)
        fail_msg("%s", err.text);
    return c;
}

void assert_config_error(const char *path, const char *context, int code, const char *text)
{
    struct kubeconfig c = {.port = 7};
    struct inf_error err = {0};
    int rc =
        kubeconfig_load(&(struct kubeconfig_choice){.path = path, .context = context}, &c, &err);
    assert_string_equal(err.text, text);
    assert_int_equal(rc, -code);
    assert_int_equal(c.port, 7); /* untouched */
    assert_null(c.origin);
}

void assert_bad_configs(const struct bad_config *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct kubeconfig c;
        put_config("config", rows[i].text);
        assert_config_error("config", NULL, INF_ECONF, rows[i].error);
        assert_int_equal(kubeconfig_load(&(struct kubeconfig_choice){.path = "config"}, &c, NULL),
                         -INF_ECONF);
    }
}
