/*
 * A CronJob and its Jobs: each Job runs one pod to completion; the last two Jobs are kept.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "demo.h"

enum {
    RUN_MS = 5 * SECOND,
    CREATE_MS = 600,
    NOTICE_MS = 500,
    HISTORY = 2, /* successfulJobsHistoryLimit */
};

#define NS   "billing"
#define CRON "invoices"

struct run {
    struct list node; /* in demo->jobs, the oldest first */
    struct turn turn;
    struct owner owner;
    enum {
        RUN_NEW,
        RUN_ACTIVE,
        RUN_COMPLETE
    } state;
    char labels[3 * DEMO_NAME_SIZE];
    char started[STORE_TIME_SIZE];
    char finished[STORE_TIME_SIZE];
    struct managers managers;
};

static struct pod *pod_of(const struct demo *demo, const struct run *run)
{
    list_for_each(n, &demo->pods) {
        struct pod *pod = container_of(n, struct pod, node);
        if (pod->owner == &run->owner)
            return pod;
    }
    return NULL;
}

static void put_done(struct buf *out, const struct run *run, const char *type)
{
    text_put(out, "{'type':'%s','status':'True','lastProbeTime':'%s','lastTransitionTime':'%s',",
             type, run->finished, run->finished);
    text_put(out, "'reason':'CompletionsReached',"
                  "'message':'Reached expected number of succeeded pods'}");
}

static void put_status(struct buf *out, const struct run *run)
{
    text_put(out, "'status':{");
    if (run->state != RUN_NEW)
        text_put(out, "'startTime':'%s',", run->started);
    if (run->state == RUN_COMPLETE) {
        text_put(out, "'conditions':[");
        put_done(out, run, "SuccessCriteriaMet");
        text_put(out, ",");
        put_done(out, run, "Complete");
        text_put(out, "],'completionTime':'%s','succeeded':1,", run->finished);
    }
    text_put(out, "'active':%d,'terminating':0,'uncountedTerminatedPods':{},'ready':0}",
             run->state == RUN_ACTIVE);
}

static void run_write(struct demo *demo, struct run *run, const char *subresource,
                      const char *fields)
{
    struct owner *o = &run->owner;
    struct buf text = {0};
    managers_write(&run->managers, "kube-controller-manager", subresource, fields);
    text_put(&text, "{'metadata':{'name':'%s','namespace':'%s','generation':1,", o->name, o->ns);
    text_put(&text, "'labels':{'app':'%s'%s},'ownerReferences':[{'apiVersion':'batch/v1',", o->app,
             o->extra);
    text_put(&text, "'kind':'CronJob','name':'" CRON "','uid':'%s',", demo->cron_uid);
    text_put(&text, "'controller':true,'blockOwnerDeletion':true}]");
    managers_put(&text, &run->managers, "batch/v1");
    text_put(&text, "},'spec':{'parallelism':1,'completions':1,'backoffLimit':6,");
    text_put(&text, "'completionMode':'NonIndexed','suspend':false,'template':{'metadata':{");
    text_put(&text, "'labels':{'app':'%s'%s}},'spec':{'containers':[{'name':'%s','image':'%s'}],",
             o->app, o->extra, o->app, o->image);
    text_put(&text, "'restartPolicy':'%s'}}},", o->policy);
    put_status(&text, run);
    text_put(&text, "}");
    demo_put(demo, "jobs.batch", o->ns, o->name, &text, o->uid);
}

static void on_pod(struct demo *demo, struct owner *owner)
{
    struct run *run = container_of(owner, struct run, owner);
    if (run->state == RUN_ACTIVE && !run->turn.waiting)
        turn_in(demo, &run->turn, NOTICE_MS);
}

static void run_free(struct demo *demo, struct run *run)
{
    turn_cancel(demo, &run->turn);
    list_remove(&run->node);
    free(run);
}

/* Deletes the oldest Job beyond the limit, after its pod is gone. */
static void delete_old_sets(struct demo *demo)
{
    unsigned count = 0;
    list_for_each(n, &demo->jobs)
        count++;
    list_for_each_safe(n, &demo->jobs) {
        struct run *run = container_of(n, struct run, node);
        struct pod *pod = pod_of(demo, run);
        if (run->state != RUN_COMPLETE || count-- <= HISTORY)
            return;
        if (pod) {
            pod_delete(demo, pod);
            continue;
        }
        demo_delete(demo, "jobs.batch", run->owner.ns, run->owner.name);
        run_free(demo, run);
    }
}

static void complete(struct demo *demo, struct run *run)
{
    struct involved self = {"Job", "batch/v1", NS, run->owner.name, run->owner.uid, NULL};
    run->state = RUN_COMPLETE;
    store_now(run->finished);
    run_write(demo, run, "status", "{'f:status':{'f:completionTime':{},'f:conditions':{}}}");
    event_write(demo, &self, "job-controller", "Completed", "Job completed");
    delete_old_sets(demo);
}

/* A pod that was evicted is replaced. */
static void play(struct demo *demo, struct turn *turn)
{
    struct run *run = container_of(turn, struct run, turn);
    struct pod *pod = pod_of(demo, run);
    if (run->state == RUN_NEW) {
        run->state = RUN_ACTIVE;
        store_now(run->started);
        run_write(demo, run, "status", "{'f:status':{'f:active':{},'f:startTime':{}}}");
        pod_new(demo, &run->owner);
    } else if (!pod) {
        pod_new(demo, &run->owner);
    } else if (pod->state == POD_DONE) {
        complete(demo, run);
    }
}

void cron_run(struct demo *demo)
{
    struct run *run = NEW(struct run);
    struct owner *o = &run->owner;
    struct involved self = {"CronJob", "batch/v1", NS, CRON, demo->cron_uid, NULL};
    *o = (struct owner){.api_version = "batch/v1",
                        .kind = "Job",
                        .ns = NS,
                        .app = CRON,
                        .policy = "OnFailure",
                        .image = "billing/invoices:2.3.0",
                        .run_ms = RUN_MS,
                        .changed = on_pod};
    snprintf(o->name, sizeof(o->name), CRON "-%u", demo->job_number++);
    snprintf(run->labels, sizeof(run->labels), ",'batch.kubernetes.io/job-name':'%s'", o->name);
    o->extra = run->labels;
    pick_digest(demo, o->digest);
    run->turn.play = play;
    list_push(&demo->jobs, &run->node);
    run_write(demo, run, "", "{'f:metadata':{},'f:spec':{}}");
    event_write(demo, &self, "cronjob-controller", "SuccessfulCreate", "Created job %s", o->name);
    turn_in(demo, &run->turn, CREATE_MS);
}

void cron_start(struct demo *demo)
{
    struct buf text = {0};
    demo->job_number = 29713400; /* minutes since 1970, as the CronJob controller names its jobs */
    text_put(&text, "{'metadata':{'name':'" CRON "','namespace':'" NS "','generation':1},");
    text_put(&text, "'spec':{'schedule':'*/5 * * * *','concurrencyPolicy':'Forbid',"
                    "'suspend':false,'successfulJobsHistoryLimit':2,'failedJobsHistoryLimit':1,"
                    "'jobTemplate':{'spec':{'template':{'spec':{'containers':[{'name':'" CRON "',"
                    "'image':'billing/invoices:2.3.0'}],"
                    "'restartPolicy':'OnFailure'}}}}},'status':{}}");
    demo_put(demo, "cronjobs.batch", NS, CRON, &text, demo->cron_uid);
}

void cron_free(struct demo *demo)
{
    list_for_each_safe(n, &demo->jobs)
        run_free(demo, container_of(n, struct run, node));
}
