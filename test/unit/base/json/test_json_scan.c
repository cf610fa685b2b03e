/*
 * test_json_scan.c - the ends of values: scanning by blocks compared with byte by byte, and
 * whole texts with pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/json/json.h"
#include "base/json/json_block.h"
#include "base/rng.h"

enum {
    BLOCKS = 4,
    TEXTS = 20000,
    LONG = 300,
};

static void fill(struct rng *rng, char *text, size_t len, const char *alphabet)
{
    for (size_t i = 0; i < len; i++)
        text[i] = alphabet[rng_below(rng, strlen(alphabet))];
}

#if JSON_BLOCK

static uint64_t bit(bool set, size_t i)
{
    return set ? UINT64_C(1) << i : 0;
}

/* The result that json_block() must give, byte by byte. */
static struct json_marks bytewise(const char *at, bool *inside, bool *escaped)
{
    struct json_marks m = {0};
    for (size_t i = 0; i < JSON_BLOCK; i++) {
        bool hidden = *escaped, in = *inside;
        *escaped = in && !hidden && at[i] == '\\';
        if (at[i] == '"' && !hidden)
            in = *inside = !*inside;
        m.open |= bit(!in && (at[i] == '{' || at[i] == '['), i);
        m.close |= bit(!in && (at[i] == '}' || at[i] == ']'), i);
        m.space |= bit(!in && (unsigned char)at[i] <= ' ', i);
    }
    return m;
}

static void classify_blocks(json_classify_fn *classify, json_parity_fn *parity)
{
    static const char *const alphabets[] = {"\"\\{}[] a", "\\\"", "\\\\\\\\\"a",
                                            "{}[]:,\"\n\xff\x80\x7f"};
    struct rng rng = {.state = 7};
    for (size_t n = 0; n < TEXTS; n++) {
        char text[BLOCKS * JSON_BLOCK];
        struct json_carry carry = {0};
        bool inside = false, escaped = false;
        fill(&rng, text, sizeof(text), alphabets[n % ARRAY_LEN(alphabets)]);
        for (size_t i = 0; i < BLOCKS; i++) {
            struct json_marks want = bytewise(text + i * JSON_BLOCK, &inside, &escaped);
            struct json_marks got = json_block(classify, parity, text + i * JSON_BLOCK, &carry);
            assert_true(got.open == want.open && got.close == want.close &&
                        got.space == want.space);
            assert_true((carry.inside != 0) == inside && (carry.escaped != 0) == escaped);
        }
    }
}

static void classifies_a_block_like_its_bytes(void **state)
{
    (void)state;
    classify_blocks(json_classify, json_parity);
    if (json_has_avx2())
        classify_blocks(json_classify_avx2, json_parity_avx2);
}

/* Where the container that is open at @depth ends, bracket by bracket; the length of the blocks if
 * it continues. */
static size_t end_bytewise(const struct json_marks *marks, size_t depth)
{
    for (size_t i = 0; i < BLOCKS * JSON_BLOCK; i++) {
        const struct json_marks *m = &marks[i / JSON_BLOCK];
        depth += (m->open >> i % JSON_BLOCK & 1) - (m->close >> i % JSON_BLOCK & 1);
        if (depth == 0)
            return i + 1;
    }
    return BLOCKS * JSON_BLOCK;
}

static size_t end_by_blocks(json_count_fn *count, const struct json_marks *marks, size_t depth)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        struct json_marks m = marks[i];
        if (json_pass_block(count, &m, &depth))
            continue;
        for (uint64_t both = m.open | m.close; both; both &= both - 1)
            if ((depth += json_step(&m, both)) == 0)
                return i * JSON_BLOCK + (size_t)__builtin_ctzll(both) + 1;
    }
    return BLOCKS * JSON_BLOCK;
}

static void finds_the_last_bracket_of_a_container_by_blocks(void **state)
{
    static const char *const alphabets[] = {"{}", "{}      ", "{{}}}  a", "{}{}{}}"};
    struct rng rng = {.state = 13};
    (void)state;
    for (size_t n = 0; n < TEXTS; n++) {
        char text[BLOCKS * JSON_BLOCK];
        struct json_marks marks[BLOCKS];
        struct json_carry carry = {0};
        size_t depth = 1 + rng_below(&rng, 70);
        fill(&rng, text, sizeof(text), alphabets[n % ARRAY_LEN(alphabets)]);
        for (size_t i = 0; i < BLOCKS; i++)
            marks[i] = json_block(json_classify, json_parity, text + i * JSON_BLOCK, &carry);
        assert_int_equal(end_by_blocks(json_count, marks, depth), end_bytewise(marks, depth));
        if (json_has_avx2())
            assert_int_equal(end_by_blocks(json_count_avx2, marks, depth),
                             end_bytewise(marks, depth));
    }
}

#endif

/* A string of every length, ending in every number of backslashes, with brackets in it and a
 * container around it: the end is found wherever blocks begin and end. */
static void finds_the_end_of_a_string_at_every_length(void **state)
{
    (void)state;
    for (size_t len = 0; len < LONG; len++)
        for (size_t slashes = 0; slashes <= 4 && slashes <= len; slashes += 2) {
            char text[LONG + 32] = "{\"a\":[\"";
            struct json_scan scan = {0};
            struct json_walk walk;
            struct json_member member;
            size_t head = strlen(text), value, whole;
            bool ended;
            memset(text + head, ']', len - slashes);
            memset(text + head + len - slashes, '\\', slashes);
            strcpy(text + head + len, "\",1]}");
            whole = strlen(text);
            value = whole - strlen("{\"a\":") - 1;
            strcat(text, " ]}");
            json_walk_start(&walk, str_of(text));
            assert_true(json_walk_next(&walk, &member));
            assert_int_equal(member.value.len, value);
            assert_int_equal(json_scan_value(&scan, str_of(text), &ended), whole);
            assert_true(ended);
        }
}

/* Texts that end anywhere, also after a backslash, in memory of the same size, so that the address
 * sanitizer detects accesses beyond it. */
static void reads_nothing_after_the_end_of_the_text(void **state)
{
    struct rng rng = {.state = 11};
    (void)state;
    for (size_t len = 1; len < LONG; len++)
        for (int n = 0; n < 20; n++) {
            char *text = malloc(len);
            struct buf out = {0};
            struct json_walk walk;
            struct str item;
            fill(&rng, text, len, n % 2 ? "{\\\"" : "\"\\{}[] :,a");
            text[0] = '[';
            json_items_start(&walk, (struct str){text, len});
            while (json_items_next(&walk, &item))
                json_compact(&out, item);
            buf_free(&out);
            free(text);
        }
}

/* The end of the container at the front of @text, found byte by byte; @len if it is incomplete. */
static size_t container_end_bytewise(const char *text, size_t len)
{
    size_t depth = 0;
    bool inside = false, escaped = false;
    for (size_t i = 0; i < len; i++) {
        bool hidden = escaped;
        escaped = inside && !hidden && text[i] == '\\';
        if (text[i] == '"' && !hidden)
            inside = !inside;
        else if (!inside && (text[i] == '{' || text[i] == '['))
            depth++;
        else if (!inside && (text[i] == '}' || text[i] == ']') && --depth == 0)
            return i + 1;
    }
    return len;
}

static size_t container_end_in_pieces(const char *text, size_t len, size_t piece)
{
    struct json_scan scan = {0};
    bool ended = false;
    size_t at = 0;
    while (at < len && !ended)
        at += json_scan_value(&scan, (struct str){text + at, len - at < piece ? len - at : piece},
                              &ended);
    return at;
}

/* The alphabets contain backslashes outside of strings, which JSON does not allow. */
static void finds_the_same_end_however_the_text_is_cut(void **state)
{
    static const char *const alphabets[] = {"\"\\{}[] a", "\\\"{", "\\\\\"a{}      ", "{[:,\\\"\n"};
    struct rng rng = {.state = 17};
    (void)state;
    for (size_t n = 0; n < TEXTS; n++) {
        char text[LONG];
        size_t len = 2 + rng_below(&rng, LONG - 1), end;
        struct json_walk walk;
        struct str item;
        fill(&rng, text, len, alphabets[n % ARRAY_LEN(alphabets)]);
        text[0] = '[';
        end = container_end_bytewise(text, len);
        assert_int_equal(container_end_in_pieces(text, len, len), end);
        assert_int_equal(container_end_in_pieces(text, len, 1 + rng_below(&rng, 100)), end);
        memmove(text + 1, text, --len); /* the same as the first item of an array */
        assert_true(json_items_start(&walk, (struct str){text, len + 1}));
        assert_true(json_items_next(&walk, &item));
        assert_int_equal(item.len, container_end_bytewise(text + 1, len));
    }
}

/* Whether all white space is inside strings, byte by byte. */
static bool is_compact_bytewise(const char *text, size_t len)
{
    bool inside = false, escaped = false;
    for (size_t i = 0; i < len; i++) {
        bool hidden = escaped;
        escaped = inside && !hidden && text[i] == '\\';
        if (text[i] == '"' && !hidden)
            inside = !inside;
        else if (!inside && text[i] == ' ')
            return false;
    }
    return true;
}

static void finds_white_space_next_to_stray_backslashes(void **state)
{
    struct rng rng = {.state = 19};
    (void)state;
    for (size_t n = 0; n < TEXTS; n++) {
        char text[LONG];
        size_t len = rng_below(&rng, LONG);
        fill(&rng, text, len, "\\\"aaaaaaaaaaaaaaaa");
        if (len)
            text[rng_below(&rng, len)] = ' ';
        assert_int_equal(json_is_compact((struct str){text, len}), is_compact_bytewise(text, len));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if JSON_BLOCK
        cmocka_unit_test(classifies_a_block_like_its_bytes),
        cmocka_unit_test(finds_the_last_bracket_of_a_container_by_blocks),
#endif
        cmocka_unit_test(finds_the_end_of_a_string_at_every_length),
        cmocka_unit_test(reads_nothing_after_the_end_of_the_text),
        cmocka_unit_test(finds_the_same_end_however_the_text_is_cut),
        cmocka_unit_test(finds_white_space_next_to_stray_backslashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
