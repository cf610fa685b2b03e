#!/usr/bin/env python3
"""rootfs.py DEST VERSION PROGRAM...: makes the root file system of the container image.

It contains the programs, the shared libraries that they load, the certificate authorities, and `chown` for an init container;
no shell and no package manager. All of it comes from the Debian on which this runs. The packages are recorded twice: below
/var/lib/dpkg/status.d, where scanners look for them in images without a package manager, and as an SBOM in SPDX 2.3.

Normal path: find the libraries of each program with ldd, copy them to the same paths, record the package of each file, write
the files of the system. A library that ldd does not find, or a file that belongs to no package, is an error.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

USER = 65532  # the number that images without root usually have
SBOM = 'usr/share/doc/informerd/sbom.spdx.json'
AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt'
TOOLS = ('/usr/bin/chown',)  # prepares the directory of a socket on the node
DIRECTORIES = {'tmp': 0o1777, 'etc/informerd': 0o755, 'proc': 0o555, 'sys': 0o555, 'dev': 0o755, 'root': 0o700}
OWN_DIRECTORIES = ('var/lib/informerd', 'var/log/informerd', 'run/informerd')
FILES = {
    'etc/passwd': f'root:x:0:0:root:/root:/sbin/nologin\n'
                  f'informerd:x:{USER}:{USER}:informerd:/var/lib/informerd:/sbin/nologin\n',
    'etc/group': f'root:x:0:\ninformerd:x:{USER}:\n',
    'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}


def main():
    dest, version, *programs = sys.argv[1:]
    root = Path(dest)
    root.mkdir(parents=True)
    os.umask(0o022)
    for name in ('bin', 'lib', 'lib64', 'sbin'):
        (root / 'usr' / name).mkdir(parents=True)
        (root / name).symlink_to(f'usr/{name}')
    for program in programs:
        shutil.copy(program, root / 'usr/bin')
    copied = {os.path.realpath(AUTHORITIES)}
    for path in (*TOOLS, *libraries((*programs, *TOOLS))):
        copied.add(copy(path, root))
    put(root, AUTHORITIES.lstrip('/'), Path(AUTHORITIES).read_text())
    (root / 'usr/lib/ssl').mkdir()
    (root / 'usr/lib/ssl/cert.pem').symlink_to(AUTHORITIES)  # the default file of OpenSSL
    write_system(root)
    packages = [record(root, package) for package in owners(copied)]
    put(root, SBOM, json.dumps(sbom(version, [Path(p).name for p in programs], packages), indent=1) + '\n')


def libraries(programs):
    """The paths of all shared libraries that the programs load, and of the loader."""
    found = set()
    for program in programs:
        for line in output('ldd', program).splitlines():
            words = re.fullmatch(r'\s*(?:(\S+) => )?(\S.*?)(?: \(0x[0-9a-f]+\))?', line)
            if words[2] == 'not found':
                sys.exit(f'rootfs.py: {program} needs {words[1]}, which is not installed')
            if words[2].startswith('/'):
                found.add(words[2])
    return sorted(found)


def copy(path, root):
    """Copies a file to the same path, without the symbolic links of the merged /usr. Returns the path of the original."""
    real = os.path.realpath(path)
    place = root / os.path.realpath(os.path.dirname(path)).lstrip('/')
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(real, place / Path(path).name)
    return real


def put(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o644)


def write_system(root):
    for name, text in FILES.items():
        put(root, name, text)
    for name, mode in DIRECTORIES.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name).chmod(mode)
    (root / 'var').mkdir(exist_ok=True)
    (root / 'var/run').symlink_to('../run')  # Kubernetes mounts the service account below /var/run
    for name in OWN_DIRECTORIES:
        (root / name).mkdir(parents=True)
        (root / name).chmod(0o750)
        if os.geteuid() == 0:
            os.chown(root / name, USER, USER)


# -- packages

def owners(paths):
    """The packages of files, by name. dpkg may know a file by its path before the merge of /usr."""
    names = {'ca-certificates'}
    for path in paths - {os.path.realpath(AUTHORITIES)}:
        for known in (path, path.removeprefix('/usr')):
            found = subprocess.run(['dpkg', '-S', known], capture_output=True, text=True).stdout
            if found:
                names.add(re.split(r'[:,]', found)[0])
                break
        else:
            sys.exit(f'rootfs.py: {path} belongs to no package')
    return sorted(names)


def record(root, name):
    """Records a package with its licence. Returns its fields."""
    status = output('dpkg-query', '--status', name)
    put(root, f'var/lib/dpkg/status.d/{name}', status)
    put(root, f'usr/share/doc/{name}/copyright', Path(f'/usr/share/doc/{name}/copyright').read_text(errors='replace'))
    fields = dict(line.split(': ', 1) for line in status.splitlines() if re.match(r'[A-Z][\w-]*: ', line))
    source = fields.get('Source', name).split()[0]
    return fields | {'Source': source}


def sbom(version, programs, packages):
    """The document in SPDX 2.3. Equal contents give the same namespace."""
    ours = {'SPDXID': 'SPDXRef-informerd', 'name': 'informerd', 'versionInfo': version, 'downloadLocation': 'NOASSERTION',
            'filesAnalyzed': False, 'licenseConcluded': 'Apache-2.0', 'licenseDeclared': 'Apache-2.0',
            'copyrightText': 'NOASSERTION', 'primaryPackagePurpose': 'CONTAINER', 'comment': 'programs: ' + ', '.join(programs)}
    listed = [ours, *map(spdx_package, packages)]
    moment = datetime.fromtimestamp(int(os.environ.get('SOURCE_DATE_EPOCH') or datetime.now().timestamp()), timezone.utc)
    return {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'informerd-{version}',
        'documentNamespace': uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(listed)).urn,
        'creationInfo': {'created': moment.strftime('%Y-%m-%dT%H:%M:%SZ'), 'creators': ['Tool: informerd-rootfs.py']},
        'packages': listed,
        'relationships': [relation('SPDXRef-DOCUMENT', 'DESCRIBES', 'SPDXRef-informerd')] +
                         [relation('SPDXRef-informerd', 'CONTAINS', p['SPDXID']) for p in listed[1:]]}


def spdx_package(fields):
    name, version = fields['Package'], fields['Version']
    purl = f'pkg:deb/debian/{name}@{version.replace(":", "%3A")}?arch={fields["Architecture"]}'
    return {'SPDXID': 'SPDXRef-deb-' + re.sub(r'[^A-Za-z0-9.-]', '-', name), 'name': name, 'versionInfo': version,
            'supplier': 'Organization: Debian', 'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False,
            'licenseConcluded': 'NOASSERTION', 'licenseDeclared': 'NOASSERTION', 'copyrightText': 'NOASSERTION',
            'sourceInfo': f'built from the Debian source package {fields["Source"]}',
            'externalRefs': [{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': purl}]}


def relation(of, kind, to):
    return {'spdxElementId': of, 'relationshipType': kind, 'relatedSpdxElement': to}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {'LC_ALL': 'C'}).stdout


main()
