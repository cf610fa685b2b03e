/*
 * A deployment and its ReplicaSets as JSON.
 */
#include <stdio.h>

#include "demo.h"

static void put_template(struct buf *out, const struct app *app, const char *labels,
                         const char *image)
{
    text_put(out, "'template':{'metadata':{'labels':{'app':'%s'%s}},", app->name, labels);
    text_put(out, "'spec':{'containers':[{'name':'%s','image':'%s',", app->name, image);
    text_put(out, "'resources':{'limits':{'memory':'256Mi'},"
                  "'requests':{'cpu':'100m','memory':'128Mi'}},"
                  "'terminationMessagePath':'/dev/termination-log',"
                  "'terminationMessagePolicy':'File','imagePullPolicy':'IfNotPresent'}],"
                  "'restartPolicy':'Always','terminationGracePeriodSeconds':30,"
                  "'dnsPolicy':'ClusterFirst','securityContext':{},"
                  "'schedulerName':'default-scheduler'}}");
}

static void put_condition(struct buf *out, const char *type, bool is, const char *since,
                          const char *reason, const char *message)
{
    text_put(out, "{'type':'%s','status':'%s','lastUpdateTime':'%s','lastTransitionTime':'%s',",
             type, is ? "True" : "False", since, since);
    text_put(out, "'reason':'%s','message':'%s'}", reason, message);
}

static void put_conditions(struct buf *out, const struct app *app)
{
    bool available = !app->status.missing, rolling = app->status.rolling;
    text_put(out, "'conditions':[");
    put_condition(out, "Available", available, app->turned,
                  available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                  available ? "Deployment has minimum availability."
                            : "Deployment does not have minimum availability.");
    text_put(out, ",");
    put_condition(out, "Progressing", true, app->moved,
                  rolling ? "ReplicaSetUpdated" : "NewReplicaSetAvailable",
                  rolling ? "ReplicaSet is progressing."
                          : "ReplicaSet has successfully progressed.");
    text_put(out, "]");
}

static void put_status(struct buf *out, const struct app *app)
{
    const struct app_status *s = &app->status;
    text_put(out, "'status':{");
    if (s->seen) {
        text_put(out, "'observedGeneration':%u,'replicas':%u,'updatedReplicas':%u,", s->seen,
                 s->count, s->updated);
        text_put(out, "'readyReplicas':%u,'availableReplicas':%u,", s->ready, s->ready);
        if (s->missing)
            text_put(out, "'unavailableReplicas':%u,", s->missing);
        put_conditions(out, app);
    }
    text_put(out, "}");
}

void app_write(struct demo *demo, struct app *app)
{
    struct buf text = {0};
    char image[DEMO_NAME_SIZE];
    snprintf(image, sizeof(image), "%s:1.%u.%u", app->repository, app->minor, app->patch);
    text_put(&text, "{'metadata':{'name':'%s','namespace':'%s','generation':%u,", app->name,
             app->ns, app->generation);
    text_put(&text, "'labels':{'app':'%s'},'annotations':{'deployment.kubernetes.io/revision':",
             app->name);
    text_put(&text, "'%u'}", app->revision ? app->revision : 1);
    managers_put(&text, &app->managers, "apps/v1");
    text_put(&text, "},'spec':{'replicas':%u,'selector':{'matchLabels':{'app':'%s'}},", app->want,
             app->name);
    put_template(&text, app, "", image);
    text_put(&text, ",'strategy':{'type':'RollingUpdate','rollingUpdate':"
                    "{'maxUnavailable':0,'maxSurge':1}},'revisionHistoryLimit':2,"
                    "'progressDeadlineSeconds':600},");
    put_status(&text, app);
    text_put(&text, "}");
    demo_put(demo, "deployments.apps", app->ns, app->name, &text, app->uid);
}

static void put_set_metadata(struct buf *out, const struct set *set)
{
    const struct app *app = set->app;
    text_put(out, "'metadata':{'name':'%s','namespace':'%s','generation':%u,", set->owner.name,
             app->ns, set->generation);
    text_put(out, "'labels':{'app':'%s'%s},'annotations':{", app->name, set->owner.extra);
    text_put(out, "'deployment.kubernetes.io/desired-replicas':'%u',", app->want);
    text_put(out, "'deployment.kubernetes.io/max-replicas':'%u',", app->want + 1);
    text_put(out, "'deployment.kubernetes.io/revision':'%u'},", set->revision);
    text_put(out, "'ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':'%s',",
             app->name);
    text_put(out, "'uid':'%s','controller':true,'blockOwnerDeletion':true}]", app->uid);
    managers_put(out, &set->managers, "apps/v1");
    text_put(out, "}");
}

void set_write(struct demo *demo, struct set *set)
{
    const struct app *app = set->app;
    struct buf text = {0};
    text_put(&text, "{");
    put_set_metadata(&text, set);
    text_put(&text, ",'spec':{'replicas':%u,'selector':{'matchLabels':{'app':'%s'%s}},", set->want,
             app->name, set->owner.extra);
    put_template(&text, app, set->owner.extra, set->owner.image);
    text_put(&text, "},'status':{'replicas':%u,'fullyLabeledReplicas':%u,", set->count, set->count);
    text_put(&text, "'readyReplicas':%u,'availableReplicas':%u,'observedGeneration':%u}}",
             set->ready, set->ready, set->seen);
    demo_put(demo, "replicasets.apps", app->ns, set->owner.name, &text, set->owner.uid);
}
