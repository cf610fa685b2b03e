package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// resource reads "apps/v1/deployments" or "v1/pods".
func resource(text string) schema.GroupVersionResource {
	parts := strings.Split(text, "/")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}

// informerMaker returns a function that makes the informer of a resource, in all namespaces.
func informerMaker(kind string, config *rest.Config) func(schema.GroupVersionResource) cache.SharedIndexInformer {
	if kind == "dynamic" {
		factory := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), noResync)
		return func(r schema.GroupVersionResource) cache.SharedIndexInformer {
			return factory.ForResource(r).Informer()
		}
	}
	config.ContentType = "application/json"
	if kind == "protobuf" {
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	config.AcceptContentTypes = config.ContentType
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), noResync,
		informers.WithTransform(strip))
	return func(r schema.GroupVersionResource) cache.SharedIndexInformer {
		generic, err := factory.ForResource(r)
		if err != nil {
			panic(err)
		}
		return generic.Informer()
	}
}

// follow keeps caches of several resources of a real server until stdin ends: follow protobuf|json|dynamic KUBECONFIG
// RESOURCE... It prints "synced" when all of them have their first list.
func follow(kind string, config *rest.Config, resources []string) {
	open := informerMaker(kind, config)
	var synced []cache.InformerSynced
	for _, text := range resources {
		informer := open(resource(text))
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err != nil {
			panic(err)
		}
		go informer.Run(nil)
		synced = append(synced, informer.HasSynced)
	}
	cache.WaitForCacheSync(nil, synced...)
	fmt.Println("synced")
	_, _ = io.Copy(io.Discard, os.Stdin)
}
