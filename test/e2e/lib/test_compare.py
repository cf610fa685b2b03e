"""Tests that the comparison finds every kind of difference."""

import unittest

from . import compare, states
from .compare import Event, Replica, Version, compare_events


def life(name="a", uid="1", first=10):
    return [Event("ADDED", f"ns/{name}", uid, first),
            Event("MODIFIED", f"ns/{name}", uid, first + 1),
            Event("DELETED", f"ns/{name}", uid, first + 2)]


def reported(kind, uid="1", rv=10, **more):
    return {"type": kind, "namespace": "ns", "name": "a", "uid": uid, "rv": str(rv),
            "initial": False, "final": True, "origin": "live"} | more


class Comparing(unittest.TestCase):
    def test_equal_events_have_no_findings(self):
        self.assertEqual(compare_events(life(), life()), compare.Verdict())

    def test_an_initial_object_equals_a_live_addition(self):
        ours = [life()[0]._replace(live=False), *life()[1:]]
        self.assertEqual(compare_events(ours, life()).findings, [])

    def test_each_dropped_event_is_found(self):
        events = life("a", "1", 10) + life("b", "2", 20)
        for dropped in range(len(events)):
            verdict = compare_events(events[:dropped] + events[dropped + 1:], events)
            self.assertEqual(verdict.lost, 1)
            self.assertTrue(verdict.findings)

    def test_a_finding_shows_the_events_of_both_watchers(self):
        added, modified, deleted = life()
        finding = compare_events([added, deleted], [added, modified, deleted]).findings[0]
        self.assertIn("informerd reported ADDED@10 DELETED@12\n", finding)
        self.assertIn("the oracle reported ADDED@10 MODIFIED@11 DELETED@12", finding)

    def test_an_object_that_only_one_watcher_reported_is_found(self):
        self.assertIn("informerd reported nothing", compare_events([], life()).findings[0])
        self.assertIn("the oracle reported nothing", compare_events(life(), []).findings[0])
        self.assertEqual(compare_events(life(), []).extra, 3)

    def test_a_repeated_event_is_found(self):
        added, modified, deleted = life()
        verdict = compare_events([added, modified, modified, deleted], life())
        self.assertEqual((verdict.repeated, verdict.lost, verdict.disordered), (1, 0, 1))
        self.assertTrue(verdict.findings)

    def test_an_event_that_never_happened_is_found(self):
        verdict = compare_events([*life(), Event("ADDED", "ns/b", "2", 99)], life())
        self.assertEqual((verdict.extra, verdict.lost), (1, 0))
        self.assertTrue(verdict.findings)

    def test_swapped_events_of_an_object_are_found(self):
        added, modified, deleted = life()
        verdict = compare_events([modified, added, deleted], life())
        self.assertGreater(verdict.disordered, 0)
        self.assertEqual(verdict.lost, 0)

    def test_objects_out_of_stream_order_are_found(self):
        a, b = Event("ADDED", "ns/a", "1", 10), Event("ADDED", "ns/b", "2", 11)
        verdict = compare_events([b, a], [a, b])
        self.assertEqual((verdict.disordered, verdict.lost), (1, 0))
        self.assertIn("after @11 was reported for another object", verdict.findings[0])

    def test_a_list_need_not_be_in_stream_order(self):
        a = Event("ADDED", "ns/a", "1", 10, live=False)
        b = Event("ADDED", "ns/b", "2", 11, live=False)
        self.assertEqual(compare_events([b, a], [a, b]).findings, [])

    def test_the_version_of_a_deletion_found_by_a_relist_is_not_compared(self):
        added, modified, deleted = life()
        absent = deleted._replace(rv=11, final=False, live=False)
        ours, theirs = [added, modified, absent], [added, modified, absent._replace(rv=10)]
        self.assertEqual(compare_events(ours, theirs).findings, [])
        self.assertEqual(compare_events(ours, life()).lost, 1)

    def test_a_missing_deletion_between_two_objects_of_one_name_is_found(self):
        first, second = Event("ADDED", "ns/a", "1", 10), Event("ADDED", "ns/a", "2", 11)
        self.assertEqual(compare_events([first, second], [first, second]).disordered, 1)
        two_lives = life() + life(uid="2", first=20)
        self.assertEqual(compare_events(two_lives, two_lives).findings, [])

    def test_a_write_that_the_oracle_did_not_report_is_found(self):
        self.assertEqual(compare.unseen(life(), life()), [])
        self.assertEqual(compare.unseen(life(), life()[:2]),
                         ["ns/a 1: DELETED@12 was written, and the oracle did not report it"])

    def test_a_confirmed_deletion_may_have_no_version(self):
        deleted = life()[2]._replace(rv=0, final=False)
        self.assertEqual(compare.unseen([deleted], life()), [])
        self.assertEqual(len(compare.unseen([deleted], life()[:2])), 1)

    def test_ten_findings_are_shown_and_the_rest_is_counted(self):
        events = [Event("ADDED", f"ns/{n}", str(n), n) for n in range(1, 14)]
        findings = compare_events([], events).findings
        self.assertEqual(len(findings), 11)
        self.assertEqual(findings[-1], "… and 3 more")

    def test_a_finding_shows_only_events_near_the_difference(self):
        updates = [Event("MODIFIED", "ns/a", "1", rv) for rv in range(2, 100)]
        long = [Event("ADDED", "ns/a", "1", 1), *updates]
        finding = compare_events(long[:50] + long[51:], long).findings[0]
        self.assertIn("informerd reported … MODIFIED@47 MODIFIED@48 MODIFIED@49 MODIFIED@50"
                      " MODIFIED@52 MODIFIED@53 MODIFIED@54 MODIFIED@55 …\n", finding)
        self.assertIn("the oracle reported … MODIFIED@47 MODIFIED@48 MODIFIED@49 MODIFIED@50"
                      " MODIFIED@51 MODIFIED@52 MODIFIED@53 MODIFIED@54 …", finding)


class ComparingInterrupted(unittest.TestCase):
    """The history: two objects at 10 to 12 and 20 to 22, and one that exists from 30 on."""

    happened = [*life("a", "1", 10), *life("b", "2", 20), *life("c", "3", 30)[:2]]

    def verdict(self, ours):
        return compare.compare_with_history(ours, self.happened)

    def relisted(self, *events):
        return [event._replace(live=False) for event in events]

    def absent(self, event):
        return event._replace(rv=event.rv - 1, live=False, final=False, type="DELETED")

    def test_a_complete_live_report_has_no_findings(self):
        self.assertEqual(self.verdict(self.happened), compare.Verdict())

    def test_each_dropped_event_is_found_without_a_relist(self):
        for dropped in range(len(self.happened) - 1):
            ours = self.happened[:dropped] + self.happened[dropped + 1:]
            self.assertEqual(self.verdict(ours).lost, 1)
            self.assertTrue(self.verdict(ours).findings)

    def test_a_relist_may_skip_versions_and_whole_objects(self):
        first, last = self.happened[0], self.happened[-1]
        ours = [first, *self.relisted(self.absent(self.happened[1]), last._replace(type="ADDED"))]
        self.assertEqual(self.verdict(ours).findings, [])

    def test_a_relist_does_not_excuse_events_before_the_last_live_event(self):
        a, b, c = self.happened[:3], self.happened[3:6], self.happened[6:]
        late = self.relisted(self.absent(a[2]))
        verdict = self.verdict([*a[:2], *b, *late, *self.relisted(c[0]), c[1]])
        self.assertEqual(verdict.lost, 1)
        self.assertIn("DELETED@12 happened", verdict.findings[0])

    def test_a_live_event_skips_nothing_even_after_a_relist(self):
        created, updated, deleted = life("b", "2", 20)
        ours = [*life(), *self.relisted(created), deleted, *self.happened[6:]]
        self.assertEqual(self.verdict(ours).lost, 1)

    def test_invented_events_are_found(self):
        for invented in (Event("ADDED", "ns/d", "4", 40), Event("MODIFIED", "ns/c", "3", 40)):
            for live in (True, False):
                verdict = self.verdict([*self.happened, invented._replace(live=live)])
                self.assertEqual(verdict.extra, 1)
                self.assertTrue(verdict.findings)

    def test_a_live_event_of_the_wrong_type_is_found(self):
        ours = [*self.happened[:6], self.happened[7]._replace(type="ADDED")]
        self.assertEqual(self.verdict(ours).extra, 1)

    def test_a_repeated_event_is_found(self):
        verdict = self.verdict([*self.happened, self.happened[-1]])
        self.assertEqual(verdict.repeated, 1)
        self.assertIn("3: MODIFIED@31 was reported 2 times", verdict.findings)

    def test_a_deletion_reported_live_and_by_a_relist_is_found(self):
        ours = [*self.happened, *self.relisted(self.absent(self.happened[2]))]
        self.assertIn("ns/a 1: reported as deleted 2 times, was deleted 1 times",
                      self.verdict(ours).findings)

    def test_an_unreported_deletion_is_found(self):
        ours = [self.happened[0], *self.relisted(*self.happened[-1:])]
        self.assertIn("ns/a 1: reported as deleted 0 times, was deleted 1 times",
                      self.verdict(ours).findings)

    def test_a_deletion_of_an_existing_object_is_found(self):
        ours = [*self.happened, *self.relisted(self.absent(self.happened[-1]))]
        self.assertIn("ns/c 3: reported as deleted 1 times, was deleted 0 times",
                      self.verdict(ours).findings)

    def test_decreasing_versions_are_found(self):
        ours = [*self.happened, *self.relisted(self.happened[-2]._replace(type="MODIFIED"))]
        self.assertEqual(self.verdict(ours).disordered, 1)

    def test_a_history_without_events_of_writer_or_oracle_is_refused(self):
        def objections(written, theirs):
            return len(compare.missing_in_history(written, theirs, self.happened))

        unknown = Event("ADDED", "ns/d", "4", 40)
        listed_later = self.happened[-1]._replace(type="ADDED")
        self.assertEqual(objections(self.happened, [listed_later]), 0)
        self.assertEqual(objections([unknown], []), 1)
        self.assertEqual(objections([], [unknown]), 1)


class Lists(unittest.TestCase):
    """Relists are reported as RELIST, then deletions, then existing objects."""

    relist = {"type": "RELIST"}
    gone = reported("DELETED", name="gone", origin="relist", final=False)
    here = reported("ADDED", name="here", origin="relist")

    def faults(self, *records):
        return len(compare.record_faults(records))

    def test_a_valid_order_has_no_faults(self):
        replaced = [reported(kind, name="replaced", origin="relist") for kind in ("DELETED", "ADDED")]
        first = reported("ADDED", origin="initial")
        relist = [self.relist, self.gone, self.here, *replaced]
        self.assertEqual(self.faults(first, *relist, reported("MODIFIED"), *relist), 0)

    def test_a_relist_without_its_record_is_found(self):
        self.assertEqual(self.faults(self.gone), 1)
        self.assertEqual(self.faults(self.relist, self.here, reported("MODIFIED"), self.here), 1)

    def test_an_initial_object_after_synced_is_found(self):
        initial, synced = reported("ADDED", origin="initial"), {"type": "SYNCED"}
        self.assertEqual(self.faults(initial, synced, reported("MODIFIED")), 0)
        self.assertEqual(self.faults(synced, initial), 1)

    def test_a_deletion_after_an_existing_object_is_found(self):
        self.assertEqual(self.faults(self.relist, self.here, self.gone), 1)
        self.assertEqual(self.faults(self.relist, self.here, self.gone, self.here), 1)
        again = reported("ADDED", name="gone")
        self.assertEqual(self.faults(self.relist, self.here, self.gone, again), 1)


class Parsing(unittest.TestCase):
    def test_records_about_the_daemon_are_ignored(self):
        records = [{"type": "START"}, reported("ADDED"), {"type": "SYNCED"}]
        self.assertEqual([*compare.from_informerd(records)], [Event("ADDED", "ns/a", "1", 10)])

    def test_only_live_records_count_as_live_events(self):
        origins = ("initial", "relist", "live")
        events = list(compare.from_informerd(reported("ADDED", origin=origin) for origin in origins))
        self.assertEqual([event.live for event in events], [False, False, True])

    def test_an_oracle_update_without_a_new_version_is_ignored(self):
        events = compare.from_oracle([reported("ADDED"), reported("MODIFIED"), reported("MODIFIED", rv=11)])
        self.assertEqual([str(event) for event in events], ["ADDED@10", "MODIFIED@11"])

    def test_an_oracle_update_to_another_uid_is_a_deletion_and_an_addition(self):
        events = list(compare.from_oracle([reported("ADDED"), reported("MODIFIED", uid="2", rv=20)]))
        self.assertEqual([(event.type, event.uid) for event in events],
                         [("ADDED", "1"), ("DELETED", "1"), ("ADDED", "2")])
        self.assertFalse(events[1].final)

    def test_initial_objects_of_the_oracle_are_not_live(self):
        self.assertFalse(next(compare.from_oracle([reported("ADDED", initial=True)])).live)


class States(unittest.TestCase):
    listed = compare.from_list(
        [{"metadata": {"namespace": "ns", "name": "a", "uid": "1", "resourceVersion": "11"}}])

    def test_applying_all_events_gives_the_state(self):
        replica = Replica()
        for event in [*life("b", "2", 5), *life()[:2]]:
            replica.apply(event)
        self.assertEqual((replica.state, replica.faults), (self.listed, []))

    def test_the_store_of_the_oracle_is_read_as_a_state(self):
        items = [{"namespace": "ns", "name": "a", "uid": "1", "rv": "11"}]
        self.assertEqual(compare.from_store({"items": items}), self.listed)

    def test_each_difference_to_the_list_is_described(self):
        def differences(state):
            return compare.different_states("informerd", state, self.listed)

        older, other = {"ns/a": Version("1", 10)}, {"ns/a": Version("2", 11)}
        more = self.listed | {"ns/b": Version("3", 3)}
        self.assertEqual(differences(self.listed), [])
        self.assertEqual(differences({}), ["ns/a: informerd holds nothing, the server lists 1@11"])
        self.assertEqual(differences(older), ["ns/a: informerd holds 1@10, the server lists 1@11"])
        self.assertEqual(differences(other), ["ns/a: informerd holds 2@11, the server lists 1@11"])
        self.assertEqual(differences(more), ["ns/b: informerd holds 3@3, the server lists nothing"])


class Contents(unittest.TestCase):
    """The library's store compared with the server's list, field by field."""

    meta = {"namespace": "ns", "name": "a", "uid": "1"}
    listed = {"metadata": meta | {"managedFields": [{}]}, "spec": {"size": 1}}
    held = {"kind": "Thing", "apiVersion": "v1", "metadata": meta, "spec": {"size": 1}}

    def differences(self, held, listed):
        return len(list(compare.different_objects(held, listed)))

    def test_canonical_form_is_no_difference(self):
        self.assertEqual(self.differences([self.held], [self.listed]), 0)

    def test_each_difference_of_contents_is_found(self):
        for other in (self.held | {"spec": {"size": 2}}, self.held | {"status": {}},
                      {"metadata": self.meta}, self.held | {"metadata": self.listed["metadata"]}):
            self.assertEqual(self.differences([other], [self.listed]), 1)
        self.assertEqual(self.differences([], [self.listed]), 1)
        self.assertEqual(self.differences([self.held], []), 1)


class PodStates(unittest.TestCase):
    def test_the_states_of_a_pod_are_named(self):
        def pod(container=None, **more):
            return {"metadata": more.get("metadata", {}), "spec": more.get("spec", {}),
                    "status": {"phase": more.get("phase", "Pending")}
                    | ({"containerStatuses": [container]} if container else {})}

        bound, ending = {"nodeName": "n"}, {"deletionTimestamp": "now"}
        states_of = [
            pod(), pod(spec=bound), pod(spec=bound),
            pod({"ready": False, "state": {"waiting": {"reason": "ContainerCreating"}}}),
            pod({"ready": False, "state": {"running": {}}}, phase="Running"),
            pod({"ready": True, "state": {"running": {}}}, phase="Running"),
            pod({"ready": True, "state": {"running": {}}}, phase="Running", metadata=ending),
            pod({"ready": False, "state": {"terminated": {}}}, metadata=ending),
        ]
        events = [Event("MODIFIED", "ns/a", "1", rv) for rv in range(len(states_of))]
        contents = {("1", rv): thing for rv, thing in enumerate(states_of)}
        reported = states.lives([*events, Event("DELETED", "ns/a", "1", 99)], contents)
        self.assertEqual(reported["ns/a"], ["Pending", "Scheduled", "ContainerCreating", "NotReady",
                                        "Running", "Terminating", "Terminated", "Gone"])


if __name__ == "__main__":
    unittest.main()
