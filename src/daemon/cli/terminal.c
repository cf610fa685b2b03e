/*
 * terminal.c - properties of a terminal, from the environment and the kernel.
 */
#include "daemon/cli/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"

bool terminal_can_erase(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool terminal_has_colours(int fd)
{
    const char *no = getenv("NO_COLOR");
    return terminal_can_erase(fd) && !(no && no[0]);
}

unsigned terminal_width(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* The locale that the user chose; "": none. */
static const char *chosen_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return value;
    }
    return "";
}

bool terminal_use_locale(void)
{
    const char *chosen = chosen_locale();
    bool found = setlocale(LC_CTYPE, "") != NULL;
    bool named = strcasestr(chosen, "utf-8") || strcasestr(chosen, "utf8");
    if (!chosen[0] || (!found && named))
        found = setlocale(LC_CTYPE, "C.UTF-8") != NULL;
    return found ? strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0 : named;
}
