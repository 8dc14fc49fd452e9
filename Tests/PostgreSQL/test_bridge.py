"""What the bridge does with the rows of the outbox, and what it says when it cannot."""

import socket

from outbox import *

from spool import as_nobody, can_unshare

NESTED = '{"token": "%s", "payload": {"aps": {"alert": "x"}, "d": %s}}'


class BridgeTests(OutboxTest):
    def run_once(self, *words, **options):
        """Runs a bridge until no row waits."""
        bridge = self.bridge(*words, **options)
        self.await_rows(0)
        self.end(bridge)
        return self.log(bridge)

    def faults(self):
        return self.sql(
            "SELECT outbox_id, ref, apns_id::text, line->>'detail' FROM pushspool.outcome WHERE kind = 'outbox' "
            "AND outcome = 'rejected' AND verdict = 'message' ORDER BY outbox_id")

    def test_rows_become_one_job_and_go(self):
        ids = self.insert(3, ref="order-1")
        log = self.run_once()
        ((job, lines),) = self.dropped()
        self.assertEqual(set(job), {"id", "count"})
        self.assertEqual(len({line["apns_id"] for line in lines}), 3)
        self.assertEqual([(line["token"], line["alert"]) for line in lines], [(TOKEN, "Hello")] * 3)
        sent = self.sql("SELECT outbox_id, index, ref, batch FROM pushspool.sent ORDER BY index")
        self.assertEqual([row[:3] for row in sent], [(id, index, "order-1") for index, id in enumerate(ids)])
        self.assertEqual({f"sql-{row[3]}" for row in sent}, {job["id"]})
        self.assertIn(f"group dropped app=weather job={job['id']}.jsonl rows=3", log)

    def test_a_group_has_at_most_so_many_rows(self):
        self.insert(7)
        self.run_once("--group", "3")
        self.assertEqual(sorted(len(lines) for _, lines in self.dropped()), [1, 3, 3])
        self.insert(2)
        self.run_once("--group", "1")
        self.assertEqual(len(self.dropped()), 5)

    def test_apps_and_lanes_have_jobs_of_their_own_and_urgent_ones_are_first(self):
        self.make_app("news")
        self.list_apps({"app": "news", "carrier": "http2"}, {"app": "weather", "carrier": "http2"})
        self.insert(2, lane="bulk")
        self.insert(1, app="news")
        self.insert(1)
        self.insert(3, lane="urgent")
        log = self.run_once()
        self.assertEqual(
            sorted((job.get("lane"), len(lines)) for job, lines in self.dropped() if "lane" in job),
            [("bulk", 2), ("urgent", 3)])
        self.assertEqual(len(self.dropped("news")), 1)
        order = re.findall(r"job=(urgent-|bulk-|)sql", log)
        self.assertEqual(order, ["urgent-", "", "", "bulk-"])
        self.assertEqual(
            sorted(re.match("(urgent-|bulk-|)sql-", name).group(1) for name in self.jobs()), ["", "bulk-", "urgent-"])

    def make_app(self, name):
        for folder in ("new", "tmp", "hold", "done", "failed", "feedback"):
            os.makedirs(os.path.join(self.spool, name, folder))

    def test_rows_wait_for_their_time_by_the_server_s_clock(self):
        now = self.insert(1, not_before="-infinity")
        now += self.insert(1, not_before="4713-01-01 BC")
        now += self.insert(1, not_before="1969-12-31T00:00:00Z")
        later = self.insert(1, not_before="infinity")
        later += self.insert(1, not_before="294276-12-31T00:00:00Z")
        self.sql("INSERT INTO pushspool.outbox (app, recipient, not_before) "
                 "VALUES ('weather', '{}', now() + interval '1 s')")
        bridge = self.bridge()
        self.await_rows(len(later))
        self.end(bridge)
        self.assertEqual([id for (id,) in self.sql("SELECT id FROM pushspool.outbox ORDER BY id")], later)
        # One job has those whose time has passed; the row of the next second may be in it, if the bridge is slow.
        jobs = sorted(len(lines) for _, lines in self.dropped())
        self.assertIn(jobs, ([1, len(now)], [len(now) + 1]))

    def test_a_clock_that_was_set_back_holds_up_no_row(self):
        self.insert(1)
        self.sql("UPDATE pushspool.outbox SET created = now() + interval '1 h'")
        self.run_once()
        self.assertEqual(len(self.dropped()), 1)

    def test_what_would_fail_a_whole_job_gets_an_outcome_and_stops_no_other_row(self):
        good = self.insert(2)
        bad = {}
        for recipient, detail in (
            ("null", "not a JSON object (null)"), ("[]", "not a JSON object (array)"),
            ("7", "not a JSON object (number)"), ("true", "not a JSON object (boolean)"),
            (f'"{TOKEN}"', "not a JSON object (string)"),
            (json.dumps({"token": TOKEN, "alert": "x" * 16_384}), "bytes; the limit is 16384"),
            (json.dumps({"token": TOKEN, "alert": "\N{SNOWMAN}" * 6_000}), "bytes; the limit is 16384"),
            (NESTED % (TOKEN, "[" * 63 + "]" * 63), "more than 64 levels"),
        ):
            bad[self.insert(1, recipient=recipient, ref="r")[0]] = detail
        good += self.insert(1, recipient=NESTED % (TOKEN, "[" * 62 + "]" * 62))
        log = self.run_once()
        ((_, lines),) = self.dropped()
        self.assertEqual(len(lines), len(good))
        found = {id: detail for id, ref, apns_id, detail in self.faults() if ref == "r" and apns_id}
        self.assertEqual(found.keys(), bad.keys())
        for id, detail in found.items():
            self.assertIn(bad[id], detail)
        self.assertIn("recipients cannot be sent", log)
        self.assertNotIn(TOKEN, log)

    def test_a_recipient_of_50_MB_is_refused_and_only_it(self):
        self.insert(1)
        self.sql("INSERT INTO pushspool.outbox (app, recipient) "
                 "SELECT 'weather', jsonb_build_object('token', repeat('a', 50000000))")
        self.run_once()
        self.assertEqual([len(lines) for _, lines in self.dropped()], [1])
        self.assertIn("the recipient has 50000", self.faults()[0][3])

    def test_lines_of_just_the_longest_length_are_dropped(self):
        empty = len(json.dumps({"alert": "", "apns_id": "0" * 36, "token": TOKEN}))
        for length in (16_384, 16_385):
            self.insert(1, recipient=json.dumps({"token": TOKEN, "alert": "x" * (length - empty)}))
        self.run_once()
        (name,) = self.jobs()
        self.assertEqual([len(line) for line in self.text("new", name).splitlines()[1:]], [16_384])
        self.assertEqual(len(self.faults()), 1)

    def test_the_daemon_s_own_limits_count(self):
        self.list_apps({"app": "weather", "carrier": "http2"}, line=256, nesting=4)
        self.list_apps({"app": "weather", "carrier": "http2"}, node="host-b", line=300)
        self.insert(1, recipient=json.dumps({"token": TOKEN, "alert": "x" * 200}))
        self.insert(1, recipient=json.dumps({"token": TOKEN, "payload": {"aps": {"alert": {"loc-args": []}}}}))
        self.run_once()
        self.assertEqual(self.dropped(), [])
        self.assertEqual(
            [detail.split(" has ")[1].split(" ", 1)[1] for *_, detail in self.faults()],
            ["bytes; the limit is 256", "than 4 levels"])

    def test_values_survive_as_jsonb_keeps_them(self):
        alert = "a\\nb\\u2028\\u0007\\ud83d\\ude00"
        recipient = '{"token":"%s","payload":{"aps":{"alert":"%s"},"n":%s,"f":1.0}}' % (TOKEN, alert, "9" * 200)
        self.insert(1, recipient=recipient)
        self.run_once()
        (name,) = self.jobs()
        head, line = self.text("new", name).split("\n")[:2]
        self.assertIn('"n": ' + "9" * 200, line)
        self.assertIn('"f": 1.0', line)
        self.assertEqual(json.loads(line)["payload"]["aps"]["alert"], "a\nb\u2028\u0007\N{GRINNING FACE}")

    def test_the_column_s_apns_id_replaces_the_recipient_s_and_FCM_gets_none(self):
        self.make_app("droid")
        self.list_apps({"app": "weather", "carrier": "binary"}, {"app": "droid", "carrier": "fcm"})
        recipient = json.dumps({"token": TOKEN, "apns_id": "00000000-0000-0000-0000-000000000000"})
        wanted = "6e7d7bb6-62b2-4b0c-a2f5-5c2b1c0f6f0a"
        self.insert(1, recipient=recipient, apns_id=wanted)
        self.insert(1, recipient=json.dumps({"token": TOKEN}), apns_id=None)
        self.insert(1, app="droid")
        self.run_once()
        ((_, lines),) = self.dropped()
        self.assertEqual(lines[0]["apns_id"], wanted)
        self.assertRegex(lines[1]["apns_id"], "^[0-9a-f-]{36}$")
        self.assertNotIn("apns_id", self.dropped("droid")[0][1][0])

    def test_the_table_refuses_what_no_app_or_lane_can_be(self):
        for columns in (
            {"app": "../weather"}, {"app": ".pushspool"}, {"app": ""}, {"app": "a/b"}, {"app": "a" * 201},
            {"app": "\N{SNOWMAN}" * 67}, {"app": "weather\n"}, {"app": None}, {"lane": "fast"}, {"lane": None},
            {"recipient": None}, {"recipient": '"\\u0000"'}, {"recipient": '{"a": "\\ud800"}'},
        ):
            with self.assertRaises(psycopg.Error, msg=columns):
                self.insert(1, **columns)
        self.assertEqual(self.rows(), 0)

    def test_an_app_may_have_any_name_of_a_folder(self):
        for name in ("sandbox:com.example.weather", "Wetter \N{SNOWMAN}", "a" * 200):
            self.make_app(name)
            self.list_apps({"app": name, "carrier": "http2"})
            self.insert(1, app=name)
            self.run_once()
            self.assertEqual(len(self.dropped(name)), 1)
        outside = "../" + os.path.basename(self.place)
        self.list_apps({"app": outside, "carrier": "http2"}, {"app": "", "carrier": "http2"})
        bridge = self.bridge()
        self.await_log(bridge, "connected")
        self.end(bridge)

    def test_rows_for_an_app_that_this_host_lacks_wait_for_another_host(self):
        self.insert(1, app="elsewhere")
        self.insert(1)
        bridge = self.bridge()
        self.await_rows(1)
        self.await_log(bridge, "rows wait for an app that this spool does not have app=elsewhere")
        other = os.path.join(self.place, "other")
        os.rename(self.spool, other)
        self.spool = other
        self.make_app("elsewhere")
        self.list_apps({"app": "elsewhere", "carrier": "http2"})
        self.run_once(node="host-b")
        self.assertEqual(len(self.dropped("elsewhere")), 1)

    def test_a_backlog_in_the_spool_leaves_further_rows_in_the_table(self):
        self.insert(10)
        bridge = self.bridge("--group", "1", "--waiting", "3")
        self.await_rows(7)
        self.put("{}", "new", "mine.json")
        os.unlink(self.path("new", self.jobs()[-1]))
        self.await_rows(6)
        self.assertEqual(self.sql("SELECT DISTINCT batch FROM pushspool.outbox"), [(None,)])
        self.end(bridge)

    def test_record_all_asks_the_daemon_for_all_outcomes(self):
        self.insert(1)
        self.run_once("--record", "all")
        self.assertEqual(self.dropped()[0][0]["record"], "all")

    def test_refs_can_be_left_out_and_are_forgotten(self):
        self.insert(2, ref="a")
        self.run_once("--keep-refs", "0")
        self.assertEqual(self.sql("SELECT * FROM pushspool.sent"), [])
        self.sql("INSERT INTO pushspool.sent VALUES (gen_random_uuid(), 0, 1, 'old', now() - interval '8 d'), "
                 "(gen_random_uuid(), 0, 2, 'new', now() - interval '6 d')")
        self.insert(1)
        self.run_once()
        self.assertEqual(self.sql("SELECT ref FROM pushspool.sent"), [("new",)])

    def test_systemd_hears_of_the_start_and_the_end(self):
        path = os.path.join(self.place, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.bind(path)
            channel.settimeout(LIMIT)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                bridge = self.bridge()
            finally:
                del os.environ["NOTIFY_SOCKET"]
            heard = [channel.recv(4096).decode() for _ in range(3)]
            self.assertEqual(heard, ["READY=1", "STATUS=connected", "WATCHDOG=1"])
            bridge.terminate()
            while heard[-1] != "STOPPING=1":
                heard.append(channel.recv(4096).decode())
        self.await_end(bridge, 0)


class FolderTests(OutboxTest):
    """What happens when the spool does not take a job."""

    def await_untouched(self, bridge, error, count=1):
        self.await_log(bridge, f"cannot drop rows, so they stay in the table .*{error}")
        waiting = "SELECT count(*) FROM pushspool.outbox WHERE batch IS NULL"
        eventually(lambda: self.one(waiting) == count, "rows given back", LIMIT)

    def test_a_folder_that_is_read_only_leaves_the_rows_to_other_hosts(self):
        if not IS_ROOT:
            self.skipTest("needs root")
        self.insert(1)
        for folder in ("new", "tmp"):
            os.chown(self.path(folder), 0, 0)
            os.chmod(self.path(folder), 0o755)
        os.chmod(self.place, 0o755)
        process = self.bridge(
            node="a",
            before=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--pdeathsig=KILL"))
        self.await_untouched(process, "Permission denied.*hint=.run as a member of the group")
        self.assertEqual(self.jobs(), [])
        other = self.bridge(node="host-b")
        self.await_rows(0)
        self.end(other)
        self.end(process)

    def test_a_spool_that_is_moved_away_and_back_loses_no_row(self):
        bridge = self.bridge()
        self.insert(1)
        self.await_rows(0)
        os.rename(self.spool, self.spool + " away")
        self.insert(1)
        eventually(lambda: bridge.poll() is None and self.rows() == 1, "a row that waits", LIMIT)
        os.rename(self.spool + " away", self.spool)
        self.await_rows(0)
        self.assertEqual(len(self.dropped()), 2)
        self.end(bridge)

    def test_an_app_whose_folder_fails_holds_up_no_other_app(self):
        for folder in ("new", "tmp"):
            os.makedirs(os.path.join(self.spool, "news", folder))
        self.list_apps({"app": "news", "carrier": "http2"}, {"app": "weather", "carrier": "http2"})
        os.rmdir(self.path("tmp"))
        os.rmdir(self.path("new"))
        os.symlink(self.place, self.path("new"))
        self.insert(1)
        self.insert(1, app="news")
        bridge = self.bridge()
        self.await_rows(1)
        self.await_untouched(bridge, "Not a directory|symbolic")
        os.unlink(self.path("new"))
        os.mkdir(self.path("new"))
        self.await_rows(0)
        self.end(bridge)

    def test_a_full_disk_leaves_the_rows_in_the_table(self):
        if not can_unshare():
            self.skipTest("needs root and unshare")
        # The mount is this test's own; it goes with the process that holds its namespace.
        holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64k,mode=755 none "$1" && '
             'mkdir -p "$1/new" "$1/tmp" && echo ready && exec sleep 600', "sh", self.app],
            stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), "ready\n")
        inside = f"/proc/{holder.pid}/root{self.app}"
        with open(f"{inside}/filler", "wb") as file:
            with self.assertRaises(OSError):
                while True:
                    os.write(file.fileno(), b"x" * 4096)
        self.insert(100)
        self.app, outside = inside, self.app
        bridge = self.bridge(before=("nsenter", f"--mount=/proc/{holder.pid}/ns/mnt"))
        self.await_untouched(bridge, "No space left on device", 100)
        self.assertEqual(os.listdir(f"{inside}/new") + os.listdir(f"{inside}/tmp"), [])
        os.unlink(f"{inside}/filler")
        self.await_rows(0)
        (name,) = os.listdir(f"{inside}/new")
        self.assertEqual(self.text("new", name).count("\n"), 101)
        self.app = outside
        self.end(bridge)


class RightsTests(OutboxTest):
    def make_tables(self):
        """The tables as the manual's roles have them."""
        with open(os.path.join(ROOT, "etc", "man", "pushspool-pg.1"), encoding="utf-8") as file:
            page = file.read().replace("\\-", "-").replace("\\(aq", "'")
        (grants,) = re.findall(r"\n\.nf\n(CREATE ROLE .*?)\n\.fi", page, re.DOTALL)
        with self.server.connect(self.database) as owner:
            owner.execute(self.printed())
            owner.execute(grants)
        self.addCleanup(self.drop_roles)

    def drop_roles(self):
        self.end_bridges()
        with self.server.connect(self.database) as owner:
            owner.execute('DROP OWNED BY shop, "pushspool-pg"; DROP ROLE shop, "pushspool-pg"')

    def printed(self):
        return subprocess.run([PROGRAM, "schema"], check=True, capture_output=True, text=True).stdout

    def test_producer_and_bridge_need_no_more_than_the_manual_grants(self):
        with psycopg.connect(self.server.address(self.database, "shop"), autocommit=True) as shop:
            for recipient in (json.dumps({"token": TOKEN}), "7"):
                shop.execute(
                    "INSERT INTO pushspool.outbox (app, recipient, ref) VALUES ('weather', %s, 'r') RETURNING id",
                    (recipient,))
            with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                shop.execute("SELECT recipient FROM pushspool.outbox")
            self.address = self.server.address(self.database, "pushspool-pg")
            bridge = self.bridge("--outcomes")
            self.await_rows(0)
            self.end(bridge)
            self.assertEqual(shop.execute("SELECT ref FROM pushspool.outcome").fetchall(), [("r",)])
        self.command("status")
        self.command("release", "nobody", code=65)
        self.command("outcome", input='{"kind":"job","id":"7T"}\n')
        self.assertIn("SQLSTATE 42501", self.command("schema", "--create", code=75))

    def test_a_bridge_says_which_right_is_missing_and_goes_on_when_it_is_there(self):
        self.address = self.server.address(self.database, "pushspool-pg")
        with self.server.connect(self.database) as owner:
            owner.execute('REVOKE UPDATE ON pushspool.outbox FROM "pushspool-pg"')
            owner.execute("INSERT INTO pushspool.outbox (app, recipient) VALUES ('weather', '{}')")
            bridge = self.bridge()
            self.await_log(bridge, r"permission denied for table outbox \(SQLSTATE 42501\).* hint=.grant the role")
            # The pause grows, although each attempt connects.
            self.await_log(bridge, r"SQLSTATE 42501.* retry=([2-9]|1\.[5-9])")
            owner.execute('GRANT UPDATE ON pushspool.outbox TO "pushspool-pg"')
        self.await_rows(0)
        self.end(bridge)
