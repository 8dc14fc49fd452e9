"""What pushspool.py and pushspool.sh tell a producer, who may drop jobs and nothing more, of the files in tmp/.jobs/."""

import json
import os
import shutil
import subprocess
import time
import unittest

from spool import IS_ROOT, NOBODY, SHELL_CLIENT, SpoolTest, as_nobody, become_nobody, die_with_parent

import pushspool

DAY = "2026-11-21"
RESULT = json.dumps({"job": "b.json", "state": "failed", "code": "invalid"})


@unittest.skipUnless(IS_ROOT, "needs root")
class ProducerTest(SpoolTest):
    """A spool in which the user without rights may drop jobs."""

    def setUp(self):
        super().setUp()
        self.let_nobody_in("new", "tmp")
        os.mkdir(self.path("tmp", ".jobs"))

    def tell(self, *lines, file="ended-a"):
        with open(self.path("tmp", ".jobs", file), "a", encoding="utf-8") as opened:
            opened.write("".join(lines))

    def line(self, name, state, result="{}", inode=7, archived=None):
        folder = "hold" if state == "held" else f"{state}/{DAY}"
        return f"{name}\t{inode}\t{folder}/{archived or name}\t{result}\n"


class PythonTests(ProducerTest):
    def wait(self, name, timeout=0.0):
        def body():
            end = pushspool.wait(self.spool, name, app="weather", timeout=timeout)
            return json.dumps([end.state, end.path, end.result])

        text = as_nobody(body)
        try:
            return json.loads(text)
        except ValueError:
            return text

    def test_a_producer_is_told_how_a_job_has_ended(self):
        self.tell(self.line("a.json", "done"), self.line("b.json", "failed", RESULT))
        self.tell(self.line("c.json", "held"), file="held")
        self.assertEqual(self.wait("a.json"), ["done", f"done/{DAY}/a.json", None])
        self.assertEqual(self.wait("b.json"), ["failed", f"failed/{DAY}/b.json", json.loads(RESULT)])
        self.assertEqual(self.wait("c.json"), ["held", "hold/c.json", None])

    def test_a_job_that_waits_or_is_on_its_way_has_not_ended(self):
        self.put("{}", "new", "a.json")
        self.assertIn("still in new/", self.wait("a.json"))
        self.assertIn("still being sent", self.wait("b.json"))
        os.rmdir(self.path("tmp", ".jobs"))
        self.assertIn("still being sent", self.wait("b.json"))

    def test_names_are_read_as_the_daemon_writes_them(self):
        names = {"a b%1.json": "a b%251.json", "é\n.json": "é%0A.json", "\udcff.json": "%FF.json"}
        for name, escaped in names.items():
            self.tell(self.line(escaped, "done", archived="x.json"))
            self.assertEqual(self.wait(name), ["done", f"done/{DAY}/x.json", None], name)

    def test_a_part_of_a_line_and_a_name_at_its_end_tell_nothing(self):
        self.tell(self.line("another a.json", "failed", RESULT), "garbage\n", self.line("a.json", "failed", RESULT)[:-1])
        self.assertIn("still being sent", self.wait("a.json"))

    def test_the_last_line_of_all_files_counts(self):
        self.tell(self.line("a.json", "failed", RESULT), file="earlier-a")
        self.tell(self.line("a.json", "failed", RESULT), self.line("a.json", "done"))
        self.assertEqual(self.wait("a.json")[0], "done")

    def test_a_folder_of_another_user_tells_nothing(self):
        self.tell(self.line("a.json", "done"))
        os.chown(self.path("tmp", ".jobs"), NOBODY, NOBODY)
        self.assertIn("still being sent", self.wait("a.json"))

    def test_the_end_of_an_earlier_job_of_the_same_name_is_not_taken_for_this_ones(self):
        def body():
            name = pushspool.submit(self.spool, "{}", "a.json", app="weather", unique=False)
            os.unlink(self.path("new", name))
            try:
                return pushspool.wait(self.spool, name, app="weather", timeout=0).state
            except pushspool.NotInTime:
                return "not in time"

        self.tell(self.line("a.json", "done", inode=1))
        self.assertEqual(as_nobody(body), "not in time")

    def test_a_job_of_the_same_name_is_known_by_its_inode(self):
        self.put("{}", "new", "a.json")
        inode = os.stat(self.path("new", "a.json")).st_ino
        self.tell(self.line("a.json", "done", inode=inode + 1), self.line("a.json", "failed", RESULT, inode=inode))
        self.tell(self.line("a.json", "done", inode=inode + 2))
        search = pushspool._Search("a.json", None)
        home = os.open(self.app, os.O_RDONLY)
        self.addCleanup(os.close, home)
        self.assertEqual(search.find(home), (None, True))
        os.unlink(self.path("new", "a.json"))
        self.assertEqual(search._find_told(home).state, "failed")

    def test_a_file_that_another_replaces_is_read_on(self):
        search = pushspool._Search("a.json", None)
        home = os.open(self.app, os.O_RDONLY)
        self.addCleanup(os.close, home)
        self.tell(self.line("b.json", "done") * 1000, self.line("a.json", "done")[:9])
        self.assertIsNone(search._find_told(home))
        self.tell(self.line("a.json", "done")[9:])
        os.rename(self.path("tmp", ".jobs", "ended-a"), self.path("tmp", ".jobs", "earlier-a"))
        self.tell(self.line("c.json", "done"))
        self.assertEqual(search._find_told(home).state, "done")

    def test_another_file_with_the_inode_of_a_removed_one_is_read_from_its_beginning(self):
        search = pushspool._Search("a.json", None)
        home = os.open(self.app, os.O_RDONLY)
        self.addCleanup(os.close, home)
        self.tell(self.line("b.json", "done") * 1000)
        self.assertIsNone(search._find_told(home))
        os.truncate(self.path("tmp", ".jobs", "ended-a"), 0)
        self.tell(self.line("a.json", "done"), self.line("c.json", "done") * 1000)
        self.assertEqual(search._find_told(home).state, "done")

    def test_a_wait_ends_when_the_app_is_stopped(self):
        self.put("{}", "new", "a.json")
        app = {"app": "weather", "state": "stopped", "reason": "is stopped: 403 InvalidProviderToken"}
        for node, state, is_over in (("a", "stopped", True), ("b", "sending", False)):
            folder = os.path.join(self.spool, ".pushspool", "public", node)
            os.makedirs(folder)
            with open(os.path.join(folder, "status.json"), "w", encoding="utf-8") as file:
                json.dump({"apps": [{**app, "state": state}]}, file)
            start = time.monotonic()
            text = self.wait("a.json", timeout=600 if is_over else 0.1)
            self.assertEqual("weather is stopped: 403 InvalidProviderToken" in text, is_over, text)
            self.assertLess(time.monotonic() - start, 60)

    def test_who_may_not_drop_jobs_is_told_what_to_do(self):
        os.chown(self.path("tmp"), 0, 0)
        self.assertIn("run as a member of the group", self.wait("a.json"))


class ShellTests(ProducerTest):
    def wait(self, name):
        client = shutil.copy(SHELL_CLIENT, self.place)
        script = '. "$1"; shift; pushspool_wait "$@"'
        result = subprocess.run(
            ["sh", "-c", script, "sh", client, self.spool, "weather", name, "0"], text=True, capture_output=True,
            preexec_fn=lambda: (become_nobody(), die_with_parent()), errors="surrogateescape", timeout=60)
        return result.returncode, result.stdout or result.stderr

    def test_a_producer_is_told_how_a_job_has_ended(self):
        self.tell(self.line("an a.json", "failed", RESULT), self.line("a.json", "failed", RESULT), file="earlier-a")
        self.tell(self.line("a.json", "done"), self.line("b.json", "failed", RESULT), self.line("é b%25.json", "done"))
        self.tell(self.line("c.json", "held"), file="held")
        self.assertEqual(self.wait("a.json"), (0, f"done weather/done/{DAY}/a.json\n"))
        self.assertEqual(self.wait("b.json"), (65, f"failed weather/failed/{DAY}/b.json\n{RESULT}\n"))
        self.assertEqual(self.wait("c.json"), (65, "held weather/hold/c.json\n"))
        self.assertEqual(self.wait("é b%.json"), (0, f"done weather/done/{DAY}/é b%25.json\n"))

    def test_a_job_that_has_not_ended_is_waited_for(self):
        self.put("{}", "new", "a.json")
        self.tell(self.line("a.json", "done"), self.line("b.json", "done")[:-2])
        for name in ("a.json", "b.json", "c.json"):
            code, text = self.wait(name)
            self.assertEqual(code, 69, text)
            self.assertIn("has not finished", text)

    def test_a_folder_of_another_user_tells_nothing(self):
        self.tell(self.line("a.json", "done"))
        os.chown(self.path("tmp", ".jobs"), NOBODY, NOBODY)
        self.assertEqual(self.wait("a.json")[0], 69)

    def test_who_may_not_drop_jobs_is_told_what_to_do(self):
        os.chown(self.path("tmp"), 0, 0)
        code, text = self.wait("a.json")
        self.assertEqual(code, 75)
        self.assertIn("hint: run as a member of their group", text)


if __name__ == "__main__":
    unittest.main()
