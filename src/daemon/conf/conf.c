/*
 * conf.c - loads configuration files into a struct conf.
 *
 * Normal path: conf_load() parses the file and those in conf.d, then build_conf() sets the
 * defaults, reads each file over them, and checks the options together. A file that cannot be read
 * is an error, but the other files are read nevertheless, so that all errors are reported at once.
 */
#include "daemon/conf/conf.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text/yaml.h"
#include "daemon/conf/conf_dirs.h"
#include "daemon/conf/conf_error.h"
#include "daemon/conf/conf_finalize.h"

/* ---- files ---- */

static void add_text(struct conf *conf, const char *name, const char *text, size_t len,
                     struct conf_errors *errors)
{
    struct yaml_node *root = NULL;
    struct inf_error err;
    if (yaml_parse_loose(name, text, len, &root, &err) < 0) {
        conf_error_line(errors, err.text);
        return;
    }
    conf->files = xrealloc(conf->files, (conf->n_files + 1) * sizeof(struct yaml_node *));
    conf->files[conf->n_files++] = root;
}

static void add_file(struct conf *conf, const char *path, struct conf_errors *errors)
{
    struct inf_error err;
    char *text = NULL;
    size_t len = 0;
    if (file_read_unnamed(path, YAML_TEXT_MAX, &text, &len, &err) < 0) {
        err_wrap(&err, "configuration file '%s'", path);
        conf_error_line(errors, err.text);
    } else {
        add_text(conf, path, text, len, errors);
    }
    free(text);
}

/* ---- conf.d ---- */

static int is_conf(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* independent of the locale */
}

/* Reads the directory conf.d next to @path. It may be missing. */
static void add_directory(struct conf *conf, const char *path, struct conf_errors *errors)
{
    const char *slash = strrchr(path, '/');
    char *dir = xasprintf("%.*sconf.d", slash ? (int)(slash - path) + 1 : 0, path), *line = NULL;
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, is_conf, by_bytes);
    if (count < 0 && errno != ENOENT)
        line = xasprintf("directory '%s': %s", dir, strerror(errno));
    else if (count > CONF_FILES_MAX)
        line = xasprintf("%s: more than %d files", dir, CONF_FILES_MAX);
    if (line)
        conf_error_line(errors, line);
    for (int i = 0; i < count; i++) {
        char *file = xasprintf("%s/%s", dir, entries[i]->d_name);
        if (i < CONF_FILES_MAX)
            add_file(conf, file, errors);
        free(file);
        free(entries[i]);
    }
    free(entries);
    free(line);
    free(dir);
}

/* ---- loading ---- */

/* Fills @conf from its parsed files and moves it to @ret. Returns 0, or -INF_ECONF after freeing
 * @conf. */
static int build_conf(struct conf *conf, struct conf *ret, struct conf_errors *errors)
{
    struct conf_reader reader = {.errors = errors};
    conf_presets(&reader, &conf_table, conf);
    for (size_t i = 0; i < conf->n_files; i++)
        if (!yaml_is_null(conf->files[i]))
            conf_read(&reader, &conf_table, conf->files[i], conf);
    conf_finalize(&reader, conf);
    buf_free(&reader.path);
    conf_errors_close(errors);
    if (errors->count) {
        conf_free(conf);
        return -INF_ECONF;
    }
    *ret = *conf;
    return 0;
}

int conf_load_text(const char *name, const char *text, size_t len, struct conf *ret,
                   struct conf_errors *errors)
{
    struct conf conf = {0};
    add_text(&conf, name, text, len, errors);
    return build_conf(&conf, ret, errors);
}

int conf_load(const char *path, struct conf *ret, struct conf_errors *errors)
{
    struct conf conf = {0};
    int rc;
    add_file(&conf, path, errors);
    add_directory(&conf, path, errors);
    rc = build_conf(&conf, ret, errors);
    if (rc == 0)
        conf_dirs_default(ret);
    return rc;
}

void conf_free(struct conf *conf)
{
    struct yaml_node **files = conf->files;
    size_t n_files = conf->n_files;
    conf_struct_free(&conf_table, conf);
    for (size_t i = 0; i < n_files; i++)
        yaml_tree_free(files[i]);
    free(files);
}
