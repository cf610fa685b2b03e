/*
 * tree.h - an intrusive ordered tree (AVL): find, add, remove and step in O(log n), no allocation.
 *
 * The order is a function of two nodes. Searches take a function of a key and a node, so that no node
 * is needed to search for one. Nodes may be of any struct that embeds `struct tree_node`; see
 * container_of().
 */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include <stddef.h>

struct tree_node {
    struct tree_node *left;
    struct tree_node *right;
    struct tree_node *parent;
    int height; /* of the subtree; a leaf has 1 */
};

typedef int (*tree_order)(const struct tree_node *a, const struct tree_node *b);
typedef int (*tree_probe)(const void *key, const struct tree_node *node);

struct tree {
    struct tree_node *root;
    tree_order order;
    size_t count;           /* of nodes */
    struct tree_node *last; /* NULL: it is empty */
};

void tree_init(struct tree *tree, tree_order order);

/* Adds @node. Nodes that compare equal keep the order in which they were added. A node after all others
 * is added without a search. */
void tree_add(struct tree *tree, struct tree_node *node);

/* The same for a caller that has searched: @next is the first node after @node; NULL: there is none. */
void tree_add_before(struct tree *tree, struct tree_node *next, struct tree_node *node);
void tree_remove(struct tree *tree, struct tree_node *node);

struct tree_node *tree_first(const struct tree *tree);
struct tree_node *tree_next(const struct tree_node *node);

/* The first node that is not before @key (>=), or that is after it (>). NULL: no such node. */
struct tree_node *tree_at_least(const struct tree *tree, tree_probe probe, const void *key);
struct tree_node *tree_after(const struct tree *tree, tree_probe probe, const void *key);

#endif
