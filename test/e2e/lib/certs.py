"""The cluster's keys and certificates, made by the openssl command line."""

import subprocess

CONFIG = """
[req]
distinguished_name = name
prompt = no
[name]
{name}
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1, IP:::1, IP:10.96.0.1, DNS:localhost, DNS:kubernetes, DNS:kubernetes.default.svc
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
"""


class Certificates:
    """Files in one folder: NAME.crt and NAME.key, all signed by ca.crt."""

    def __init__(self, folder):
        folder.mkdir(parents=True)
        self.folder = folder
        self._make("ca", "authority", "CN = informerd e2e CA")

    def crt(self, name):
        return self.folder / f"{name}.crt"

    def key(self, name):
        return self.folder / f"{name}.key"

    def server(self, name):
        self._make(name, "server", f"CN = {name}", signed=True)

    def user(self, name, group):
        """A client certificate; Kubernetes reads CN as the user and O as a group."""
        self._make(name, "client", f"O = {group}\nCN = {name}", signed=True)

    def _make(self, name, kind, subject, signed=False):
        config = self.folder / f"{name}.cnf"
        config.write_text(CONFIG.format(name=subject))
        authority = ["-CA", self.crt("ca"), "-CAkey", self.key("ca")] if signed else []
        # With a config file of our own: the system's would add extensions.
        subprocess.run(
            ["openssl", "req", "-x509", "-new", "-nodes", "-days", "2", "-config", config,
             "-extensions", kind, "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-keyout", self.key(name), "-out", self.crt(name), *authority],
            check=True, capture_output=True)
