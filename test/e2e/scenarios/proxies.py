"""The lifecycle of a pod through every kind of proxy and every way to configure one. All proxies are
killed in the middle and restarted. informerd must report what the oracle reports, which connects
directly: nothing lost, nothing twice, and no relist, because the server keeps its history.

Then proxies that refuse: the error names the proxy and never contains the password.
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

NOWHERE = "http://127.0.0.1:1"  # a proxy that does not respond
BY_NAME = "127.1"  # not a loopback address, for which HTTPS_PROXY is not used
WRONG = "wr0ng-pass"
SILENT = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"), "")


class Way(NamedTuple):
    """One way to configure the proxy: kubeconfig, configuration file, environment."""

    cluster: dict
    environment: dict = {}
    conf: dict | None = None  # None: started without one
    proxy: Middle | None = None  # the proxy that must be used; None: direct


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
        check_events(stage, name, ways[name], feed)
    return f"{len(ways)} ways, {check_refusals(stage, make)} refusals, {stage.writes} writes"


class Maker:
    def __init__(self, stage):
        self._stage, self._made = stage, []

    def __call__(self, kind, name, *more, **options):
        proxy = self._stage.enter(kind(self._stage.plane.folder, name, *more, **options))
        if kind is not HttpsProxy:  # its port may be reused, so it is stopped last
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
    """The usual kubeconfig with these cluster fields."""
    config = json.loads(plane.kubeconfig("token").read_text())
    config["clusters"][0]["cluster"] |= cluster
    path = plane.folder / f"{name}.kubeconfig"
    path.write_text(json.dumps(config))
    return path


def catch_up(stage, feeds):
    stage.catch_up()
    listed = stage.pods.list()
    for feed in feeds.values():
        if not feed.wait_for_state(listed, stage.timeout):
            raise children.Failure(f"{feed.name} does not catch up; {feed.last_words()}")


def check_events(stage, name, way, feed):
    feed.close()
    found = compare.compare_events(feed.events, stage.oracle_events("pods")).findings
    found += compare.record_faults(feed.records)
    if any(record["type"] == "RELIST" for record in feed.records):
        found.append("it listed again, although the server kept its history")
    if way.proxy and not way.proxy.mentions(f":{stage.plane.port}"):
        found.append("the proxy was not used")
    if any(is_in(feed.own_log(), kind.password) for kind in (HttpProxy, SocksProxy)):
        found.append("its log contains the password of the proxy")
    for finding in found:
        stage.complain(f"{name}: {finding}")
    stage.note_events(len(feed.events))


def is_in(log, password):
    """In any form in which it is configured or sent."""
    login = base64.b64encode(f"{USER}:{password}".encode()).decode()
    return any(form in log for form in (password, quote(password, safe=""), login))


# -- refusals

def check_refusals(stage, make):
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
        way = Way({"proxy-url": proxy.url_with(password)}, conf={})  # a service keeps trying
        check_refusal(stage, follow(stage, name, way), f"proxy {proxy.place} {words}")
    return len(refusals)


def check_refusal(stage, feed, words):
    try:
        children.until(lambda: words in feed.own_log(), 10, f"'{words}' in its log")
    except children.Failure as failure:
        stage.complain(f"{failure}; it ends:\n{children.indented_end(feed.own_log(), 3)}")
    if is_in(feed.own_log(), WRONG):
        stage.complain(f"{feed.name}: its log contains the password")
    feed.close()
