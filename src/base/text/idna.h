/*
 * idna.h - converts international host names to the ASCII form of DNS: "bücher.example" is
 * "xn--bcher-kva.example".
 */
#ifndef BASE_TEXT_IDNA_H
#define BASE_TEXT_IDNA_H

#include "base/buf.h"
#include "base/str.h"

enum {
    IDNA_NAME_MAX = 253, /* LIMIT: characters of a name; longer ones are invalid */
};

/*
 * Appends @name in ASCII to @out. Returns 0, or -INF_EINVAL if it is not a valid host name: not
 * UTF-8, too long, other ASCII characters than letters, digits, '-' and '.', a '-' at an invalid
 * position.
 *
 * Only the mappings of UTS #46 for commonly typed characters are applied: capital letters of the
 * Latin, Greek, Cyrillic and Armenian scripts become lower case, and the full stops of East Asia
 * become dots. Not applied: normalisation (a letter and a combining accent stay two characters),
 * width and compatibility forms, and the check that a character is allowed at all.
 */
int idna_to_ascii(struct buf *out, struct str name);

#endif
