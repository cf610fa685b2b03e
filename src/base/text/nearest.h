/*
 * nearest.h - "did you mean ...?": finds the valid word that is most similar to a misspelled one.
 */
#ifndef BASE_TEXT_NEAREST_H
#define BASE_TEXT_NEAREST_H

enum {
    NEAREST_MAX = 64, /* LIMIT: bytes of a word; a longer one is similar to nothing */
};

/* A zeroed struct is the initial state. */
struct nearest {
    const char *word; /* the most similar so far, borrowed; NULL: none is similar */
    unsigned steps;   /* its edit distance */
};

/*
 * Compares @text with @word, which is valid. They are similar if at most one letter in three is wrong,
 * missing, extra or swapped; case does not matter.
 */
void nearest_try(struct nearest *nearest, const char *text, const char *word);

#endif
