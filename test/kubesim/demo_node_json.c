/*
 * A node and its lease as JSON.
 */
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "demo.h"

static void put_metadata(struct buf *out, const struct machine *m)
{
    text_put(out, "'metadata':{'name':'%s','labels':{'beta.kubernetes.io/arch':'amd64',", m->name);
    text_put(out, "'kubernetes.io/arch':'amd64','kubernetes.io/hostname':'%s',", m->name);
    text_put(out, "'kubernetes.io/os':'linux','topology.kubernetes.io/zone':'zone-%u'},",
             m->number);
    text_put(out, "'annotations':{'node.alpha.kubernetes.io/ttl':'0'}");
    managers_put(out, &m->managers, "v1");
    text_put(out, "}");
}

static void put_spec(struct buf *out, const struct machine *m)
{
    text_put(out, "'spec':{'podCIDR':'10.244.%u.0/24','podCIDRs':['10.244.%u.0/24']", m->number,
             m->number);
    if (m->tainted)
        text_put(out, ",'taints':[{'key':'node.kubernetes.io/unschedulable',"
                      "'effect':'NoSchedule'}]");
    text_put(out, "%s}", m->cordoned ? ",'unschedulable':true" : "");
}

static void put_condition(struct buf *out, const struct machine *m, const char *type,
                          const char *status, const char *reason, const char *message)
{
    text_put(out, "{'type':'%s','status':'%s','lastHeartbeatTime':'%s',", type, status, m->seen);
    text_put(out, "'lastTransitionTime':'%s','reason':'%s','message':'%s'}",
             strcmp(type, "Ready") == 0 ? m->since : m->born, reason, message);
}

static void put_conditions(struct buf *out, const struct machine *m)
{
    static const struct {
        const char *type, *reason, *message;
    } fine[] = {
        {"MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
        {"DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
        {"PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    };
    text_put(out, "'conditions':[");
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        put_condition(out, m, fine[i].type, "False", fine[i].reason, fine[i].message);
        text_put(out, ",");
    }
    if (m->down)
        put_condition(out, m, "Ready", "False", "KubeletNotReady", "node is shutting down");
    else
        put_condition(out, m, "Ready", "True", "KubeletReady", "kubelet is posting ready status");
    text_put(out, "],");
}

static void put_status(struct buf *out, const struct machine *m)
{
    static const char room[] = "{'cpu':'4','ephemeral-storage':'61255492Ki','memory':'8137624Ki',"
                               "'pods':'110'}";
    text_put(out, "'status':{'capacity':%s,'allocatable':%s,", room, room);
    put_conditions(out, m);
    text_put(out, "'addresses':[{'type':'InternalIP','address':'192.168.65.%u'},", 10 + m->number);
    text_put(out, "{'type':'Hostname','address':'%s'}],", m->name);
    text_put(out, "'daemonEndpoints':{'kubeletEndpoint':{'Port':10250}},"
                  "'nodeInfo':{'machineID':'','systemUUID':'',");
    text_put(out,
             "'bootID':'%s','kernelVersion':'6.1.0-18-amd64',"
             "'osImage':'Debian GNU/Linux 12 (bookworm)',",
             m->boot);
    text_put(out, "'containerRuntimeVersion':'containerd://2.1.4','kubeletVersion':'v1.34.1',"
                  "'operatingSystem':'linux','architecture':'amd64'}}");
}

void machine_write(struct demo *demo, struct machine *m)
{
    struct buf text = {0};
    text_put(&text, "{");
    put_metadata(&text, m);
    text_put(&text, ",");
    put_spec(&text, m);
    text_put(&text, ",");
    put_status(&text, m);
    text_put(&text, "}");
    demo_put(demo, "nodes", "", m->name, &text, m->uid);
}

/* Leases have microseconds. */
static void now_us(char *ret, size_t size)
{
    struct timeval now;
    char seconds[STORE_TIME_SIZE];
    gettimeofday(&now, NULL);
    store_now(seconds);
    snprintf(ret, size, "%.19s.%06uZ", seconds, (unsigned)now.tv_usec);
}

void machine_write_lease(struct demo *demo, const struct machine *m)
{
    struct buf text = {0};
    char now[48];
    now_us(now, sizeof(now));
    text_put(&text,
             "{'metadata':{'name':'%s','namespace':'kube-node-lease','ownerReferences':", m->name);
    text_put(&text, "[{'apiVersion':'v1','kind':'Node','name':'%s','uid':'%s'}]},", m->name,
             m->uid);
    text_put(&text, "'spec':{'holderIdentity':'%s','leaseDurationSeconds':40,'renewTime':'%s'}}",
             m->name, now);
    demo_put(demo, "leases.coordination.k8s.io", "kube-node-lease", m->name, &text, NULL);
}
