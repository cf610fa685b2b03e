/*
 * template_node.c - nodes as text, for messages: "at <.metadata.name>".
 */
#include "ctl/template/template_internal.h"

static void put_list(struct buf *out, const struct template_node *first, const char *separator)
{
    for (const struct template_node *n = first; n; n = n->next) {
        template_put_node(out, n);
        if (n->next)
            buf_puts(out, separator);
    }
}

static void put_pipe(struct buf *out, const struct template_node *pipe)
{
    put_list(out, pipe->variables, ", ");
    if (pipe->variables)
        buf_puts(out, pipe->is_assign ? " = " : " := ");
    put_list(out, pipe->first, " | ");
}

/* An argument: a pipeline has parentheses. */
static void put_operand(struct buf *out, const struct template_node *node)
{
    if (node->type == NODE_PIPE)
        buf_putc(out, '(');
    template_put_node(out, node);
    if (node->type == NODE_PIPE)
        buf_putc(out, ')');
}

static void put_fields(struct buf *out, const struct template_node *node)
{
    for (const struct template_node *f = node->fields; f; f = f->next)
        buf_printf(out, ".%.*s", (int)f->text.len, f->text.at);
}

static void put_control(struct buf *out, const struct template_node *node)
{
    buf_printf(out, "{{%s ",
               node->type == NODE_IF     ? "if"
               : node->type == NODE_WITH ? "with"
                                         : "range");
    put_pipe(out, node->pipe);
    buf_puts(out, "}}");
    template_put_node(out, node->list);
    if (node->else_list) {
        buf_puts(out, "{{else}}");
        template_put_node(out, node->else_list);
    }
    buf_puts(out, "{{end}}");
}

static void put_call(struct buf *out, const struct template_node *node)
{
    buf_puts(out, "{{template ");
    template_put_quoted(out, node->value);
    if (node->pipe) {
        buf_putc(out, ' ');
        put_pipe(out, node->pipe);
    }
    buf_puts(out, "}}");
}

static void put_command(struct buf *out, const struct template_node *node)
{
    for (const struct template_node *n = node->first; n; n = n->next) {
        put_operand(out, n);
        if (n->next)
            buf_putc(out, ' ');
    }
}

void template_put_node(struct buf *out, const struct template_node *node)
{
    switch (node->type) {
    case NODE_LIST: put_list(out, node->first, ""); break;
    case NODE_ACTION:
        buf_puts(out, "{{");
        put_pipe(out, node->pipe);
        buf_puts(out, "}}");
        break;
    case NODE_IF:
    case NODE_WITH:
    case NODE_RANGE: put_control(out, node); break;
    case NODE_TEMPLATE: put_call(out, node); break;
    case NODE_BREAK: buf_puts(out, "{{break}}"); break;
    case NODE_CONTINUE: buf_puts(out, "{{continue}}"); break;
    case NODE_PIPE: put_pipe(out, node); break;
    case NODE_COMMAND: put_command(out, node); break;
    case NODE_CHAIN:
        put_operand(out, node->first);
        put_fields(out, node);
        break;
    case NODE_FIELD: put_fields(out, node); break;
    case NODE_DOT: buf_putc(out, '.'); break;
    case NODE_NIL: buf_puts(out, "nil"); break;
    case NODE_END: buf_puts(out, "{{end}}"); break;
    case NODE_ELSE: buf_puts(out, "{{else}}"); break;
    case NODE_TEXT:
    case NODE_IDENTIFIER:
    case NODE_BOOL:
    case NODE_NUMBER:
    case NODE_STRING:
        if (node->text.len)
            buf_put(out, node->text.at, node->text.len);
        break;
    case NODE_VARIABLE:
        buf_put(out, node->text.at, node->text.len);
        put_fields(out, node);
        break;
    }
}
