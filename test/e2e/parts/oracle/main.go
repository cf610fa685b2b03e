// oracle runs client-go's shared informer, of whole objects or of their metadata, and prints every
// handler call as a JSON line.
//
// The end-to-end tests compare its output with that of informerd. It filters nothing: an update that
// changed no resource version is printed too, and the comparison handles it.
//
// For each line "store" on stdin it prints one STORE line with the current contents of its cache.
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
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
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

// printer serialises lines: handlers and the stdin reader print from several goroutines.
type printer struct {
	mutex   sync.Mutex
	lines   *json.Encoder
	objects bool // print whole objects
}

func (p *printer) print(line any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err := p.lines.Encode(line); err != nil {
		os.Exit(1) // stdout is closed
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

// watch selects objects, and whether whole objects or metadata are requested.
type watch struct {
	resource  schema.GroupVersionResource
	namespace string
	labels    string
	fields    string
	metadata  bool
}

func (w *watch) selection(options *metav1.ListOptions) {
	options.LabelSelector, options.FieldSelector = w.labels, w.fields
}

func (w *watch) informer(config *rest.Config) (cache.SharedIndexInformer, error) {
	const noResync = 0
	if w.metadata {
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return metadatainformer.NewFilteredMetadataInformer(
			client, w.resource, w.namespace, noResync, cache.Indexers{}, w.selection).Informer(), nil
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return dynamicinformer.NewFilteredDynamicInformer(
		client, w.resource, w.namespace, noResync, cache.Indexers{}, w.selection).Informer(), nil
}

func run() error {
	var wanted watch
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	flag.StringVar(&wanted.resource.Group, "group", "", "API group; empty is the core group")
	flag.StringVar(&wanted.resource.Version, "version", "v1", "API version")
	flag.StringVar(&wanted.resource.Resource, "resource", "pods", "resource, plural")
	flag.StringVar(&wanted.namespace, "namespace", metav1.NamespaceAll, "namespace; empty is all")
	flag.StringVar(&wanted.labels, "labels", "", "label selector")
	flag.StringVar(&wanted.fields, "fields", "", "field selector")
	flag.BoolVar(&wanted.metadata, "metadata", false, "request metadata only")
	objects := flag.Bool("objects", false, "print whole objects too")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	informer, err := wanted.informer(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	out := &printer{lines: json.NewEncoder(os.Stdout), objects: *objects}
	registration, err := informer.AddEventHandler(out)
	if err != nil {
		return err
	}
	go out.answer(informer)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
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
