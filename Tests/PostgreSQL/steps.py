"""Runs the bridge, and ends it or its connection at a step. Called by the tests:

    steps.py ACTION STEP [TIMES] run --database ...

ACTION is `kill` (SIGKILL of the bridge), `stop` (SIGSTOP), or `lose` (the connection ends, and nobody
knows the outcome of the statement).
STEP is before-claim, after-claim, before-drop, staged, renamed, after-drop, before-delete or after-delete. It happens
at the first pass, or at the pass TIMES.
"""

import importlib.machinery
import importlib.util
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(os.path.dirname(os.path.dirname(HERE)), "etc", "clients", "pushspool-pg")


def load():
    """Loads the bridge as a module: its file has no .py ending."""
    loader = importlib.machinery.SourceFileLoader("pushspool_pg", PROGRAM)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("pushspool_pg", loader))
    loader.exec_module(module)
    return module


class Trap:
    """Acts when it is passed for the chosen time."""

    def __init__(self, module, action, step, times):
        self.module, self.action, self.step, self.times = module, action, step, times

    def passes(self, step, outbox=None):
        if step != self.step:
            return
        self.times -= 1
        if self.times != 0:
            return
        if self.action in ("kill", "stop"):
            os.kill(os.getpid(), signal.SIGKILL if self.action == "kill" else signal.SIGSTOP)
            return
        outbox._connection.close()
        raise self.module.psycopg.OperationalError("the connection is lost")

    def around(self, holder, name, before=None, after=None):
        """Replaces a function by one that passes steps before and after it."""
        original = getattr(holder, name)

        def wrapper(*words, **options):
            outbox = words[0] if words and isinstance(words[0], self.module.Outbox) else None
            if before:
                self.passes(before, outbox)
            result = original(*words, **options)
            if after:
                self.passes(after, outbox)
            return result

        setattr(holder, name, wrapper)


def main():
    action, step, *words = sys.argv[1:]
    times = int(words.pop(0)) if words[0].isdigit() else 1
    module = load()
    if action == "stop":
        # As if it stood still for longer than a claim counts as fresh.
        module._FRESH = 0
    trap = Trap(module, action, step, times)
    trap.around(module.Outbox, "claim", "before-claim", "after-claim")
    trap.around(module.Spool, "drop", "before-drop", "after-drop")
    trap.around(module.pushspool, "_publish", "staged", "renamed")
    trap.around(module.Outbox, "delete", "before-delete", "after-delete")
    sys.exit(module._main(words))


if __name__ == "__main__":
    main()
