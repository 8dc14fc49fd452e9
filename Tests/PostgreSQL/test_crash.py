"""Deaths of bridges and of the server, at each step: no row is lost, and none is in two jobs with different ids."""

from outbox import *

STEPS_OF_A_GROUP = (
    "before-claim", "after-claim", "before-drop", "staged", "renamed", "after-drop", "before-delete", "after-delete")


class StepTests(OutboxTest):
    def assert_each_once(self, count):
        ids = self.apns_ids()
        self.assertEqual(len(ids), count)
        self.assertEqual(set(ids.values()), {1})

    def test_a_bridge_that_is_killed_at_any_step_finishes_its_groups_after_the_next_start(self):
        for step in STEPS_OF_A_GROUP:
            with self.subTest(step):
                self.insert(5)
                first = self.bridge("--group", "2", "--waiting", "100", steps=("kill", step, "2"))
                self.await_end(first)
                second = self.bridge("--group", "2", "--waiting", "100")
                self.await_rows(0)
                self.end(second)
        self.assert_each_once(5 * len(STEPS_OF_A_GROUP))
        # A job that was in new/ is not dropped again, although its rows were still there.
        self.assertEqual(len(self.dropped()), 3 * len(STEPS_OF_A_GROUP))

    def test_a_connection_that_is_lost_at_any_step_doubles_nothing(self):
        """Also where nobody knows whether the statement was committed: after-claim and after-delete."""
        for step in ("before-claim", "after-claim", "before-delete", "after-delete"):
            with self.subTest(step):
                self.insert(5)
                bridge = self.bridge("--group", "2", steps=("lose", step, "2"))
                self.await_rows(0)
                self.await_log(bridge, "no connection to the database: the connection is lost")
                self.end(bridge)
        self.assert_each_once(20)
        self.assertEqual(len(self.dropped()), 12)

    def test_a_job_that_the_daemon_has_claimed_meanwhile_is_dropped_under_the_same_id(self):
        self.insert(2)
        self.await_end(self.bridge(steps=("kill", "after-drop")))
        (name,) = self.jobs()
        claimed = self.text("new", name)
        os.unlink(self.path("new", name))
        bridge = self.bridge()
        self.await_rows(0)
        self.end(bridge)
        self.assertEqual((self.jobs(), self.text("new", name)), ([name], claimed))

    def test_a_lost_connection_does_not_make_a_bridge_drop_again_what_it_has_dropped(self):
        self.insert(2)
        bridge = self.bridge(steps=("lose", "before-delete"))
        self.await_log(bridge, "the connection is lost")
        os.unlink(self.path("new", self.jobs()[0]))
        self.await_rows(0)
        self.end(bridge)
        self.assertEqual(self.jobs(), [])

    def test_a_bridge_that_was_frozen_drops_nothing_that_was_released_meanwhile(self):
        self.insert(2)
        bridge = self.bridge(steps=("stop", "after-claim"))
        eventually(lambda: _state(bridge.pid) == "T", "a frozen bridge", LIMIT)
        # The server ends a connection that is dead; here an operator does, and releases the groups.
        locks = ("FROM pg_locks WHERE locktype = 'advisory' AND database = "
                 "(SELECT oid FROM pg_database WHERE datname = current_database())")
        self.sql(f"SELECT pg_terminate_backend(pid) {locks}")
        eventually(lambda: self.one(f"SELECT count(*) {locks}") == 0, "the end of the lock", LIMIT)
        self.assertIn("released 2 rows in 1 group of node host-a", self.command("release", "host-a"))
        other = self.bridge(node="host-b")
        self.await_rows(0)
        (name,) = self.jobs()
        os.unlink(self.path("new", name))
        bridge.send_signal(signal.SIGCONT)
        self.await_log(bridge, "connected", 2)
        self.assertEqual(self.jobs(), [])
        self.end(bridge)
        self.end(other)


def _state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


class NodeTests(OutboxTest):
    def test_two_bridges_with_one_name_never_work_at_the_same_time(self):
        first = self.bridge()
        self.await_log(first, "connected")
        second = self.bridge()
        self.await_log(
            second, r"another bridge runs as node host-a \(server process \d+\).* hint=.give each bridge a --node")
        self.assertNotIn("notice connected", self.log(second))
        self.assertIn("another bridge runs as node host-a", self.command("release", "host-a", code=75))
        self.end(first)
        self.await_log(second, "connected")
        self.end(second)

    def test_two_and_four_bridges_share_the_rows_of_two_spools(self):
        other = os.path.join(self.place, "other")
        shutil.copytree(self.spool, other)
        for number in (2, 4):
            self.insert(400)
            bridges = [
                self.bridge(
                    "--group", "5", "--waiting", "1000", node=f"host-{index}", spool=(self.spool, other)[index % 2])
                for index in range(number)]
            self.await_rows(0)
            for bridge in bridges:
                self.end(bridge)
        here, self.spool = self.apns_ids(), other
        there = self.apns_ids()
        self.assertEqual(set(here) & set(there), set())
        self.assertEqual(sum(here.values()) + sum(there.values()), 1200 - 400)
        self.assertEqual(set([*here.values(), *there.values()]), {1})

    def test_released_groups_keep_their_batch_and_go_to_another_node(self):
        self.insert(6)
        self.await_end(self.bridge("--group", "4", steps=("kill", "after-drop"), node="dead"))
        (job, _), = self.dropped()
        status = self.command("status")
        self.assertIn("node dead: 4 rows in 1 group, the oldest claimed ", status)
        self.assertIn("no bridge runs: start it, or release its groups", status)
        self.assertIn("nodes with groups: dead", self.command("release", "ghost", code=65))
        self.assertIn("released 4 rows in 1 group of node dead", self.command("release", "dead"))
        self.assertIn("released: 4 rows in 1 group", self.command("status"))
        bridges = [self.bridge(node=f"host-{number}") for number in range(2)]
        self.await_rows(0)
        for bridge in bridges:
            self.end(bridge)
        # Two bridges may share the two rows that nobody had claimed.
        groups = {job["id"]: len(lines) for job, lines in self.dropped()}
        self.assertEqual((groups.pop(job["id"]), sum(groups.values())), (4, 2))

    def test_status_counts_what_waits(self):
        self.insert(2)
        self.insert(1, lane="urgent", not_before="infinity")
        self.insert(1, lane="urgent", not_before="-infinity")
        waiting = json.loads(self.command("status", "--json"))["waiting"]
        self.assertEqual(
            [(row["app"], row["lane"], row["rows"], row["later"]) for row in waiting],
            [("weather", "normal", 2, 0), ("weather", "urgent", 1, 1)])
        self.assertRegex(
            self.command("status"), r"(?m)^weather urgent: 1 row waiting, the oldest for \d+ s, 1 row for later$")


class ServerTests(unittest.TestCase):
    """Deaths of the server. Each test has a server of its own."""

    def make(self, *settings):
        server = Server(*settings)
        server.start()
        case = type("Case", (OutboxTest,), {"server": server, "runTest": lambda self: None})()
        self.addCleanup(server.remove)
        case.setUp()
        self.addCleanup(case.doCleanups)
        return case

    def test_a_bridge_waits_for_a_server_that_restarts_and_for_one_that_crashes(self):
        case = self.make("synchronous_commit=off")
        bridge = case.bridge("--group", "3")
        case.await_log(bridge, "connected")
        for number, end in enumerate((case.server.stop, case.server.kill)):
            case.insert(10)
            case.await_rows(0)
            end()
            case.await_log(bridge, "error .*retry=", number + 1)
            case.server.start()
            case.insert(10)
            case.await_rows(0)
        case.end(bridge)
        ids = case.apns_ids()
        self.assertEqual((len(ids), set(ids.values())), (40, {1}))

    def test_a_server_that_dies_while_groups_are_moved_loses_and_doubles_nothing(self):
        case = self.make()
        for number in range(4):
            case.insert(300)
            bridge = case.bridge("--group", "5", "--waiting", "10000")
            done = 60 * number
            eventually(lambda: len(case.jobs()) > done + 10, "jobs", LIMIT)
            (case.server.kill if number % 2 else lambda: case.server.stop(signal.SIGQUIT))()
            case.server.start()
            case.await_rows(0)
            case.end(bridge)
        ids = case.apns_ids()
        self.assertEqual((len(ids), set(ids.values())), (1200, {1}))

    def test_a_bridge_that_starts_before_the_server_waits_for_it_and_ends_at_TERM(self):
        case = self.make()
        case.insert(1)
        case.server.stop()
        bridges = [case.bridge(node="a"), case.bridge(node="b")]
        for bridge in bridges:
            case.await_log(bridge, "no connection to the database: .*hint=.check host, user")
        case.end(bridges[0])
        case.server.start()
        case.await_rows(0)
        case.end(bridges[1])

    def test_a_standby_is_not_used(self):
        case = self.make()
        case.sql(f"ALTER DATABASE {case.database} SET default_transaction_read_only = on")
        bridge = case.bridge()
        case.await_log(bridge, "no connection to the database: .*session is read-only")
        case.end(bridge)
