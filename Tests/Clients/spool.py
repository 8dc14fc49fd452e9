"""A spool without a daemon, and what tests of its clients need besides."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIENTS = os.path.join(ROOT, "etc", "clients")
PYTHON_CLIENT = os.path.join(CLIENTS, "pushspool.py")
SHELL_CLIENT = os.path.join(CLIENTS, "pushspool.sh")
IS_ROOT = os.geteuid() == 0
# A folder in memory, because the tests sync thousands of times; None: the system's folder for temporary files.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
# The user that has no rights anywhere.
NOBODY = 65534

sys.path.insert(0, CLIENTS)
sys.dont_write_bytecode = True


def can_unshare():
    """Whether volumes can be mounted for one process, which goes when it ends."""
    return IS_ROOT and shutil.which("unshare") is not None and subprocess.run(
        ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"], stderr=subprocess.DEVNULL).returncode == 0


class SpoolTest(unittest.TestCase):
    """A test with an app called weather, in a folder with a space in its path, as a daemon makes it."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="pushspool clients ", dir=MEMORY)
        self.addCleanup(shutil.rmtree, self.place)
        os.chmod(self.place, 0o755)
        self.spool = os.path.join(self.place, "spool")
        self.app = os.path.join(self.spool, "weather")
        os.makedirs(self.app)
        modes = {"new": 0o3770, "tmp": 0o3770, "hold": 0o750, "done": 0o750, "failed": 0o750, "feedback": 0o2750}
        for folder, mode in modes.items():
            os.mkdir(self.path(folder))
            os.chmod(self.path(folder), mode)

    def path(self, *names):
        return os.path.join(self.app, *names)

    def names(self, *folders):
        return sorted(os.listdir(self.path(*folders)))

    def jobs(self):
        """What a daemon would see in new/."""
        return [name for name in self.names("new") if not name.startswith(".")]

    def text(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")

    def put(self, text, *names):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "w", encoding="utf-8") as file:
            file.write(text)

    def outside(self, name, text):
        """A file that is not in the spool."""
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def assert_nothing_dropped(self):
        self.assertEqual(self.names("new"), [])
        self.assertEqual(self.names("tmp"), [])

    def let_nobody_in(self, *folders):
        """Gives the user without rights the run of some of the app's folders."""
        for folder in folders:
            os.chown(self.path(folder), NOBODY, NOBODY)


def become_nobody():
    """For a child process: gives up all rights."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def as_nobody(body):
    """Calls something in a process without rights, and returns its result or its error as text."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            become_nobody()
            text = str(body())
        except Exception as error:
            text = str(error)
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(process, 0)
    return text


def die_with_parent():
    """For a child process: no test leaves one behind."""
    ctypes.CDLL(None).prctl(1, 9)


def eventually(condition, what, seconds=60):
    """Waits until something is so that another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not in time: {what}")
        time.sleep(0.01)
