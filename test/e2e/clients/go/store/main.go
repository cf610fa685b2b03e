// store runs a cache of pods and prints its contents, for the scenario local-api-clients.
//
//	store --kubeconfig FILE --cache typed|controller-runtime
//
// typed is client-go's informer with the typed clientset, controller-runtime the cache of its manager.
// Both are used as their documentation shows, with the defaults of the library. The line "SYNCED" is
// printed when the cache says so; each line "store" on stdin prints one STORE line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// item is the identity and version of one pod.
type item struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	RV        string `json:"rv"`
}

// line is what is printed: SYNCED, or STORE with the pods.
type line struct {
	Type  string `json:"type"`
	Items []item `json:"items,omitempty"`
}

// list returns the pods in the cache.
type list func() ([]item, error)

func itemOf(pod *corev1.Pod) item {
	return item{pod.Namespace, pod.Name, string(pod.UID), pod.ResourceVersion}
}

// typed starts an informer factory of client-go.
func typed(ctx context.Context, config *rest.Config) (list, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	informer, lister := pods.Informer(), pods.Lister()
	factory.Start(ctx.Done())
	if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, errors.New("stopped before the cache was synced")
	}
	return func() ([]item, error) {
		held, err := lister.List(labels.Everything())
		items := []item{}
		for _, pod := range held {
			items = append(items, itemOf(pod))
		}
		return items, err
	}, nil
}

// controllerRuntime starts the cache of controller-runtime, which finds the resource by discovery.
func controllerRuntime(ctx context.Context, config *rest.Config) (list, error) {
	log.SetLogger(funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, prefix, args) }, funcr.Options{}))
	held, err := cache.New(config, cache.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := held.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil {
		return nil, err
	}
	go func() {
		if err := held.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "store:", err)
			os.Exit(1)
		}
	}()
	if !held.WaitForCacheSync(ctx) {
		return nil, errors.New("stopped before the cache was synced")
	}
	return func() ([]item, error) {
		var pods corev1.PodList
		err := held.List(ctx, &pods)
		items := []item{}
		for i := range pods.Items {
			items = append(items, itemOf(&pods.Items[i]))
		}
		return items, err
	}, nil
}

var caches = map[string]func(context.Context, *rest.Config) (list, error){
	"typed":              typed,
	"controller-runtime": controllerRuntime,
}

func run() error {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	kind := flag.String("cache", "typed", "typed or controller-runtime")
	flag.Parse()
	start, known := caches[*kind]
	if !known {
		return fmt.Errorf("unknown cache '%s'", *kind)
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	pods, err := start(ctx, config)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(os.Stdout)
	if err := lines.Encode(line{Type: "SYNCED"}); err != nil {
		return err
	}
	return answer(lines, pods)
}

// answer prints the contents of the cache for each request, until stdin ends.
func answer(lines *json.Encoder, pods list) error {
	requests := bufio.NewScanner(os.Stdin)
	for requests.Scan() {
		items, err := pods()
		if err == nil {
			err = lines.Encode(line{Type: "STORE", Items: items})
		}
		if err != nil {
			return err
		}
	}
	return requests.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}
