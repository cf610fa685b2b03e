/*
 * table_selector.h - labels and selectors as text: a=b,c in (x,y),!d.
 */
#ifndef DAEMON_TABLE_TABLE_SELECTOR_H
#define DAEMON_TABLE_TABLE_SELECTOR_H

#include "daemon/table/table_cell.h"

/* Strings to be sorted, as written without quotes. Zeroed: empty. */
struct text_set {
    struct text_pair {
        struct str key;
        struct str value; /* of a label; otherwise empty */
        size_t order;     /* for equal keys */
    } * items;
    size_t count;
};

void text_set_add(struct text_set *set, struct str key, struct str value);
void text_set_sort(struct text_set *set);
void text_set_free(struct text_set *set);

/* Writes the keys in order, each once, with commas between them. Frees the set. */
void text_set_put_unique(struct text_set *set, struct table_row *row);

/* A cell with a map of labels, sorted: a=b,c=d; <none>. */
void cell_put_labels(struct table_row *row, struct str labels);

/* A cell with a LabelSelector, sorted by key; @none if it selects by nothing. */
void cell_put_selector(struct table_row *row, struct str selector, const char *none);

#endif
