package main

import (
	"fmt"
	"math/rand/v2"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Namespaces, labels and nodes of the pods: see ../../pod.py, ../../deployments.py and ../../replay_pods.c.
const (
	namespaces = 20
	apps       = 100
	nodes      = 500
)

func nodeOf(object any) ([]string, error) {
	return []string{object.(*corev1.Pod).Spec.NodeName}, nil
}

// cpu is the processor time of this process: what else the machine does is not ours.
func cpu() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano()
}

// each says how long one of n calls takes, in nanoseconds; together they must find all that is there.
func each(what string, n, all int, call func(i int) int) string {
	began, found := cpu(), 0
	for i := range n {
		found += call(i)
	}
	took := cpu() - began
	if found != all {
		panic(fmt.Sprintf("by %s %d were found, not %d", what, found, all))
	}
	return fmt.Sprintf(`"%s":%d`, what, took/int64(n))
}

func printReads(indexer cache.Indexer) {
	lister := listers.NewPodLister(indexer)
	keys := indexer.ListKeys()
	// They are in the order of the map's memory, in which lookups are faster than in the order of any caller.
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	all := len(keys)
	names, homes, selectors := make([]string, all), make([]string, all), make([]labels.Selector, apps)
	for i, key := range keys {
		homes[i], names[i], _ = cache.SplitMetaNamespaceKey(key)
	}
	for i := range selectors {
		selectors[i] = labels.SelectorFromSet(labels.Set{"app": fmt.Sprintf("app-%d", 100+i)})
	}
	spaces := make([]string, namespaces)
	for i := range spaces {
		spaces[i] = fmt.Sprintf("ns-%d", 100+i)
	}
	// What is found is read, too: see reads.c.
	one := func(pod *corev1.Pod) int { return min(1, len(pod.ResourceVersion)) }
	count := func(pods []*corev1.Pod, err error) (found int) {
		for _, pod := range pods {
			found += one(pod)
		}
		return found
	}

	key := each("key", all, all, func(i int) int {
		pod, err := lister.Pods(homes[i]).Get(names[i])
		if err != nil {
			return 0
		}
		return one(pod)
	})
	namespace := each("namespace", namespaces, all, func(i int) int {
		return count(lister.Pods(spaces[i]).List(labels.Everything()))
	})
	label := each("label", apps, all, func(i int) int { return count(lister.List(selectors[i])) })
	index := each("index", nodes, all, func(i int) int {
		pods, _ := indexer.ByIndex("node", fmt.Sprintf("node-%d", 100+i))
		found := 0
		for _, pod := range pods {
			found += one(pod.(*corev1.Pod))
		}
		return found
	})
	fmt.Printf("{%s,%s,%s,%s}\n", key, namespace, label, index)
}
