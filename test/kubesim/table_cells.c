/*
 * table_cells.c - reads fields of objects and writes cells of a Table. A field that is missing or of another type is
 * empty or 0.
 */
#include "table_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/text/json_string.h"
#include "base/text/timestamp.h"

/* ---- fields ---- */

yyjson_val *field_at(yyjson_val *object, const char *path)
{
    while (object && *path) {
        size_t len = strcspn(path, ".");
        object = yyjson_obj_getn(object, path, len);
        path += len + (path[len] == '.');
    }
    return object;
}

const char *field_text(yyjson_val *object, const char *path)
{
    const char *text = yyjson_get_str(field_at(object, path));
    return text ? text : "";
}

int64_t field_number(yyjson_val *object, const char *path)
{
    return yyjson_get_sint(field_at(object, path));
}

const char *field_condition(yyjson_val *object, const char *type)
{
    yyjson_val *condition;
    size_t i, max;
    yyjson_arr_foreach(field_at(object, "status.conditions"), i, max, condition)
    {
        if (strcmp(field_text(condition, "type"), type) == 0)
            return field_text(condition, "status");
    }
    return "";
}

bool condition_is_true(yyjson_val *object, const char *condition)
{
    return strcmp(field_condition(object, condition), "True") == 0;
}

/* ---- cells ---- */

void cell_text(struct buf *out, const char *text)
{
    json_put_string(out, str_of(text));
    buf_putc(out, ',');
}

void cell_text_or(struct buf *out, const char *text, const char *otherwise)
{
    cell_text(out, text[0] ? text : otherwise);
}

void cell_number(struct buf *out, int64_t n)
{
    buf_printf(out, "%lld,", (long long)n);
}

void cell_fraction(struct buf *out, int64_t some, int64_t all)
{
    buf_printf(out, "\"%lld/%lld\",", (long long)some, (long long)all);
}

void duration_format(int64_t s, char *ret, size_t size)
{
    long long m = s / 60, h = s / 3600, d = h / 24;
    if (s < -1)
        snprintf(ret, size, "<invalid>");
    else if (s < 120)
        snprintf(ret, size, "%llds", s < 0 ? 0LL : (long long)s);
    else if (m < 10 && s % 60)
        snprintf(ret, size, "%lldm%llds", m, (long long)s % 60);
    else if (m < 180)
        snprintf(ret, size, "%lldm", m);
    else if (h < 8 && m % 60)
        snprintf(ret, size, "%lldh%lldm", h, m % 60);
    else if (h < 48)
        snprintf(ret, size, "%lldh", h);
    else if (d < 8 && h % 24)
        snprintf(ret, size, "%lldd%lldh", d, h % 24);
    else if (d < 2 * 365)
        snprintf(ret, size, "%lldd", d);
    else if (d < 8 * 365 && d % 365)
        snprintf(ret, size, "%lldy%lldd", d / 365, d % 365);
    else
        snprintf(ret, size, "%lldy", d / 365);
}

bool field_time(yyjson_val *object, const char *path, int64_t *ret)
{
    int64_t us;
    if (timestamp_parse(field_text(object, path), &us) < 0)
        return false;
    *ret = us / 1000000;
    return true;
}

void cell_since(struct buf *out, yyjson_val *object, const char *path, int64_t now)
{
    char text[32] = "<unknown>";
    int64_t then;
    if (field_time(object, path, &then))
        duration_format(now - then, text, sizeof(text));
    cell_text(out, text);
}

void cell_name(struct buf *out, yyjson_val *object)
{
    cell_text(out, field_text(object, "metadata.name"));
}

void cell_age(struct buf *out, yyjson_val *object, int64_t now)
{
    cell_since(out, object, "metadata.creationTimestamp", now);
}

void cell_containers(struct buf *out, yyjson_val *object, const char *field)
{
    yyjson_val *container;
    struct buf text = {0};
    size_t i, max;
    yyjson_arr_foreach(field_at(object, "spec.template.spec.containers"), i, max, container)
        buf_printf(&text, "%s%s", i ? "," : "", field_text(container, field));
    buf_putc(&text, '\0');
    cell_text(out, text.bytes);
    buf_free(&text);
}

void cell_selector(struct buf *out, yyjson_val *object)
{
    yyjson_val *key, *value;
    struct buf text = {0};
    size_t i, max;
    yyjson_obj_foreach(field_at(object, "spec.selector.matchLabels"), i, max, key, value)
        buf_printf(&text, "%s%s=%s", i ? "," : "", yyjson_get_str(key), yyjson_get_str(value));
    buf_putc(&text, '\0');
    cell_text_or(out, text.bytes, "<none>");
    buf_free(&text);
}
