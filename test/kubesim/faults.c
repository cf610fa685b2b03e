/*
 * faults.c - the list of injected faults: parsing, matching with requests, and random faults with a
 * seed.
 */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/json_string.h"

static const struct {
    const char *name;
    enum fault_kind kind;
    const char *help;
} kinds[] = {
    {"refuse", FAULT_REFUSE, "the port is closed for ms=1000"},
    {"reset", FAULT_RESET, "RST; at=accept, at=request, or after bytes=N of the body"},
    {"blackhole", FAULT_HOLE,
     "no answer, connection open; at=accept, at=request, or after bytes=N of the body"},
    {"cut", FAULT_CUT, "connection closed after bytes=N of the body"},
    {"stall", FAULT_STALL, "a pause of ms=1000 after bytes=N of the body"},
    {"drip", FAULT_DRIP, "byte by byte, ms=0 apart"},
    {"garbage", FAULT_GARBAGE, "text=http: invalid HTTP; text=json: invalid JSON, after events=N"},
    {"huge", FAULT_HUGE, "an event of size=BYTES, after events=N"},
    {"deep", FAULT_DEEP, "an event nested size=N deep, after events=N"},
    {"unknown", FAULT_UNKNOWN, "an event of an unknown type, after events=N"},
    {"error", FAULT_ERROR, "an ERROR event, code=410 retry_after=S, after events=N"},
    {"each", FAULT_EACH, "the watch ends after each event"},
    {"blind", FAULT_BLIND, "the watch sends nothing and ends regularly after ms=0"},
    {"noend", FAULT_NO_END, "omit the bookmark that ends the initial events"},
    {"status", FAULT_STATUS, "code=503 retry_after=S [date=1] text=json|plain|html|empty|MESSAGE"},
    {"redirect", FAULT_REDIRECT, "302 to text=URL"},
    {"html", FAULT_HTML, "200 with an HTML page"},
    {"type", FAULT_TYPE, "answer with text=TYPE as content type"},
    {"pretty", FAULT_PRETTY, "pretty-printed JSON"},
    {"truncate", FAULT_TRUNCATE, "a list that ends after events=N items, with valid framing"},
    {"expire", FAULT_EXPIRE, "continue tokens have expired"},
    {"warning", FAULT_WARNING, "answer with text=MESSAGE as a Warning header"},
    {"second", FAULT_SECOND, "a second, unsolicited response"},
};

void faults_init(struct faults *f)
{
    *f = (struct faults){0};
    list_init(&f->list);
}

void faults_clear(struct faults *f)
{
    struct list *n;
    while ((n = list_pop(&f->list)))
        free(container_of(n, struct fault, node));
}

static void take_word(char ret[FAULT_WORD_MAX], const struct params *p, const char *key)
{
    snprintf(ret, FAULT_WORD_MAX, "%s", params_get(p, key, ""));
}

static bool parse_kind(struct fault *ret, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            ret->kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

static enum fault_at parse_at(const struct params *p)
{
    const char *at = params_get(p, "at", "");
    if (strcmp(at, "accept") == 0)
        return AT_ACCEPT;
    return strcmp(at, "body") == 0 || params_get(p, "bytes", NULL) ? AT_BODY : AT_REQUEST;
}

bool fault_parse(struct fault *ret, const struct params *p)
{
    struct fault f = {.at = parse_at(p)};
    if (!parse_kind(&f, params_get(p, "do", "")))
        return false;
    take_word(f.verb, p, "verb");
    take_word(f.path, p, "path");
    take_word(f.text, p, "text");
    f.skip = params_number(p, "skip", 0);
    f.times = params_number(p, "times", 1);
    f.bytes = params_number(p, "bytes", 0);
    f.events = params_number(p, "events", 0);
    f.ms = params_number(p, "ms", f.kind == FAULT_DRIP || f.kind == FAULT_BLIND ? 0 : 1000);
    f.size = params_number(p, "size", f.kind == FAULT_DEEP ? 10000 : 20 * 1024 * 1024);
    f.code = params_number(p, "code", f.kind == FAULT_ERROR ? 410 : 503);
    f.retry_after = params_number(p, "retry_after", 0);
    f.date = params_true(p, "date");
    *ret = f;
    return true;
}

void faults_add(struct faults *f, const struct fault *fault)
{
    struct fault *copy = NEW(struct fault);
    *copy = *fault;
    copy->number = ++f->made;
    list_push(&f->list, &copy->node);
}

static bool fits(const struct fault *x, const char *verb, const char *target)
{
    if ((x->at == AT_ACCEPT) != (target == NULL))
        return false;
    if (!target)
        return true;
    return (!x->verb[0] || strcmp(x->verb, verb) == 0) &&
           (!x->path[0] || strstr(target, x->path) != NULL);
}

/* Random faults are small, so that a run with a seed can continue. */
static struct fault random_fault(struct faults *f)
{
    static const struct fault often[] = {
        {.kind = FAULT_RESET},
        {.kind = FAULT_RESET, .at = AT_BODY, .bytes = 4000},
        {.kind = FAULT_CUT, .at = AT_BODY, .bytes = 4000},
        {.kind = FAULT_STALL, .at = AT_BODY, .bytes = 4000, .ms = 300},
        {.kind = FAULT_GARBAGE, .text = "json", .events = 3},
        {.kind = FAULT_GARBAGE, .text = "http"},
        {.kind = FAULT_ERROR, .code = 410, .events = 3},
        {.kind = FAULT_ERROR, .code = 500, .events = 3},
        {.kind = FAULT_EACH},
        {.kind = FAULT_STATUS, .code = 500},
        {.kind = FAULT_STATUS, .code = 503, .text = "plain"},
        {.kind = FAULT_STATUS, .code = 429, .retry_after = 1},
        {.kind = FAULT_STATUS, .code = 410},
        {.kind = FAULT_TRUNCATE, .events = 2},
        {.kind = FAULT_EXPIRE},
        {.kind = FAULT_SECOND},
    };
    struct fault made = often[rng_below(&f->rng, ARRAY_LEN(often))];
    made.bytes = rng_below(&f->rng, made.bytes + 1);
    made.events = rng_below(&f->rng, made.events + 1);
    f->taken++;
    return made;
}

struct fault faults_take(struct faults *f, const char *verb, const char *target)
{
    struct fault taken = {.kind = FAULT_NONE};
    list_for_each(n, &f->list) {
        struct fault *x = container_of(n, struct fault, node);
        if (!fits(x, verb, target))
            continue;
        if (x->skip > 0) {
            x->skip--;
            continue;
        }
        taken = *x;
        f->taken++;
        if (x->times && --x->times == 0) {
            list_remove(&x->node);
            free(x);
        }
        return taken;
    }
    return target && rng_below(&f->rng, 100) < f->chance ? random_fault(f) : taken;
}

static const char *kind_name(enum fault_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].kind == kind)
            return kinds[i].name;
    }
    return "none";
}

void faults_put(struct buf *out, const struct faults *f)
{
    const char *comma = "";
    buf_putc(out, '[');
    list_for_each(n, &f->list) {
        const struct fault *x = container_of(n, struct fault, node);
        buf_printf(out, "%s{\"do\":\"%s\",\"number\":%llu,\"times\":%llu,\"verb\":", comma,
                   kind_name(x->kind), (unsigned long long)x->number, (unsigned long long)x->times);
        json_put_string(out, str_of(x->verb));
        buf_puts(out, ",\"path\":");
        json_put_string(out, str_of(x->path));
        buf_putc(out, '}');
        comma = ",";
    }
    buf_putc(out, ']');
}

void faults_help(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        buf_printf(out, "  %-10s %s\n", kinds[i].name, kinds[i].help);
}
