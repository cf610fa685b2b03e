"""A real Kafka with one node in KRaft mode, from the jars of Maven, and a consumer.

The jars are copied once into the cache folder of the control plane. Listeners: `plain`, and `secure` with TLS and SASL/PLAIN.
"""

import json
import shutil
import subprocess
import threading
import uuid
from pathlib import Path

from . import children, parts
from .plane import ReservedPort

VERSION = "3.9.1"
TOOLS = {"java": "openjdk-17-jre-headless", "mvn": "maven"}
USER, PASSWORD = "informerd", "a-password-of-the-test"
POM = f"""<project><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>kafka</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>
"""
PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAIN://127.0.0.1:{plain},SECURE://127.0.0.1:{secure},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAIN://127.0.0.1:{plain},SECURE://127.0.0.1:{secure}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAIN
listener.security.protocol.map=PLAIN:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT
listener.name.secure.ssl.keystore.type=PEM
listener.name.secure.ssl.keystore.location={folder}/keystore.pem
listener.name.secure.sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
user_{user}="{password}";
log.dirs={folder}/data
num.partitions={partitions}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=true
log.cleaner.backoff.ms=500
"""


def jars():
    """The folder with Kafka and all that it needs, filled if necessary."""
    root = parts.cache_folder()
    folder = root / f"kafka-{VERSION}"
    if not folder.exists():
        with parts.alone(root):
            if not folder.exists():
                work = root / "kafka.new"
                shutil.rmtree(work, ignore_errors=True)
                work.mkdir()
                (work / "pom.xml").write_text(POM)
                subprocess.run(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime",
                                f"-DoutputDirectory={work}/libs"], cwd=work, check=True, capture_output=True)
                work.rename(folder)
    return folder / "libs"


class Kafka:
    def __init__(self, folder, certificates, partitions=4):
        self.folder, self.child = folder, None
        folder.mkdir(parents=True)
        self._ports = [ReservedPort() for _ in range(3)]
        self.plain, self.secure, controller = (f"{reserved.number}" for reserved in self._ports)
        (folder / "keystore.pem").write_text(certificates.key("kafka").read_text() + certificates.crt("kafka").read_text())
        (folder / "server.properties").write_text(PROPERTIES.format(
            plain=self.plain, secure=self.secure, controller=controller, folder=folder, user=USER, password=PASSWORD,
            partitions=partitions))
        self.plain, self.secure = f"127.0.0.1:{self.plain}", f"127.0.0.1:{self.secure}"
        self._java = ["java", "-Xmx512m", "-cp", f"{jars()}/*"]
        subprocess.run([*self._java, "kafka.tools.StorageTool", "format", "-t", uuid.uuid4().hex[:22], "-c",
                        folder / "server.properties"], check=True, capture_output=True)

    def start(self):
        for reserved in self._ports:
            reserved.release()
        with open(self.folder / "kafka.log", "a") as log:
            self.child = children.start([*self._java, "kafka.Kafka", self.folder / "server.properties"], stdout=log, stderr=log)

    def wait_topics(self, *names):
        """Until they exist, with a folder for their first partition."""
        for name in names:
            children.until((self.folder / "data" / f"{name}-0").exists, 60, f"the topic {name}")

    def kill(self):
        if self.child:
            self.child.kill()
            self.child.wait()

    def pause(self, signal):
        self.child.send_signal(signal)


class Consumer:
    """The messages of a topic, in the order of each partition. With settings the topic is created first."""

    def __init__(self, program, topic, partitions, brokers, **settings):
        self.messages = []
        words = [f"{name.replace('_', '.')}={value}" for name, value in settings.items()]
        self._child = children.start([program, topic, str(partitions), brokers, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._child.stdout:
            self.messages.append(json.loads(line))

    def close(self):
        self._child.stdin.close()
        self._reader.join()
        self._child.wait()


class Sink:
    """informerd-kafka."""

    def __init__(self, program, folder, socket, *arguments):
        self.log = folder / "informerd-kafka.log"
        self._command, self._child = [program, "-s", socket, *arguments], None

    def start(self):
        with open(self.log, "a") as log:
            self._child = children.start(self._command, stderr=log)

    def kill(self):
        self._child.kill()
        self._child.wait()

    def stop(self):
        return children.stop(self._child, 20) if self._child else None

    def text(self):
        return Path(self.log).read_text(errors="replace")
