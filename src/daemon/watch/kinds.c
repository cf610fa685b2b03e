/*
 * kinds.c - the table of built-in resources and their kinds.
 */
#include "daemon/watch/kinds.h"

#include <string.h>

#include "base/base.h"

static const struct {
    const char *group, *resource, *kind;
} kinds[] = {
    {"", "configmaps", "ConfigMap"},
    {"", "endpoints", "Endpoints"},
    {"", "events", "Event"},
    {"", "limitranges", "LimitRange"},
    {"", "namespaces", "Namespace"},
    {"", "nodes", "Node"},
    {"", "persistentvolumeclaims", "PersistentVolumeClaim"},
    {"", "persistentvolumes", "PersistentVolume"},
    {"", "pods", "Pod"},
    {"", "podtemplates", "PodTemplate"},
    {"", "replicationcontrollers", "ReplicationController"},
    {"", "resourcequotas", "ResourceQuota"},
    {"", "secrets", "Secret"},
    {"", "serviceaccounts", "ServiceAccount"},
    {"", "services", "Service"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"},
    {"apps", "controllerrevisions", "ControllerRevision"},
    {"apps", "daemonsets", "DaemonSet"},
    {"apps", "deployments", "Deployment"},
    {"apps", "replicasets", "ReplicaSet"},
    {"apps", "statefulsets", "StatefulSet"},
    {"autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler"},
    {"batch", "cronjobs", "CronJob"},
    {"batch", "jobs", "Job"},
    {"coordination.k8s.io", "leases", "Lease"},
    {"discovery.k8s.io", "endpointslices", "EndpointSlice"},
    {"events.k8s.io", "events", "Event"},
    {"networking.k8s.io", "ingressclasses", "IngressClass"},
    {"networking.k8s.io", "ingresses", "Ingress"},
    {"networking.k8s.io", "networkpolicies", "NetworkPolicy"},
    {"policy", "poddisruptionbudgets", "PodDisruptionBudget"},
    {"rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding"},
    {"rbac.authorization.k8s.io", "clusterroles", "ClusterRole"},
    {"rbac.authorization.k8s.io", "rolebindings", "RoleBinding"},
    {"rbac.authorization.k8s.io", "roles", "Role"},
    {"scheduling.k8s.io", "priorityclasses", "PriorityClass"},
    {"storage.k8s.io", "storageclasses", "StorageClass"},
    {"storage.k8s.io", "volumeattachments", "VolumeAttachment"},
};

const char *kinds_find(const char *group, const char *resource)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].resource, resource) == 0)
            return kinds[i].kind;
    return NULL;
}

bool kinds_know(const char *word, size_t *ret_plural, const char **ret_group)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t plural = strlen(kinds[i].resource);
        if (!kinds[i].group[0] || strncmp(word, kinds[i].resource, plural) != 0 ||
            word[plural] != '.' || strcmp(word + plural + 1, kinds[i].group) != 0)
            continue;
        *ret_plural = plural;
        *ret_group = kinds[i].group;
        return true;
    }
    return false;
}
