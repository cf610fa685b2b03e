"""The trials: which scenarios run with which servers, and which mutants they must detect."""

import re
from pathlib import Path
from typing import Callable, NamedTuple

from lib import parts
from lib.plane import Request
from lib.stage import Load, Outcome, Subject
from scenarios import (access, chart, churn, churn_restarts, compressed, crd, custom, deployment, forbidden,
                       half_list, image, jetstream, kafka, kills, late, lifecycle, lifecycle_restarts, local_api, local_api_clients,
                       local_api_types, metadata, network, old_pages, page, proxies, rbac, replicas, replicas_jetstream, restored, resumed,
                       resumed_few, rotation, selectors, service_kills, shards, silence, slow_reader, tables, throttled,
                       webhooks)

SOURCES = Path(__file__).resolve().parents[2] / "src"
SCENARIOS = {
    "lifecycle": lifecycle, "deployment": deployment, "churn": churn,
    "lifecycle-restarts": lifecycle_restarts, "churn-restarts": churn_restarts, "kills": kills,
    "service-kills": service_kills, "shards": shards, "replicas": replicas, "replicas-jetstream": replicas_jetstream,
    "restored": restored, "resumed": resumed,
    "resumed-few": resumed_few, "network": network,
    "half-list": half_list, "old-pages": old_pages, "slow-reader": slow_reader, "late": late,
    "silence": silence, "throttled": throttled, "forbidden": forbidden, "custom": custom,
    "crd": crd, "selectors": selectors, "metadata": metadata, "compressed": compressed,
    "access": access, "rbac": rbac, "proxies": proxies, "rotation": rotation,
    "tables": tables, "local-api": local_api, "local-api-clients": local_api_clients,
    "local-api-types": local_api_types, "page": page, "kafka": kafka, "jetstream": jetstream,
    "webhooks": webhooks, "image": image, "chart": chart}
# need more CPU than they wait
HEAVY = ("churn", "churn-restarts", "image", "jetstream", "kafka", "local-api-clients", "resumed", "service-kills", "shards",
         "slow-reader")
ALONE = 100  # more than the number of jobs
TIMEOUT = 60  # seconds to catch up
MUTANT_TIMEOUT = 20  # it may never; long enough for a reconnect
ELSEWHERE_SECONDS = 20  # of load
MUTANT_SECONDS = 5  # of load: enough to drop an event
DROP_EFFECT = 5  # LIMIT: events affected by one dropped event: the following ones of that object may differ


# -- servers

class Server(NamedTuple):
    """An API server, additional flags for it, and a predicate that some request of informerd must satisfy.
    """

    title: str = ""
    module: str = parts.NEW
    flags: tuple = ()
    sign: Callable[[Request], bool] = lambda request: True


def is_streamed(request):
    return request.query.get("sendInitialEvents") == "true" and request.status == 200


def is_listed(request):
    return request.verb == "list" and "fieldSelector" not in request.query  # that is a version query


def is_later_page(request):
    return is_listed(request) and "continue" in request.query


NEWEST = Server(sign=is_streamed)
LISTING = Server("without watch-list", flags=(("feature-gates", "WatchList=false"),),
                 sign=is_listed)
PAGING = Server("without watch-list and cache",  # so lists are read from etcd, in pages
                flags=(*LISTING.flags, ("watch-cache", "false")), sign=is_later_page)
SPLITTING = Server("with sharded lists", flags=(("feature-gates", "ShardedListAndWatch=true"),), sign=is_streamed)
OLDER = Server(parts.release(parts.OLD), parts.OLD)
HOME = {"compressed": LISTING, "old-pages": PAGING}  # servers of scenarios that do not use the newest
ELSEWHERE = {LISTING: ("lifecycle-restarts", "churn-restarts"),  # scenarios that run again on other servers
             PAGING: ("churn",),
             SPLITTING: ("shards",),
             OLDER: ("lifecycle-restarts", "churn-restarts", "network", "selectors", "metadata",
                     "restored")}


# -- mutants

MUTANTS = {  # every mutant of src, and the scenario that must detect it
    "drop-one-event": "lifecycle",
    "drop-one-delete": "lifecycle-restarts",
    "fifo-reorders": "network",
    "first-page-is-all": "old-pages",
    "synced-too-early": "lifecycle",
    "gap-not-emitted": "lifecycle-restarts",
    "stale-version-kept": "lifecycle-restarts",
    "version-not-advanced": "network",
    "relist-emits-equal": "lifecycle-restarts",
    "ignore-uid": "lifecycle-restarts",
    "no-tombstones": "lifecycle-restarts",
    "deletes-after-adds": "lifecycle-restarts",
    "staged-kept": "half-list",
    "overflow-ignored": "slow-reader",
    "coalesce-drops-delete": "late",
    "coalesce-forgets-known": "late",
    "replay-doubles": "late",
    "delete-unknown-emitted": "late",
    "silence-ignored": "silence",
    "restore-loses-one": "resumed-few",
}

# A real server neither hides changes from its watches nor sends objects that can't be decoded, these caches are not
# compact, and the others need a crash at a certain moment: test/random detects these, and those of the state.
SIMULATED = {"blind-watch-trusted", "old-state-packed", "skipped-not-kept", "position-ahead", "position-in-relist",
             "restored-not-replayed"}
OF_THE_STATE = "state: "


def untried():
    """Mutants that are only in src or only in the table."""
    text = "".join(path.read_text() for path in SOURCES.rglob("*.c"))
    found = {name for name in re.findall(r'MUTANT\("([^"]+)"\)', text) if not name.startswith(OF_THE_STATE)}
    return sorted(found ^ (set(MUTANTS) | SIMULATED))


# -- trials

class Trial(NamedTuple):
    """A scenario to run, with its server and subject, and a check of its outcome."""

    title: str
    scenario: str
    server: Server
    subject: Subject
    load: Load
    failure_of: Callable[[Outcome], str]  # empty: passed

    @property
    def folder(self):
        return re.sub(r"\W+", "-", self.title)

    @property
    def weight(self):
        """The number of jobs it counts for. Churn runs alone, because it reports the write rate."""
        if self.title == "churn":
            return ALONE
        return 2 if self.scenario in HEAVY else 1


def planned(args):
    chosen = args.only or SCENARIOS
    load = Load(args.seed, args.rate, args.seconds)
    informerd = subject(args.build, TIMEOUT)
    for name in chosen:
        yield Trial(name, name, HOME.get(name, NEWEST), informerd, load, disagreement)
    for server, names in ELSEWHERE.items() if not args.no_others else ():
        for name in (name for name in names if name in chosen):
            shorter = load._replace(seconds=min(args.seconds, ELSEWHERE_SECONDS))
            yield Trial(f"{name}, {server.title}", name, server, informerd, shorter, disagreement)
    brief = load._replace(seconds=min(args.seconds, MUTANT_SECONDS))
    for mutation, name in MUTANTS.items() if not args.no_mutants else ():
        if name in chosen:
            wrong = subject(args.mutant, MUTANT_TIMEOUT, mutation)
            yield Trial(f"{name}, {mutation}", name, HOME.get(name, NEWEST), wrong, brief,
                        missed_drop if mutation.startswith("drop-one") else missed_mutant)


def subject(build, timeout, mutation=""):
    programs = (build / "informerd", build / "test/e2e/follower") if build else (None, None)
    return Subject(*programs, {"INFORMER_MUTANT": mutation}, timeout, bool(mutation))


# -- checks of the outcome

def disagreement(outcome):
    """The differences between informerd and the oracle; there must be none."""
    return "\n".join(f"    - {finding}" for finding in outcome.verdict.findings)


def missed_drop(outcome):
    """Why a dropped event was not detected correctly."""
    if not outcome.verdict.findings:
        return "one event was to be dropped, and the comparison found no difference"
    if not 1 <= outcome.verdict.lost <= DROP_EFFECT:
        return (f"one event was to be dropped, and {outcome.verdict.lost} were lost:\n"
                f"{disagreement(outcome)}")
    return ""


def missed_mutant(outcome):
    """The same for the other mutants."""
    if not outcome.ours:
        return "it reported nothing at all, which proves nothing"
    return "" if outcome.verdict.findings else "the comparison found no difference"
