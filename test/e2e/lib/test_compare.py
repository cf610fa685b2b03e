"""Tests that the comparison finds every kind of difference."""

import unittest

from . import compare, states
from .compare import Event, Replica, Version, judge


def life(name="a", uid="1", first=10):
    return [Event("ADDED", f"ns/{name}", uid, first),
            Event("MODIFIED", f"ns/{name}", uid, first + 1),
            Event("DELETED", f"ns/{name}", uid, first + 2)]


def reported(kind, uid="1", rv=10, **more):
    return {"type": kind, "namespace": "ns", "name": "a", "uid": uid, "rv": str(rv),
            "initial": False, "final": True, "origin": "live"} | more


class Judging(unittest.TestCase):
    def test_the_same_is_the_same(self):
        self.assertEqual(judge(life(), life()), compare.Verdict())

    def test_where_the_first_state_came_from_does_not_matter(self):
        ours = [life()[0]._replace(live=False), *life()[1:]]
        self.assertEqual(judge(ours, life()).findings, [])

    def test_any_one_event_dropped_is_noticed(self):
        events = life("a", "1", 10) + life("b", "2", 20)
        for dropped in range(len(events)):
            verdict = judge(events[:dropped] + events[dropped + 1:], events)
            self.assertEqual(verdict.lost, 1)
            self.assertTrue(verdict.findings)

    def test_both_sides_are_told(self):
        added, modified, deleted = life()
        finding = judge([added, deleted], [added, modified, deleted]).findings[0]
        self.assertIn("informerd reported ADDED@10 DELETED@12\n", finding)
        self.assertIn("the oracle reported ADDED@10 MODIFIED@11 DELETED@12", finding)

    def test_an_object_only_one_side_saw(self):
        self.assertIn("informerd reported nothing", judge([], life()).findings[0])
        self.assertIn("the oracle reported nothing", judge(life(), []).findings[0])
        self.assertEqual(judge(life(), []).extra, 3)

    def test_an_event_told_twice(self):
        added, modified, deleted = life()
        verdict = judge([added, modified, modified, deleted], life())
        self.assertEqual((verdict.repeated, verdict.lost, verdict.disordered), (1, 0, 1))
        self.assertTrue(verdict.findings)

    def test_an_invented_event(self):
        verdict = judge([*life(), Event("ADDED", "ns/b", "2", 99)], life())
        self.assertEqual((verdict.extra, verdict.lost), (1, 0))
        self.assertTrue(verdict.findings)

    def test_events_of_one_object_swapped(self):
        added, modified, deleted = life()
        verdict = judge([modified, added, deleted], life())
        self.assertGreater(verdict.disordered, 0)
        self.assertEqual(verdict.lost, 0)

    def test_objects_told_out_of_stream_order(self):
        a, b = Event("ADDED", "ns/a", "1", 10), Event("ADDED", "ns/b", "2", 11)
        verdict = judge([b, a], [a, b])
        self.assertEqual((verdict.disordered, verdict.lost), (1, 0))
        self.assertIn("after @11 was reported for another object", verdict.findings[0])

    def test_a_list_need_not_be_in_stream_order(self):
        a = Event("ADDED", "ns/a", "1", 10, live=False)
        b = Event("ADDED", "ns/b", "2", 11, live=False)
        self.assertEqual(judge([b, a], [a, b]).findings, [])

    def test_a_deletion_seen_only_as_an_absence_has_no_version_to_compare(self):
        added, modified, deleted = life()
        absent = deleted._replace(rv=11, final=False, live=False)
        ours, theirs = [added, modified, absent], [added, modified, absent._replace(rv=10)]
        self.assertEqual(judge(ours, theirs).findings, [])
        self.assertEqual(judge(ours, life()).lost, 1)

    def test_a_new_object_under_an_old_name_needs_a_delete_between(self):
        first, second = Event("ADDED", "ns/a", "1", 10), Event("ADDED", "ns/a", "2", 11)
        self.assertEqual(judge([first, second], [first, second]).disordered, 1)
        two_lives = life() + life(uid="2", first=20)
        self.assertEqual(judge(two_lives, two_lives).findings, [])

    def test_a_write_the_oracle_was_not_told_of(self):
        self.assertEqual(compare.unseen(life(), life()), [])
        self.assertEqual(compare.unseen(life(), life()[:2]),
                         ["ns/a 1: DELETED@12 was written, and the oracle did not report it"])

    def test_a_written_deletion_whose_version_was_not_answered(self):
        deleted = life()[2]._replace(rv=0, final=False)
        self.assertEqual(compare.unseen([deleted], life()), [])
        self.assertEqual(len(compare.unseen([deleted], life()[:2])), 1)

    def test_many_differences_are_cut_to_ten_and_a_number(self):
        events = [Event("ADDED", f"ns/{n}", str(n), n) for n in range(1, 14)]
        findings = judge([], events).findings
        self.assertEqual(len(findings), 11)
        self.assertEqual(findings[-1], "… and 3 more")

    def test_a_long_life_is_shown_around_its_difference(self):
        updates = [Event("MODIFIED", "ns/a", "1", rv) for rv in range(2, 100)]
        long = [Event("ADDED", "ns/a", "1", 1), *updates]
        finding = judge(long[:50] + long[51:], long).findings[0]
        self.assertIn("informerd reported … MODIFIED@47 MODIFIED@48 MODIFIED@49 MODIFIED@50"
                      " MODIFIED@52 MODIFIED@53 MODIFIED@54 MODIFIED@55 …\n", finding)
        self.assertIn("the oracle reported … MODIFIED@47 MODIFIED@48 MODIFIED@49 MODIFIED@50"
                      " MODIFIED@51 MODIFIED@52 MODIFIED@53 MODIFIED@54 …", finding)


class JudgingInterrupted(unittest.TestCase):
    """The history: two objects at 10 to 12 and 20 to 22, and one that exists from 30 on."""

    happened = [*life("a", "1", 10), *life("b", "2", 20), *life("c", "3", 30)[:2]]

    def verdict(self, ours):
        return compare.judge_interrupted(ours, self.happened)

    def relisted(self, *events):
        return [event._replace(live=False) for event in events]

    def absent(self, event):
        return event._replace(rv=event.rv - 1, live=False, final=False, type="DELETED")

    def test_all_told_live_is_well(self):
        self.assertEqual(self.verdict(self.happened), compare.Verdict())

    def test_any_one_event_dropped_is_noticed_without_a_relist(self):
        for dropped in range(len(self.happened) - 1):
            ours = self.happened[:dropped] + self.happened[dropped + 1:]
            self.assertEqual(self.verdict(ours).lost, 1)
            self.assertTrue(self.verdict(ours).findings)

    def test_a_relist_may_pass_over_versions_and_whole_lives(self):
        first, last = self.happened[0], self.happened[-1]
        ours = [first, *self.relisted(self.absent(self.happened[1]), last._replace(type="ADDED"))]
        self.assertEqual(self.verdict(ours).findings, [])

    def test_a_relist_excuses_nothing_that_was_before_the_last_live_event(self):
        a, b, c = self.happened[:3], self.happened[3:6], self.happened[6:]
        late = self.relisted(self.absent(a[2]))
        verdict = self.verdict([*a[:2], *b, *late, *self.relisted(c[0]), c[1]])
        self.assertEqual(verdict.lost, 1)
        self.assertIn("DELETED@12 happened", verdict.findings[0])

    def test_a_live_event_skips_nothing_even_after_a_relist(self):
        created, updated, deleted = life("b", "2", 20)
        ours = [*life(), *self.relisted(created), deleted, *self.happened[6:]]
        self.assertEqual(self.verdict(ours).lost, 1)

    def test_what_never_happened(self):
        for invented in (Event("ADDED", "ns/d", "4", 40), Event("MODIFIED", "ns/c", "3", 40)):
            for live in (True, False):
                verdict = self.verdict([*self.happened, invented._replace(live=live)])
                self.assertEqual(verdict.extra, 1)
                self.assertTrue(verdict.findings)

    def test_a_live_event_is_told_as_what_it_was(self):
        ours = [*self.happened[:6], self.happened[7]._replace(type="ADDED")]
        self.assertEqual(self.verdict(ours).extra, 1)

    def test_an_event_told_twice(self):
        verdict = self.verdict([*self.happened, self.happened[-1]])
        self.assertEqual(verdict.repeated, 1)
        self.assertIn("3: MODIFIED@31 was reported 2 times", verdict.findings)

    def test_a_deletion_told_twice_each_time_otherwise(self):
        ours = [*self.happened, *self.relisted(self.absent(self.happened[2]))]
        self.assertIn("ns/a 1: reported as deleted 2 times, was deleted 1 times",
                      self.verdict(ours).findings)

    def test_a_deletion_never_told(self):
        ours = [self.happened[0], *self.relisted(*self.happened[-1:])]
        self.assertIn("ns/a 1: reported as deleted 0 times, was deleted 1 times",
                      self.verdict(ours).findings)

    def test_the_deletion_of_one_that_lives(self):
        ours = [*self.happened, *self.relisted(self.absent(self.happened[-1]))]
        self.assertIn("ns/c 3: reported as deleted 1 times, was deleted 0 times",
                      self.verdict(ours).findings)

    def test_versions_that_go_back(self):
        ours = [*self.happened, *self.relisted(self.happened[-2]._replace(type="MODIFIED"))]
        self.assertEqual(self.verdict(ours).disordered, 1)

    def test_a_history_that_lacks_what_others_know_is_no_history(self):
        def objections(written, theirs):
            return len(compare.false_witness(written, theirs, self.happened))

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

    def test_as_it_should_be(self):
        replaced = [reported(kind, name="replaced", origin="relist") for kind in ("DELETED", "ADDED")]
        first = reported("ADDED", origin="initial")
        relist = [self.relist, self.gone, self.here, *replaced]
        self.assertEqual(self.faults(first, *relist, reported("MODIFIED"), *relist), 0)

    def test_one_that_is_not_announced(self):
        self.assertEqual(self.faults(self.gone), 1)
        self.assertEqual(self.faults(self.relist, self.here, reported("MODIFIED"), self.here), 1)

    def test_the_first_is_told_before_synced(self):
        initial, synced = reported("ADDED", origin="initial"), {"type": "SYNCED"}
        self.assertEqual(self.faults(initial, synced, reported("MODIFIED")), 0)
        self.assertEqual(self.faults(synced, initial), 1)

    def test_what_is_gone_comes_first(self):
        self.assertEqual(self.faults(self.relist, self.here, self.gone), 1)
        self.assertEqual(self.faults(self.relist, self.here, self.gone, self.here), 1)
        again = reported("ADDED", name="gone")
        self.assertEqual(self.faults(self.relist, self.here, self.gone, again), 1)


class Understanding(unittest.TestCase):
    def test_informerds_records_about_itself_are_passed_over(self):
        records = [{"type": "START"}, reported("ADDED"), {"type": "SYNCED"}]
        self.assertEqual([*compare.from_informerd(records)], [Event("ADDED", "ns/a", "1", 10)])

    def test_only_live_records_are_held_to_stream_order(self):
        origins = ("initial", "relist", "live")
        events = list(compare.from_informerd(reported("ADDED", origin=origin) for origin in origins))
        self.assertEqual([event.live for event in events], [False, False, True])

    def test_the_oracles_update_of_nothing_is_passed_over(self):
        events = compare.from_oracle([reported("ADDED"), reported("MODIFIED"), reported("MODIFIED", rv=11)])
        self.assertEqual([str(event) for event in events], ["ADDED@10", "MODIFIED@11"])

    def test_the_oracles_update_to_another_uid_is_a_delete_and_an_add(self):
        events = list(compare.from_oracle([reported("ADDED"), reported("MODIFIED", uid="2", rv=20)]))
        self.assertEqual([(event.type, event.uid) for event in events],
                         [("ADDED", "1"), ("DELETED", "1"), ("ADDED", "2")])
        self.assertFalse(events[1].final)

    def test_the_oracles_initial_state_is_not_live(self):
        self.assertFalse(next(compare.from_oracle([reported("ADDED", initial=True)])).live)


class States(unittest.TestCase):
    listed = compare.from_list(
        [{"metadata": {"namespace": "ns", "name": "a", "uid": "1", "resourceVersion": "11"}}])

    def test_believing_every_event_gives_the_state(self):
        replica = Replica()
        for event in [*life("b", "2", 5), *life()[:2]]:
            replica.apply(event)
        self.assertEqual((replica.state, replica.faults), (self.listed, []))

    def test_the_oracles_store_is_a_state(self):
        items = [{"namespace": "ns", "name": "a", "uid": "1", "rv": "11"}]
        self.assertEqual(compare.from_store({"items": items}), self.listed)

    def test_each_way_to_differ_is_told(self):
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

    def test_each_way_to_differ(self):
        for other in (self.held | {"spec": {"size": 2}}, self.held | {"status": {}},
                      {"metadata": self.meta}, self.held | {"metadata": self.listed["metadata"]}):
            self.assertEqual(self.differences([other], [self.listed]), 1)
        self.assertEqual(self.differences([], [self.listed]), 1)
        self.assertEqual(self.differences([self.held], []), 1)


class Words(unittest.TestCase):
    def test_a_pods_life(self):
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
