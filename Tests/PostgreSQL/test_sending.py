"""The outbox with a daemon and a simulated gateway: what becomes of a row, and what the producer learns of it."""

from outbox import *

from sending import Daemon, Gateway

GONE = "ab" * 32


class SendingTests(OutboxTest):
    def start(self, more=""):
        self.gateway = Gateway(self.place, "--bad-token", GONE)
        self.gateway.start()
        self.addCleanup(self.gateway.stop)
        self.daemon = Daemon(self.place, "host-a", self.gateway, more)
        self.daemon.start()
        self.addCleanup(self.daemon.stop)
        self.daemon.await_start()

    def outcomes(self, kind):
        return self.sql("SELECT ref, outcome, reason, verdict, outbox_id, apns_id::text, index FROM pushspool.outcome "
                        "WHERE kind = %s ORDER BY outbox_id, index", kind)

    def await_outcomes(self, kind, count):
        eventually(lambda: len(self.outcomes(kind)) == count, f"{count} outcomes of kind {kind}", LIMIT)
        return self.outcomes(kind)

    def insert_three(self):
        first = self.insert(1, ref="good", apns_id="6e7d7bb6-62b2-4b0c-a2f5-5c2b1c0f6f0a")
        first += self.insert(1, ref="gone", recipient=json.dumps({"token": GONE, "alert": "x"}))
        first += self.insert(1, ref="wrong", recipient=json.dumps({"token": TOKEN, "alrt": "x"}))
        return first

    def test_the_producer_learns_what_became_of_each_row_through_the_bridge(self):
        self.start()
        good, gone, wrong = self.insert_three()
        bridge = self.bridge("--outcomes", "--record", "all", spool=self.daemon.spool)
        rows = self.await_outcomes("notification", 3)
        self.assertEqual([row[:5] for row in rows], [
            ("good", "accepted", None, None, good), ("gone", "rejected", "Unregistered", "gone", gone),
            ("wrong", "rejected", rows[2][2], "message", wrong)])
        self.assertEqual(rows[0][5], "6e7d7bb6-62b2-4b0c-a2f5-5c2b1c0f6f0a")
        ((_, outcome, *_),) = self.await_outcomes("job", 1)
        self.assertEqual(outcome, "done")
        eventually(lambda: os.listdir(os.path.join(self.daemon.app, "feedback")) == [], "consumed feedback", LIMIT)
        self.end(bridge)
        self.assertEqual(set(self.gateway.accepted().values()), {1})
        self.assertNotIn(GONE, self.log(bridge))

    def test_the_producer_learns_it_through_a_hook(self):
        self.start(f"hook: [{PROGRAM}, outcome, --database, '{self.address}']\n")
        self.insert_three()
        bridge = self.bridge(spool=self.daemon.spool)
        self.assertEqual([row[0] for row in self.await_outcomes("notification", 2)], ["gone", "wrong"])
        self.await_outcomes("job", 1)
        self.end(bridge)
        self.assertNotEqual(os.listdir(os.path.join(self.daemon.app, "feedback")), [])

    def test_outcomes_find_the_refs_of_a_group_that_is_not_deleted_yet(self):
        self.start()
        self.insert_three()
        self.await_end(self.bridge(spool=self.daemon.spool, steps=("kill", "after-drop")))
        eventually(lambda: len(self.daemon.ended("done")) == 2, "the job in done/", LIMIT)
        bridge = self.bridge("--outcomes", spool=self.daemon.spool)
        self.assertEqual([row[0] for row in self.await_outcomes("notification", 2)], ["gone", "wrong"])
        # The group was dropped again; the daemon did not send it again.
        self.await_outcomes("job", 2)
        ends = sorted((outcome, reason) for _, outcome, reason, *_ in self.outcomes("job"))
        self.assertEqual(ends, [("done", None), ("failed", "duplicate")])
        self.end(bridge)
        self.assertEqual(list(self.gateway.accepted().values()), [1])

    def test_a_feedback_file_that_cannot_be_read_holds_up_no_other_app(self):
        for app in ("alpha", "omega"):
            os.makedirs(os.path.join(self.spool, app, "new"))
            os.makedirs(os.path.join(self.spool, app, "feedback"))
        self.list_apps(*({"app": app, "carrier": "http2"} for app in ("alpha", "omega", "weather")))
        name = "20261121T083616.123456Z-host-a.jsonl"
        bad = os.path.join(self.spool, "omega", "feedback", name)
        for path, text in ((bad, "{"), (self.path("feedback", name), '{"kind":"job","id":"7T","state":"done"}')):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
        bridge = self.bridge("--outcomes")
        self.await_outcomes("job", 1)
        self.await_log(bridge, "cannot take feedback app=omega error=.*not JSON.*hint=.move the file away")
        eventually(lambda: self.names("feedback") == [], "consumed feedback", LIMIT)
        self.assertTrue(os.path.exists(bad))
        self.end(bridge)

    def test_a_line_that_comes_again_replaces_the_earlier_one_and_keeps_its_ref(self):
        batch = "00000000-0000-0000-0000-000000000001"
        self.sql(f"INSERT INTO pushspool.sent VALUES ('{batch}', 0, 17, 'mine')")
        line = {"v": 1, "kind": "notification", "app": "weather", "id": "7T", "ref": f"sql-{batch}", "index": 0,
                "outcome": "accepted", "at": "2026-11-21T08:36:16.123Z"}
        later = dict(line, outcome="rejected", reason="Bad\0\ud800Token", apns_id="no uuid", at="yesterday")
        token = {"kind": "token", "app": "weather", "token": "ab", "verdict": "gone"}
        other = {"kind": "job", "id": "8Z", "ref": "sql-no-uuid", "state": "failed", "code": "duplicate"}
        self.command("outcome", input="".join(json.dumps(each) + "\n" for each in (line, line, token, other)))
        self.sql("DELETE FROM pushspool.sent")
        self.command("outcome", input="".join(json.dumps(each) + "\n" for each in (line, later, token)))
        self.assertEqual(self.outcomes("notification"), [("mine", "rejected", "Bad\ufffd?Token", None, 17, None, 0)])
        tokens = self.sql("SELECT id, verdict FROM pushspool.outcome WHERE kind = 'token'")
        self.assertEqual(tokens, [("weather/ab", "gone")])
        self.assertEqual(self.outcomes("job"), [(None, "failed", "duplicate", None, None, None, -1)])
        self.assertIn("standard input:1: not JSON", self.command("outcome", input="{\n", code=65))
