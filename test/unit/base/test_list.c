/*
 * test_list.c - a ring: adding at the end, removing at the front and in the middle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/list.h"

struct letter {
    struct list node;
    char c;
};

struct alphabet {
    struct list list;
    struct letter a, b, c;
};

static void alphabet_init(struct alphabet *abc)
{
    *abc = (struct alphabet){.a.c = 'a', .b.c = 'b', .c.c = 'c'};
    list_init(&abc->list);
    list_push(&abc->list, &abc->a.node);
    list_push(&abc->list, &abc->b.node);
    list_push(&abc->list, &abc->c.node);
}

static char letter_of(struct list *node)
{
    return container_of(node, struct letter, node)->c;
}

/* Walks the list forwards, which must give @text, and backwards. */
static void assert_reads(struct list *list, const char *text)
{
    size_t i = 0, len = strlen(text);
    list_for_each(n, list)
        assert_int_equal(letter_of(n), text[i++]);
    assert_int_equal(i, len);
    for (struct list *n = list->prev; n != list; n = n->prev)
        assert_int_equal(letter_of(n), text[--i]);
    assert_int_equal(i, 0);
    assert_int_equal(list_empty(list), len == 0);
}

static void returns_nodes_in_the_order_of_adding(void **state)
{
    struct alphabet abc;
    (void)state;
    alphabet_init(&abc);
    assert_reads(&abc.list, "abc");
    assert_ptr_equal(list_pop(&abc.list), &abc.a.node);
    assert_ptr_equal(list_pop(&abc.list), &abc.b.node);
    assert_reads(&abc.list, "c");
    assert_ptr_equal(list_pop(&abc.list), &abc.c.node);
    assert_null(list_pop(&abc.list));
    assert_reads(&abc.list, "");
}

static void removes_from_the_middle(void **state)
{
    struct alphabet abc;
    (void)state;
    alphabet_init(&abc);
    list_remove(&abc.b.node);
    assert_reads(&abc.list, "ac");
    list_push(&abc.list, &abc.b.node);
    assert_reads(&abc.list, "acb");
}

static void a_removed_node_is_in_no_list(void **state)
{
    struct alphabet abc;
    (void)state;
    alphabet_init(&abc);
    list_remove(&abc.b.node);
    assert_true(list_empty(&abc.b.node));
    list_remove(&abc.b.node); /* harmless */
    assert_true(list_empty(&abc.b.node));
    assert_ptr_equal(list_pop(&abc.list), &abc.a.node);
    assert_true(list_empty(&abc.a.node));
    assert_reads(&abc.list, "c");
}

static void move_all_keeps_the_order(void **state)
{
    struct alphabet abc;
    struct letter x = {.c = 'x'};
    struct list to;
    (void)state;
    alphabet_init(&abc);
    list_init(&to);
    list_push(&to, &x.node);
    list_move_all(&to, &abc.list);
    assert_reads(&to, "xabc");
    assert_reads(&abc.list, "");
    list_move_all(&to, &abc.list); /* nothing to move */
    assert_reads(&to, "xabc");
    list_move_all(&abc.list, &to); /* to an empty list */
    assert_reads(&abc.list, "xabc");
    assert_reads(&to, "");
}

static void the_body_of_a_loop_may_remove_its_node(void **state)
{
    struct alphabet abc;
    (void)state;
    alphabet_init(&abc);
    list_for_each_safe(n, &abc.list)
        if (letter_of(n) != 'b')
            list_remove(n);
    assert_reads(&abc.list, "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_nodes_in_the_order_of_adding),
        cmocka_unit_test(removes_from_the_middle),
        cmocka_unit_test(a_removed_node_is_in_no_list),
        cmocka_unit_test(move_all_keeps_the_order),
        cmocka_unit_test(the_body_of_a_loop_may_remove_its_node),
    };
    return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
