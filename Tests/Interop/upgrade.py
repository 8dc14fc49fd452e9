#!/usr/bin/env python3
"""Upgrades a daemon amid its work: kills an older program with jobs in every state, and lets this one finish them.

usage: upgrade.py OLD-PUSHSPOOL PUSHSPOOL

Both programs run on one spool, one after the other, before a simulated gateway that answers slowly and writes down every notification.
Prints a line for each fact; exits with 1 if one is not as it should be. Takes about half a minute, and needs no root.
"""

import collections
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OLD, NEW = (str(Path(program).resolve()) for program in sys.argv[1:3])
STREAMS = 20
# What may be in flight, and the outcomes that the journal may not have yet (journal.sync_records).
MOST_IN_DOUBT = STREAMS + 256
failures = 0


def check(fact: str, is_so: bool, came: object = "") -> None:
    global failures
    failures += not is_so
    print(f"ok: {fact}" if is_so else f"FAILED: {fact}: {came}", flush=True)


def wait(fact: str, condition, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"upgrade: waited {seconds:.0f} s in vain for {fact}")
        time.sleep(0.02)


def version(program: str) -> str:
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()


class Spool:
    def __init__(self, folder: Path) -> None:
        self.folder, self.app = folder, folder / "spool" / "weather"
        self.config, self.ledger = folder / "pushspool.yaml", folder / "ledger"
        self.wanted: set[str] = set()
        self.daemons: list[subprocess.Popen] = []

    def begin(self, gateway: str) -> None:
        for name in ("apps", "spool"):
            (self.folder / name).mkdir()
        self.config.write_text("spool: spool\nstate: state\napps: apps\nnode: host-a\ncontrol: {folder: state}\n")
        (self.folder / "apps" / "weather.yaml").write_text(gateway)

    def run(self, program: str) -> subprocess.Popen:
        log = open(self.folder / f"log-{version(program)}", "a")
        daemon = subprocess.Popen([program, "run", "--config", self.config], stderr=log)
        self.daemons.append(daemon)
        wait("the app", lambda: "app started" in Path(log.name).read_text())
        return daemon

    def command(self, program: str, *words: str) -> None:
        words = [program, words[0], "--config", self.config, *words[1:]]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"upgrade: {words} ended with {done.returncode}: {done.stdout}{done.stderr}")

    def drop(self, name: str, count: int, kind: int, *, sent: bool = True, first: dict | None = None) -> None:
        tokens = [f"{kind:04x}{number:060x}" for number in range(count)]
        lines = [{"job": first or {}, "defaults": {"alert": name}}, *tokens]
        draft = self.app / "tmp" / name
        draft.write_text("".join(json.dumps(line) + "\n" for line in lines))
        draft.rename(self.app / "new" / name)
        if sent:
            self.wanted.update(tokens)

    def arrivals(self, kind: int | None = None) -> collections.Counter:
        text = self.ledger.read_text() if self.ledger.exists() else ""
        tokens = re.findall(r'"token":"([0-9a-f]{64})"', text)
        return collections.Counter(token for token in tokens if kind is None or token.startswith(f"{kind:04x}"))

    def names(self, *folders: str) -> set[str]:
        return {path.name for folder in folders for path in self.app.glob(f"{folder}/**/*") if path.is_file()}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        spool = Spool(Path(name))
        gateway = subprocess.Popen(
            [NEW, "simulate", "--certificates", spool.folder / "gateway", "--latency", "50ms", "--streams", str(STREAMS),
             "--ledger", spool.ledger], stdout=subprocess.PIPE, text=True)
        try:
            rows = iter(gateway.stdout.readline, "")
            spool.begin("".join(row for row, _ in zip(rows, range(6))))
            upgrade(spool)
        finally:
            for process in [*spool.daemons, gateway]:
                process.kill()
                process.wait()


def upgrade(spool: Spool) -> None:
    daemon = spool.run(OLD)
    spool.drop("done.jsonl", 10, 1, first={"id": "morning"})
    (spool.app / "new" / "faulty.json").write_text('{"tokens": ["00"], "alert": 7}\n')
    wait("the first ends", lambda: {"done.jsonl"} <= spool.names("done") and {"faulty.json"} <= spool.names("failed"))
    spool.drop("held.jsonl", 2000, 2)
    wait("a part of the held job", lambda: len(spool.arrivals(2)) > 100)
    spool.command(OLD, "hold", "weather/held.jsonl")
    wait("the hold", lambda: "held.jsonl" in spool.names("hold"))
    held = len(spool.arrivals(2))
    spool.drop("later.jsonl", 10, 3, first={"not_before": "+15s"})
    for number in range(2):
        spool.drop(f"long-{number}.jsonl", 2000, 4 + number)
    wait("both long jobs", lambda: len(spool.arrivals(4)) > 100 and len(spool.arrivals(5)) > 0)
    for number in range(30):
        spool.drop(f"waiting-{number}.jsonl", 10, 16 + number)
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    before = spool.arrivals()
    waiting, work = len(spool.names("new")), len(spool.names("work"))
    check(f"{version(OLD)} is killed with {waiting} jobs in new/ and {work} in work/, 1 held after {held} of 2000, 1 done, 1 failed",
          waiting > 0 and work >= 2 and 0 < held < 2000, (waiting, work, held))

    daemon = spool.run(NEW)
    spool.drop("again.jsonl", 10, 1, sent=False, first={"id": "morning"})
    spool.command(NEW, "release", "weather/held.jsonl")
    names = {f"waiting-{number}.jsonl" for number in range(30)} | {"done.jsonl", "held.jsonl", "later.jsonl"}
    names |= {"long-0.jsonl", "long-1.jsonl"}
    wait("the end of all jobs", lambda: names <= spool.names("done") and "again.jsonl" in spool.names("failed"))
    check(f"{version(NEW)} finishes them all", not spool.names("new", "work", "hold"), spool.names("new", "work", "hold"))
    daemon.terminate()
    check("it ends well", daemon.wait() == 0, daemon.returncode)
    arrivals = spool.arrivals()
    doubled = {token: count for token, count in arrivals.items() if count > 1}
    check(f"of {len(spool.wanted)} notifications none is lost", set(arrivals) == spool.wanted, len(arrivals))
    check(f"{len(doubled)} arrived twice, no more than were in flight or unrecorded ({MOST_IN_DOUBT}), all first from the older program",
          len(doubled) <= MOST_IN_DOUBT and max(doubled.values(), default=2) == 2 and all(token in before for token in doubled), doubled)
    check("an id that the older program sent is a duplicate", all(count == 1 for count in spool.arrivals(1).values()))
    log = (spool.folder / f"log-{version(NEW)}").read_text()
    check("nothing is logged as an error but the duplicate", " error " not in log.replace("duplicate", ""), log[-2000:])


main()
sys.exit(1 if failures else 0)
