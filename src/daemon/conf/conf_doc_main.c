/*
 * conf_doc_main.c - conf_doc sample|man: prints the generated document. Build tool, not installed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "daemon/conf/conf_doc.h"

int main(int argc, char **argv)
{
    struct buf out = {0};
    bool done;
    if (argc == 2 && strcmp(argv[1], "sample") == 0) {
        conf_doc_sample(&out);
    } else if (argc == 2 && strcmp(argv[1], "man") == 0) {
        conf_doc_man(&out);
    } else {
        fputs("usage: conf_doc sample|man\n", stderr);
        return EX_USAGE;
    }
    done = fwrite(out.bytes, 1, out.len, stdout) == out.len && fflush(stdout) == 0;
    buf_free(&out);
    return done ? 0 : EX_IOERR;
}
