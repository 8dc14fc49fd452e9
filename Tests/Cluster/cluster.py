#!/usr/bin/env python3
"""Runs several daemons on one shared spool, with deaths and partitions, and judges them by the gateway's ledger.

    cluster.py [--bed nfs|gluster|local] [--seed N] [--count N] [SCENARIO...]
    cluster.py [--bed ...] --figures

Without a scenario all of the bed's are run. Needs root, and the packages of the bed (nfs-testbed.sh install,
gluster-testbed.sh install); `local` needs neither: all nodes are processes on one folder of this machine.
Exits with 1 if a notification was lost, or more were doubled than the manual promises. README.md says more.
"""
import argparse, collections, concurrent.futures, datetime, json, os, random, shlex, shutil, signal, statistics
import subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("PUSHSPOOL", os.path.join(HERE, "../../.build/debug/pushspool"))
PORT = 18443
WINDOW, GROUP, LEASE = 50, 256, 2


class Failure(Exception):
    pass


def run(*command, check=True, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if check and done.returncode:
        raise Failure(f"{shlex.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def eventually(what, limit, holds, pause=0.3):
    start = time.monotonic()
    while not holds():
        if time.monotonic() - start > limit:
            raise Failure(f"not within {limit} s: {what}")
        time.sleep(pause)
    return time.monotonic() - start


class NFS:
    """Kernel NFSv4.2: a server and clients that are User-Mode-Linux guests."""
    name = "nfs"
    can = {"cut", "cut-storage", "crash", "servers"}
    takeover = 10 + LEASE + 8

    def __init__(self):
        self.folder = "/tmp/pushspool-nfs"
        self.tool = os.path.join(HERE, "nfs-testbed.sh")
        self.environment = dict(os.environ, NTB_DIR=self.folder, NTB_PREFIX="psn", NTB_KEEP="1", NTB_MEM="320")
        self.share = self.folder + "/share"

    def call(self, *words, check=True, **options):
        return run(self.tool, *words, check=check, env=self.environment, **options)

    def up(self, count):
        self.environment["NTB_CLIENTS"] = str(count)
        self.call("up")
        self.nodes = [f"c{i + 1}" for i in range(count)]
        self.gateway = self.call("addr", "host").stdout.strip()

    def down(self):
        self.call("down", check=False)

    def spool(self, host):
        return "/export/spool/spool" if host == "server" else "/spool/spool"

    dropper = "server"

    def shell(self, host, script, check=True, timeout=120):
        return self.call("exec", host, "sh", "-c", script, check=check, timeout=timeout).stdout

    def python(self, host, script):
        return self.call("exec", "-i", host, "python3", "-", input=script).stdout

    def start(self, host, name, *command):
        self.call("start", host, name, *command)

    def start_gateway(self, *command):
        self.start("host", "gateway", *command)

    def log(self, host, name):
        try:
            with open(self.call("err", host, name).stdout.strip()) as file:
                return file.read()
        except FileNotFoundError:
            return ""    # its guest has not begun it yet

    def cut(self, host): self.call("cut", host)
    def cut_storage(self, host): self.call("cut", host, "nfs")
    def heal(self, host): self.call("heal", host)
    def crash(self, host): self.call("crash", host)
    def boot(self, host): self.call("boot", host)
    def restart_server(self): self.call("restart-server")

    def crash_server(self):
        self.call("crash", "server")
        self.call("boot", "server")


class Gluster:
    """GlusterFS: three bricks, and clients without one. The last client is the gateway's."""
    name = "gluster"
    can = {"cut", "cut-storage", "storage-death", "crash", "servers"}
    takeover = 6 + LEASE + 8
    dropper = "s1"

    def __init__(self):
        self.folder = "/tmp/pushspool-gluster"
        self.tool = os.path.join(HERE, "gluster-testbed.sh")
        self.environment = dict(
            os.environ, GTB_DIR=self.folder, GTB_PREFIX="psg", GTB_PING="2",
            GTB_OPTIONS="server.tcp-user-timeout=6 server.keepalive-time=2 server.keepalive-interval=1 "
            "server.keepalive-count=3 client.strict-locks=on")
        self.share = "/tmp/pushspool-gluster-share"

    def call(self, *words, check=True, **options):
        return run(self.tool, *words, check=check, env=self.environment, **options)

    def up(self, count):
        shutil.rmtree(self.share, ignore_errors=True)
        os.makedirs(self.share + "/logs")
        self.environment["GTB_CLIENTS"] = str(count + 1)
        self.call("up")
        self.nodes = [f"c{i + 1}" for i in range(count)]
        self.gateway_host = f"c{count + 1}"
        with open(f"{self.folder}/{self.gateway_host}/addr") as file:
            self.gateway = file.read().strip()
        self.processes = {}

    def down(self):
        self.call("down", check=False)
        shutil.rmtree(self.share, ignore_errors=True)

    def spool(self, host): return f"{self.folder}/{host}/mnt/spool"

    def shell(self, host, script, check=True, timeout=120):
        return self.call("exec", host, "sh", "-c", script, check=check, timeout=timeout).stdout

    def python(self, host, script):
        return self.call("exec", host, "python3", "-", input=script).stdout

    def start(self, host, name, *command):
        path = f"{self.share}/logs/{host}-{name}"
        with open(path, "w") as log:
            self.processes[host, name] = subprocess.Popen(
                [self.tool, "exec", host, *command], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start_gateway(self, *command): self.start(self.gateway_host, "gateway", *command)

    def log(self, host, name):
        with open(f"{self.share}/logs/{host}-{name}") as file:
            return file.read()

    def cut(self, host): self.call("cut", host)
    def cut_storage(self, host): self.route(host, "add")

    def heal(self, host):
        self.call("heal", host)
        self.route(host, "del", check=False)

    def route(self, host, verb, check=True):
        """Takes the servers from a host, or gives them back; it can still reach the gateway."""
        for server in ["s1", "s2", "s3"]:
            with open(f"{self.folder}/{server}/addr") as file:
                run("ip", "-n", f"psg-{host}", "route", verb, "blackhole", file.read().strip(), check=check)

    def crash(self, host): self.call("crash", host)
    def boot(self, host): self.call("boot", host)

    def kill_storage(self, host):
        self.shell(host, "pkill -9 -x glusterfs", check=False)

    def mount(self, host):
        self.call("umount", host, check=False)
        self.call("mount", host)

    def kill_brick(self, host): self.call("kill-brick", host)
    def start_brick(self, host): self.call("start-brick", host)


class Local:
    """One folder of this machine."""
    name = "local"
    can = set()
    takeover = LEASE + 6
    dropper = "here"

    def __init__(self):
        self.folder = "/tmp/pushspool-local"
        self.share = self.folder + "/share"
        self.gateway = "127.0.0.1"
        self.processes = {}

    def up(self, count):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.share)
        self.nodes = [f"c{i + 1}" for i in range(count)]

    def down(self):
        for process in self.processes.values():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def spool(self, host): return self.folder + "/spool"

    def shell(self, host, script, check=True, timeout=120):
        return run("sh", "-c", script, check=check, timeout=timeout).stdout

    def python(self, host, script): return run("python3", "-", input=script).stdout

    def start(self, host, name, *command):
        with open(f"{self.share}/{host}-{name}.log", "w") as log:
            self.processes[host, name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def start_gateway(self, *command): self.start("here", "gateway", *command)

    def log(self, host, name):
        with open(f"{self.share}/{host}-{name}.log") as file:
            return file.read()


DROP = """
import json, os, time
spool, prefix, first, count, recipients, extra = {spool!r}, {prefix!r}, {first}, {count}, {recipients}, {extra!r}
mine, others = {mine!r}, {others!r}
names = ["%s%d.json" % (prefix, job) for job in range(first, first + count)]
def show(name):
    os.rename("%s/weather/tmp/%s" % (spool, name), "%s/weather/new/%s" % (spool, name))
for job, name in zip(range(first, first + count), names):
    tokens = ["%08x%08x" % (job, index) + "ab" * 24 for index in range(recipients)]
    members = {{key: value % job if "%d" in str(value) else value for key, value in extra.items()}}
    with open("%s/weather/tmp/%s" % (spool, name), "w") as file:
        file.write(json.dumps(dict(tokens=tokens, alert="x", **members)))
        file.flush()
        os.fsync(file.fileno())
    if not mine:
        show(name)
if mine:
    open(mine, "w").close()
    while not all(map(os.path.exists, others)):
        time.sleep(0.01)
    # All hosts have one clock: so the jobs of a pair appear at the same time.
    start = max(os.stat(other).st_mtime for other in others) + 1
    for place, name in enumerate(names):
        time.sleep(max(0, start + place * 0.003 - time.time()))
        show(name)
"""

# Drops jobs every second until a file tells it to stop; every fourth one is for many recipients.
LOAD = """
import os, sys, time
drop, stop, size = {drop!r}, {stop!r}, {size}
job = 0
while not os.path.exists(stop):
    next = time.monotonic() + 1
    for _ in range(12):
        exec(drop % (job, size if job % 4 == 0 else 1))
        job += 1
    print("dropped", job, file=sys.stderr, flush=True)
    time.sleep(max(0, next - time.monotonic()))
print("stopped", file=sys.stderr, flush=True)
"""

CODES = """
import json, os
for folder, _, names in os.walk({folder!r}):
    for name in names:
        if name.endswith(".result.json"):
            with open(folder + "/" + name) as file:
                print(name[:-len(".result.json")], json.load(file).get("code"))
"""


class Trial:
    """A bed with a gateway and daemons, and what was dropped."""

    def __init__(self, bed, nodes, latency="20ms", streams=WINDOW, clustered=True):
        self.bed, self.clustered, self.dropped, self.deaths = bed, clustered, 0, 0
        self.expected = set()
        # The names of a node's service on the bed, and what it said before its host was switched off.
        self.services, self.past = collections.defaultdict(list), collections.defaultdict(str)
        bed.trial = self
        bed.up(nodes)
        share = bed.share
        # Hosts of the bed see this folder, and a build meanwhile changes nothing.
        self.program = share + "/pushspool"
        shutil.copy(PROGRAM, self.program)
        self.ledger_path = share + "/ledger"
        bed.start_gateway(
            self.program, "simulate", "--address", bed.gateway, "--http2-port", str(PORT), "--streams", str(streams),
            "--latency", latency, "--certificates", share + "/certificates", "--ledger", self.ledger_path)
        eventually("the gateway", 20, lambda: os.path.exists(self.ledger_path))
        os.makedirs(share + "/apps", exist_ok=True)
        with open(share + "/apps/weather.yaml", "w") as file:
            file.write(
                f"protocol: http2\nenvironment: sandbox\ngateway: {bed.gateway}:{PORT}\nconnections: 1\n"
                f"credentials: {{certificate: {share}/certificates/client.pem}}\n"
                f"trust: {share}/certificates/ca.pem\n")
        bed.shell(bed.dropper, f"mkdir -p {bed.spool(bed.dropper)}/weather/new {bed.spool(bed.dropper)}/weather/tmp")
        for node in bed.nodes:
            self.configure(node)

    def configure(self, node):
        with open(f"{self.bed.share}/{node}.yaml", "w") as file:
            file.write(
                f"spool: {self.bed.spool(node)}\nnode: {node}\napps: {self.bed.share}/apps\n"
                + (f"cluster: {{lease: {LEASE}s}}\n" if self.clustered else f"state: {self.bed.share}/state\n")
                + "intake: {rescan: 1s}\njournal: {size: 16MiB}\n"
                f"control: {{folder: /tmp/run-{node}}}\n")

    def start(self, node):
        """Starts a daemon that is started again when it asks for that, as a service manager does it."""
        loop = (
            f"mkdir -p /tmp/run-{node}; while :; do {self.program} run --config {self.bed.share}/{node}.yaml; code=$?; "
            "echo \"ended with $code\" >&2; [ $code = 75 ] || exit $code; sleep 1; done")
        self.services[node].append(f"daemon{len(self.services[node]) + 1}")
        self.bed.start(node, self.services[node][-1], "sh", "-c", loop)

    def start_all(self):
        for node in self.bed.nodes:
            self.start(node)
        for node in self.bed.nodes:
            self.await_log(node, "app started")

    def await_log(self, node, words, limit=60, times=1):
        try:
            return eventually(f"{node} says: {words}", limit, lambda: self.log(node).count(words) >= times)
        except Failure as failure:
            raise Failure(f"{failure}\n{self.log(node)[-3000:]}") from None

    def log(self, node):
        return self.past[node] + "".join(self.bed.log(node, name) for name in self.services[node])

    def await_up(self, node):
        """Waits until a node runs. Its daemon may have to notice first that the jobs are not its own any more."""
        self.bed.shell(node, f"ls {self.bed.spool(node)}", check=False, timeout=120)
        time.sleep(LEASE + 2)
        try:
            eventually(f"{node} runs", 120, lambda: "app started" in self.log(node).rpartition("ended with")[2])
        except Failure as failure:
            raise Failure(f"{failure}\n{self.log(node)[-3000:]}") from None

    def lives(self):
        """How many daemons have begun to send."""
        return sum(self.log(node).count("app started") for node in self.bed.nodes)

    def signal(self, node, number):
        pattern = f"run --config {self.bed.share}/{node}[.]yaml"
        self.bed.shell(node, f"pkill -{number} -f '^{self.program} {pattern}'", check=False)

    def kill(self, node):
        self.deaths += 1
        self.signal(node, "KILL")

    def crash(self, node):
        self.deaths += 1
        self.bed.crash(node)

    def boot(self, node):
        self.past[node], self.services[node] = self.log(node) + "ended with the host\n", []
        self.bed.boot(node)

    def script(self, host, prefix, first, count, recipients, extra={}, mine="", others=[]):
        return DROP.format(
            spool=self.bed.spool(host), prefix=prefix, first=first, count=count, recipients=recipients, extra=extra,
            mine=mine, others=others)

    def drop(self, count, recipients, host=None):
        host = host or self.bed.dropper
        self.bed.python(host, self.script(host, "j", self.dropped, count, recipients))
        self.expect(count, lambda job: recipients)

    def drop_pairs(self, count, hosts):
        """Drops two jobs with each id, from two hosts: all are written before the first is shown."""
        marks = [f"{self.bed.share}/ready-{host}" for host in hosts]
        scripts = [
            (host, self.script(host, prefix, 0, count, 1, {"id": "ref-%d"}, mark, marks))
            for host, prefix, mark in zip(hosts, ["a-", "b-"], marks)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda script: self.bed.python(*script), scripts))
        self.expect(count, lambda job: 1)
        self.dropped += count

    def start_load(self, size):
        host = self.bed.dropper
        drop = self.script(host, "j", "FIRST", 1, "COUNT").replace("%", "%%").replace("FIRST", "%d").replace("COUNT", "%d")
        self.bed.start(host, "load", "python3", "-c", LOAD.format(drop=drop, stop=self.bed.share + "/stop", size=size))

    def stop_load(self, size):
        open(self.bed.share + "/stop", "w").close()
        said = lambda: self.bed.log(self.bed.dropper, "load")
        eventually("the load stops", 120, lambda: "stopped" in said())
        count = int(said().split("\n")[-3].split()[1])
        self.expect(count, lambda job: size if job % 4 == 0 else 1)

    def expect(self, count, recipients):
        for job in range(self.dropped, self.dropped + count):
            self.expected.update("%08x%08x" % (job, index) + "ab" * 24 for index in range(recipients(job)))
        self.dropped += count

    def ledger(self):
        with open(self.ledger_path) as file:
            lines = file.read().split("\n")
        return [json.loads(line) for line in lines[:-1]]

    def times(self):
        """When notifications arrived, in seconds."""
        return sorted(
            datetime.datetime.fromisoformat(line["at"].replace("Z", "+00:00")).timestamp() for line in self.ledger())

    def arrived(self):
        return sum(1 for _ in open(self.ledger_path))

    def files(self, name):
        """The jobs in a folder of the spool and below it."""
        folder = f"{self.bed.spool(self.bed.dropper)}/weather/{name}"
        return self.bed.shell(
            self.bed.dropper, f"find {folder} -name '*.json' ! -name '*.result.json' -printf '%f\\n'", check=False).split()

    def in_folder(self, name): return len(self.files(name))

    def codes(self):
        """The codes in the result files of jobs that have failed."""
        folder = f"{self.bed.spool(self.bed.dropper)}/weather/failed"
        return dict(line.split() for line in self.bed.python(self.bed.dropper, CODES.format(folder=folder)).splitlines())

    def await_done(self, limit=180):
        return eventually(
            "all jobs done", limit, lambda: self.in_folder("done") + self.in_folder("failed") >= self.dropped, 1)

    def judge(self, what, allowed=None, failed=0, faults=()):
        """Compares the ledger and the spool with what was dropped.

        allowed: how many notifications may have been doubled; failed: how many jobs have to be in failed/;
        faults: what else is wrong.
        """
        counts = collections.Counter(line["token"] for line in self.ledger())
        lost = sum(1 for token in self.expected if token not in counts)
        doubled = sum(count - 1 for count in counts.values())
        strange = sum(1 for token in counts if token not in self.expected)
        allowed = self.deaths * (WINDOW + GROUP) if allowed is None else allowed
        found = {name: self.in_folder(name) for name in ["done", "failed", "new", "work"]}
        good = (
            lost == 0 and strange == 0 and doubled <= allowed and not faults
            and found == {"done": self.dropped - failed, "failed": failed, "new": 0, "work": 0})
        folders = ", ".join(f"{name} {count}" for name, count in found.items() if count or name in ["done", "failed"])
        print(
            f"{'ok' if good else 'NOT OK'}: {self.bed.name}, {what}: {self.dropped} jobs, {len(self.expected)} notifications, "
            f"lost {lost}, doubled {doubled} of {allowed} allowed; {folders}"
            + "".join(f"; {fault}" for fault in faults) + (f"; strange {strange}" if strange else ""), flush=True)
        if not good:
            raise Failure(what)


# ---- scenarios: the numbers are those of the design ----------------------------------------------------

def share(bed):
    """1: two daemons, jobs from a third host: each notification exactly once."""
    trial = Trial(bed, 2)
    trial.start_all()
    trial.drop(1000, 2)
    seconds = trial.await_done()
    by_node = {node: trial.log(node).count("job done") for node in bed.nodes}
    trial.judge(f"two daemons share 1,000 jobs in {seconds:.0f} s, {by_node}", allowed=0)


def kill(bed):
    """2: a daemon is killed amid its jobs; the other one goes on from its journal."""
    trial = Trial(bed, 2)
    trial.start("c1")
    trial.await_log("c1", "app started")
    trial.drop(20, 200)
    eventually("c1 sends", 60, lambda: trial.arrived() > 500)
    trial.start("c2")
    trial.await_log("c2", "other nodes that run")
    trial.kill("c1")
    seconds = trial.await_log("c2", "standing in for a node that died", bed.takeover)
    trial.await_done()
    trial.judge(f"kill -9, taken over after {seconds:.1f} s")


def cut(bed):
    """3: a host loses its network amid its jobs, and gets it back after the takeover."""
    trial = Trial(bed, 2)
    trial.start("c1")
    trial.await_log("c1", "app started")
    trial.drop(20, 200)
    eventually("c1 sends", 60, lambda: trial.arrived() > 500)
    trial.start("c2")
    trial.await_log("c2", "other nodes that run")
    bed.cut("c1")
    trial.deaths += 1
    seconds = trial.await_log("c2", "standing in for a node that died", bed.takeover)
    trial.await_done()
    bed.heal("c1")
    trial.await_log("c1", "ended with 75")
    trial.await_log("c1", "app started", times=2)
    trial.drop(50, 2)
    trial.await_done()
    trial.judge(f"cut and healed, taken over after {seconds:.1f} s")


def cut_storage(bed):
    """5: a host loses only its file servers, and can still send."""
    trial = Trial(bed, 2)
    trial.start("c1")
    trial.await_log("c1", "app started")
    trial.drop(20, 400)
    eventually("c1 sends", 60, lambda: trial.arrived() > 500)
    trial.start("c2")
    trial.await_log("c2", "other nodes that run")
    bed.cut_storage("c1")
    trial.deaths += 1
    seconds = trial.await_log("c2", "standing in for a node that died", bed.takeover)
    trial.await_done()
    bed.heal("c1")
    trial.await_log("c1", "ended with 75")
    trial.await_log("c1", "app started", times=2)
    trial.judge(f"file server cut off, taken over after {seconds:.1f} s")


def crash(bed):
    """4: a host is powered off and on; its jobs are taken over, and it joins with nothing to do."""
    trial = Trial(bed, 2)
    trial.start("c1")
    trial.await_log("c1", "app started")
    trial.drop(20, 200)
    eventually("c1 sends", 60, lambda: trial.arrived() > 500)
    trial.start("c2")
    trial.await_log("c2", "other nodes that run")
    trial.crash("c1")
    seconds = trial.await_log("c2", "standing in for a node that died", bed.takeover)
    trial.await_done()
    trial.boot("c1")
    trial.start("c1")
    trial.await_log("c1", "app started", 90, times=2)
    trial.drop(50, 2)
    trial.await_done()
    trial.judge(f"power off and on, taken over after {seconds:.1f} s")


def storage_death(bed):
    """5 (Gluster): the client process of the file system dies, the daemon lives."""
    trial = Trial(bed, 2)
    trial.start("c1")
    trial.await_log("c1", "app started")
    trial.drop(20, 200)
    eventually("c1 sends", 60, lambda: trial.arrived() > 500)
    trial.start("c2")
    trial.await_log("c2", "other nodes that run")
    bed.kill_storage("c1")
    trial.deaths += 1
    seconds = trial.await_log("c2", "standing in for a node that died", bed.takeover)
    trial.await_log("c1", "ended with 75", 30)
    trial.await_done()
    bed.mount("c1")
    trial.await_log("c1", "app started", times=2)
    trial.drop(50, 2)
    trial.await_done()
    trial.judge(f"file system's client killed, taken over after {seconds:.1f} s")


def freeze(bed):
    """6: a daemon is stopped for 5 s: no takeover; the lease is asked for before the next write."""
    trial = Trial(bed, 2)
    trial.start_all()
    trial.drop(20, 200)
    eventually("notifications", 60, lambda: trial.arrived() > 500)
    for node in bed.nodes:
        trial.signal(node, "STOP")
        time.sleep(5)
        trial.signal(node, "CONT")
        time.sleep(1)
    trial.await_done()
    for node in bed.nodes:
        if "standing in" in trial.log(node):
            raise Failure(f"{node} took over from a node that was only frozen")
    trial.judge("each daemon frozen for 5 s", allowed=0)


def servers(bed):
    """7: the file servers restart one after the other."""
    trial = Trial(bed, 2)
    trial.start_all()
    trial.drop(60, 200)
    eventually("notifications", 60, lambda: trial.arrived() > 500)
    if bed.name == "nfs":
        bed.restart_server()
        time.sleep(3)
        bed.crash_server()
    else:
        for host in ["s1", "s2", "s3"]:
            bed.kill_brick(host)
            time.sleep(3)
            bed.start_brick(host)
            time.sleep(3)
    trial.await_done(300)
    trial.deaths = trial.lives() - len(bed.nodes)
    trial.judge(f"file servers restarted, {trial.deaths} daemons started again")


def outage(bed):
    """8: the file system is away for 5 s."""
    trial = Trial(bed, 2)
    trial.start_all()
    trial.drop(60, 200)
    eventually("notifications", 60, lambda: trial.arrived() > 500)
    if bed.name == "nfs":
        bed.cut("server")
        time.sleep(5)
        bed.heal("server")
    else:
        for host in ["s1", "s2"]:
            bed.kill_brick(host)
        time.sleep(5)
        for host in ["s1", "s2"]:
            bed.start_brick(host)
    trial.await_done(300)
    trial.deaths = trial.lives() - len(bed.nodes)
    trial.judge(f"no file system for 5 s, {trial.deaths} daemons started again")


def taker(bed):
    """9: the node that took over is killed amid that; a third one ends it."""
    trial = Trial(bed, 3)
    trial.start("c1")
    trial.await_log("c1", "app started")
    trial.drop(40, 200)
    eventually("c1 sends", 60, lambda: trial.arrived() > 500)
    trial.start("c2")
    trial.await_log("c2", "other nodes that run")
    trial.kill("c1")
    trial.await_log("c2", "standing in for a node that died", bed.takeover)
    before = trial.arrived()
    eventually("c2 sends", 60, lambda: trial.arrived() > before + 300)
    trial.start("c3")
    trial.await_log("c3", "other nodes that run")
    trial.kill("c2")
    seconds = trial.await_log("c3", "standing in for a node that died", bed.takeover)
    trial.await_done()
    trial.judge(f"taker killed, third node goes on after {seconds:.1f} s")


def remote(bed):
    """10: jobs that only another host drops are noticed without events."""
    trial = Trial(bed, 1)
    trial.start_all()
    times = []
    for _ in range(5):
        before, start = trial.arrived(), time.monotonic()
        trial.drop(1, 1)
        eventually("a job from another host", 20, lambda: trial.arrived() > before, 0.05)
        times.append(time.monotonic() - start)
    trial.await_done()
    trial.judge(f"jobs of another host sent after at most {max(times):.1f} s", allowed=0)


def duplicates(bed):
    """11: two hosts drop jobs with the same ids at the same time: one of each pair is sent."""
    count = 1000
    trial = Trial(bed, 2)
    trial.start_all()
    trial.drop_pairs(count, bed.nodes)
    seconds = trial.await_done(300)
    done, failed, codes = set(trial.files("done")), set(trial.files("failed")), trial.codes()
    faults = []
    for job in range(count):
        pair = {f"a-{job}.json", f"b-{job}.json"}
        if len(pair & done) != 1 or len(pair & failed) != 1:
            faults.append(f"pair {job}: done {pair & done}, failed {pair & failed}")
    for name in failed:
        if codes.get(name, codes.get(name.removesuffix(".json"))) != "duplicate":
            faults.append(f"{name} failed with {codes.get(name)}")
    if len(faults) > 5:
        faults = faults[:5] + [f"and {len(faults) - 5} more"]
    halves = collections.Counter(name[0] for name in done)
    trial.judge(f"1,000 pairs in {seconds:.0f} s, first was {dict(halves)}", allowed=0, failed=count, faults=faults)


def return_(bed):
    """12: a node that was killed starts again after another one has finished its jobs: nothing is sent again."""
    trial = Trial(bed, 2)
    trial.start("c1")
    trial.await_log("c1", "app started")
    trial.drop(20, 200)
    eventually("c1 sends", 60, lambda: trial.arrived() > 500)
    trial.start("c2")
    trial.await_log("c2", "other nodes that run")
    trial.kill("c1")
    trial.await_log("c2", "standing in for a node that died", bed.takeover)
    trial.await_done()
    trial.await_log("c2", "no longer standing in")
    before = trial.arrived()
    trial.start("c1")
    trial.await_log("c1", "app started", times=2)
    time.sleep(LEASE + 5)
    after = trial.arrived()
    trial.judge("killed, and back after its jobs were done", faults=[f"{after - before} sent again"] if after > before else [])


def handback(bed):
    """13: a node that was killed starts again amid the takeover, and gets its jobs back."""
    trial = Trial(bed, 2)
    trial.start("c1")
    trial.await_log("c1", "app started")
    trial.drop(40, 200)
    eventually("c1 sends", 60, lambda: trial.arrived() > 500)
    trial.start("c2")
    trial.await_log("c2", "other nodes that run")
    trial.kill("c1")
    trial.await_log("c2", "standing in for a node that died", bed.takeover)
    before = trial.arrived()
    eventually("c2 sends", 60, lambda: trial.arrived() > before + 300)
    trial.start("c1")
    trial.await_log("c1", "app started", times=2)
    trial.await_log("c2", "no longer standing in")
    done = trial.log("c1").rpartition("app started")[0].count("job done") + trial.log("c2").count("job done")
    trial.await_done()
    trial.judge(f"killed, and back amid the takeover, after {done} jobs")


def survivors(bed):
    """14: a node stays dead: the others finish its jobs, and then leave its journal alone."""
    trial = Trial(bed, 3)
    trial.start_all()
    trial.drop(30, 200)
    eventually("notifications", 60, lambda: trial.arrived() > 500)
    trial.kill("c1")
    trial.await_done()
    time.sleep(bed.takeover + 15)
    times = {node: trial.log(node).count("standing in for a node that died") for node in ["c2", "c3"]}
    faults = [f"{node} stood in for the same death {count} times" for node, count in times.items() if count > 1]
    trial.judge(f"killed for good, stood in for by {times}", faults=faults)


# ---- faults at random ----------------------------------------------------------------------------------

def kill_daemon(trial, node, seconds):
    trial.kill(node)
    time.sleep(seconds)
    trial.start(node)


def freeze_daemon(trial, node, seconds):
    trial.signal(node, "STOP")
    time.sleep(seconds)
    trial.signal(node, "CONT")


def cut_node(trial, node, seconds):
    trial.bed.cut(node)
    time.sleep(seconds)
    trial.bed.heal(node)


def cut_storage_of_node(trial, node, seconds):
    trial.bed.cut_storage(node)
    time.sleep(seconds)
    trial.bed.heal(node)


def kill_storage_of_node(trial, node, seconds):
    trial.bed.kill_storage(node)
    time.sleep(seconds)
    trial.bed.mount(node)


def crash_node(trial, node, seconds):
    trial.crash(node)
    time.sleep(seconds)
    trial.boot(node)
    trial.start(node)


# What it does, what the bed has to be able to do, and for how long.
FAULTS = {
    "kill": (kill_daemon, set(), lambda dice: 20 if dice.random() < 0.25 else dice.uniform(0.5, 4)),
    "freeze": (freeze_daemon, set(), lambda dice: dice.uniform(1, 6)),
    "cut": (cut_node, {"cut"}, lambda dice: dice.uniform(5, 20)),
    "cut-storage": (cut_storage_of_node, {"cut-storage"}, lambda dice: dice.uniform(5, 20)),
    "storage-death": (kill_storage_of_node, {"storage-death"}, lambda dice: dice.uniform(1, 10)),
    "crash": (crash_node, {"crash"}, lambda dice: dice.uniform(1, 20)),
}


def random_faults(bed, seed=None, count=50):
    """15: faults at random under a steady load, on at most two of three nodes at once."""
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"{bed.name}, random: --seed {seed} --count {count}", flush=True)
    dice, size = random.Random(seed), 100
    kinds = [kind for kind, (_, needs, _) in FAULTS.items() if needs <= bed.can]
    # Everything is drawn before, so that a seed always means the same faults in the same order.
    plan = []
    for _ in range(count):
        kind = dice.choice(kinds)
        plan.append((kind, dice.randrange(3), FAULTS[kind][2](dice), dice.uniform(0, 6)))
    # Slow answers, so that a death nearly always comes amid jobs.
    trial = Trial(bed, 3, latency="150ms")
    trial.start_all()
    trial.start_load(size)
    start, under_way = time.monotonic(), {}

    def strike(kind, node, seconds):
        FAULTS[kind][0](trial, node, seconds)
        trial.await_up(node)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, (kind, index, seconds, pause) in enumerate(plan, 1):
            node = bed.nodes[index]
            time.sleep(pause)
            while True:
                for other in [other for other, future in under_way.items() if future.done()]:
                    under_way.pop(other).result()
                if node not in under_way and len(under_way) < 2:
                    break
                time.sleep(0.1)
            arrived = trial.arrived()
            print(
                f"{time.monotonic() - start:6.1f} s, {arrived} arrived: {number} of {count}, {kind} {node}, {seconds:.1f} s"
                + "".join(f"; {other} is not back yet" for other in under_way), flush=True)
            under_way[node] = pool.submit(strike, kind, node, seconds)
        for future in under_way.values():
            future.result()
    trial.stop_load(size)
    trial.await_done(600)
    deaths = trial.lives() - len(bed.nodes)
    times = trial.times()
    gap, before = max((later - earlier, earlier - times[0]) for earlier, later in zip(times, times[1:]))
    trial.judge(
        f"{count} faults in {time.monotonic() - start:.0f} s, seed {seed}, {deaths} deaths, longest silence {gap:.0f} s "
        f"after {before:.0f} s",
        allowed=deaths * (WINDOW + GROUP) * 2)


SCENARIOS = {
    "share": (share, set()), "kill": (kill, set()), "cut": (cut, {"cut"}), "crash": (crash, {"crash"}),
    "cut-storage": (cut_storage, {"cut-storage"}), "storage-death": (storage_death, {"storage-death"}),
    "freeze": (freeze, set()), "servers": (servers, {"servers"}), "outage": (outage, {"servers"}), "taker": (taker, set()),
    "remote": (remote, set()), "duplicates": (duplicates, set()), "return": (return_, set()),
    "handback": (handback, set()), "survivors": (survivors, set()), "random": (random_faults, set()),
}


# ---- figures -------------------------------------------------------------------------------------------

def rate(trial):
    """Notifications per second, from the first arrival to the last one."""
    times = trial.times()
    return len(times) / max(times[-1] - times[0], 0.001)


def measure(bed, nodes, jobs, recipients, clustered=True):
    """Drops jobs, then starts the nodes: notifications per second, and the jobs of each node."""
    try:
        trial = Trial(bed, nodes, latency="5ms", streams=1000, clustered=clustered)
        trial.drop(jobs, recipients)
        for node in bed.nodes:
            trial.start(node)
        trial.await_done(600)
        trial.judge(f"figures: {nodes} nodes{'' if clustered else ' without cluster'}", allowed=0)
        return rate(trial), [trial.log(node).count("job done") for node in bed.nodes]
    finally:
        bed.down()


def figures(bed, rounds):
    """Prints the median of the rounds with the lowest and the highest. Every round takes each case once, in another
    order, so that a slow minute of the machine does not fall on one case alone."""
    count = 20000 if bed.name == "local" else 2000
    cases = [(1, True), (2, True), (4, True)] + ([(1, False)] if bed.name == "local" else [])
    small, large, shares = {case: [] for case in cases}, {case: [] for case in cases}, {}
    for number in range(rounds):
        for case in cases[number % len(cases):] + cases[:number % len(cases)]:
            nodes, clustered = case
            value, shares[case] = measure(bed, nodes, count, 1, clustered)
            small[case].append(value)
            value, _ = measure(bed, nodes, nodes, 20000, clustered)
            large[case].append(value)
    print(f"{bed.name}: notifications per second, median of {rounds} (lowest to highest); small jobs of each node")
    print(f"{'nodes':20}{f'{count:,} jobs of one':>26}{'20,000 in one job each':>30}  last shares")
    for case in cases:
        nodes, clustered = case
        texts = [
            f"{statistics.median(of[case]):,.0f} ({min(of[case]):,.0f} to {max(of[case]):,.0f})" for of in (small, large)]
        name = f"{nodes}{'' if clustered else ', without cluster'}"
        print(f"{name:20}{texts[0]:>26}{texts[1]:>30}  {'+'.join(map(str, shares[case]))}", flush=True)


def keep_logs(bed, name):
    """Saves what explains a failure before the bed goes."""
    folder = f"/tmp/pushspool-failed-{bed.name}-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        shutil.copy(bed.trial.ledger_path, folder)
        for node in bed.nodes:
            with open(f"{folder}/{node}.log", "w") as file:
                file.write(bed.trial.log(node))
    except (AttributeError, OSError, Failure) as failure:
        # The bed may not have come up at all.
        print(f"not all logs could be saved: {failure}", flush=True)
    print(f"logs and ledger are in {folder}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bed", choices=["nfs", "gluster", "local"], default="nfs")
    parser.add_argument("--keep", action="store_true", help="leave the bed of the last scenario")
    parser.add_argument("--seed", type=int, help="the faults of `random`")
    parser.add_argument("--count", type=int, default=50, help="how many faults `random` makes")
    parser.add_argument("--figures", action="store_true", help="measure the throughput instead")
    parser.add_argument("--rounds", type=int, default=3, help="how often `--figures` measures each case")
    parser.add_argument("scenario", nargs="*", help=" ".join(SCENARIOS))
    options = parser.parse_args()
    for name in options.scenario:
        if name not in SCENARIOS:
            parser.error(f"no scenario {name}")
    bed = {"nfs": NFS, "gluster": Gluster, "local": Local}[options.bed]()
    if options.figures:
        return figures(bed, options.rounds)
    names = options.scenario or [name for name, (_, needs) in SCENARIOS.items() if needs <= bed.can]
    failed = []
    for name in names:
        try:
            if name == "random":
                random_faults(bed, options.seed, options.count)
            else:
                SCENARIOS[name][0](bed)
        except (Failure, subprocess.TimeoutExpired) as failure:
            print(f"NOT OK: {bed.name}, {name}: {failure}", flush=True)
            failed.append(name)
            keep_logs(bed, name)
            if options.keep:
                break
        finally:
            if not options.keep:
                bed.down()
    if failed:
        sys.exit(f"failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
