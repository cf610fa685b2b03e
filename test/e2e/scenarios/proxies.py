"""A pod's life through every kind of proxy, and each way to be told of one; all of them are killed
in the middle and started again. Whoever goes through them tells what the oracle tells, which goes
directly: nothing lost, nothing twice, and no relist, for the server never forgot anything.

Then proxies that refuse: what is wrong is said, with the proxy's name, and never the password.
"""

import base64
import json
from typing import NamedTuple
from urllib.parse import quote

from lib import children, compare
from lib.proxies import USER, HttpProxy, HttpsProxy, Middle, SocksProxy
from lib.service import conf_of
from lib.stage import RECONNECT

from .lifecycle import LIFE, NAMESPACE, POD

NOWHERE = "http://127.0.0.1:1"  # who asks that proxy gets nowhere
BY_NAME = "127.1"  # as good as a name: this host's own addresses are not looked for in HTTPS_PROXY
WRONG = "wr0ng-pass"
SILENT = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"), "")


class Way(NamedTuple):
    """To the server: what the kubeconfig says of the cluster, what the conf does, and so on."""

    cluster: dict
    environment: dict = {}
    conf: dict | None = None  # None: started without one
    proxy: Middle | None = None  # which it must have gone through; None: directly


def run(stage):
    make = Maker(stage)
    ways = ways_of(make, stage.plane)
    stage.make_namespace(NAMESPACE)
    stage.pods.create(NAMESPACE, "already-there")
    stage.watch("token")
    feeds = {name: follow(stage, name, way) for name, way in ways.items()}
    catch_up(stage, feeds)
    begin, go_on, *rest = LIFE
    begin(stage.pods, POD)
    catch_up(stage, feeds)
    with_proxies = [feed for name, feed in feeds.items() if ways[name].proxy]
    make.kill_all()
    for feed in with_proxies:
        children.until(lambda: RECONNECT in feed.own_log(), 10, f"{feed.name} noticing")
    go_on(stage.pods, POD)
    make.start_all()
    catch_up(stage, feeds)
    for part in rest:
        part(stage.pods, POD)
    catch_up(stage, feeds)
    for name, feed in feeds.items():
        judge(stage, name, ways[name], feed)
    return f"{len(ways)} ways, {see_refusals(stage, make)} refusals, {stage.writes} writes"


class Maker:
    def __init__(self, stage):
        self._stage, self._made = stage, []

    def __call__(self, kind, name, *more, **options):
        proxy = self._stage.enter(kind(self._stage.plane.folder, name, *more, **options))
        if kind is not HttpsProxy:  # whose port another one may take; what is behind it goes
            self._made.append(proxy)
        return proxy

    def kill_all(self):
        for proxy in self._made:
            proxy.kill()

    def start_all(self):
        for proxy in self._made:
            proxy.start()


def ways_of(make, plane):
    http, login = make(HttpProxy, "http"), make(HttpProxy, "http-login", login=True)
    behind = make(HttpProxy, "behind-https")
    plane.certs.server("proxy")
    https = make(HttpsProxy, "https", behind, plane.certs.crt("proxy"), plane.certs.key("proxy"))
    socks, known = make(SocksProxy, "socks5"), make(SocksProxy, "socks5-login", login=True)
    env, conf = make(HttpProxy, "environment"), make(SocksProxy, "conf", login=True)
    nowhere = {"proxy-url": NOWHERE}
    by_name = {"server": f"https://{BY_NAME}:{plane.port}", "tls-server-name": "kubernetes"}
    return {
        "http": Way({"proxy-url": http.url}, proxy=http),
        "http-login": Way({"proxy-url": login.url}, proxy=login),
        "https": Way({"proxy-url": https.url}, proxy=behind),
        "socks5": Way({"proxy-url": socks.url}, proxy=socks),
        "socks5-login": Way({"proxy-url": known.url}, proxy=known),
        "environment": Way(by_name, {"HTTPS_PROXY": env.url, "NO_PROXY": "127.0.0.0/8,.invalid"},
                           proxy=env),
        "no-proxy": Way(by_name, {"HTTPS_PROXY": NOWHERE, "NO_PROXY": f"a.invalid, {BY_NAME}"}),
        "this-host": Way({}, {"HTTPS_PROXY": NOWHERE}),
        "conf": Way(nowhere, conf={"proxy": conf.url}, proxy=conf),
        "conf-none": Way(nowhere, {"HTTPS_PROXY": NOWHERE}, conf={"proxy": "none"}),
    }


def follow(stage, name, way):
    kubeconfig = kubeconfig_of(stage.plane, name, way.cluster)
    if way.conf is None:
        arguments = ["watch", "pods", "-A", "--kubeconfig", kubeconfig]
    else:
        arguments = ["-c", conf_of(stage.plane.folder / name, kubeconfig, [{"resource": "pods"}],
                                   "stdout", **way.conf)]
    return stage.informerd(name, arguments, SILENT | way.environment)


def kubeconfig_of(plane, name, cluster):
    """The usual one, but for what is said of the cluster."""
    config = json.loads(plane.kubeconfig("token").read_text())
    config["clusters"][0]["cluster"] |= cluster
    path = plane.folder / f"{name}.kubeconfig"
    path.write_text(json.dumps(config))
    return path


def catch_up(stage, feeds):
    stage.catch_up()
    listed = stage.pods.list()
    for feed in feeds.values():
        if not feed.wait_for_state(listed, stage.patience):
            raise children.Failure(f"{feed.name} does not catch up; {feed.last_words()}")


def judge(stage, name, way, feed):
    feed.close()
    found = compare.judge(feed.events, stage.witnessed("pods")).findings
    found += compare.record_faults(feed.records)
    if any(record["type"] == "RELIST" for record in feed.records):
        found.append("it listed again, and the server never forgot anything")
    if way.proxy and not way.proxy.mentions(f":{stage.plane.port}"):
        found.append("the proxy was not asked for the server")
    if any(is_in(feed.own_log(), kind.password) for kind in (HttpProxy, SocksProxy)):
        found.append("its log has the proxy's password")
    for finding in found:
        stage.complain(f"{name}: {finding}")
    stage.note_told(len(feed.events))


def is_in(log, password):
    """In any form that we give it to informerd, or informerd to the proxy."""
    login = base64.b64encode(f"{USER}:{password}".encode()).decode()
    return any(form in log for form in (password, quote(password, safe=""), login))


# -- those that refuse

def see_refusals(stage, make):
    port = stage.plane.port
    login, socks = (make(kind, f"{kind.scheme}-wants-login", login=True)
                    for kind in (HttpProxy, SocksProxy))
    narrow = make(HttpProxy, "http-narrow", only=443)
    wanted = "put user:password@ before the host in its URL"
    refused = "rejected the user and password of its URL"
    refusals = {
        "http-stranger": (login, None,
                          f"requires a login (407 Proxy Authentication Required); {wanted}"),
        "http-impostor": (login, WRONG, refused),
        "http-elsewhere": (narrow, None, f"does not allow connections to 127.0.0.1:{port} "
                           "(403 Access violation); allow CONNECT to this address in its rules"),
        "socks-stranger": (socks, None, f"requires a login; {wanted}"),
        "socks-impostor": (socks, WRONG, refused),
    }
    for name, (proxy, password, words) in refusals.items():
        way = Way({"proxy-url": proxy.url_with(password)})
        see_refusal(stage, follow(stage, name, way), f"proxy {proxy.place} {words}")
    return len(refusals)


def see_refusal(stage, feed, words):
    try:
        children.until(lambda: words in feed.own_log(), 10, f"'{words}' in its log")
    except children.Failure as failure:
        stage.complain(f"{failure}; it ends:\n{children.indented_end(feed.own_log(), 3)}")
    if is_in(feed.own_log(), WRONG):
        stage.complain(f"{feed.name}: its log has the password")
    feed.close()
