/*
 * level_table.c - the built-in rules for the level of records, one row each. informerd-events(5) lists
 * them; a rule of the conf with the same name replaces a row.
 */
#include "daemon/rule/level_rules.h"

/* Each of a pod's lists of containers. */
#define CONTAINERS(test)                                                              \
    {                                                                                 \
        "status.containerStatuses[*]." test, "status.initContainerStatuses[*]." test, \
            "status.ephemeralContainerStatuses[*]." test                              \
    }

#define CONTROLLERS "Deployment ReplicaSet ReplicationController StatefulSet DaemonSet Job"

/* clang-format off */
const struct level_rule level_table[] = {
    {"oom-killed", "Pod", LEVEL_TERMINATED, CONTAINERS("reason=OOMKilled"), INF_LOG_ERROR},
    {"crash-loop", "Pod", LEVEL_WHEN,
     CONTAINERS("state.waiting.reason=CrashLoopBackOff"), INF_LOG_ERROR},
    /* the kubelet has given up trying at once, or will never succeed */
    {"image-pull-backoff", "Pod", LEVEL_WHEN,
     CONTAINERS("state.waiting.reason in (ImagePullBackOff, InvalidImageName, ErrImageNeverPull)"),
     INF_LOG_ERROR},
    /* one failed attempt */
    {"image-pull-error", "Pod", LEVEL_WHEN,
     CONTAINERS("state.waiting.reason=ErrImagePull"), INF_LOG_WARN},
    {"container-start-error", "Pod", LEVEL_WHEN,
     CONTAINERS("state.waiting.reason in (CreateContainerConfigError, CreateContainerError, "
                "RunContainerError, PostStartHookError)"), INF_LOG_ERROR},
    {"container-failed", "Pod", LEVEL_TERMINATED, CONTAINERS("exitCode!=0"), INF_LOG_WARN},
    {"container-restarted", "Pod", LEVEL_INCREASED, CONTAINERS("restartCount"), INF_LOG_WARN},
    {"pod-evicted", "Pod", LEVEL_WHEN,
     {"status.reason=Evicted", "status.conditions[type=DisruptionTarget].status=True"},
     INF_LOG_WARN},
    {"pod-failed", "Pod", LEVEL_WHEN, {"status.phase=Failed"}, INF_LOG_WARN},
    {"node-not-ready", "Node", LEVEL_WHEN,
     {"status.conditions[type=Ready].status in (False, Unknown)"}, INF_LOG_ERROR},
    {"node-pressure", "Node", LEVEL_WHEN,
     {"status.conditions[type=MemoryPressure].status=True",
      "status.conditions[type=DiskPressure].status=True",
      "status.conditions[type=PIDPressure].status=True"}, INF_LOG_WARN},
    {"job-failed", "Job", LEVEL_WHEN, {"status.conditions[type=Failed].status=True"}, INF_LOG_ERROR},
    {"rollout-stalled", "Deployment", LEVEL_WHEN,
     {"status.conditions[type=Progressing].reason=ProgressDeadlineExceeded"}, INF_LOG_ERROR},
    {"replica-failure", CONTROLLERS, LEVEL_WHEN,
     {"status.conditions[type=ReplicaFailure].status=True"}, INF_LOG_WARN},
    {"quota-exceeded", CONTROLLERS, LEVEL_WHEN,
     {"status.conditions[*].message ~ \"exceeded quota\""}, INF_LOG_WARN},
    {"webhook-failed", CONTROLLERS, LEVEL_WHEN,
     {"status.conditions[*].message ~ \"admission webhook\"",
      "status.conditions[*].message ~ \"failed calling webhook\""}, INF_LOG_WARN},
    {"api-unavailable", "APIService", LEVEL_WHEN,
     {"status.conditions[type=Available].status in (False, Unknown)"}, INF_LOG_WARN},
    {"claim-lost", "PersistentVolumeClaim", LEVEL_WHEN, {"status.phase=Lost"}, INF_LOG_ERROR},
    {"warning-event", "Event", LEVEL_HOLDS, {"type=Warning"}, INF_LOG_WARN},
    {NULL, NULL, LEVEL_WHEN, {NULL}, INF_LOG_INFO},
};
/* clang-format on */
