//! kube-rs's reflector of pods, for the scenario local-api-clients.
//!
//!     kube-rs list|watch-list KUBECONFIG
//!
//! The first argument is how it gets the first objects. It prints SYNCED when its store is ready, and for each line
//! "store" on stdin one STORE line with the contents of the store. Errors of the watch are printed to stderr; the
//! watcher retries, as its documentation shows.

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, Config, ResourceExt,
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{
        WatchStreamExt,
        reflector::{self, Store},
        watcher::{self, watcher},
    },
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

fn contents(store: &Store<Pod>) -> serde_json::Value {
    let items = store.state().into_iter().map(|pod| {
        json!({
            "namespace": pod.namespace(), "name": pod.name_any(), "uid": pod.uid(), "rv": pod.resource_version(),
        })
    });
    json!({"type": "STORE", "items": items.collect::<Vec<_>>()})
}

async fn answer(store: Store<Pod>) -> Result<(), Box<dyn std::error::Error>> {
    store.wait_until_ready().await?;
    println!("{}", json!({"type": "SYNCED"}));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while lines.next_line().await?.is_some() {
        println!("{}", contents(&store));
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(strategy), Some(kubeconfig)) = (arguments.next(), arguments.next()) else {
        return Err("usage: kube-rs list|watch-list KUBECONFIG".into());
    };
    let options = match strategy.as_str() {
        "list" => watcher::Config::default(),
        "watch-list" => watcher::Config::default().streaming_lists(),
        _ => return Err(format!("unknown strategy '{strategy}'").into()),
    };
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let pods: Api<Pod> = Api::all(Client::try_from(config)?);
    let (store, writer) = reflector::store();
    let follow = watcher(pods, options).default_backoff().reflect(writer).for_each(|event| async {
        if let Err(error) = event {
            eprintln!("{error}");
        }
    });
    tokio::select! {
        _ = follow => Err("the watch ended".into()),
        ended = answer(store) => ended,
    }
}
