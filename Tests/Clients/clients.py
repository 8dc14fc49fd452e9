"""The clients in each language, called alike: a request is a mapping, and so is its answer."""

import json
import os
import shlex
import shutil
import subprocess
import sys

from spool import CLIENTS, ROOT, become_nobody, die_with_parent

DRIVERS = os.path.join(ROOT, "Tests", "Clients", "drivers")
# Not the interpreter that runs the tests, which may be in a home folder that others cannot enter.
SYSTEM_PYTHON = shutil.which("python3", path="/usr/bin") or sys.executable
#: Each client's language, the endings of its file and of its driver, and the program that runs them.
LANGUAGES = {
    "python": ("py", SYSTEM_PYTHON), "sh": ("sh", "sh"), "node": ("mjs", "node"), "php": ("php", "php"),
    "ruby": ("rb", "ruby"), "go": ("go", "go"),
}
# Mounts a volume in the app's folder, then runs the driver.
MOUNT = """
mount -t tmpfs -o "size=$3,mode=755" none "$1/$2" && cd "$1" && mkdir -p new tmp hold done failed feedback work || exit
cd /; shift 3; exec "$@"
"""


def go_environment(place):
    """Returns the environment in which go compiles without a network."""
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    if not os.environ.get("HOME"):
        environment["GOCACHE"] = os.path.join(place, "cache")
    return environment


class DriverDied(AssertionError):
    """A driver gave no answer."""


class Driver:
    """A process that carries out requests; `command` starts it."""

    def __init__(self, command, nobody=False, umask=None):
        def prepare():
            die_with_parent()
            os.umask(0o022 if umask is None else umask)
            if nobody:
                become_nobody()

        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", preexec_fn=prepare)

    def begin(self, request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def end(self):
        line = self._process.stdout.readline()
        if not line:
            raise DriverDied(f"the driver ended with {self._process.wait()}")
        return json.loads(line)

    def close(self):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


class ShellDriver:
    """Calls the functions of pushspool.sh: the same interface, without a driver in that language."""

    def __init__(self, client, prefix=(), nobody=False, umask=None):
        self._client, self._prefix, self._nobody, self._umask = client, list(prefix), nobody, umask

    def begin(self, request):
        self._request = request
        call, name = request["call"], self._name()
        arguments = {
            "submit": ["pushspool_submit", "-", name],
            "wait": ["pushspool_wait", name, str(int(request.get("timeout", 0)))],
            "feedback": ["pushspool_consume" if request.get("consume") else "pushspool_feedback"],
        }[call]
        arguments[1:1] = [request["spool"], request["app"]]
        if request.get("kind"):
            arguments.append(f'select(.kind == "{request["kind"]}")')
        mask = "" if self._umask is None else f"umask {self._umask:o}; "
        script = f". {shlex.quote(self._client)}; {mask}" + '"$@"'
        self._process = subprocess.Popen(
            [*self._prefix, "sh", "-c", script, "sh", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=become_nobody if self._nobody else die_with_parent)
        self._input = b""
        if call == "submit":
            job = request.get("job", "")
            text = job if isinstance(job, str) else json.dumps(job)
            self._input = bytes.fromhex(request["job_hex"]) if "job_hex" in request else text.encode()

    def _name(self):
        if "name_hex" in self._request:
            return os.fsdecode(bytes.fromhex(self._request["name_hex"]))
        return self._request.get("name", "")

    def end(self):
        output, errors = self._process.communicate(self._input, timeout=60)
        call, code, message = self._request["call"], self._process.returncode, errors.decode("utf-8", "replace")
        if call == "wait" and output:
            first, _, rest = os.fsdecode(output).partition("\n")
            state, path = first.split(" ", 1)
            result = json.loads(rest) if rest else None
            return {"state": state, "path": path.split("/", 1)[1], "result": result, "is_accepted": code == 0}
        if not 0 <= code <= 128:
            raise DriverDied(f"the shell ended with {code}")
        if code != 0:
            return {"error": self._kind(code, message), "message": message, "hint": message}
        if call == "submit":
            return {"name_hex": output.rstrip(b"\n").hex()}
        # Not splitlines: it would also split at U+2028.
        return {"lines": [json.loads(line) for line in output.decode().split("\n") if line]}

    @staticmethod
    def _kind(code, message):
        if code == 69 and "has not finished" in message:
            return "not_in_time"
        return {64: "input", 65: "input"}.get(code, "in_doubt" if "check new/" in message else "failed")

    def close(self):
        pass


class Client:
    """A client with its driver, copied to where all users can read them."""

    def __init__(self, language, place):
        ending, self._program = LANGUAGES[language]
        self.language, self._place = language, place
        self._file = shutil.copy(os.path.join(CLIENTS, "pushspool." + ending), place)
        self._command = None
        if language == "go":
            self._command = [self._build()]
        elif language != "sh":
            driver = shutil.copy(os.path.join(DRIVERS, "driver." + ending), place)
            self._command = [shutil.which(self._program), driver, self._file]

    @staticmethod
    def is_there(language):
        return shutil.which(LANGUAGES[language][1]) is not None

    @staticmethod
    def report_missing(language):
        """Names the program that is missing, and fails if all clients must be tested."""
        program = LANGUAGES[language][1]
        if os.environ.get("PUSHSPOOL_FULL"):
            raise AssertionError(f"{program} is not installed, and PUSHSPOOL_FULL asks for all clients")
        print(f"skipped: tests of the client for {language}, because {program} is not installed", file=sys.stderr)

    def _build(self):
        """Compiles the driver with the client as a package of its module, without a network."""
        module = os.path.join(self._place, "go")
        os.makedirs(os.path.join(module, "pushspool"))
        shutil.copy(self._file, os.path.join(module, "pushspool"))
        shutil.copy(os.path.join(DRIVERS, "driver.go"), module)
        with open(os.path.join(module, "go.mod"), "w", encoding="utf-8") as file:
            file.write("module clients\n\ngo 1.19\n")
        environment = go_environment(self._place)
        for command in (["vet", "./..."], ["build", "-o", "driver", "."]):
            result = subprocess.run(["go", *command], cwd=module, env=environment, text=True, capture_output=True)
            if result.returncode != 0:
                raise AssertionError(f"go {command[0]}: {result.stderr}")
        return os.path.join(module, "driver")

    def driver(self, app=None, mount=None, fault=None, on=(), **more):
        """Starts a driver.

        `mount` is a folder in the app's, and the size of the volume that it becomes. `fault` has what happens at system
        calls, and `on` the paths in the app's folder to which that is limited.
        """
        prefix = ["unshare", "--mount", "sh", "-c", MOUNT, "sh", app, *mount] if mount else []
        if fault:
            prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + ",".join(fault)]
            for calls, effect in fault.items():
                prefix += ["-e", f"inject={calls}:{effect}"]
            for path in on:
                prefix += ["-P", os.path.join(app, path)]
        if self.language == "sh":
            return ShellDriver(self._file, prefix, **more)
        return Driver([*prefix, *self._command], **more)
