/*
 * A script: lines `MS COMMAND key=value ...` in the order of time, counted from the start. Empty
 * lines and lines that begin with # are ignored. A command that fails ends the program: a test that
 * continues without its faults would prove nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/file.h"
#include "control.h"
#include "fill.h"

enum {
    SCRIPT_MAX = 16 * 1024 * 1024, /* LIMIT: size of the file */
};

struct script {
    struct job job;
    char *text;
    char *at;
    uint64_t started;
};

static void script_free(struct job *job)
{
    struct script *s = container_of(job, struct script, job);
    free(s->text);
    free(s);
}

static void run_line(struct kubesim *sim, const char *command)
{
    size_t n = strcspn(command, " ");
    char *name = xstrndup(command, n);
    struct params params;
    struct buf out = {0};
    struct status status;
    struct command_call call = {.sim = sim, .params = &params, .out = &out, .ret = &status};
    params_parse(&params, command + n, strlen(command + n), ' ');
    call.body = params_get(&params, "body", "");
    call.body_len = strlen(call.body);
    if (!control_run(name, &call)) {
        fprintf(stderr, "kubesim: script: '%s': %s\n", command, status.message);
        exit(EXIT_FAILURE);
    }
    params_free(&params);
    buf_free(&out);
    free(name);
}

static void on_time(uv_timer_t *timer)
{
    struct script *s = container_of((struct job *)timer->data, struct script, job);
    while (s->at += strspn(s->at, " \t\r\n"), *s->at) {
        char *line = s->at, *end = line + strcspn(line, "\n"), *command;
        uint64_t due = strtoull(line, &command, 10);
        uint64_t passed = uv_now(&s->job.sim->loop) - s->started;
        if (command != line && due > passed) {
            uv_timer_start(timer, on_time, due - passed, 0);
            return;
        }
        s->at = *end ? end + 1 : end;
        *end = '\0';
        command += strspn(command, " \t");
        if (*command && *command != '#')
            run_line(s->job.sim, command);
    }
    job_end(&s->job);
}

int script_start(struct kubesim *sim, const char *path)
{
    struct script *s = NEW(struct script);
    struct inf_error err;
    size_t len;
    if (file_read(path, SCRIPT_MAX, &s->text, &len, &err) < 0) {
        fprintf(stderr, "kubesim: script: %s\n", err.text);
        free(s);
        return -1;
    }
    s->at = s->text;
    s->started = uv_now(&sim->loop);
    job_start(&s->job, sim, script_free);
    uv_timer_start(&s->job.timer, on_time, 0, 0);
    return 0;
}
