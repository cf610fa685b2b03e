/*
 * template_action.c - the nodes of a whole template: texts, actions, blocks and definitions. Their pipelines
 * are parsed by template_parse.c.
 */
#include <stdlib.h>
#include <string.h>

#include "informer/error.h"

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/template/template_parser.h"

static struct template_node *parse_list(struct parser *p, struct template_node **ret_end);
static struct template_node *parse_control(struct parser *p, enum node_type type);

static struct token expect(struct parser *p, enum token_type type, const char *context)
{
    struct token t = parser_next_word(p);
    if (t.type != type)
        parser_unexpected(p, t, context);
    return t;
}

/* ---- actions ---- */

static bool is_empty(const struct template_node *list)
{
    for (const struct template_node *n = list->first; n; n = n->next)
        for (size_t i = 0; i < (n->type == NODE_TEXT ? n->text.len : 1); i++)
            if (n->type != NODE_TEXT || !strchr(" \t\r\n\v\f", n->text.at[i]))
                return false;
    return true;
}

static void add_tree(struct parser *p, struct str name, struct template_node *root)
{
    struct template_tree *tree = p->template->trees;
    while (tree && !str_eq(tree->name, name))
        tree = tree->next;
    if (p->failed)
        return;
    if (!tree) {
        tree = arena_alloc(&p->template->arena, sizeof(*tree));
        *tree = (struct template_tree){.next = p->template->trees, .name = name, .root = root};
        p->template->trees = tree;
    } else if (is_empty(tree->root)) {
        tree->root = root;
    } else if (!is_empty(root)) {
        parser_fail(p, "template: multiple definition of template \"%.*s\"", (int)name.len,
                    name.at);
    }
}

static struct str parse_name(struct parser *p, const struct token *t, const char *context)
{
    if (t->type == TOKEN_STRING || t->type == TOKEN_RAW_STRING)
        return parser_string(p, t)->value;
    parser_unexpected(p, *t, context);
    return (struct str){0};
}

/* The body of {{define}} and {{block}}, which sees no variables of the text around it. */
static void parse_tree(struct parser *p, struct str name, const char *context)
{
    struct parser outer = *p;
    struct template_node *list, *end = NULL;
    p->names = NULL;
    p->n_names = p->names_cap = p->ranges = 0;
    parser_declare(p, STR("$"));
    list = parse_list(p, &end);
    if (end && end->type != NODE_END)
        parser_fail(p, "unexpected {{else}} in %s", context);
    add_tree(p, name, list);
    free(p->names);
    p->names = outer.names;
    p->n_names = outer.n_names;
    p->names_cap = outer.names_cap;
    p->ranges = outer.ranges;
}

static void parse_define(struct parser *p)
{
    struct token t = parser_next_word(p);
    struct str name = parse_name(p, &t, "define clause");
    expect(p, TOKEN_RIGHT_DELIM, "define clause");
    parse_tree(p, name, "define clause");
}

static struct template_node *parse_block(struct parser *p)
{
    struct token t = parser_next_word(p);
    struct template_node *node = parser_new_node(p, NODE_TEMPLATE, t.pos);
    node->value = parse_name(p, &t, "block clause");
    node->pipe = parser_pipeline(p, "block clause", TOKEN_RIGHT_DELIM);
    parse_tree(p, node->value, "block clause");
    return node;
}

static struct template_node *parse_template(struct parser *p)
{
    struct token t = parser_next_word(p);
    struct template_node *node = parser_new_node(p, NODE_TEMPLATE, t.pos);
    node->value = parse_name(p, &t, "template clause");
    t = parser_next_word(p);
    if (t.type != TOKEN_RIGHT_DELIM) {
        parser_put_back(p, t);
        node->pipe = parser_pipeline(p, "template clause", TOKEN_RIGHT_DELIM);
    }
    return node;
}

static struct template_node *parse_jump(struct parser *p, const struct token *keyword)
{
    enum node_type type = keyword->type == TOKEN_BREAK ? NODE_BREAK : NODE_CONTINUE;
    const char *name = type == NODE_BREAK ? "{{break}}" : "{{continue}}";
    expect(p, TOKEN_RIGHT_DELIM, name);
    if (!p->ranges)
        parser_fail(p, "%s outside {{range}}", name);
    return parser_new_node(p, type, keyword->pos);
}

/* {{else}}; after "else if" and "else with" the next token is the keyword. */
static struct template_node *parse_else(struct parser *p)
{
    struct token next = parser_peek_word(p);
    if (next.type != TOKEN_IF && next.type != TOKEN_WITH)
        next = expect(p, TOKEN_RIGHT_DELIM, "else");
    return parser_new_node(p, NODE_ELSE, next.pos);
}

static struct template_node *parse_action(struct parser *p)
{
    struct token t = parser_next_word(p);
    struct template_node *node;
    switch ((int)t.type) {
    case TOKEN_BLOCK: return parse_block(p);
    case TOKEN_BREAK:
    case TOKEN_CONTINUE: return parse_jump(p, &t);
    case TOKEN_ELSE: return parse_else(p);
    case TOKEN_END: return parser_new_node(p, NODE_END, expect(p, TOKEN_RIGHT_DELIM, "end").pos);
    case TOKEN_IF: return parse_control(p, NODE_IF);
    case TOKEN_RANGE: return parse_control(p, NODE_RANGE);
    case TOKEN_WITH: return parse_control(p, NODE_WITH);
    case TOKEN_TEMPLATE: return parse_template(p);
    default: break;
    }
    parser_put_back(p, t);
    node = parser_new_node(p, NODE_ACTION, t.pos);
    node->pipe = parser_pipeline(p, "command", TOKEN_RIGHT_DELIM);
    return node;
}

static struct template_node *parse_text_or_action(struct parser *p)
{
    struct token t = parser_next_word(p);
    struct template_node *node = NULL;
    if (t.type == TOKEN_TEXT) {
        node = parser_new_name(p, NODE_TEXT, t.pos, t.text);
    } else if (t.type == TOKEN_LEFT_DELIM) {
        p->action_line = t.line;
        node = parse_action(p);
        p->action_line = 0;
    } else {
        parser_unexpected(p, t, "input");
    }
    return node;
}

/* To {{end}} or {{else}}, which is *@ret_end. */
static struct template_node *parse_list(struct parser *p, struct template_node **ret_end)
{
    struct template_node *list = parser_new_node(p, NODE_LIST, parser_peek_word(p).pos),
                         **last = &list->first;
    if (++p->depth > TEMPLATE_DEPTH_MAX)
        parser_fail(p, "more than %d nested blocks", TEMPLATE_DEPTH_MAX);
    while (parser_peek_word(p).type != TOKEN_EOF) {
        struct template_node *node = parse_text_or_action(p);
        if (node && (node->type == NODE_END || node->type == NODE_ELSE)) {
            *ret_end = node;
            p->depth--;
            return list;
        }
        if (node)
            last = parser_append(last, node);
    }
    p->depth--;
    parser_fail(p, "unexpected EOF");
    return list;
}

/* What follows {{else}}; "else if" has the {{end}} of the whole. */
static struct template_node *parse_else_list(struct parser *p, enum node_type type, size_t pos)
{
    struct template_node *list, *end = NULL;
    struct token next = parser_peek(p);
    if ((type == NODE_IF && next.type == TOKEN_IF) ||
        (type == NODE_WITH && next.type == TOKEN_WITH)) {
        parser_next(p);
        list = parser_new_node(p, NODE_LIST, pos);
        if (++p->depth > TEMPLATE_DEPTH_MAX)
            parser_fail(p, "more than %d nested blocks", TEMPLATE_DEPTH_MAX);
        else
            list->first = parse_control(p, type);
        p->depth--;
        return list;
    }
    list = parse_list(p, &end);
    if (end && end->type != NODE_END)
        parser_fail(p, "expected end; found {{else}}");
    return list;
}

static struct template_node *parse_control(struct parser *p, enum node_type type)
{
    const char *context = type == NODE_IF ? "if" : type == NODE_WITH ? "with" : "range";
    struct template_node *node = parser_new_node(p, type, 0), *end = NULL;
    size_t names = p->n_names;
    node->pipe = parser_pipeline(p, context, TOKEN_RIGHT_DELIM);
    node->pos = node->pipe->pos;
    p->ranges += type == NODE_RANGE;
    node->list = parse_list(p, &end);
    p->ranges -= type == NODE_RANGE;
    if (end && end->type == NODE_ELSE)
        node->else_list = parse_else_list(p, type, end->pos);
    p->n_names = names;
    return node;
}

/* The text itself, which may contain {{define}}. */
static void parse_all(struct parser *p)
{
    struct template_node *root = parser_new_node(p, NODE_LIST, 0), **last = &root->first;
    while (parser_peek(p).type != TOKEN_EOF) {
        struct token delim = parser_next(p), keyword;
        struct template_node *node;
        if (delim.type == TOKEN_LEFT_DELIM) {
            keyword = parser_next_word(p);
            if (keyword.type == TOKEN_DEFINE) {
                parse_define(p);
                continue;
            }
            parser_put_back(p, keyword);
        }
        parser_put_back(p, delim);
        node = parse_text_or_action(p);
        if (node && (node->type == NODE_END || node->type == NODE_ELSE))
            parser_fail(p, "unexpected %s", node->type == NODE_END ? "{{end}}" : "{{else}}");
        else if (node)
            last = parser_append(last, node);
    }
    add_tree(p, STR("output"), root);
}

int template_parse(struct str text, struct template **ret, struct buf *error)
{
    struct template *t = NEW(struct template);
    struct parser p = {.template = t, .error = error};
    t->text = arena_copy(&t->arena, text);
    p.lexer = (struct lexer){.arena = &t->arena, .input = t->text, .line = 1, .start_line = 1};
    parser_declare(&p, STR("$"));
    parse_all(&p);
    free(p.names);
    if (p.failed) {
        template_free(t);
        return -INF_EINVAL;
    }
    *ret = t;
    return 0;
}

void template_free(struct template *t)
{
    if (t)
        arena_free(&t->arena);
    free(t);
}
