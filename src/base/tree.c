/*
 * tree.c - AVL: at every node the heights of the two subtrees differ by at most one. After an insertion
 * or removal, walk up from the changed node, correct heights, and rotate where they differ by two;
 * stop where a height did not change.
 */
#include "base/tree.h"

void tree_init(struct tree *tree, tree_order order)
{
    *tree = (struct tree){.order = order};
}

static int height(const struct tree_node *n)
{
    return n ? n->height : 0;
}

static void measure(struct tree_node *n)
{
    int l = height(n->left), r = height(n->right);
    n->height = 1 + (l > r ? l : r);
}

static void put_in_place_of(struct tree *tree, struct tree_node *old, struct tree_node *new)
{
    if (!old->parent)
        tree->root = new;
    else if (old->parent->left == old)
        old->parent->left = new;
    else
        old->parent->right = new;
    if (new)
        new->parent = old->parent;
}

static struct tree_node *rotate_left(struct tree *tree, struct tree_node *n)
{
    struct tree_node *up = n->right;
    put_in_place_of(tree, n, up);
    n->right = up->left;
    if (n->right)
        n->right->parent = n;
    up->left = n;
    n->parent = up;
    measure(n);
    measure(up);
    return up;
}

static struct tree_node *rotate_right(struct tree *tree, struct tree_node *n)
{
    struct tree_node *up = n->left;
    put_in_place_of(tree, n, up);
    n->left = up->right;
    if (n->left)
        n->left->parent = n;
    up->right = n;
    n->parent = up;
    measure(n);
    measure(up);
    return up;
}

static struct tree_node *balance(struct tree *tree, struct tree_node *n)
{
    int lean = height(n->left) - height(n->right);
    if (lean > 1) {
        if (height(n->left->left) < height(n->left->right))
            rotate_left(tree, n->left);
        return rotate_right(tree, n);
    }
    if (lean < -1) {
        if (height(n->right->right) < height(n->right->left))
            rotate_right(tree, n->right);
        return rotate_left(tree, n);
    }
    measure(n);
    return n;
}

static void balance_upwards(struct tree *tree, struct tree_node *n)
{
    while (n) {
        int before = n->height;
        n = balance(tree, n);
        if (n->height == before)
            return;
        n = n->parent;
    }
}

/* Makes @node a child of @parent, at @slot; NULL: the root. */
static void attach(struct tree *tree, struct tree_node *node, struct tree_node *parent,
                   struct tree_node **slot)
{
    *node = (struct tree_node){.parent = parent, .height = 1};
    *slot = node;
    tree->count++;
    balance_upwards(tree, parent);
}

/* Sorted input, such as the list of a server or saved objects, is added without a search. */
void tree_add(struct tree *tree, struct tree_node *node)
{
    struct tree_node **slot = &tree->root, *parent = NULL;
    if (tree->last && tree->order(node, tree->last) >= 0) {
        parent = tree->last;
        slot = &parent->right;
    }
    while (*slot) {
        parent = *slot;
        slot = tree->order(node, parent) < 0 ? &parent->left : &parent->right;
    }
    if (slot == &tree->root || (parent == tree->last && slot == &parent->right))
        tree->last = node;
    attach(tree, node, parent, slot);
}

void tree_add_before(struct tree *tree, struct tree_node *next, struct tree_node *node)
{
    struct tree_node *parent = next ? next : tree->last;
    if (next && next->left)
        for (parent = next->left; parent->right;)
            parent = parent->right;
    if (!next)
        tree->last = node;
    attach(tree, node, parent,
           !parent          ? &tree->root
           : parent == next ? &parent->left
                            : &parent->right);
}

/* A node with two children is replaced by its successor, which has no left child. */
static void swap_with_next(struct tree *tree, struct tree_node *node)
{
    struct tree_node *next = node->right, *start;
    while (next->left)
        next = next->left;
    start = next->parent == node ? next : next->parent;
    put_in_place_of(tree, next, next->right);
    put_in_place_of(tree, node, next);
    next->left = node->left;
    next->left->parent = next;
    next->right = node->right;
    if (next->right)
        next->right->parent = next;
    next->height = node->height;
    balance_upwards(tree, start);
}

static struct tree_node *node_before(const struct tree_node *node)
{
    if (node->left) {
        struct tree_node *n = node->left;
        while (n->right)
            n = n->right;
        return n;
    }
    while (node->parent && node->parent->left == node)
        node = node->parent;
    return node->parent;
}

void tree_remove(struct tree *tree, struct tree_node *node)
{
    tree->count--;
    if (tree->last == node)
        tree->last = node_before(node);
    if (node->left && node->right) {
        swap_with_next(tree, node);
        return;
    }
    put_in_place_of(tree, node, node->left ? node->left : node->right);
    balance_upwards(tree, node->parent);
}

struct tree_node *tree_first(const struct tree *tree)
{
    struct tree_node *n = tree->root;
    while (n && n->left)
        n = n->left;
    return n;
}

struct tree_node *tree_next(const struct tree_node *node)
{
    if (node->right) {
        struct tree_node *n = node->right;
        while (n->left)
            n = n->left;
        return n;
    }
    while (node->parent && node->parent->right == node)
        node = node->parent;
    return node->parent;
}

/* The first node for which probe(key, node) <= @most. */
static struct tree_node *find_first(const struct tree *tree, tree_probe probe, const void *key,
                                    int most)
{
    struct tree_node *n = tree->root, *best = NULL;
    while (n) {
        if (probe(key, n) <= most) {
            best = n;
            n = n->left;
        } else {
            n = n->right;
        }
    }
    return best;
}

struct tree_node *tree_at_least(const struct tree *tree, tree_probe probe, const void *key)
{
    return find_first(tree, probe, key, 0);
}

struct tree_node *tree_after(const struct tree *tree, tree_probe probe, const void *key)
{
    return find_first(tree, probe, key, -1);
}
