// client-go's informers as a client of the benchmark: they fill their caches, and do nothing else.
//
// The typed one has managedFields stripped by a transform, as those who care for memory have it. What it says to the
// driver and is told by it is in ../../tally.h.
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const noResync = 0

// tally counts changes and how late they came. Informers tell from goroutines of their own.
type tally struct {
	mutex          sync.Mutex
	told, expected int
	late           []int64
}

// now reads the clock that the server stamps with; package time hides it.
func now() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

func (t *tally) add(sent string) {
	stamp, _ := strconv.ParseInt(strings.TrimPrefix(sent, "sent 1"), 10, 64)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.late = append(t.late, now()-stamp)
	t.told++
	t.answerIfDue()
}

func (t *tally) answerIfDue() {
	if t.expected == 0 || t.told < t.expected {
		return
	}
	t.expected = 0
	slices.Sort(t.late)
	fmt.Printf(`{"told":%d`, t.told)
	if n := len(t.late); n > 0 {
		fmt.Printf(`,"p50":%d,"p99":%d,"p999":%d,"max":%d`, t.late[n/2], t.late[n*99/100], t.late[n*999/1000], t.late[n-1])
	}
	fmt.Println("}")
	t.late = t.late[:0]
}

func (t *tally) expect(total int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.expected = total
	t.answerIfDue()
}

func (t *tally) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		switch pod := object.(type) {
		case *corev1.Pod:
			t.add(pod.Status.Message)
		case *unstructured.Unstructured:
			sent, _, _ := unstructured.NestedString(pod.Object, "status", "message")
			t.add(sent)
		}
	}}
}

func strip(object any) (any, error) {
	if meta, ok := object.(metav1.Object); ok {
		meta.SetManagedFields(nil)
	}
	return object, nil
}

func typed(config *rest.Config, namespace string) cache.SharedIndexInformer {
	client := kubernetes.NewForConfigOrDie(config)
	return informers.NewSharedInformerFactoryWithOptions(client, noResync,
		informers.WithNamespace(namespace), informers.WithTransform(strip)).Core().V1().Pods().Informer()
}

// indexed is typed, and finds pods by their node too.
func indexed(config *rest.Config, namespace string) cache.SharedIndexInformer {
	informer := typed(config, namespace)
	if err := informer.AddIndexers(cache.Indexers{"node": nodeOf}); err != nil {
		panic(err)
	}
	return informer
}

func untyped(config *rest.Config, namespace string) cache.SharedIndexInformer {
	client := dynamic.NewForConfigOrDie(config)
	return dynamicinformer.NewFilteredDynamicInformer(client, corev1.SchemeGroupVersion.WithResource("pods"),
		namespace, noResync, cache.Indexers{}, nil).Informer()
}

var kinds = map[string]func(*rest.Config, string) cache.SharedIndexInformer{
	"typed": typed, "indexed": indexed, "dynamic": untyped,
}

// start begins as many informers: one for all namespaces, or each for one.
func start(kind string, config *rest.Config, watches int, handler cache.ResourceEventHandler) (
	first cache.SharedIndexInformer, synced []cache.InformerSynced) {
	for i := range watches {
		namespace := metav1.NamespaceAll
		if watches > 1 {
			namespace = fmt.Sprintf("ns-%d", 100+i)
		}
		informer := kinds[kind](config, namespace)
		told, err := informer.AddEventHandler(handler)
		if err != nil {
			panic(err)
		}
		synced = append(synced, told.HasSynced)
		go informer.Run(nil)
		if first == nil {
			first = informer
		}
	}
	return first, synced
}

func sayWhenSynced(synced []cache.InformerSynced) {
	for _, done := range synced {
		for !done() { // cache.WaitForCacheSync would look every 100 ms
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println("synced")
}

func configFrom(kubeconfig string) *rest.Config {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		panic(err)
	}
	config.QPS = -1 // all at once: its own rate limit is not what is measured
	return config
}

func main() {
	if len(os.Args) > 4 && os.Args[1] == "follow" {
		follow(os.Args[2], configFrom(os.Args[3]), os.Args[4:])
		return
	}
	if len(os.Args) != 4 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: client-go typed|indexed|dynamic KUBECONFIG WATCHES\n"+
			"       client-go follow protobuf|json|dynamic KUBECONFIG RESOURCE...")
		os.Exit(1)
	}
	watches, _ := strconv.Atoi(os.Args[3])
	t := &tally{}
	first, synced := start(os.Args[1], configFrom(os.Args[2]), watches, t.handler())
	go sayWhenSynced(synced)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "reads" {
			printReads(first.GetIndexer())
		} else if total, found := strings.CutPrefix(lines.Text(), "expect "); found {
			n, _ := strconv.Atoi(total)
			t.expect(n)
		}
	}
}
