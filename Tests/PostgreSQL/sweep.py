#!/usr/bin/python3
"""Moves many rows through bridges, two daemons and a simulated gateway while they are killed; or measures the speed.

    sweep.py [--rows N] [--kills N] [--bridges N] [--seed N] [--quiet-daemons]
    sweep.py --figures

Exits with 1 if a committed row was lost, or if more was sent twice than the manual promises. Needs a build of
pushspool; PUSHSPOOL names another one. Takes minutes.
"""

import argparse
import random
import statistics
import threading
import uuid

from outbox import *

from sending import Daemon, Gateway

# What the death of a daemon may send twice: the window of a connection, and a group of the journal.
WINDOW, JOURNAL_GROUP = 1000, 256
RECIPIENT = json.dumps({"token": TOKEN, "alert": "Hi"})


class Bed:
    """A server, a gateway, daemons with spools of their own, and bridges."""

    def __init__(self, daemons, bridges, group=100):
        self.place = tempfile.mkdtemp(prefix="pushspool-outbox-")
        os.chmod(self.place, 0o755)
        self.group = group
        self.server = Server()
        self.server.start()
        self.address = self.server.address()
        subprocess.run(
            [PROGRAM, "schema", "--create", "--database", self.address], check=True, stdout=subprocess.DEVNULL)
        self.gateway = Gateway(self.place, "--latency", "5ms")
        self.gateway.start()
        self.daemons = [Daemon(self.place, f"host-{index}", self.gateway) for index in range(daemons)]
        for daemon in self.daemons:
            daemon.start()
            daemon.await_start()
        self.bridges = [None] * bridges
        for index in range(bridges):
            self.start_bridge(index)

    def start_bridge(self, index):
        with open(os.path.join(self.place, f"bridge-{index}.log"), "ab") as log:
            self.bridges[index] = subprocess.Popen(
                [PROGRAM, "run", "--database", self.address, "--spool", self.daemons[index % len(self.daemons)].spool,
                 "--node", f"host-{index}", "--poll", "0.2", "--group", str(self.group)],
                stderr=log, preexec_fn=die_with_parent)

    def kill_bridge(self, index):
        self.bridges[index].kill()
        self.bridges[index].wait()
        self.start_bridge(index)

    def kill_daemon(self, index):
        self.daemons[index].kill()
        self.daemons[index].start()

    def rows(self):
        try:
            with psycopg.connect(self.address) as connection:
                return connection.execute("SELECT count(*) FROM pushspool.outbox").fetchone()[0]
        except psycopg.OperationalError:
            return -1

    def is_idle(self):
        return self.rows() == 0 and not any(daemon.waiting() for daemon in self.daemons)

    def sent_bytes(self):
        return os.path.getsize(self.gateway.ledger)

    def remove(self):
        for process in self.bridges:
            process.terminate()
        codes = [process.wait(LIMIT) for process in self.bridges]
        for daemon in self.daemons:
            daemon.stop()
        self.gateway.stop()
        self.server.remove()
        shutil.rmtree(self.place)
        return codes


class Producer(threading.Thread):
    """Inserts rows in transactions of 1 to 500, and knows which were committed."""

    def __init__(self, bed, count, seed):
        super().__init__(daemon=True)
        self.bed, self.count, self.random = bed, count, random.Random(seed)
        self.committed, self.unknown = set(), set()

    def run(self):
        while len(self.committed) < self.count:
            ids = {str(uuid.uuid4()) for _ in range(min(self.random.randint(1, 500), self.count - len(self.committed)))}
            lane = self.random.choices(("normal", "urgent", "bulk"), (8, 1, 1))[0]
            try:
                with psycopg.connect(self.bed.address) as connection:
                    with connection.cursor() as cursor, cursor.copy(
                        "COPY pushspool.outbox (app, recipient, lane, apns_id, ref) FROM STDIN"
                    ) as copy:
                        for identifier in ids:
                            copy.write_row(("weather", RECIPIENT, lane, identifier, identifier))
                    # If the server dies now, nobody knows whether these rows are there.
                    self.unknown |= ids
                    connection.commit()
            except psycopg.OperationalError:
                time.sleep(0.05)
                continue
            self.unknown -= ids
            self.committed |= ids


def sweep(options):
    chance = random.Random(options.seed)
    print(
        f"seed {options.seed}, {options.rows} rows, {options.bridges} bridges, 2 daemons, {options.kills} kills",
        flush=True)
    bed = Bed(2, options.bridges)
    producer = Producer(bed, options.rows, options.seed)
    start = time.monotonic()
    producer.start()
    kills = {"bridge": 0, "daemon": 0, "server": 0, "restart": 0}
    weights = (70, 0 if options.quiet_daemons else 15, 10, 5)
    # A line of the ledger has about 700 bytes; the kills are spread over what is sent.
    step = 700 * options.rows // (options.kills + 1)
    for number in range(options.kills):
        kind = chance.choices(tuple(kills), weights)[0]
        eventually(
            lambda: bed.sent_bytes() > number * step or not producer.is_alive() and bed.is_idle(), "progress", 300)
        if kind == "bridge":
            bed.kill_bridge(chance.randrange(options.bridges))
        elif kind == "daemon":
            bed.kill_daemon(chance.randrange(2))
        else:
            (bed.server.kill if kind == "server" else bed.server.stop)()
            bed.server.start()
        kills[kind] += 1
    producer.join(600)
    eventually(bed.is_idle, "the last row", 600)
    seconds = time.monotonic() - start
    counts = bed.gateway.accepted()
    reasons, failed = set(), 0
    for daemon in bed.daemons:
        for folder, _, names in os.walk(os.path.join(daemon.app, "failed")):
            for name in names:
                if name.endswith(".result.json"):
                    failed += 1
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        reasons.add(json.load(file)["code"])
    tracebacks = sum(
        open(os.path.join(bed.place, f"bridge-{index}.log"), encoding="utf-8").read().count("Traceback")
        for index in range(options.bridges))
    shares = [len(daemon.ended("done")) for daemon in bed.daemons]
    codes = bed.remove()
    lost = producer.committed - counts.keys()
    strangers = counts.keys() - producer.committed - producer.unknown
    twice = sum(count - 1 for count in counts.values())
    allowed = kills["daemon"] * (WINDOW + JOURNAL_GROUP)
    print(f"killed: {', '.join(f'{kind} {count}' for kind, count in kills.items())}; {seconds:.0f} s")
    print(f"rows committed {len(producer.committed)}, of unknown commit {len(producer.unknown)}")
    print(f"rows accepted {len(counts)}, lost {len(lost)}, never committed {len(strangers)}")
    print(f"sent twice {twice} (allowed {allowed})")
    print(f"jobs done by daemon {shares}, failed {failed} {sorted(reasons)}")
    print(f"bridges ended with {codes}, {tracebacks} tracebacks")
    good = not lost and not strangers and twice <= allowed and reasons <= {"duplicate"}
    good = good and not tracebacks and not any(codes)
    print("passed" if good else "FAILED", flush=True)
    return good


def bare(address, group, count):
    """The least that any outbox does: rows per second of an INSERT and a DELETE, each in a transaction of its own."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, recipient jsonb)")
        start = time.monotonic()
        for _ in range(count // group):
            connection.execute("INSERT INTO bare (recipient) SELECT %s FROM generate_series(1, %s)", (RECIPIENT, group))
            connection.execute(
                "DELETE FROM bare USING (SELECT id FROM bare ORDER BY id LIMIT %s) AS old WHERE bare.id = old.id",
                (group,))
        return count / (time.monotonic() - start)


class FigureTest(OutboxTest):
    """Borrows the harness for one measurement."""

    def runTest(self):
        self.make_tables()


def measure(server, group, count):
    case = type("Case", (FigureTest,), {"server": server})()
    case.setUp()
    try:
        case.insert(count, ref="r")
        case.sql("VACUUM ANALYZE pushspool.outbox")
        bridge = case.bridge("--group", str(group), "--waiting", "10000")
        case.await_log(bridge, "notice connected")
        start = time.monotonic()
        case.await_rows(0)
        rate = count / (time.monotonic() - start)
        case.end(bridge)
        return rate
    finally:
        case.doCleanups()


def whole(count):
    bed = Bed(1, 0, group=1000)
    try:
        with psycopg.connect(bed.address, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO pushspool.outbox (app, recipient) SELECT 'weather', %s FROM generate_series(1, %s)",
                (RECIPIENT, count))
        start = time.monotonic()
        bed.bridges = [None]
        bed.start_bridge(0)
        eventually(bed.is_idle, "the last row", 300)
        rate = count / (time.monotonic() - start)
        assert len(bed.gateway.accepted()) == count
        return rate
    finally:
        bed.remove()


def figures():
    server = Server()
    server.start()
    print("rows per second, median of 3 runs (lowest to highest)", flush=True)
    print("| rows in a group | bridge | bare INSERT and DELETE |\n|---|---|---|")
    for group, count in ((1, 1500), (10, 10_000), (100, 40_000), (1000, 100_000)):
        rates = sorted(measure(server, group, count) for _ in range(3))
        bares = sorted(bare(server.address(), group, count) for _ in range(3))
        cells = (f"{statistics.median(each):,.0f} ({each[0]:,.0f} to {each[-1]:,.0f})" for each in (rates, bares))
        print(f"| {group} | {' | '.join(cells)} |", flush=True)
    server.remove()
    print(f"with daemon and simulated gateway, groups of 1000: {whole(100_000):,.0f} rows/s accepted")
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--bridges", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--quiet-daemons", action="store_true", help="kill no daemon: nothing may be sent twice")
    parser.add_argument("--figures", action="store_true")
    options = parser.parse_args()
    sys.exit(0 if (figures() if options.figures else sweep(options)) else 1)


if __name__ == "__main__":
    main()
