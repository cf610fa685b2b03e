// oracle runs client-go's own dynamic shared informer and prints, as JSON lines, all it is told.
//
// It is the other witness of the end-to-end test: informerd has to say what this says. So it hides
// nothing: an update that changed no resource version is printed too, and left to the comparison.
//
// A line "store" on stdin is answered with one STORE line: what the informer holds at that moment.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// item is the identity and version of one object.
type item struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	RV        string `json:"rv"`
}

// event is one call of a handler. Final is false for a tombstone: the last state was not seen.
type event struct {
	Type string `json:"type"`
	item
	Initial bool `json:"initial"`
	Final   bool `json:"final"`
	Object  any  `json:"object,omitempty"`
}

type mark struct {
	Type string `json:"type"`
}

type store struct {
	Type  string `json:"type"`
	Items []item `json:"items"`
	RV    string `json:"rv"`
}

// printer keeps lines whole: handlers and the stdin reader print from goroutines of their own.
type printer struct {
	mutex   sync.Mutex
	lines   *json.Encoder
	objects bool // print them whole
}

func (p *printer) print(line any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err := p.lines.Encode(line); err != nil {
		os.Exit(1) // nobody is listening any more
	}
}

func itemOf(object any) item {
	meta := object.(metav1.Object)
	return item{meta.GetNamespace(), meta.GetName(), string(meta.GetUID()), meta.GetResourceVersion()}
}

func (p *printer) tell(kind string, object any, initial, final bool) {
	line := event{Type: kind, item: itemOf(object), Initial: initial, Final: final}
	if p.objects {
		line.Object = object
	}
	p.print(line)
}

func (p *printer) OnAdd(object any, initial bool) {
	p.tell("ADDED", object, initial, true)
}

func (p *printer) OnUpdate(_, object any) {
	p.tell("MODIFIED", object, false, true)
}

func (p *printer) OnDelete(object any) {
	tombstone, lost := object.(cache.DeletedFinalStateUnknown)
	if lost {
		object = tombstone.Obj
	}
	p.tell("DELETED", object, false, !lost)
}

func (p *printer) answer(informer cache.SharedIndexInformer) {
	for requests := bufio.NewScanner(os.Stdin); requests.Scan(); {
		if requests.Text() == "store" {
			p.printStore(informer.GetStore())
		}
	}
}

func (p *printer) printStore(held cache.Store) {
	items := []item{}
	for _, object := range held.List() {
		items = append(items, itemOf(object))
	}
	p.print(store{Type: "STORE", Items: items, RV: held.LastStoreSyncResourceVersion()})
}

func run() error {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	group := flag.String("group", "", "API group; empty is the core group")
	version := flag.String("version", "v1", "API version")
	resource := flag.String("resource", "pods", "resource, in the plural")
	namespace := flag.String("namespace", metav1.NamespaceAll, "namespace; empty is all")
	objects := flag.Bool("objects", false, "print whole objects too")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	const noResync = 0
	gvr := schema.GroupVersionResource{Group: *group, Version: *version, Resource: *resource}
	informer := dynamicinformer.NewFilteredDynamicInformer(
		client, gvr, *namespace, noResync, cache.Indexers{}, nil).Informer()
	out := &printer{lines: json.NewEncoder(os.Stdout), objects: *objects}
	told, err := informer.AddEventHandler(out)
	if err != nil {
		return err
	}
	go out.answer(informer)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), told.HasSynced) {
			out.print(mark{Type: "SYNCED"})
		}
	}()
	informer.RunWithContext(ctx)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}
