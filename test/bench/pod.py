"""The pod that the replay server sends: a recorded one, of 11.6 KB, with holes where pods and their versions differ.

See replay_pods.c for what a hole is. Versions differ where a kubelet's reports differ: in the status of one condition
and one container, and in a message that says when it was sent.
"""
import json

COMPACT = (',', ':')
RESTARTS = 100  # stands for a hole: in a number it can't stand itself


def recorded(recordings):
    text = (recordings / 'pods-watchlist.http').read_text()
    event = json.JSONDecoder().raw_decode(text, text.index('{"type"'))[0]
    pod = event['object']
    return {member: pod[member] for member in ('metadata', 'spec', 'status')}  # items of a list have no kind


def template(recordings, size):
    """A pod of about so many bytes, as one line."""
    pod = recorded(recordings)
    if size < 5000:
        strip(pod)
    identify(pod)
    vary(pod['status'])
    missing = size - len(json.dumps(pod, separators=COMPACT))
    if missing > 5000:
        pad(pod, missing)
    text = json.dumps(pod, separators=COMPACT)
    return text.replace(f'"restartCount":{RESTARTS}', '"restartCount":~rr') + '\n'


def strip(pod):
    """The least that still is a running pod: about 1 KB."""
    metadata, spec, status = pod['metadata'], pod['spec'], pod['status']
    for member in ('managedFields', 'annotations', 'ownerReferences', 'generateName'):
        del metadata[member]
    metadata['labels'] = {}
    pod['spec'] = {'containers': [{'name': 'web', 'image': spec['containers'][0]['image'], 'resources': {}}]}
    pod['status'] = {'phase': 'Running', 'conditions': status['conditions'][1:4],
                     'containerStatuses': [{'name': 'web', 'ready': True, 'restartCount': 0, 'image': '', 'imageID': '',
                                            'state': {'running': {'startedAt': '2026-11-10T08:31:12Z'}}}]}


def identify(pod):
    metadata = pod['metadata']
    metadata['name'] = 'web-frontend-66b99d9c48-~iiiii'
    metadata['namespace'] = 'ns-~nn'
    metadata['uid'] = 'fa54439d-9a3f-4bb6-8583-~iiiiiiiiiii'
    metadata['resourceVersion'] = '~vvvvvvvvv'
    metadata['labels']['app'] = 'app-~aa'
    pod['spec']['nodeName'] = 'node-~kk'


def vary(status):
    ready = next(c for c in status['conditions'] if c['type'] == 'Ready')
    web = next(c for c in status['containerStatuses'] if c['name'] == 'web')
    ready['lastTransitionTime'] = '2026-11-10T08:31:~tZ'
    web['state']['running']['startedAt'] = '2026-11-11T03:12:~tZ'
    web['restartCount'] = RESTARTS
    status['message'] = 'sent ~ssssssssssssssssss'


def pad(pod, missing):
    """As objects get big: half of it a long text with quotes in it, half of it many small members."""
    entry = {'name': 'SETTING_0000', 'value': 'a value that is as long as most of them are'}
    count = missing // 2 // (len(json.dumps(entry, separators=COMPACT)) + 1)
    env = [entry | {'name': f'SETTING_{i:04}'} for i in range(count)]
    pod['spec']['containers'][0]['env'] = env
    text = json.dumps({'env': env}, separators=COMPACT)[:missing * 2 // 5]  # its quotes will be escaped
    pod['metadata']['annotations']['example.com/last-applied'] = text


def kept(recordings, size):
    """How many bytes of text are left of it without managedFields, with the kind that a list leaves out."""
    pod = json.loads(template(recordings, size).replace('~rr', '100'))
    del pod['metadata']['managedFields']
    return len(json.dumps({'kind': 'Pod', 'apiVersion': 'v1'} | pod, separators=COMPACT))
