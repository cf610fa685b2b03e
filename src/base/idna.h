/*
 * idna.h - international host names as DNS has them: "bücher.example" is "xn--bcher-kva.example".
 */
#ifndef BASE_IDNA_H
#define BASE_IDNA_H

#include "base/buf.h"
#include "base/str.h"

enum {
    IDNA_NAME_MAX = 253, /* LIMIT: characters of a name; longer ones are none */
};

/*
 * Adds @name in ASCII to @out. Returns 0, or -INF_EINVAL if it can't be a host name: not UTF-8, too long,
 * other ASCII characters than letters, digits, '-' and '.', a '-' where a label may have none.
 *
 * Of the mappings of UTS #46 only those are done that people type: capital letters of the Latin, Greek,
 * Cyrillic and Armenian scripts become small ones, and the full stops of East Asia become dots. Not done:
 * normalisation (a letter and a combining accent stay two characters), width and compatibility forms,
 * and the check that a character is allowed at all.
 */
int idna_to_ascii(struct buf *out, struct str name);

#endif
