//! kube-rs's reflector as a client of the benchmark: it fills its stores, without managedFields, and does nothing else.
//!
//! On one thread, as it has one core. What it says to the driver and is told by it is in ../../../tally.h.
//! A reflector does not say what a new list changed: only changes that a watch tells are counted.

use std::{cell::RefCell, future, rc::Rc};

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, Config, ResourceExt,
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{
        WatchStreamExt, reflector,
        watcher::{self, Event, watcher},
    },
};
use tokio::io::{AsyncBufReadExt, BufReader};

const FIRST_NAMESPACE: usize = 100;

#[derive(Default)]
struct Tally {
    told: usize,
    expected: usize,
    late: Vec<i64>,
    unsynced: usize,
}

/// The clock that the server stamps with.
fn now() -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

impl Tally {
    fn add(&mut self, pod: &Pod) {
        let message = pod.status.as_ref().and_then(|s| s.message.as_deref()).unwrap_or("");
        let stamp: i64 = message.strip_prefix("sent 1").and_then(|s| s.parse().ok()).unwrap_or(0);
        self.late.push(now() - stamp);
        self.told += 1;
        self.answer_if_due();
    }

    fn answer_if_due(&mut self) {
        if self.expected == 0 || self.told < self.expected {
            return;
        }
        self.expected = 0;
        self.late.sort_unstable();
        print!("{{\"told\":{}", self.told);
        if let Some(max) = self.late.last() {
            let n = self.late.len();
            print!(",\"p50\":{},\"p99\":{},\"max\":{max}", self.late[n / 2], self.late[n * 99 / 100]);
        }
        println!("}}");
        self.late.clear();
    }

    fn synced(&mut self) {
        self.unsynced = self.unsynced.saturating_sub(1);
        if self.unsynced == 0 {
            println!("synced");
        }
    }
}

async fn follow(api: Api<Pod>, tally: Rc<RefCell<Tally>>) {
    let (_store, writer) = reflector::store();
    let mut synced = false;
    watcher(api, watcher::Config::default().streaming_lists())
        .default_backoff()
        .modify(|pod| pod.managed_fields_mut().clear())
        .reflect(writer)
        .for_each(|event| {
            match event {
                Ok(Event::Apply(pod)) => tally.borrow_mut().add(&pod),
                Ok(Event::InitDone) if !synced => {
                    synced = true;
                    tally.borrow_mut().synced();
                }
                _ => {}
            }
            future::ready(())
        })
        .await;
}

async fn obey(tally: Rc<RefCell<Tally>>) {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(total) = line.strip_prefix("expect ") {
            let mut tally = tally.borrow_mut();
            tally.expected = total.trim().parse().unwrap_or(0);
            tally.answer_if_due();
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(kubeconfig), Some(watches)) = (arguments.next(), arguments.next()) else {
        return Err("usage: kube-rs KUBECONFIG WATCHES".into());
    };
    let watches: usize = watches.parse()?;
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    let tally = Rc::new(RefCell::new(Tally { unsynced: watches, ..Tally::default() }));
    let apis = (0..watches).map(|i| match watches {
        1 => Api::all(client.clone()),
        _ => Api::namespaced(client.clone(), &format!("ns-{}", FIRST_NAMESPACE + i)),
    });
    let all = stream::iter(apis.collect::<Vec<_>>()).for_each_concurrent(None, |api| follow(api, tally.clone()));
    tokio::select! {
        _ = all => {}
        _ = obey(tally.clone()) => {}
    }
    Ok(())
}
