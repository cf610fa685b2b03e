/*
 * replay_pods.c - the texts of pods with their placeholders: one template per deployment.
 *
 * A placeholder is a tilde and a run of one letter: `~vvvvvvvvv`. The letter selects what replaces it,
 * in the width of the placeholder. Numbers have no leading zero, so that they are valid in JSON: 1 and
 * zeros, plus the value. Other letters stand for digits that only depend on the pod and the letter,
 * so that no two pods have the same ids and addresses:
 *
 *     d e f g h   seconds, 10 to 59        o q u w   a byte of an address, 100 to 255
 *     x y z b j   hexadecimal digits       c         a suffix as of a generated name
 *     p           such a suffix that no other pod has
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "replay.h"

enum {
    APPS = 100, /* distinct values of the label: a selector matches one pod in a hundred */
    NODES = 500,
    NAME_MAX_LEN = 80, /* LIMIT: bytes of a name, with the NUL */
};

#define BEFORE_NAME "\"metadata\":{\"name\":\"" /* how each template begins */

static const char suffix_letters[] = "bcdfghjklmnpqrstvwxz2456789";

/* The same for one pod and letter, and otherwise as if random (splitmix64). */
static uint64_t mixed(uint64_t pod, uint64_t letter)
{
    uint64_t x = (pod << 8 | letter) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t placeholder_value(const struct world *w, char letter, uint32_t pod,
                                  struct state state)
{
    switch (letter) {
    case 'i': return pod;
    case 'n': return pod % w->namespaces;
    case 'a': return pod / w->namespaces % APPS;
    case 'k': return pod / w->namespaces % NODES;
    case 'v': return state.version;
    case 'r': return state.version % 900; /* restarts */
    case 't': return state.version % 50;  /* seconds, 10 to 59 */
    case 's': return state.sent_ns;
    default: return mixed(pod, (unsigned char)letter);
    }
}

static void find_placeholders(struct template *t)
{
    for (char *at = t->text; (at = strchr(at, '~')) != NULL;) {
        struct placeholder *placeholder = &t->placeholders[t->n_placeholders++];
        unsigned width = 1;
        while (at[width] == at[1])
            width++;
        if (t->n_placeholders == PLACEHOLDERS_MAX || !strchr("inakvrtsdefghoquwxyzbjcp", at[1])) {
            fprintf(stderr, "replay: the template has too many placeholders, or an invalid one\n");
            exit(EXIT_FAILURE);
        }
        *placeholder =
            (struct placeholder){.at = (size_t)(at - t->text), .width = width, .letter = at[1]};
        at += width;
    }
}

/* Takes over @line, with its line end. */
static void add_template(struct world *w, char *line)
{
    struct template *t;
    w->templates = xrealloc(w->templates, (w->n_templates + 1) * sizeof(*w->templates));
    t = &w->templates[w->n_templates++];
    *t = (struct template){.text = line, .len = strcspn(line, "\n") - 1};
    memmove(t->text, t->text + 1, t->len); /* the sender adds the opening brace */
    t->text[t->len] = '\0';
    find_placeholders(t);
    w->longest = t->len > w->longest ? t->len : w->longest;
}

static void read_templates(struct world *w, const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    while (f && getline(&line, &room, f) >= 2) {
        add_template(w, line);
        line = NULL;
    }
    free(line);
    if (!w->n_templates) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fclose(f);
}

struct key {
    uint32_t ns;
    char name[NAME_MAX_LEN];
    uint32_t pod;
};

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : strcmp(x->name, y->name);
}

static struct key key_of(const struct world *w, uint32_t pod, char *text)
{
    struct key key = {pod % w->namespaces, "", pod};
    size_t len;
    pod_write(w, pod, w->pods[pod], text);
    len = strcspn(text + strlen(BEFORE_NAME), "\"");
    if (strncmp(text, BEFORE_NAME, strlen(BEFORE_NAME)) != 0 || len >= sizeof(key.name)) {
        fprintf(stderr, "replay: the template does not begin with a name, or it is too long\n");
        exit(EXIT_FAILURE);
    }
    memcpy(key.name, text + strlen(BEFORE_NAME), len);
    return key;
}

static void sort_pods(struct world *w)
{
    struct key *keys = xcalloc(w->n_pods, sizeof(*keys));
    char *text = xmalloc(w->longest);
    for (uint32_t i = 0; i < w->n_pods; i++)
        keys[i] = key_of(w, i, text);
    qsort(keys, w->n_pods, sizeof(*keys), by_key);
    w->in_order = xcalloc(w->n_pods, sizeof(*w->in_order));
    for (uint32_t i = 0; i < w->n_pods; i++)
        w->in_order[i] = keys[i].pod;
    free(keys);
    free(text);
}

void world_init(struct world *w, const char *template_path, uint32_t pods, uint32_t namespaces)
{
    *w = (struct world){.n_pods = pods, .namespaces = namespaces, .version = pods};
    w->pods = xcalloc(pods, sizeof(*w->pods));
    for (uint32_t i = 0; i < pods; i++)
        w->pods[i].version = i + 1;
    read_templates(w, template_path);
    sort_pods(w);
}

void world_free(struct world *w)
{
    free(w->in_order);
    for (size_t i = 0; i < w->n_templates; i++)
        free(w->templates[i].text);
    free(w->templates);
    free(w->pods);
    free(w->changes);
}

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void record_change(struct world *w, struct change change)
{
    if (w->n_changes == w->room) {
        w->room = w->room ? w->room * 2 : 1024;
        w->changes = xrealloc(w->changes, w->room * sizeof(*w->changes));
    }
    w->changes[w->n_changes++] = change;
}

/* One after the other, so that all namespaces change equally. */
void world_change(struct world *w, bool secret)
{
    uint32_t pod = (uint32_t)(w->version % w->n_pods);
    struct state state = {.version = ++w->version, .sent_ns = now_ns()};
    w->pods[pod] = state;
    if (!secret)
        record_change(w, (struct change){pod, state});
}

static uint64_t power_of_ten(unsigned n)
{
    return n ? 10 * power_of_ten(n - 1) : 1;
}

uint64_t version_text(uint64_t version)
{
    return power_of_ten(9) + version;
}

static void put_number(char *out, const struct placeholder *placeholder, uint64_t left)
{
    for (unsigned digit = placeholder->width; digit-- > 0; left /= 10)
        out[digit] = (char)('0' + left % 10 + (digit == 0));
}

static void put_small(char *out, unsigned width, uint64_t value)
{
    for (unsigned digit = width; digit-- > 0; value /= 10)
        out[digit] = (char)('0' + value % 10);
}

static void put_letters(char *out, const struct placeholder *placeholder, const char *letters,
                        uint64_t value)
{
    size_t n = strlen(letters);
    for (unsigned i = 0; i < placeholder->width; i++) {
        out[i] = letters[value % n];
        value /= n;
        if (i % 12 == 11 && n == 16)
            value = mixed(value, i); /* there are only 16 digits in a number */
    }
}

static void fill_placeholder(char *out, const struct placeholder *placeholder, uint32_t pod,
                             uint64_t value)
{
    switch (placeholder->letter) {
    case 'd':
    case 'e':
    case 'f':
    case 'g':
    case 'h': put_small(out, placeholder->width, 10 + value % 50); break;
    case 'o':
    case 'q':
    case 'u':
    case 'w': put_small(out, placeholder->width, 100 + value % 156); break;
    case 'x':
    case 'y':
    case 'z':
    case 'b':
    case 'j': put_letters(out, placeholder, "0123456789abcdef", value); break;
    case 'c': put_letters(out, placeholder, suffix_letters, value); break;
    case 'p': put_letters(out, placeholder, suffix_letters, pod * UINT64_C(7368787)); break;
    default: put_number(out, placeholder, value);
    }
}

size_t pod_size(const struct world *w, uint32_t pod)
{
    return w->templates[pod % w->n_templates].len;
}

size_t pod_write(const struct world *w, uint32_t pod, struct state state, char *out)
{
    const struct template *t = &w->templates[pod % w->n_templates];
    memcpy(out, t->text, t->len);
    for (size_t i = 0; i < t->n_placeholders; i++)
        fill_placeholder(out + t->placeholders[i].at, &t->placeholders[i], pod,
                         placeholder_value(w, t->placeholders[i].letter, pod, state));
    return t->len;
}

uint32_t pods_in(const struct world *w, int ns)
{
    return ns == EVERYWHERE ? w->n_pods
                            : (w->n_pods + w->namespaces - 1 - (uint32_t)ns) / w->namespaces;
}

/* The place of the first pod of a namespace in the order of all. */
static uint32_t first_of(const struct world *w, uint32_t ns)
{
    uint32_t larger = w->n_pods % w->namespaces; /* the first ones have one more */
    return ns * (w->n_pods / w->namespaces) + (ns < larger ? ns : larger);
}

uint32_t pod_in(const struct world *w, int ns, uint32_t k)
{
    return w->in_order[ns == EVERYWHERE ? k : first_of(w, (uint32_t)ns) + k];
}
