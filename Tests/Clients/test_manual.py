"""What pushspool-spool(7) says can be done by hand: its recipes are run, and what it says of rsync is watched."""

import ctypes
import os
import re
import shutil
import struct
import subprocess
import threading
import unittest

from clients import Client, go_environment
from spool import CLIENTS, IS_ROOT, ROOT, SpoolTest, as_nobody, eventually

import pushspool

PAGE = os.path.join(ROOT, "etc", "man", "pushspool-spool.7")
IN_CREATE, IN_MOVED_TO = 0x100, 0x80


def page():
    """The page, as a reader sees its characters."""
    with open(PAGE, encoding="utf-8") as file:
        return file.read().replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


def recipes():
    """The scripts of the page, by their titles."""
    blocks = re.findall(r"\n\.nf\n# Recipe: (.*?)\n(.*?)\n\.fi", page(), re.DOTALL)
    return dict(blocks)


class RecipeTests(SpoolTest):
    def setUp(self):
        super().setUp()
        self.backups = os.path.join(self.place, "backups")
        os.makedirs(os.path.join(self.backups, "weather"))

    def run_recipe(self, title, **more):
        script = recipes()[title]
        for there, here in ((r"/var/spool/pushspool", self.spool), (r"/var/backups", self.backups)):
            script = script.replace(there, f'"{here}"' if '"' + there not in script else here)
        script = re.sub(r"\b(u:)web\b", r"\1nobody", script)
        script = re.sub(r"\bproducers\b", "nogroup", script)
        result = subprocess.run(
            ["sh", "-eu", "-c", script], cwd=self.app, text=True, capture_output=True, timeout=60, **more)
        self.assertEqual((result.returncode, result.stderr), (0, ""), script)
        return result.stdout

    def test_each_recipe_is_tried(self):
        tried = {
            "a group may drop jobs", "a user may drop jobs", "a user may read and remove feedback", "what waits",
            "a line of a crontab", "lines from a list", "what failed", "why notifications were refused",
            "the rejected of a job", "archives by day", "a backup of what is over",
        }
        self.assertEqual(set(recipes()), tried)

    def test_what_waits(self):
        for name in ("b.json", "a.json", ".half.json"):
            self.put("{}", "new", name)
        number, oldest = self.run_recipe("what waits").splitlines()
        self.assertEqual(int(number), 2)
        self.assertRegex(oldest, r"^\d{4}-.* b\.json$")

    def test_a_line_of_a_crontab(self):
        line = recipes()["a line of a crontab"]
        self.assertRegex(line, r"^(\S+ ){5}cd ")
        forecast = self.outside("forecast", '#!/bin/sh\necho "{}"\n')
        os.chmod(forecast, 0o755)
        # Cron takes a bare percent sign for the end of the line.
        self.assertNotRegex(line, r"(?<!\\)%")
        script = re.sub(r"^(\S+ ){5}", "", line).replace("\\%", "%").replace("/usr/local/bin/forecast", f'"{forecast}"')
        script = script.replace("/var/spool/pushspool/weather", f'"{self.app}"')
        subprocess.run(["sh", "-eu", "-c", script], check=True)
        self.assertRegex(self.jobs()[0], r"^forecast-\d{4}-\d\d-\d\d\.json$")
        self.assertEqual(self.names("tmp"), [])

    def test_lines_from_a_list(self):
        self.put("ab\ncd\n", "tokens.txt")
        self.run_recipe("lines from a list")
        self.assertEqual(
            self.text("new", "hello.jsonl"), '{"job": {"count": 2}, "defaults": {"alert": "Hello"}}\n"ab"\n"cd"\n')

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_what_failed_and_why(self):
        result = '{"finished_at":"2026","job":"%s","code":"%s"%s}'
        self.put(result % ("a.json", "refused", ""), "failed", "2026-11-21", "a.json.result.json")
        found = ',"diagnostics":[{"message":"unknown key"}]'
        self.put(result % ("b.json", "invalid", found), "failed", "2026-11-20", "b.json.result.json")
        lines = self.run_recipe("what failed").splitlines()
        self.assertEqual(sorted(lines), ["2026\ta.json\trefused\t", "2026\tb.json\tinvalid\tunknown key"])

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_counts_of_reasons_and_the_rejected_of_a_job(self):
        lines = ['{"kind":"notification","outcome":"rejected","reason":"Unregistered"}'] * 2
        lines += ['{"kind":"notification","outcome":"expired"}', '{"kind":"job"}']
        self.put("\n".join(lines) + "\n", "feedback", "1-a.jsonl")
        self.put("half", "feedback", ".a.tmp")
        counts = self.run_recipe("why notifications were refused").split()
        self.assertEqual(counts, ["2", "Unregistered", "1", "expired"])
        self.put('{"indexes": {"rejected":[[1,3]]}}', "done", "2026-11-21", "half.json.result.json")
        self.assertEqual(self.run_recipe("the rejected of a job"), "[[1,3]]\n")

    def test_archives_by_day(self):
        self.put("{}", "done", "2001-02-03", "a.json")
        self.put("{}", "done", "2999-01-01", "b.json")
        self.put("{}", "feedback", "new.jsonl")
        self.put("{}", "feedback", "old.jsonl")
        os.utime(self.path("feedback", "old.jsonl"), (0, 0))
        self.run_recipe("archives by day")
        self.assertEqual((self.names("done"), self.names("feedback")), (["2999-01-01"], ["new.jsonl"]))
        packed = os.path.join(self.backups, "weather-2001-02-03.tar.gz")
        listing = subprocess.run(["tar", "tzf", packed], text=True, capture_output=True, check=True).stdout
        self.assertIn("2001-02-03/a.json", listing)

    @unittest.skipUnless(shutil.which("rsync"), "needs rsync")
    def test_a_backup_of_what_is_over(self):
        self.put("{}", "done", "2026-11-21", "a.json")
        self.run_recipe("a backup of what is over")
        self.assertTrue(os.path.exists(os.path.join(self.backups, "weather", "done", "2026-11-21", "a.json")))

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_a_group_may_drop_jobs(self):
        os.chmod(self.path("new"), 0o700)
        self.run_recipe("a group may drop jobs")
        for folder in ("new", "tmp"):
            status = os.stat(self.path(folder))
            self.assertEqual((status.st_gid, status.st_mode & 0o7777), (65534, 0o3770))

    @unittest.skipUnless(IS_ROOT and shutil.which("setfacl"), "needs root and setfacl")
    def test_a_user_may_drop_jobs_and_another_s_stay(self):
        self.run_recipe("a user may drop jobs")
        self.put("{}", "new", "other.json")
        name = as_nobody(lambda: pushspool.submit(self.app, "{}"))
        self.assertIn(name, self.jobs())
        self.assertIn("not permitted", as_nobody(lambda: os.unlink(self.path("new", "other.json"))))

    @unittest.skipUnless(IS_ROOT and shutil.which("setfacl"), "needs root and setfacl")
    def test_a_user_may_read_and_remove_feedback(self):
        self.run_recipe("a user may read and remove feedback")
        # As the daemon makes it.
        number = os.open(self.path("feedback", ".a.tmp"), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o640)
        os.fchmod(number, 0o640)
        os.write(number, b'{"kind":"job","id":"7T"}\n')
        os.close(number)
        os.rename(self.path("feedback", ".a.tmp"), self.path("feedback", "1-a.jsonl"))
        self.assertEqual(as_nobody(lambda: list(pushspool.feedback(self.app, consume=True))[0]["id"]), "7T")
        self.assertEqual(self.names("feedback"), [])


class ExampleTests(SpoolTest):
    """The examples of the clients, with a stand-in for the daemon."""

    def run_example(self, language, command, head="", foot="", name=None):
        if not Client.is_there(language):
            Client.report_missing(language)
            self.skipTest(f"the interpreter of {language} is not installed")
        title = {"node": "Node.js", "php": "PHP", "ruby": "Ruby", "go": "Go"}[language]
        text = page().split(f"\nIn {title}", 1)[1].split("\n.nf\n", 1)[1].split("\n.fi", 1)[0]
        text = head + text.replace("/var/spool/pushspool", self.spool) + foot
        folder = os.path.join(self.place, "program")
        shutil.copytree(CLIENTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.makedirs(self.path("work"))
        os.makedirs(self.path("done", "2026-11-21"))
        self.put('{"kind":"job","id":"7T"}\n', "feedback", "1-a.jsonl")
        daemon = threading.Thread(target=self.finish_one)
        daemon.start()
        self.addCleanup(daemon.join)
        result = subprocess.run(
            command, cwd=folder, env=go_environment(self.place), text=True, capture_output=True, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (0, ""), text)
        self.assertRegex(result.stdout, r"done/2026-11-21/urgent-storm-[0-9a-f]{16}\.json")
        self.assertIn("7T", result.stdout)
        self.assertEqual(self.names("feedback"), [])

    def finish_one(self):
        """Tells producers how a job has ended, and archives it, as a daemon does."""
        eventually(lambda: self.jobs(), "the job")
        name = self.jobs()[0]
        inode = os.stat(self.path("new", name)).st_ino
        self.put(f"{name}\t{inode}\tdone/2026-11-21/{name}\t{{}}\n", "tmp", ".jobs", "ended-a")
        os.rename(self.path("new", name), self.path("done", "2026-11-21", name))

    def test_the_example_for_node(self):
        self.run_example("node", ["node", "example.mjs"], 'const token = "ab";\n', name="example.mjs")

    def test_the_example_for_php(self):
        self.run_example("php", ["php", "example.php"], "<?php $token = 'ab';\n", name="example.php")

    def test_the_example_for_ruby(self):
        self.run_example("ruby", ["ruby", "-w", "example.rb"], 'token = "ab"\n', name="example.rb")

    def test_the_example_for_go(self):
        head = """package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"example/pushspool"
)

func store(line []byte) error {
	fmt.Println(string(line))
	return nil
}

func main() {
	token := "ab"
"""
        build = "mkdir pushspool && mv pushspool.go pushspool/ && printf 'module example\\n\\ngo 1.19\\n' >go.mod && go run ."
        self.run_example("go", ["sh", "-c", build], head, "\n\tfmt.Println(end.Path, err)\n}\n", "main.go")


class Watch:
    """What happens in a folder, as the daemon sees it."""

    def __init__(self, folder):
        library = ctypes.CDLL(None, use_errno=True)
        self.number = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        library.inotify_add_watch(self.number, os.fsencode(folder), IN_CREATE | IN_MOVED_TO)

    def close(self):
        os.close(self.number)

    def ways(self):
        """How each name that is no hidden one came to be there."""
        ways = {}
        try:
            buffer = os.read(self.number, 1 << 16)
        except BlockingIOError:
            buffer = b""
        while buffer:
            _, mask, _, length = struct.unpack_from("iIII", buffer)
            name = os.fsdecode(buffer[16:16 + length].rstrip(b"\0"))
            buffer = buffer[16 + length:]
            if not name.startswith("."):
                ways.setdefault(name, []).append("renamed" if mask & IN_MOVED_TO else "in place")
        return ways


@unittest.skipUnless(shutil.which("rsync"), "needs rsync")
class RsyncTests(SpoolTest):
    def setUp(self):
        super().setUp()
        self.source = os.path.join(self.place, "source")
        os.mkdir(self.source)
        os.chmod(self.source, 0o755)
        for name in ("a.json", "b.json"):
            self.outside("source/" + name, '{"token":"ab"}\n')
        self.watch = Watch(self.path("new"))
        self.addCleanup(self.watch.close)

    def told(self, part):
        """The commands that the page lists as safe, or not."""
        text = page().split("\n.SS rsync\n")[1].split("\n.SS Others\n")[0].split("\nNot safe:\n")
        return re.findall(r"\n\.B rsync (.*)", text[part])

    def copy(self, options):
        options = options.replace("/var/spool/pushspool", self.spool.replace(" ", "\0")).split()
        subprocess.run(
            ["rsync", *(option.replace("\0", " ") for option in options), self.source + "/", self.path("new") + "/"],
            check=True, capture_output=True, timeout=60)

    def test_what_is_called_safe_renames_whole_files_and_leaves_the_folder_alone(self):
        commands = self.told(0)
        self.assertGreater(len(commands), 5)
        for command in commands:
            self.copy(command)
            self.assertEqual(self.watch.ways(), {"a.json": ["renamed"], "b.json": ["renamed"]}, command)
            self.assertEqual(os.stat(self.path("new")).st_mode & 0o7777, 0o3770)
            for name in ("a.json", "b.json"):
                os.unlink(self.path("new", name))
                self.outside("source/" + name, '{"token":"ab"}\n')

    def test_what_is_called_unsafe_is(self):
        self.assertEqual(
            [command.split()[-1] for command in self.told(1)],
            ["--inplace", "--append", "--partial", "-P", "-a", "--delete", "--backup"])
        for command in ("-r --inplace", "-r --append"):
            self.copy(command)
            self.assertEqual(self.watch.ways(), {"a.json": ["in place"], "b.json": ["in place"]}, command)
            for name in self.names("new"):
                os.unlink(self.path("new", name))

    def test_a_copy_of_a_whole_folder_with_its_modes_opens_new(self):
        self.copy("-a")
        self.assertEqual(os.stat(self.path("new")).st_mode & 0o7777, 0o755)

    def test_delete_and_backup_and_a_plain_copy_take_jobs_away(self):
        for command, left in (("-r --delete", None), ("-r --backup", "a.json~"), ("-r", None)):
            self.put("old", "new", "a.json")
            self.put("other", "new", "other.json")
            self.copy(command)
            self.assertNotEqual(self.text("new", "a.json"), "old")
            self.assertEqual("other.json" in self.names("new"), "--delete" not in command)
            self.assertEqual("a.json~" in self.names("new"), left is not None)
            for name in self.names("new"):
                os.unlink(self.path("new", name))

    def test_ignore_existing_replaces_no_job_that_waits(self):
        self.put("old", "new", "a.json")
        self.copy("-r --ignore-existing")
        self.assertEqual(self.text("new", "a.json"), "old")

    def test_a_file_for_its_owner_alone_is_opened_to_the_daemon_on_request(self):
        os.chmod(os.path.join(self.source, "a.json"), 0o600)
        for command, mode in (("-r", 0o600), ("-r --chmod=F644", 0o644)):
            self.copy(command)
            self.assertEqual(os.stat(self.path("new", "a.json")).st_mode & 0o777, mode)
            os.unlink(self.path("new", "a.json"))


if __name__ == "__main__":
    unittest.main()
