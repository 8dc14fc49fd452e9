"""Runs the cases of cases.jsonl with the clients of all languages.

Each line is a case. `given` fills the spool, `call` and other keys make the request, `want` describes the answer, and `left`
the files that remain. `then` is a second request, before which the steps of `between` are taken; those of `meanwhile` are
taken while the client waits. `not` names the clients that differ, with the reason.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from clients import LANGUAGES, Client, DriverDied
from spool import IS_ROOT, NOBODY, ROOT, SpoolTest, can_unshare

TABLE = os.path.join(ROOT, "Tests", "Clients", "cases.jsonl")


def expanded(value):
    """Replaces {n} in texts by n letters."""
    if isinstance(value, str):
        return re.sub(r"\{(\d+)\}", lambda match: "x" * int(match[1]), value)
    if isinstance(value, list):
        return [expanded(item) for item in value]
    return value


@functools.lru_cache(maxsize=None)
def can_trace():
    """Whether strace is there and may trace."""
    return shutil.which("strace") is not None and subprocess.run(
        ["strace", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL).returncode == 0


def cases():
    with open(TABLE, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class CaseTests:
    """The cases for one client."""

    language = ""

    @classmethod
    def setUpClass(cls):
        if not Client.is_there(cls.language):
            Client.report_missing(cls.language)
            raise unittest.SkipTest(f"{LANGUAGES[cls.language][1]} is not installed")
        cls.folder = tempfile.mkdtemp(prefix="pushspool client ")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        os.chmod(cls.folder, 0o755)
        cls.client = Client(cls.language, cls.folder)
        cls.shared = cls.client.driver()
        cls.addClassCleanup(cls.shared.close)

    def run_case(self, case):
        for languages, reason in case.get("not", {}).items():
            if self.language in languages.split():
                self.skipTest(reason)
        if ("as" in case or any(step[0] in ("own", "group") for step in case.get("given", []))) and not IS_ROOT:
            self.skipTest("needs root")
        if "mount" in case and not can_unshare():
            self.skipTest("needs root and mount namespaces")
        if self.language == "sh" and case["call"] == "feedback" and not shutil.which("jq"):
            self.skipTest("needs jq")
        if "fault" in case and not can_trace():
            self.skipTest("needs strace")
        os.makedirs(self.path("work"), mode=0o700, exist_ok=True)
        self.inodes = {}
        if case.get("as") == "producer":
            self.let_nobody_drop()
        for step in case.get("given", []):
            self.give(*step)
        driver = self.shared
        if any(key in case for key in ("as", "umask", "mount", "fault")):
            umask = int(case["umask"], 8) if "umask" in case else None
            driver = self.client.driver(
                self.app, case.get("mount"), case.get("fault"), case.get("on", []), nobody="as" in case, umask=umask)
            self.addCleanup(driver.close)
        requests = [case, {**case, **case["then"]}] if "then" in case else [case]
        for number, request in enumerate(requests):
            for step in case.get("between", []) if number == 1 else []:
                self.give(*step)
            for key in ("names", "apps"):
                for value in request.get(key, []):
                    with self.subTest(value=value):
                        self.ask(driver, {**request, key[:-1]: value})
            if "names" not in request and "apps" not in request:
                self.ask(driver, request)

    def let_nobody_drop(self):
        """Gives the user without rights those of a producer: in the group that owns new/ and tmp/, and nothing more."""
        for folder in ("new", "tmp"):
            self.give("group", folder)
        os.mkdir(self.path("tmp", ".jobs"), 0o755)

    def with_inodes(self, text):
        """Replaces {inode:PATH} by the inode of a file, which may be gone by now."""
        return re.sub(r"\{inode:(.*?)\}", lambda match: str(self.inodes[match[1]]), text)

    def give(self, kind, path, value=None):
        place = self.path(path)
        if kind == "note":
            self.inodes[path] = os.lstat(place).st_ino
        elif kind == "put":
            self.put(self.with_inodes(expanded(value)), *path.split("/"))
            self.inodes[path] = os.lstat(place).st_ino
        elif kind == "add":
            with open(place, "a", encoding="utf-8") as file:
                file.write(self.with_inodes(value))
        elif kind == "repeat":
            self.put(value[0] * value[1], *path.split("/"))
        elif kind == "move":
            os.rename(place, self.path(value))
        elif kind == "unlink":
            os.unlink(place)
        elif kind == "age":
            os.utime(place, (time.time() - value,) * 2)
        elif kind == "mkdir":
            os.makedirs(place)
        elif kind == "remove":
            os.rmdir(place)
        elif kind == "link":
            os.symlink(value, place)
        elif kind == "fifo":
            os.mkfifo(place)
        elif kind == "mode":
            os.chmod(place, int(value, 8))
        else:
            # chown would clear the bits that set the group and keep others from removing files.
            mode = os.lstat(place).st_mode & 0o7777
            os.chown(place, NOBODY if kind == "own" else -1, NOBODY)
            os.chmod(place, mode)

    def ask(self, driver, case):
        is_mounted = case.get("mount", ["tmp"])[0] == ""
        before = set(self.names("new")) if os.path.isdir(self.path("new")) else set()
        request = {key: expanded(value) for key, value in case.items() if key not in ("case", "given", "want", "left", "not")}
        request = {"spool": self.spool, "app": "weather", "consume": False, **request}
        if "repeat" in case:
            request["job"] = case["repeat"][0] * case["repeat"][1]
            del request["repeat"]
        if case.get("recipients") == ["{100000}"]:
            request["recipients"] = [f"{number:064x}" for number in range(100_000)]
        driver.begin(request)
        if "meanwhile" in case:
            timer = threading.Timer(0.1, lambda: [self.give(*step) for step in case["meanwhile"]])
            timer.start()
            self.addCleanup(timer.join)
        if "dies" in case["want"]:
            self.assertRaises(DriverDied, driver.end)
            self.assertEqual([self.text("new", name) for name in self.names("new")], expanded(case["want"]["dies"]))
            return
        answer = driver.end()
        self.check(case["want"], answer, case, request)
        if not is_mounted:
            self.check_spool(case, answer, request, before)

    def check(self, want, answer, case, request):
        self.assertEqual(answer.get("error"), want.get("error"), answer)
        for key in ("hint", "message"):
            if key in want:
                self.assertIn(want[key], f"{answer['hint']} {answer['message']}")
        if "job" in want:
            self.assertEqual(answer["job"], want["job"])
        if want.get("error") in ("input", "failed", "not_in_time"):
            self.assertTrue(answer["hint"])
            self.assertFalse(answer.get("job"))
        if "name" in want:
            self.assertRegex(os.fsdecode(bytes.fromhex(answer["name_hex"])), re.compile(want["name"] + r"\Z"))
        if "state" in want:
            is_accepted = answer.get("is_accepted", answer.get("isAccepted"))
            self.assertEqual((answer["state"], answer["path"], answer.get("result")),
                             (want["state"], want["path"], want["result"]))
            self.assertEqual(is_accepted, want["state"] == "done" and want["result"] is None)
        if "ids" in want:
            kinds = [line["id"] for line in answer["lines"] if case.get("kind") in (None, line.get("kind"))]
            self.assertEqual(kinds, want["ids"])

    def check_spool(self, case, answer, request, before):
        """Only the job came into new/, whole and readable, and nothing stayed in tmp/."""
        if os.path.isdir(self.path("new")) and "meanwhile" not in case:
            dropped = {os.fsdecode(bytes.fromhex(answer["name_hex"]))} if "name_hex" in answer else set()
            dropped |= {answer["job"]} if answer.get("error") == "in_doubt" else set()
            self.assertEqual(set(self.names("new")), before | dropped)
            for name in dropped:
                self.check_job(case["want"], name, request)
        if os.path.isdir(self.path("tmp")):
            self.assertEqual([name for name in self.names("tmp") if name != ".jobs"], [])
        for path, value in case.get("left", {}).items():
            if isinstance(value, list):
                self.assertEqual(self.names(path), value)
            else:
                self.assertEqual(self.text(path), value)

    def check_job(self, want, name, request):
        status = os.stat(self.path("new", name))
        self.assertEqual(status.st_mode & 0o7777, 0o644)
        self.assertEqual(status.st_gid, os.stat(self.path("new")).st_gid)
        # A time in whole seconds before the rename: so a daemon on another host sees that the rename was after the last write.
        self.assertEqual(status.st_mtime_ns % 1_000_000_000, 0)
        self.assertLess(status.st_mtime_ns, status.st_ctime_ns)
        text = self.text("new", name)
        if "json" in want:
            self.assertEqual(json.loads(text), want["json"])
        elif "lines" in want:
            self.assertTrue(text.endswith("\n"))
            self.assertEqual([json.loads(line) for line in text[:-1].split("\n")], want["lines"])
        elif "text_hex" in want:
            self.assertEqual(os.fsencode(text).hex(), want["text_hex"])
        elif "recipients" in request:
            self.assertEqual(len(text.split("\n")), len(request["recipients"]) + len(request["head"]) + 1)
        elif isinstance(request["job"], str):
            self.assertEqual(text, request["job"])


    def test_one_of_four_clients_gets_an_exact_name(self):
        if self.language == "sh":
            self.skipTest("its names are always unique")
        texts = [str(number) * 100_000 for number in range(4)]
        answers = self.ask_at_once([{"name": "one.json", "unique": False, "job": text} for text in texts])
        self.assertEqual(sorted(answer.get("error", "") for answer in answers), ["", "input", "input", "input"])
        winner = next(number for number, answer in enumerate(answers) if "error" not in answer)
        self.assertEqual(self.text("new", "one.json"), texts[winner])
        self.assertEqual((self.names("new"), self.names("tmp")), (["one.json"], []))

    def test_four_clients_that_use_one_name_get_unique_names(self):
        answers = self.ask_at_once([{"name": "one.json", "job": "{}"}] * 4)
        self.assertEqual(len({answer["name_hex"] for answer in answers}), 4)
        self.assertEqual((len(self.names("new")), self.names("tmp")), (4, []))

    def test_three_consumers_at_once_get_each_line_at_least_once(self):
        os.makedirs(self.path("work"))
        for number in range(30):
            self.put(f'{{"id":"{number}"}}\n', "feedback", f"{number:02}-a.jsonl")
        answers = self.ask_at_once([{"call": "feedback", "consume": True}] * 3)
        ids = {line["id"] for answer in answers for line in answer["lines"]}
        self.assertEqual((len(ids), self.names("feedback")), (30, []))

    def ask_at_once(self, requests):
        drivers = [self.client.driver() for _ in requests]
        for driver, request in zip(drivers, requests):
            self.addCleanup(driver.close)
            driver.begin({"call": "submit", "spool": self.spool, "app": "weather", **request})
        return [driver.end() for driver in drivers]


def method(case):
    return lambda self: self.run_case(case)


for number, case in enumerate(cases()):
    name = re.sub(r"\W+", "_", case["case"])
    setattr(CaseTests, f"test_{number:02}_{name}", method(case))
for language in LANGUAGES:
    title = language.title() + "Cases"
    globals()[title] = type(title, (CaseTests, SpoolTest), {"language": language, "__module__": __name__})


class TableTests(unittest.TestCase):
    def test_every_exception_has_its_reason_and_no_two_cases_one_name(self):
        names = [case["case"] for case in cases()]
        self.assertEqual(len(names), len(set(names)))
        for case in cases():
            for languages, reason in case.get("not", {}).items():
                self.assertLessEqual(set(languages.split()), set(LANGUAGES))
                self.assertGreater(len(reason), 10)


if __name__ == "__main__":
    unittest.main()
