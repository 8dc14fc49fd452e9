"""A simulated gateway and daemons that send to it."""

import json
import os
import re
import signal
import subprocess

from outbox import LIMIT, ROOT, die_with_parent, eventually


def program():
    """The program to test: PUSHSPOOL, or the newest build of the checkout."""
    builds = [os.path.join(ROOT, ".build", kind, "pushspool") for kind in ("debug", "release")]
    path = os.environ.get("PUSHSPOOL") or max(
        filter(os.path.exists, builds), key=os.path.getmtime, default=builds[0])
    if not os.path.exists(path):
        raise AssertionError(f"{path} does not exist: run make build, or set PUSHSPOOL")
    return path


class Gateway:
    """`pushspool simulate`, whose ledger has a line for each notification."""

    def __init__(self, place, *words):
        self.place, self.words = place, words
        self.ledger = os.path.join(place, "ledger")
        self.output = os.path.join(place, "gateway.out")

    def start(self):
        with open(self.output, "wb") as output, open(os.path.join(self.place, "gateway.log"), "wb") as log:
            self.process = subprocess.Popen(
                [program(), "simulate", "--certificates", os.path.join(self.place, "certificates"),
                 "--ledger", self.ledger, *self.words], stdout=output, stderr=log, preexec_fn=die_with_parent)
        eventually(lambda: "token_gateway: " in self.text(), "the gateway's configuration", LIMIT)

    def text(self):
        with open(self.output, encoding="utf-8") as file:
            return file.read()

    def app(self):
        """The configuration of an app for Apple's HTTP/2."""
        return re.match(r"(.*?\ngateway: localhost:\d+\n)", self.text(), re.DOTALL).group(1)

    def accepted(self):
        """How often each apns-id was accepted."""
        counts = {}
        with open(self.ledger, encoding="utf-8") as file:
            for line in file:
                if not line.endswith("\n"):
                    break
                entry = json.loads(line)
                if entry["outcome"] == "accepted":
                    counts[entry["id"].lower()] = counts.get(entry["id"].lower(), 0) + 1
        return counts

    def stop(self):
        self.process.terminate()
        self.process.wait(LIMIT)


class Daemon:
    """A daemon with a spool of its own and the app weather."""

    def __init__(self, place, name, gateway, more=""):
        self.name, self.folder = name, os.path.join(place, name)
        self.spool = os.path.join(self.folder, "spool")
        self.app = os.path.join(self.spool, "weather")
        os.makedirs(os.path.join(self.folder, "apps"))
        for folder in ("spool", "state", "run"):
            os.mkdir(os.path.join(self.folder, folder), 0o700)
        self.configuration = os.path.join(self.folder, "pushspool.yaml")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(
                f"spool: {self.spool}\nstate: {self.folder}/state\nnode: {name}\n"
                f"control: {{folder: {self.folder}/run}}\n"
                "feedback: {every: 250ms}\n")
        with open(os.path.join(self.folder, "apps", "weather.yaml"), "w", encoding="utf-8") as file:
            file.write(gateway.app() + more)
        self.process = None

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [program(), "run", "--config", self.configuration], stderr=log, preexec_fn=die_with_parent)

    def await_start(self):
        eventually(
            lambda: os.path.exists(os.path.join(self.spool, ".pushspool", "public", self.name, "apps.json")) and
            os.path.isdir(os.path.join(self.app, "feedback")), "the daemon's folders", LIMIT)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as file:
            return file.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(LIMIT)

    def waiting(self):
        """How many jobs are not at their end."""
        count = 0
        for folder in ("new", "work"):
            for _, _, names in os.walk(os.path.join(self.app, folder)):
                count += sum(not name.startswith(".") for name in names)
        return count

    def ended(self, place):
        """The names in done/ or failed/."""
        names = []
        for _, _, files in os.walk(os.path.join(self.app, place)):
            names += [name for name in files if not name.startswith(".")]
        return names
