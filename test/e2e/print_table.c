/*
 * print_table.c - the rows that daemon/table prints for objects, for the scenario `tables`, which compares
 * them with the server's; and the time that they take.
 *
 *     print_table GROUP RESOURCE NOW_US [COLUMNS [ROUNDS]] < OBJECTS
 *
 * Reads one object in JSON per line and writes a Table with the metadata of the objects. COLUMNS is the
 * JSON array `additionalPrinterColumns` of a custom resource; "" for a built-in one. With ROUNDS it prints
 * all rows that many times, and writes the nanoseconds per row instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "core/object/object.h"
#include "daemon/table/table.h"

struct objects {
    struct inf_object **items;
    size_t count;
};

static void die(const char *what, const struct inf_error *err)
{
    fprintf(stderr, "print_table: %s: %s\n", what, err->text);
    exit(1);
}

static void read_objects(struct objects *objects)
{
    struct object_maker maker = {0};
    struct inf_error err = {0};
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&line, &size, stdin)) > 0) {
        objects->items = xrealloc(objects->items, (objects->count + 1) * sizeof(*objects->items));
        if (object_make(&maker, (struct str){line, (size_t)len}, NULL,
                        &objects->items[objects->count++], &err) < 0)
            die("object", &err);
    }
    free(line);
    object_maker_free(&maker);
}

static void put_rows(const struct table_printer *printer, const struct objects *objects,
                     int64_t now_us, struct buf *out)
{
    for (size_t i = 0; i < objects->count; i++) {
        if (i)
            buf_putc(out, ',');
        table_put_row(printer, objects->items[i], now_us, TABLE_OBJECT_METADATA, out);
    }
}

static void print_table(const struct table_printer *printer, const struct objects *objects,
                        int64_t now_us)
{
    struct buf out = {0};
    buf_puts(&out, "{\"columnDefinitions\":");
    table_put_columns(printer, &out);
    buf_puts(&out, ",\"rows\":[");
    put_rows(printer, objects, now_us, &out);
    buf_puts(&out, "]}");
    printf("%.*s\n", (int)out.len, out.bytes);
    buf_free(&out);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void measure(const struct table_printer *printer, const struct objects *objects,
                    int64_t now_us, long rounds)
{
    struct buf out = {0};
    double start = seconds_now();
    for (long i = 0; i < rounds; i++) {
        buf_clear(&out);
        put_rows(printer, objects, now_us, &out);
    }
    printf("%.0f ns per row, %zu bytes\n",
           (seconds_now() - start) * 1e9 / (double)rounds / (double)objects->count,
           out.len / objects->count);
    buf_free(&out);
}

int main(int argc, char **argv)
{
    struct objects objects = {0};
    struct inf_error err = {0};
    struct table_printer *custom = NULL;
    const struct table_printer *printer;
    int64_t now_us;
    if (argc < 4) {
        fputs("usage: print_table GROUP RESOURCE NOW_US [COLUMNS [ROUNDS]] < OBJECTS\n", stderr);
        return 64;
    }
    if (argc > 4 && *argv[4]) {
        custom = table_printer_from_json(str_of(argv[4]), &err);
        if (!custom)
            die("columns", &err);
    }
    printer = custom ? custom : table_printer_find(argv[1], argv[2]);
    now_us = strtoll(argv[3], NULL, 10);
    read_objects(&objects);
    if (argc > 5 && objects.count)
        measure(printer, &objects, now_us, strtol(argv[5], NULL, 10));
    else
        print_table(printer, &objects, now_us);
    for (size_t i = 0; i < objects.count; i++)
        inf_object_unref(objects.items[i]);
    free(objects.items);
    table_printer_free(custom);
    return 0;
}
