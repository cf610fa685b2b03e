"""The pod that the replay server sends: a recorded one of 11.6 KB, with placeholders where pods and versions differ.

replay_pods.c describes placeholders. Versions differ as the reports of a kubelet do: in the status of one condition and
one container, and in a message with the time at which it was sent.
"""
import json

COMPACT = (',', ':')
RESTARTS = 100  # marks a placeholder, which is not valid JSON in place of a number


def recorded(recordings):
    text = (recordings / 'pods-watchlist.http').read_text()
    event = json.JSONDecoder().raw_decode(text, text.index('{"type"'))[0]
    pod = event['object']
    return {member: pod[member] for member in ('metadata', 'spec', 'status')}  # items of a list have no kind


def template(recordings, size):
    """A pod of about `size` bytes, as one line."""
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
    """A minimal running pod: about 1 KB."""
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
    """Fills a large object: half one long text with quotes, half many small members."""
    entry = {'name': 'SETTING_0000', 'value': 'a value of a typical length for a member of it'}
    count = missing // 2 // (len(json.dumps(entry, separators=COMPACT)) + 1)
    env = [entry | {'name': f'SETTING_{i:04}'} for i in range(count)]
    pod['spec']['containers'][0]['env'] = env
    text = json.dumps({'env': env}, separators=COMPACT)[:missing * 2 // 5]  # its quotes are escaped
    pod['metadata']['annotations']['example.com/last-applied'] = text


def kept(recordings, size):
    """Bytes of its text without managedFields, with the kind that lists omit."""
    pod = json.loads(template(recordings, size).replace('~rr', '100'))
    del pod['metadata']['managedFields']
    return len(json.dumps({'kind': 'Pod', 'apiVersion': 'v1'} | pod, separators=COMPACT))
