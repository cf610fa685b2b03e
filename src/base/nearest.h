/*
 * nearest.h - did you mean ...? Which of the words that would be right somebody may have had in mind.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

enum {
    NEAREST_MAX = 64, /* LIMIT: bytes of a word; a longer one is near to nothing */
};

/* A zeroed struct has seen no word yet. */
struct nearest {
    const char *word; /* the best so far, borrowed; NULL: none is near */
    unsigned steps;   /* how far it is */
};

/*
 * Looks at @word, one that would be right, as what @text may stand for. It is near if few letters
 * are wrong, missing, too many or swapped, or only written large: one in three at most.
 */
void nearest_try(struct nearest *nearest, const char *text, const char *word);

#endif
