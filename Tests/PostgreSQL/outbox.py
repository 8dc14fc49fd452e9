"""A PostgreSQL server in a folder of its own, a spool without a daemon, and bridges between them."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "Tests", "Clients"))

from spool import CLIENTS, IS_ROOT, NOBODY, SpoolTest, die_with_parent, eventually  # noqa: E402,F401

import psycopg  # noqa: E402

PROGRAM = os.path.join(CLIENTS, "pushspool-pg")
STEPS = os.path.join(HERE, "steps.py")
TOKEN = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"
USER = "owner"
# Long enough for a slow machine; what is awaited comes within a second.
LIMIT = 60


def programs():
    """The folder of the newest PostgreSQL's programs."""
    folders = glob.glob("/usr/lib/postgresql/*/bin")
    if not folders:
        raise unittest.SkipTest("needs PostgreSQL: apt-get install postgresql")
    return max(folders, key=lambda folder: int(folder.split("/")[4]))


class Server:
    """A server that listens only on a Unix socket in its folder, and ends with the tests."""

    def __init__(self, *settings):
        # The path of a Unix socket is short.
        self.place = tempfile.mkdtemp(prefix="pg-", dir="/tmp")
        self.data = os.path.join(self.place, "data")
        self.settings = [word for setting in settings for word in ("-c", setting)]
        self.process = None
        if IS_ROOT:
            os.chown(self.place, NOBODY, NOBODY)
        os.chmod(self.place, 0o755)
        self._run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")

    def _words(self, program, *words):
        """PostgreSQL refuses to run as root."""
        drop = [
            "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--pdeathsig=KILL",
        ] if IS_ROOT else ["setpriv", "--pdeathsig=KILL"]
        return [*drop, os.path.join(programs(), program), *words]

    def _run(self, program, *words):
        subprocess.run(self._words(program, *words), check=True, capture_output=True, timeout=LIMIT, cwd=self.place)

    def start(self):
        log = open(os.path.join(self.place, "log"), "ab")
        with log:
            self.process = subprocess.Popen(
                self._words(
                    "postgres", "-D", self.data, "-c", "listen_addresses=", "-c", "max_connections=50",
                    "-c", f"unix_socket_directories={self.place}", *self.settings),
                stdout=log, stderr=log, cwd=self.place)
        eventually(self._answers, "an answer of the server", LIMIT)

    def _answers(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.place, "log"), encoding="utf-8", errors="replace") as file:
                raise AssertionError(f"the server does not start: {file.read()[-2000:]}")
        try:
            self.connect().close()
            return True
        except psycopg.OperationalError:
            return False

    def stop(self, number=signal.SIGINT):
        """By default the server ends all connections, and then itself."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(LIMIT)
        self.process = None

    def kill(self):
        """Kills the server with all its processes at once, as a loss of power would; only the disk's cache survives."""
        self.process.send_signal(signal.SIGSTOP)
        children = _children(self.process.pid)
        for pid in [*children, self.process.pid]:
            os.kill(pid, signal.SIGKILL)
        self.process.wait(LIMIT)
        eventually(
            lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children), "the end of its processes", LIMIT)
        self.process = None

    def remove(self):
        self.stop()
        shutil.rmtree(self.place)

    def connect(self, database="postgres", user=USER):
        return psycopg.connect(self.address(database, user), autocommit=True)

    def address(self, database="postgres", user=USER):
        return f"host={self.place} dbname={database} user={user}"


def _children(parent):
    children = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == parent:
            children.append(int(path.split("/")[2]))
    return children


class OutboxTest(SpoolTest):
    """A test with an empty outbox in a database of its own, and the spool of a daemon that does not run."""

    server = None
    number = 0

    @classmethod
    def setUpClass(cls):
        cls.server = Server("fsync=off")
        cls.addClassCleanup(cls.server.remove)
        cls.server.start()

    def setUp(self):
        super().setUp()
        OutboxTest.number += 1
        self.database = f"test{OutboxTest.number}"
        with self.server.connect() as admin:
            admin.execute(f"CREATE DATABASE {self.database}")
        self.address = self.server.address(self.database)
        self.make_tables()
        self.list_apps({"app": "weather", "carrier": "http2"})
        self.bridges = []
        self.addCleanup(self.end_bridges)

    def make_tables(self):
        self.command("schema", "--create")

    def list_apps(self, *apps, node="host-a", line=16384, nesting=64):
        """Writes what a daemon publishes about its apps."""
        folder = os.path.join(self.spool, ".pushspool", "public", node)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "apps.json"), "w", encoding="utf-8") as file:
            json.dump({"v": 1, "node": node, "limits": {"line": line, "nesting": nesting}, "apps": list(apps)}, file)

    # The table

    def sql(self, query, *values):
        with psycopg.connect(self.address, autocommit=True) as connection:
            cursor = connection.execute(query, values or None)
            return cursor.fetchall() if cursor.description else []

    def one(self, query, *values):
        return self.sql(query, *values)[0][0]

    def insert(self, count=1, app="weather", **columns):
        """Inserts rows, and returns their ids in order."""
        columns.setdefault("recipient", json.dumps({"token": TOKEN, "alert": "Hello"}))
        names, values = ", ".join(["app", *columns]), ", ".join(["%s"] * (len(columns) + 1))
        rows = self.sql(
            f"INSERT INTO pushspool.outbox ({names}) SELECT {values} FROM generate_series(1, %s) RETURNING id",
            app, *columns.values(), count)
        return sorted(number for (number,) in rows)

    def rows(self):
        return self.one("SELECT count(*) FROM pushspool.outbox")

    # The bridge

    def command(self, name, *words, input=None, code=0):
        result = subprocess.run(
            [PROGRAM, name, "--database", self.address, *words], input=input, text=True, capture_output=True,
            timeout=LIMIT)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def bridge(self, *words, node="host-a", spool=None, steps=(), before=()):
        """Starts a bridge, with words before its command; with steps, it dies there (see steps.py)."""
        log = os.path.join(self.place, f"bridge-{len(self.bridges)}.log")
        program = [sys.executable, STEPS, *steps] if steps else [PROGRAM]
        with open(log, "wb") as file:
            process = subprocess.Popen(
                [*before, *program, "run", "--database", self.address, "--spool", spool or self.spool, "--node", node,
                 "--poll", "0.2", *words], stderr=file, preexec_fn=die_with_parent)
        process.log = log
        self.bridges.append(process)
        return process

    def log(self, process):
        with open(process.log, encoding="utf-8") as file:
            return file.read()

    def await_log(self, process, pattern, count=1):
        def is_there():
            text = self.log(process)
            if len(re.findall(pattern, text)) >= count:
                return True
            if process.poll() is not None:
                raise AssertionError(f"the bridge has ended with {process.returncode}: {text}")
            return False

        eventually(is_there, f"{pattern} in the log", LIMIT)

    def await_rows(self, count=0):
        eventually(lambda: self.rows() == count, f"{count} rows in the outbox", LIMIT)

    def await_end(self, process, code=-signal.SIGKILL):
        self.assertEqual(process.wait(LIMIT), code, self.log(process))

    def end(self, process):
        """Ends a bridge as systemd does. One that others left nothing to do may not have begun yet: the signal would kill it."""
        def takes_signals():
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                blocked = int(re.search(r"^SigBlk:\s*(\w+)", status.read(), re.MULTILINE)[1], 16)
            return process.poll() is not None or blocked >> signal.SIGTERM - 1 & 1

        eventually(takes_signals, "the bridge takes signals", LIMIT)
        process.terminate()
        self.await_end(process, 0)
        self.assertNotIn("Traceback", self.log(process))

    def end_bridges(self):
        for process in self.bridges:
            if process.poll() is None:
                process.kill()
                process.wait()

    # The spool

    def dropped(self, app=None):
        """The dropped jobs: each one's first line, and the objects of the others."""
        folder = os.path.join(self.spool, app or "weather", "new")
        jobs = []
        for name in sorted(os.listdir(folder)):
            if name.startswith("."):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                head, *lines = [json.loads(line) for line in file]
            self.assertEqual(head["job"]["count"], len(lines))
            self.assertIn(head["job"]["id"], name)
            jobs.append((head["job"], lines))
        return jobs

    def apns_ids(self):
        """How often each notification is in a job; jobs with the id of an earlier one do not count: they fail."""
        ids = {}
        for job, lines in {job["id"]: (job, lines) for job, lines in self.dropped()}.values():
            for line in lines:
                ids[line["apns_id"]] = ids.get(line["apns_id"], 0) + 1
        return ids


__all__ = [name for name in globals() if not name.startswith("_")]
