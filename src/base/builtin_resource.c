/*
 * builtin_resource.c - the table of built-in resources, searched from the start. Can't fail.
 */
#include "base/builtin_resource.h"

#include <string.h>

#include "base/base.h"

static const struct builtin_resource builtin_resources[] = {
    {"", "configmaps", "ConfigMap", true},
    {"", "endpoints", "Endpoints", true},
    {"", "events", "Event", true},
    {"", "limitranges", "LimitRange", true},
    {"", "namespaces", "Namespace", false},
    {"", "nodes", "Node", false},
    {"", "persistentvolumeclaims", "PersistentVolumeClaim", true},
    {"", "persistentvolumes", "PersistentVolume", false},
    {"", "pods", "Pod", true},
    {"", "podtemplates", "PodTemplate", true},
    {"", "replicationcontrollers", "ReplicationController", true},
    {"", "resourcequotas", "ResourceQuota", true},
    {"", "secrets", "Secret", true},
    {"", "serviceaccounts", "ServiceAccount", true},
    {"", "services", "Service", true},
    {"apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", false},
    {"apps", "controllerrevisions", "ControllerRevision", true},
    {"apps", "daemonsets", "DaemonSet", true},
    {"apps", "deployments", "Deployment", true},
    {"apps", "replicasets", "ReplicaSet", true},
    {"apps", "statefulsets", "StatefulSet", true},
    {"autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
    {"batch", "cronjobs", "CronJob", true},
    {"batch", "jobs", "Job", true},
    {"coordination.k8s.io", "leases", "Lease", true},
    {"discovery.k8s.io", "endpointslices", "EndpointSlice", true},
    {"events.k8s.io", "events", "Event", true},
    {"networking.k8s.io", "ingressclasses", "IngressClass", false},
    {"networking.k8s.io", "ingresses", "Ingress", true},
    {"networking.k8s.io", "networkpolicies", "NetworkPolicy", true},
    {"policy", "poddisruptionbudgets", "PodDisruptionBudget", true},
    {"rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding", false},
    {"rbac.authorization.k8s.io", "clusterroles", "ClusterRole", false},
    {"rbac.authorization.k8s.io", "rolebindings", "RoleBinding", true},
    {"rbac.authorization.k8s.io", "roles", "Role", true},
    {"scheduling.k8s.io", "priorityclasses", "PriorityClass", false},
    {"storage.k8s.io", "storageclasses", "StorageClass", false},
    {"storage.k8s.io", "volumeattachments", "VolumeAttachment", false},
};

const struct builtin_resource *builtin_resource_nth(size_t n)
{
    return n < ARRAY_LEN(builtin_resources) ? &builtin_resources[n] : NULL;
}

const struct builtin_resource *builtin_resource_find(const char *group, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(builtin_resources); i++) {
        const struct builtin_resource *r = &builtin_resources[i];
        if (strcmp(r->group, group) == 0 && strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

const struct builtin_resource *builtin_resource_parse(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(builtin_resources); i++) {
        const struct builtin_resource *r = &builtin_resources[i];
        size_t len = strlen(r->name);
        if (r->group[0] && strncmp(text, r->name, len) == 0 && text[len] == '.' &&
            strcmp(text + len + 1, r->group) == 0)
            return r;
    }
    return NULL;
}
