"""Submitting with pushspool.py."""

import ast
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import tracemalloc
import unittest
from unittest import mock

from spool import IS_ROOT, PYTHON_CLIENT, SpoolTest, as_nobody, can_unshare, die_with_parent

import pushspool
from pushspool import InputFault, PushspoolError

GOOD_NAMES = ["a.json", "a b.json", "é ü.yaml", "-rf.yml", "urgent-a.jsonl", "a.b.json", "x" * 195 + ".json"]
BAD_NAMES = [
    "", "a", ".json", ".a.json", "..json", "a/b.json", "../a.json", "a.result.json", "a.txt", "a.json~", "a.JSON",
    "a\n.json", "a\0.json", "\x7f.json", "x" * 196 + ".json",
]


class SubmitTests(SpoolTest):
    def submit(self, job="{}", name="a.json", **more):
        return pushspool.submit(self.spool, job, name, app="weather", **more)

    def test_a_job_is_dropped_whole_under_a_name_of_its_own(self):
        names = [self.submit(json.dumps({"n": number}), "urgent-storm.json") for number in range(10)]
        self.assertEqual(self.jobs(), sorted(set(names)))
        self.assertEqual(len(set(names)), 10)
        for number, name in enumerate(names):
            self.assertRegex(name, r"^urgent-storm-[0-9a-f]{16}\.json$")
            self.assertEqual(json.loads(self.text("new", name)), {"n": number})
        self.assertEqual(self.names("tmp"), [])

    def test_the_app_s_own_folder_will_do(self):
        name = pushspool.submit(self.app, "{}")
        self.assertEqual(self.jobs(), [name])

    def test_a_mapping_becomes_json_and_text_and_bytes_stay(self):
        cases = [
            ({"alert": "Grüße 雷", "n": 1}, '{"alert":"Grüße 雷","n":1}\n'),
            ("token: ü\n", "token: ü\n"),
            (b"{}", "{}"),
        ]
        for job, text in cases:
            self.assertEqual(self.text("new", self.submit(job)), text)

    def test_what_is_no_json_and_no_text_is_refused(self):
        for job in ({"a": float("nan")}, {"a": object()}, "", b"", "\ud800", {"a": "\ud800"}):
            with self.assertRaises(InputFault) as caught:
                self.submit(job)
            self.assertTrue(caught.exception.hint)
        self.assert_nothing_dropped()

    def test_the_daemon_can_read_it_whatever_the_umask_is(self):
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        self.assertEqual(os.stat(self.path("new", self.submit())).st_mode & 0o777, 0o644)

    def test_names_of_jobs_are_taken(self):
        for name in GOOD_NAMES:
            dropped = self.submit(name=name)
            self.assertIn(dropped, self.jobs())
            self.assertLessEqual(len(os.fsencode(dropped)), 217)

    def test_what_is_no_name_of_a_job_is_refused(self):
        for name in BAD_NAMES:
            with self.subTest(name=name), self.assertRaises(InputFault) as caught:
                pushspool._submit(self.spool, "weather", [b"{}"], name, True, True)
            self.assertIn("no leading dot", caught.exception.hint)
        self.assert_nothing_dropped()

    def test_a_job_that_is_there_is_not_replaced(self):
        self.submit("1", "same.json", unique=False)
        with self.assertRaises(InputFault) as caught:
            self.submit("2", "same.json", unique=False)
        self.assertIn("same.json", caught.exception.message)
        self.assertEqual(self.text("new", "same.json"), "1")
        self.assertEqual(self.names("tmp"), [])

    def test_a_name_that_is_taken_is_not_used(self):
        digits = ["f" * 16, "0" * 16, "e" * 16, "0" * 16, "1" * 16]
        with mock.patch.object(pushspool, "_random", side_effect=digits):
            first, second = self.submit("1"), self.submit("2")
        self.assertEqual([first, second], ["a-0000000000000000.json", "a-1111111111111111.json"])
        self.assertEqual([self.text("new", first), self.text("new", second)], ["1", "2"])

    def test_of_many_who_want_one_name_one_gets_it(self):
        code = "import pushspool, sys; pushspool.submit(sys.argv[1], sys.argv[2], 'one.json', unique=False)"
        texts = [str(number) * 100_000 for number in range(8)]
        children = [self.child(code, text) for text in texts]
        codes = [child.wait(60) for child in children]
        self.assertEqual(sorted(codes), [0] + [1] * 7)
        self.assertEqual(self.text("new", "one.json"), texts[codes.index(0)])
        self.assertEqual((self.jobs(), self.names("tmp")), (["one.json"], []))

    def child(self, code, *arguments, **more):
        environment = dict(os.environ, PYTHONPATH=os.path.dirname(PYTHON_CLIENT), PYTHONDONTWRITEBYTECODE="1")
        more.setdefault("preexec_fn", die_with_parent)
        return subprocess.Popen(
            [sys.executable, "-c", code, self.app, *arguments], env=environment, stderr=subprocess.DEVNULL, **more)

    # Where it is written

    def test_without_a_place_to_stage_a_hidden_name_will_do(self):
        os.rmdir(self.path("tmp"))
        name = self.submit("1")
        self.assertEqual(self.names("new"), [name])

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_a_staging_folder_that_is_closed_to_us_is_done_without(self):
        self.let_nobody_in("new")
        name = as_nobody(self.submit)
        self.assertEqual(self.names("new"), [name])

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_who_may_not_drop_is_told_what_to_do(self):
        told = as_nobody(self.submit)
        self.assertIn("Permission denied", told)
        self.assertIn("run as a member of the group", told)
        self.assert_nothing_dropped()

    def test_a_spool_or_app_that_is_not_there_is_told_with_a_remedy(self):
        for folder, app in ((self.spool, "nobody"), (self.place + "/nowhere", "weather"), (self.spool, None)):
            with self.subTest(app=app), self.assertRaises(PushspoolError) as caught:
                pushspool.submit(folder, "{}", app=app)
            self.assertIn("check the spool's path", caught.exception.hint)
        for app in ("", ".", "..", "a/b"):
            with self.subTest(app=app), self.assertRaises(InputFault):
                pushspool.submit(self.spool, "{}", app=app)

    def test_an_odd_name_path_or_app_is_refused(self):
        for name in ("", "a\ud800.json", "a\0.json", ".json"):
            with self.subTest(name=name), self.assertRaises(InputFault):
                pushspool.submit(self.spool, "{}", name, app="weather")
        for name in ("", ".", "..", "a/b", "a\0", "\ud800"):
            with self.subTest(name=name), self.assertRaises(InputFault):
                pushspool.wait(self.spool, name, app="weather", timeout=0)
        for folder, app in (("", "weather"), ("", None), ("a\0b", None), ("\ud800", "weather"), (self.spool, "\ud800")):
            with self.subTest(app=app), self.assertRaises(InputFault):
                pushspool.submit(folder, "{}", app=app)
        self.assert_nothing_dropped()

    def test_a_job_whose_folder_is_moved_before_it_is_renamed_is_refused_and_left_nowhere(self):
        real = pushspool._publish

        def publish(*arguments):
            os.rename(self.app, self.app + ".old")
            os.makedirs(self.path("new"))
            os.makedirs(self.path("tmp"))
            return real(*arguments)

        with mock.patch.object(pushspool, "_publish", publish), self.assertRaises(PushspoolError) as caught:
            self.submit()
        self.assertIn("submit the job again", caught.exception.hint)
        self.assertEqual(caught.exception.name, None)
        self.assertEqual(os.listdir(self.app + ".old/new"), [])
        self.assert_nothing_dropped()

    def test_a_job_that_was_claimed_from_a_moved_folder_counts_as_dropped(self):
        real = pushspool._publish

        def publish(*arguments):
            final = real(*arguments)
            os.unlink(self.path("new", final))
            os.rename(self.app, self.app + ".old")
            return final

        with mock.patch.object(pushspool, "_publish", publish):
            self.assertRegex(self.submit(), r"\.json$")

    # Faults of the system

    def test_whatever_fails_nothing_is_dropped(self):
        calls = [("open", errno.ENOSPC), ("write", errno.ENOSPC), ("write", errno.EDQUOT), ("fsync", errno.EIO)]
        for call, code in calls:
            with self.subTest(call=call, code=code), self.failing(call, code):
                with self.assertRaises(PushspoolError) as caught:
                    self.submit()
                self.assertEqual(caught.exception.name, None)
                self.assertEqual("free some space" in caught.exception.hint, code != errno.EIO)
            self.assert_nothing_dropped()

    def failing(self, call, code):
        """Lets the staged file's call fail, and no other."""
        real = getattr(os, call)

        def fail(*arguments, **more):
            is_staged = arguments[0].startswith(".") if call == "open" else True
            if is_staged:
                raise OSError(code, os.strerror(code))
            return real(*arguments, **more)

        return mock.patch.object(os, call, fail)

    def test_a_rename_that_fails_drops_nothing(self):
        remedies = [(errno.EXDEV, "on one filesystem"), (errno.ENOSPC, "free some space"), (errno.EACCES, "member of")]
        for code, remedy in remedies:
            with mock.patch.object(pushspool, "_renameat2", return_value=code):
                with self.assertRaises(PushspoolError) as caught:
                    self.submit()
            self.assertIn(remedy, caught.exception.hint)
            self.assert_nothing_dropped()

    def test_without_renameat2_and_without_links_nothing_is_replaced_either(self):
        for links in (True, False):
            name = f"links-{links}.json"
            link = os.link if links else mock.Mock(side_effect=OSError(errno.EPERM, "no links"))
            no_call = mock.patch.object(pushspool, "_renameat2", return_value=errno.EINVAL)
            with no_call, mock.patch.object(os, "link", link):
                self.submit("1", name, unique=False)
                with self.assertRaises(InputFault):
                    self.submit("2", name, unique=False)
            self.assertEqual(self.text("new", name), "1")
        self.assertEqual(self.names("tmp"), [])

    @unittest.skipUnless(can_unshare(), "needs root and mount namespaces")
    def test_a_full_volume_takes_nothing_and_says_so(self):
        script = """
            mount -t tmpfs -o size=256k none "$1/spool" && mkdir -p "$1/spool/weather/new" "$1/spool/weather/tmp"
            head -c 1000000 /dev/zero >"$1/job.json"
            python=$2; shift 2
            "$python" "$1" submit --spool "$2" -a weather "$3"
            echo "code $?"; ls -A "$2/weather/new" "$2/weather/tmp" """
        arguments = [self.place, sys.executable, PYTHON_CLIENT, self.spool, self.place + "/job.json"]
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", *arguments], text=True, capture_output=True)
        self.assertIn("No space left", result.stderr)
        self.assertIn("hint: free some space", result.stderr)
        self.assertIn("code 75", result.stdout)
        self.assertNotIn(".json", result.stdout)

    def test_a_file_size_limit_drops_nothing(self):
        def limited():
            die_with_parent()
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        code = "import pushspool, sys; pushspool.submit(sys.argv[1], 'x' * 100_000)"
        self.assertEqual(self.child(code, preexec_fn=limited).wait(60), 1)
        self.assert_nothing_dropped()

    def test_a_job_that_cannot_be_synced_into_its_folder_is_taken_back(self):
        with self.failing_folder_sync():
            with self.assertRaises(PushspoolError) as caught:
                self.submit()
        self.assertEqual(caught.exception.name, None)
        self.assert_nothing_dropped()

    def test_a_job_that_was_claimed_before_it_could_be_taken_back_is_dropped(self):
        def claim():
            for name in self.jobs():
                os.rename(self.path("new", name), self.path("done", name))

        with self.failing_folder_sync(claim):
            name = self.submit()
        self.assertEqual(self.names("done"), [name])

    def test_a_job_that_cannot_be_taken_back_is_named(self):
        with self.failing_folder_sync(), mock.patch.object(os, "unlink", side_effect=OSError(errno.EIO, "broken")):
            with self.assertRaises(PushspoolError) as caught:
                self.submit()
        self.assertEqual([caught.exception.name], self.jobs())

    def failing_folder_sync(self, before=lambda: None):
        real = os.fsync

        def sync(number):
            if not os.path.isdir(f"/proc/self/fd/{number}"):
                return real(number)
            before()
            raise OSError(errno.EIO, "broken")

        return mock.patch.object(os, "fsync", sync)

    # Syncs and crashes

    def test_the_file_is_synced_before_its_rename_and_the_folder_behind_it(self):
        for sync, expected in ((True, ["file", "rename", "folder"]), (False, ["rename"])):
            calls = []
            rename = pushspool._renameat2
            with mock.patch.object(os, "fsync", self.noting(calls)), mock.patch.object(
                pushspool, "_renameat2", side_effect=lambda *of: calls.append("rename") or rename(*of)
            ):
                self.submit(sync=sync)
            self.assertEqual(calls, expected)

    def noting(self, calls):
        real = os.fsync

        def sync(number):
            calls.append("folder" if os.path.isdir(f"/proc/self/fd/{number}") else "file")
            real(number)

        return sync

    def test_wherever_it_dies_new_has_the_whole_job_or_nothing(self):
        text = "x" * 200_000
        outcomes = []
        for number in range(1, 60):
            child = self.child(DYING_CHILD, str(number))
            if child.wait(60) == 0:
                break
            self.assertEqual(child.returncode, -signal.SIGKILL)
            outcomes.append(len(self.jobs()))
            for name in self.jobs():
                self.assertEqual(self.text("new", name), text)
                os.unlink(self.path("new", name))
        else:
            self.fail("it never came to its end")
        self.assertGreater(outcomes.count(0), 5)
        self.assertIn(1, outcomes)


# Dies in front of its n-th call of the system.
DYING_CHILD = """
import os, pushspool, signal, sys
left = int(sys.argv[2])
def dying(call):
    def body(*arguments, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **more)
    return body
for name in ("open", "close", "write", "fsync", "fchmod", "unlink"):
    setattr(os, name, dying(getattr(os, name)))
pushspool._renameat2 = dying(pushspool._renameat2)
pushspool.submit(sys.argv[1], "x" * 200_000)
"""


class LinesTests(SpoolTest):
    def submit(self, recipients, **more):
        return pushspool.submit_lines(self.app, recipients, **more)

    def test_a_line_for_each_recipient_and_one_for_what_they_share(self):
        recipients = ["ab", b"\x01\xff", {"token": "cd", "alert": "ü"}]
        name = self.submit(recipients, job={"id": "c-1", "count": 3}, defaults={"alert": "Hi"}, name="c.jsonl")
        self.assertRegex(name, r"^c-[0-9a-f]{16}\.jsonl$")
        self.assertEqual(
            self.text("new", name),
            '{"job":{"id":"c-1","count":3},"defaults":{"alert":"Hi"}}\n"ab"\n"01ff"\n{"token":"cd","alert":"ü"}\n')

    def test_without_anything_shared_there_is_no_first_line(self):
        self.assertEqual(self.text("new", self.submit(["ab"])), '"ab"\n')

    def test_memory_does_not_grow_with_the_recipients(self):
        def peak(count):
            tracemalloc.start()
            self.submit((f"{number:064x}" for number in range(count)), sync=False)
            size = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return size

        peak(10)
        self.assertLess(peak(100_000), 1 << 20)
        sizes = [os.path.getsize(self.path("new", name)) for name in self.jobs()]
        self.assertEqual(max(sizes), 100_000 * 67)

    def test_another_number_than_count_says_drops_nothing(self):
        with self.assertRaises(InputFault) as caught:
            self.submit(["ab"], job={"count": 2})
        self.assertIn("1 recipients", caught.exception.message)
        self.assert_nothing_dropped()

    def test_no_recipients_and_no_name_for_lines_are_refused(self):
        for recipients, name in (([], None), (["ab"], "a.json"), (["ab"], ".jsonl"), ([{"a": object()}], None)):
            with self.subTest(name=name), self.assertRaises(InputFault):
                self.submit(recipients, name=name)
        self.assert_nothing_dropped()

    def test_what_the_recipients_raise_goes_through_and_nothing_is_dropped(self):
        for error in (KeyError("row"), ConnectionResetError(errno.ECONNRESET, "the database has gone")):
            def recipients():
                yield "ab"
                raise error

            with self.assertRaises(type(error)) as caught:
                self.submit(recipients())
            self.assertIs(caught.exception, error)
            self.assert_nothing_dropped()

    def test_the_file_runs_on_python_3_8(self):
        with open(PYTHON_CLIENT, encoding="utf-8") as file:
            self.assertTrue(ast.parse(file.read(), feature_version=(3, 8)).body)


if __name__ == "__main__":
    unittest.main()
