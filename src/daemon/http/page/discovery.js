// discovery.js - the clusters and resources that informerd has, for one session.

import {getJson, onSession} from '/page/api.js';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
export const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

let loading = null;
onSession(() => { loading = null; });

/* A limited reader does not see the status: then the first cluster is used, without its name. */
async function clusterNames() {
  try {
    const names = (await getJson('/informerd/v1/status')).watches.map(w => w.cluster);
    return names.length ? [...new Set(names)] : [''];
  } catch (error) {
    if (error.status !== 403)
      throw error;
    return [''];
  }
}

async function resourcesOf(cluster) {
  const prefix = cluster ? `/clusters/${encodeURIComponent(cluster)}` : '';
  const lists = await Promise.all(['/api', '/apis'].map(path => getJson(prefix + path, {accept: AGGREGATED})));
  return lists.flatMap(list => list.items).flatMap(item => item.versions.flatMap(v => v.resources.map(r => {
    const group = item.metadata?.name || '';
    return {cluster, group, version: v.version, name: r.resource, kind: r.responseKind.kind, namespaced: r.scope === 'Namespaced',
      short: r.shortNames || [], id: group ? `${r.resource}.${group}/${v.version}` : r.resource,
      base: `${prefix}${group ? `/apis/${group}` : '/api'}/${v.version}`};
  })));
}

/* All resources of all clusters, by kind. */
export function resources() {
  loading ||= clusterNames().then(names => Promise.all(names.map(resourcesOf))).then(lists =>
    lists.flat().sort((a, b) => a.cluster.localeCompare(b.cluster) || a.kind.localeCompare(b.kind)));
  loading.catch(() => { loading = null; });
  return loading;
}

/* The resource that the configuration calls @id: pods, deployments.apps, deployments.apps/v1. */
export async function findResource(cluster, id) {
  const all = (await resources()).filter(r => !cluster || !r.cluster || r.cluster === cluster);
  return all.find(r => r.id === id) || all.find(r => r.id.split('/')[0] === id.split('/')[0]) ||
    all.find(r => r.name === id.split(/[./]/)[0]);
}

/* The resource of an owner reference or of an event's object. */
export async function findKind(cluster, apiVersion, kind) {
  const [group, version] = (apiVersion || '').includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const all = (await resources()).filter(r => r.cluster === cluster && r.kind === kind && r.group === group);
  return all.find(r => r.version === version) || all[0];
}

export function listPath(r, ns) {
  return ns && r.namespaced ? `${r.base}/namespaces/${encodeURIComponent(ns)}/${r.name}` : `${r.base}/${r.name}`;
}

export function objectPath(r, ns, name) {
  return `${listPath(r, ns)}/${encodeURIComponent(name)}`;
}

/* The address of its history in this page. */
export function historyLink(r, ns, name) {
  return `#/history/${[r.cluster || '_', r.id, ns || '_', name].map(encodeURIComponent).join('/')}`;
}

/* Its address in this page. */
export function pageLink(r, ns, name) {
  return `#/objects/${[r.cluster || '_', r.id, ...name ? [ns || '_', name] : []].map(encodeURIComponent).join('/')}`;
}
