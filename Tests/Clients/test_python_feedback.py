"""Waiting and reading feedback with pushspool.py, and its command."""

import json
import os
import socket
import subprocess
import sys
import tracemalloc
import unittest
from unittest import mock

from spool import IS_ROOT, PYTHON_CLIENT, SpoolTest, as_nobody, die_with_parent, eventually

import pushspool
from pushspool import InputFault, JobEnd, NotInTime, PushspoolError


def notification(index, **more):
    line = {
        "v": 1, "kind": "notification", "app": "weather", "node": "a", "job": "j.json", "id": "7T", "index": index,
        "token": "ab", "outcome": "rejected", "status": 410, "at": "2026-11-21T12:00:00.000Z",
    }
    return {**line, **more}


class WaitTests(SpoolTest):
    def wait(self, name, **more):
        return pushspool.wait(self.spool, name, app="weather", **more)

    def test_a_job_that_is_over_tells_how(self):
        self.put("{}", "done", "2026-11-20", "a.json")
        self.put("{}", "failed", "2026-11-21", "b.json")
        self.put('{"code":"invalid"}', "failed", "2026-11-21", "b.json.result.json")
        self.put("{}", "hold", "c.json")
        self.put("no folder of a day", "done", "stray")
        ends = [self.wait(name) for name in ("a.json", "b.json", "c.json")]
        self.assertEqual(ends, [
            JobEnd("a.json", "done", "done/2026-11-20/a.json", None),
            JobEnd("b.json", "failed", "failed/2026-11-21/b.json", {"code": "invalid"}),
            JobEnd("c.json", "held", "hold/c.json", None),
        ])
        self.assertEqual([end.is_accepted for end in ends], [True, False, False])

    def test_a_job_is_waited_for_on_its_way(self):
        self.put("{}", "new", "a.json")
        os.makedirs(self.path("done", "2026-11-21"))
        way = [("new", "a.json"), ("tmp", "claimed"), ("done", "2026-11-21", "a.json")]

        def move(_):
            os.rename(self.path(*way[0]), self.path(*way[1]))
            del way[0]

        with mock.patch.object(pushspool.time, "sleep", move):
            self.assertTrue(self.wait("a.json").is_accepted)
        self.assertEqual(len(way), 1)

    def test_a_job_that_does_not_end_is_told_where_it_is(self):
        self.put("{}", "new", "a.json")
        for name, words in (("a.json", "still in new/"), ("b.json", "still being sent")):
            with self.assertRaises(NotInTime) as caught:
                self.wait(name, timeout=0.05)
            self.assertIn(words, caught.exception.message)
            self.assertIn("is the daemon running?", caught.exception.hint)

    def test_a_path_is_no_name(self):
        for name in ("", "../a.json", "a\0.json"):
            with self.subTest(name=name), self.assertRaises(InputFault):
                self.wait(name)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_who_may_not_look_is_told_what_to_do(self):
        self.let_nobody_in("new", "hold")
        self.assertIn("run as a member of the group", as_nobody(lambda: self.wait("a.json", timeout=0)))


class FeedbackTests(SpoolTest):
    def publish(self, name, *lines):
        self.put("".join(json.dumps(line) + "\n" for line in lines), "feedback", name)

    def read(self, **more):
        return pushspool.feedback(self.spool, app="weather", **more)

    def consume(self, **more):
        return self.read(consume=True, **more)

    def indexes(self, **more):
        return [line["index"] for line in self.read(**more)]

    def test_lines_come_in_the_order_of_their_files_which_stay(self):
        names = ["20261121T120000.000000Z-c.jsonl", "20261121T120001.000000Z-b.jsonl"]
        self.publish(names[1], notification(3))
        self.publish(names[0], notification(1), notification(2))
        self.put("half", "feedback", ".c.tmp")
        self.assertEqual(list(self.read()), [notification(1), notification(2), notification(3)])
        self.assertEqual(self.names("feedback"), [".c.tmp", *names])

    def test_files_whose_lines_were_taken_are_consumed_on_request(self):
        self.publish("1-a.jsonl", notification(1))
        self.publish("2-a.jsonl", notification(2))
        self.put("half", "feedback", ".c.tmp")
        self.assertEqual(list(self.consume()), [notification(1), notification(2)])
        self.assertEqual(self.names("feedback"), [".c.tmp"])

    def test_a_file_is_consumed_when_the_line_behind_its_last_is_asked_for(self):
        self.publish("1-a.jsonl", notification(1), notification(2))
        lines = self.consume()
        next(lines), next(lines)
        self.assertEqual(self.names("feedback"), ["1-a.jsonl"])
        self.assertEqual(list(lines), [])
        self.assertEqual(self.names("feedback"), [])

    def test_who_breaks_off_gets_the_file_once_more(self):
        self.publish("1-a.jsonl", notification(1), notification(2))
        for _ in range(2):
            for line in self.consume():
                self.assertEqual(line["index"], 1)
                break
        self.assertEqual(self.indexes(consume=True), [1, 2])

    def test_repeats_are_dropped_and_corrections_are_not(self):
        accepted = notification(1, outcome="accepted")
        again = notification(1, outcome="accepted", at="2026-11-21T12:00:00.001Z", node="b")
        self.publish("1-a.jsonl", accepted, notification(2), again)
        self.publish("2-a.jsonl", notification(1), again, notification(1, id="8T"), notification(2))
        lines = list(self.read())
        self.assertEqual(lines, [accepted, notification(2), notification(1), again, notification(1, id="8T")])

    def test_lines_of_tokens_repeat_when_token_and_time_do(self):
        first = {"v": 1, "kind": "token", "app": "weather", "node": "a", "token": "ab", "gone_since": "1"}
        lines = [first, {**first, "token": "cd"}, {**first, "gone_since": "2"}]
        self.publish("1-a.jsonl", *lines, lines[2], lines[1])
        self.assertEqual(list(self.read()), lines)

    def test_no_more_is_remembered_than_is_asked_for(self):
        self.publish("1-a.jsonl", *(notification(index) for index in (1, 2, 2, 3, 1, 1)))
        self.assertEqual(self.indexes(remember=2), [1, 2, 3, 1])

    def test_memory_does_not_grow_with_the_lines(self):
        def peak(count):
            with open(self.path("feedback", "1-a.jsonl"), "w", encoding="utf-8") as file:
                for index in range(count):
                    file.write(json.dumps(notification(index)) + "\n")
            tracemalloc.start()
            self.assertEqual(sum(1 for _ in self.read(remember=100)), count)
            size = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return size

        peak(10)
        self.assertLess(peak(20_000), 1 << 20)

    def test_files_are_moved_on_request_and_replace_none(self):
        os.mkdir(self.path("read"))
        self.publish("1-a.jsonl", notification(1))
        self.assertEqual(self.indexes(move_to=self.path("read")), [1])
        self.assertEqual((self.names("feedback"), self.names("read")), ([], ["1-a.jsonl"]))
        self.publish("1-a.jsonl", notification(2))
        with self.assertRaises(PushspoolError) as caught:
            self.indexes(move_to=self.path("read"))
        self.assertIn("rename or move the file that has that name", caught.exception.hint)
        self.assertIn('"index": 1', self.text("read", "1-a.jsonl"))

    def test_what_contradicts_itself_is_refused(self):
        for more in ({"consume": True, "move_to": self.place}, {"move_to": self.place + "/nowhere"}):
            with self.assertRaises(InputFault):
                self.indexes(**more)

    def test_following_takes_what_comes_later_each_file_once(self):
        for consume in (True, False):
            coming = [f"2026112{number}T120000.000000Z-a.jsonl" for number in range(1, 4)]

            def pause(_):
                if coming:
                    self.publish(coming.pop(0), notification(len(coming)))

            with mock.patch.object(pushspool.time, "sleep", pause):
                indexes = self.indexes(follow=True, consume=consume, until=lambda: not coming)
            # The last file comes in the pause before which it was asked.
            self.assertEqual(indexes + self.indexes(), [2, 1, 0] + ([] if consume else [2, 1, 0]))

    def test_a_file_that_another_consumer_took_is_passed_over(self):
        self.publish("1-a.jsonl", notification(1))
        self.publish("2-a.jsonl", notification(2))
        lines = self.consume()
        next(lines)
        os.unlink(self.path("feedback", "1-a.jsonl"))
        self.assertEqual([line["index"] for line in lines], [2])

    def put_strangers(self):
        """What may be in the folder and is no file of the daemon's: it stays, and nothing of it is read."""
        line = self.outside("secret", json.dumps(notification(7)) + "\n")
        os.symlink(line, self.path("feedback", "0-a.jsonl"))
        os.symlink(self.place + "/nowhere", self.path("feedback", "1-a.jsonl"))
        os.mkfifo(self.path("feedback", "2-a.jsonl"))
        os.mkdir(self.path("feedback", "3-a.jsonl"))
        # The path of a socket has at most 107 bytes.
        directory = os.open(self.path("feedback"), os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.bind(f"/proc/self/fd/{directory}/4-a.jsonl")
        os.close(directory)
        return [f"{number}-a.jsonl" for number in range(5)]

    def test_links_and_pipes_are_passed_over(self):
        strangers = self.put_strangers()
        self.publish("5-a.jsonl", notification(1))
        self.assertEqual(self.indexes(), [1])
        self.assertEqual(self.indexes(consume=True), [1])
        self.assertEqual(self.names("feedback"), strangers)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_files_of_other_users_are_passed_over_and_hide_nothing(self):
        self.publish("20261121T120000.000000Z-a.jsonl", notification(1))
        self.publish("29991231T235959.000000Z-a.jsonl", notification(2))
        os.chown(self.path("feedback", "29991231T235959.000000Z-a.jsonl"), 65534, 65534)
        lines = self.read(follow=True, poll=0)
        self.assertEqual(next(lines)["index"], 1)
        self.publish("20261121T120001.000000Z-a.jsonl", notification(3))
        self.assertEqual(next(lines)["index"], 3)

    def test_a_link_does_not_hide_what_comes_later(self):
        os.symlink(self.place, self.path("feedback", "29991231T235959.000000Z-a.jsonl"))
        pauses = []

        def pause(_):
            pauses.append(self.publish("20261121T120000.000000Z-a.jsonl", notification(1)))

        with mock.patch.object(pushspool.time, "sleep", pause):
            self.assertEqual(self.indexes(follow=True, until=lambda: len(pauses) == 1), [1])

    def test_a_damaged_line_is_told_with_its_place_and_its_file_stays(self):
        for text in ('{"v":1', "[]", "7"):
            self.put(json.dumps(notification(1)) + "\n" + text + "\n", "feedback", "1-a.jsonl")
            with self.assertRaises(InputFault) as caught:
                self.indexes(consume=True)
            self.assertIn("feedback/1-a.jsonl:2: ", caught.exception.message)
        self.assertEqual(self.names("feedback"), ["1-a.jsonl"])

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_who_may_not_remove_files_is_told_before_the_first_line(self):
        self.publish("1-a.jsonl", notification(1))
        os.chmod(self.path("feedback"), 0o755)
        self.assertIn("setfacl", as_nobody(lambda: next(self.consume())))
        self.assertEqual(as_nobody(lambda: next(self.read())["index"]), "1")


class CommandTests(SpoolTest):
    def run_client(self, *arguments, **more):
        command = [sys.executable, PYTHON_CLIENT, arguments[0], "--spool", self.spool, "-a", "weather", *arguments[1:]]
        return subprocess.run(
            command, text=True, capture_output=True, timeout=60, preexec_fn=die_with_parent, **more)

    def test_submit_prints_the_names_of_files_and_of_standard_input(self):
        path = self.outside("a b.json", '{"token":"ab"}')
        result = self.run_client("submit", "--format", "yaml", path, "-", input="token: ab\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = result.stdout.splitlines()
        self.assertEqual(sorted(names), self.jobs())
        self.assertRegex(names[0], r"^a b-[0-9a-f]{16}\.json$")
        self.assertRegex(names[1], r"^stdin-[0-9a-f]{16}\.yaml$")
        self.assertEqual(self.text("new", names[1]), "token: ab\n")

    def test_submit_waits_and_says_how_it_ended(self):
        for result_file, code, words in ((None, 0, ": done, all accepted"), ('{"code":"refused"}', 65, '"refused"')):
            child = subprocess.Popen(
                [sys.executable, PYTHON_CLIENT, "submit", "--spool", self.spool, "-a", "weather", "--wait", "-"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
            child.stdin.write("{}")
            child.stdin.close()
            eventually(self.jobs, "the job")
            name = self.jobs()[0]
            if result_file:
                self.put(result_file, "done", "2026-11-21", name + ".result.json")
            os.makedirs(self.path("done", "2026-11-21"), exist_ok=True)
            os.rename(self.path("new", name), self.path("done", "2026-11-21", name))
            self.assertEqual(child.wait(60), code)
            with child.stdout as output:
                self.assertIn(words, output.read())

    def test_faults_have_their_exit_codes_and_remedies(self):
        cases = [
            (("submit", self.place + "/nowhere.json"), 65), (("submit", "-"), 65), (("submit",), 64),
            (("submit", self.outside("a.txt", "{}")), 65), (("submit", "--wait", "--timeout", "0", "-"), 69),
            (("feedback", "--bogus"), 64), (("feedback", "--move-to", self.place + "/nowhere"), 65),
            (("feedback", "--consume", "--kind", "token"), 64),
            (("feedback", "--move-to", self.place, "--kind", "token"), 64),
            (("feedback", "--move-to", self.place, "--consume"), 64),
        ]
        for arguments, code in cases:
            result = self.run_client(*arguments, input="{}" if "--wait" in arguments else "")
            self.assertEqual(result.returncode, code, (arguments, result.stderr))
            self.assertIn("usage: " if code == 64 else "hint: ", result.stderr)

    def test_feedback_prints_lines_as_they_are_and_consumes_their_files_on_request(self):
        lines = [json.dumps(notification(1)), json.dumps({"v": 1, "kind": "job", "id": "7T"})]
        self.put("\n".join(lines) + "\n", "feedback", "1-a.jsonl")
        self.assertEqual(self.run_client("feedback").stdout.splitlines(), lines)
        self.assertEqual(self.run_client("feedback", "--kind", "job").stdout.splitlines(), lines[1:])
        self.assertEqual(self.run_client("feedback", "--kind", "token").stdout, "")
        self.assertEqual(self.names("feedback"), ["1-a.jsonl"])
        self.assertEqual(self.run_client("feedback", "--consume").stdout.splitlines(), lines)
        self.assertEqual(self.names("feedback"), [])

    def test_a_file_goes_only_after_its_lines_are_on_disk(self):
        self.put(json.dumps(notification(1)) + "\n", "feedback", "1-a.jsonl")
        seen = []

        def sync(number):
            seen.append((os.fstat(number).st_size, self.names("feedback")))

        arguments = ["feedback", "--spool", self.spool, "-a", "weather", "--consume"]
        with open(self.place + "/printed", "w", encoding="utf-8") as printed, \
                mock.patch.object(pushspool.sys, "stdout", printed), mock.patch.object(pushspool.os, "fsync", sync):
            self.assertEqual(pushspool._main(arguments), 0)
        self.assertEqual(seen, [(os.path.getsize(self.place + "/printed"), ["1-a.jsonl"])])
        self.assertGreater(seen[0][0], 0)
        self.assertEqual(self.names("feedback"), [])

    def test_what_cannot_be_printed_is_not_removed(self):
        self.put(json.dumps(notification(1)) + "\n", "feedback", "1-a.jsonl")
        command = [sys.executable, PYTHON_CLIENT, "feedback", "--consume", "--spool", self.spool, "-a", "weather"]
        with open("/dev/full", "w") as full:
            result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 75)
        self.assertIn(b"hint: check where the output goes", result.stderr)
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as broken:
            result = subprocess.run(command, stdout=broken, stderr=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stderr), (141, b""))
        self.assertEqual(self.names("feedback"), ["1-a.jsonl"])


if __name__ == "__main__":
    unittest.main()
