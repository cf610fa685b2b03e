#include "death.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Never returns: the child must not continue with the tests of its parent. */
static void die(void (*act)(void *arg), void *arg, int stderr_to)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGABRT, SIG_DFL);
    dup2(stderr_to, STDERR_FILENO);
    act(arg);
    _exit(0);
}

static void read_all(int fd, char *text, size_t size)
{
    size_t len = 0;
    ssize_t n;
    while (len < size - 1 && ((n = read(fd, text + len, size - 1 - len)) > 0 || errno == EINTR))
        len += n > 0 ? (size_t)n : 0;
    text[len] = 0;
}

void assert_aborts(void (*act)(void *arg), void *arg, const char *words)
{
    char said[1024];
    int ends[2], status = 0;
    pid_t child;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        die(act, arg, ends[1]);
    close(ends[1]);
    errno = 0;
    read_all(ends[0], said, sizeof(said));
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_string_equal(said, words);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
