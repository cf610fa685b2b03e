/*
 * test_auth.c - the Authorization header: from a token, from a file, and never into a sentence.
 */
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
#include "base/base.h"
#include "base/str.h"
#include "kube/auth.h"

/* A directory with one file, "token", that each test writes as it likes. */
struct place {
    char dir[32];
    char *path;
};

static int make_place(void **state)
{
    struct place *p = NEW(struct place);
    strcpy(p->dir, "/tmp/test_auth.XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    p->path = xasprintf("%s/token", p->dir);
    *state = p;
    return 0;
}

static int drop_place(void **state)
{
    struct place *p = *state;
    unlink(p->path);
    rmdir(p->dir);
    free(p->path);
    free(p);
    return 0;
}

static void put_file(const struct place *p, struct str text)
{
    FILE *f = fopen(p->path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.at, 1, text.len, f), text.len);
    assert_int_equal(fclose(f), 0);
}

static void assert_header(const struct auth *auth, const char *expected)
{
    struct inf_error err;
    char *value;
    assert_int_equal(auth_header(auth, &value, &err), 0);
    assert_string_equal(value, expected);
    secret_free(value);
}

/* -INF_EIO, no header, and a sentence that names the file but not its content. */
static void assert_no_header(const struct place *p, const char *part)
{
    struct inf_error err;
    char *value = p->path;
    assert_int_equal(auth_header(&(struct auth){.token_file = p->path}, &value, &err), -INF_EIO);
    assert_int_equal(err.code, INF_EIO);
    assert_null(value);
    assert_non_null(strstr(err.text, p->path));
    assert_non_null(strstr(err.text, part));
    assert_null(strstr(err.text, "s3cr3t"));
}

static void without_a_token_there_is_no_header(void **state)
{
    struct inf_error err;
    char nothing[] = "", *value = nothing;
    (void)state;
    assert_int_equal(auth_header(&(struct auth){.token = NULL}, &value, &err), 0);
    assert_null(value);
}

static void a_token_is_sent_as_bearer(void **state)
{
    (void)state;
    assert_header(&(struct auth){.token = "s3cr3t"}, "Bearer s3cr3t");
}

static void blanks_around_the_token_of_a_file_are_not_part_of_it(void **state)
{
    static const char *const texts[] = {"s3cr3t", "s3cr3t\n", "s3cr3t\r\n", "\n\t s3cr3t \n\n"};
    const struct place *p = *state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        put_file(p, str_of(texts[i]));
        assert_header(&(struct auth){.token_file = p->path}, "Bearer s3cr3t");
    }
}

static void the_file_wins_over_the_token(void **state)
{
    const struct place *p = *state;
    put_file(p, STR("from-file\n"));
    assert_header(&(struct auth){.token = "s3cr3t", .token_file = p->path}, "Bearer from-file");
}

static void the_file_is_read_anew_each_time(void **state)
{
    const struct place *p = *state;
    put_file(p, STR("monday"));
    assert_header(&(struct auth){.token_file = p->path}, "Bearer monday");
    put_file(p, STR("tuesday"));
    assert_header(&(struct auth){.token_file = p->path}, "Bearer tuesday");
}

static void a_file_must_hold_one_word(void **state)
{
    static const struct str wrong[] = {{"", 0},
                                       {" \n\t\r\n", 5},
                                       {"s3cr3t s3cr3t", 13},
                                       {"s3cr3t\ns3cr3t\n", 14},
                                       {"s3cr3t\0s3cr3t", 13},
                                       {"\0s3cr3t", 7},
                                       {"s3cr3t\n\0", 8},
                                       {"s3c\x1br3t", 7},
                                       {"s3cr3t\x7f", 7}};
    const struct place *p = *state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        put_file(p, wrong[i]);
        assert_no_header(p, "expected one word, the token");
    }
}

/* One code for all of it: a missing file is no missing resource, a large one no large event
 * (core/fault.c). */
static void a_file_that_cannot_be_read_is_one_kind_of_error(void **state)
{
    const struct place *p = *state;
    char *large = xcalloc(1, 64 * 1024 + 1);
    unlink(p->path);
    assert_no_header(p, "No such file or directory");
    assert_int_equal(mkdir(p->path, 0700), 0);
    assert_no_header(p, "is a directory");
    rmdir(p->path);
    memset(large, 's', 64 * 1024 + 1);
    put_file(p, (struct str){large, 64 * 1024 + 1});
    assert_no_header(p, "larger than 65536 bytes");
    free(large);
}

static void the_token_stands_in_for_a_file_that_fails(void **state)
{
    const struct place *p = *state;
    struct auth auth = {.token = "s3cr3t", .token_file = p->path};
    unlink(p->path);
    assert_header(&auth, "Bearer s3cr3t");
    put_file(p, STR("two words"));
    assert_header(&auth, "Bearer s3cr3t");
}

int main(void)
{
#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_token_there_is_no_header),
        cmocka_unit_test(a_token_is_sent_as_bearer),
        WITH_PLACE(blanks_around_the_token_of_a_file_are_not_part_of_it),
        WITH_PLACE(the_file_wins_over_the_token),
        WITH_PLACE(the_file_is_read_anew_each_time),
        WITH_PLACE(a_file_must_hold_one_word),
        WITH_PLACE(a_file_that_cannot_be_read_is_one_kind_of_error),
        WITH_PLACE(the_token_stands_in_for_a_file_that_fails),
    };
    return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}
