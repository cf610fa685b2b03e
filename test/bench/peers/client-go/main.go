// client-go's informers as a client of the benchmark: they fill their caches, and do nothing else.
//
// The typed one has managedFields stripped by a transform, as those who care for memory have it. What it says to the
// driver and is told by it is in ../../tally.h.
package main

import (
	"bufio"
	"context"
	"flag"
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
		fmt.Printf(`,"p50":%d,"p99":%d,"max":%d`, t.late[n/2], t.late[n*99/100], t.late[n-1])
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

func untyped(config *rest.Config, namespace string) cache.SharedIndexInformer {
	client := dynamic.NewForConfigOrDie(config)
	return dynamicinformer.NewFilteredDynamicInformer(client, corev1.SchemeGroupVersion.WithResource("pods"),
		namespace, noResync, cache.Indexers{}, nil).Informer()
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the server")
	watches := flag.Int("watches", 1, "one for all namespaces, or each for one of the first so many")
	kind := flag.String("informer", "typed", "or dynamic")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config.QPS = -1 // all at once: its own rate limit is not what is measured
	make := map[string]func(*rest.Config, string) cache.SharedIndexInformer{"typed": typed, "dynamic": untyped}[*kind]

	t := &tally{}
	synced := []cache.InformerSynced{}
	for i := range *watches {
		namespace := metav1.NamespaceAll
		if *watches > 1 {
			namespace = fmt.Sprintf("ns-%d", 100+i)
		}
		informer := make(config, namespace)
		told, err := informer.AddEventHandler(t.handler())
		if err != nil {
			panic(err)
		}
		synced = append(synced, told.HasSynced)
		go informer.Run(context.Background().Done())
	}
	go func() {
		for _, done := range synced {
			for !done() { // cache.WaitForCacheSync would look every 100 ms
				time.Sleep(time.Millisecond)
			}
		}
		fmt.Println("synced")
	}()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if total, found := strings.CutPrefix(lines.Text(), "expect "); found {
			n, _ := strconv.Atoi(total)
			t.expect(n)
		}
	}
}
