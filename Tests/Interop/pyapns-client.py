"""Calls a door with the Python client of pyapns, as a program that has used it for years does, and prints what comes back.

usage: pyapns-client.py [--initial LIST] [--remove FILE] [--background] FOLDER PORT METHOD ARGUMENTS

FOLDER has a `pyapns` that Python 3 can read. LIST and ARGUMENTS are JSON: what `INITIAL` lists, and the method's arguments. FILE,
the configuration of an app, is removed once the client is configured; the call waits until the door does not know the app any more.
Prints `nil`, JSON with each time as text, `fault CODE: TEXT`, or the name of the client's own exception.
"""

import argparse
import importlib
import json
import os
import sys
import threading
import time
import xmlrpc.client

TIMEOUT = 20


def text(result: object) -> str:
    return "nil" if result is None else json.dumps(result, default=str)


def call(client: object, method: str, arguments: list, background: bool) -> str:
    """Returns what the callback gets: the client returns no result of a second try, nor of a call in the background."""
    results: list[str] = []
    ended = threading.Event()

    def take(result: object) -> None:
        results.append(text(result))
        ended.set()

    options = {"async_": True} if background else {}
    getattr(client, method)(*arguments, callback=take, **options)
    ended.wait(TIMEOUT if background else 0)
    return results[-1] if results else "no answer"


def remove(file: str, app: str, host: str) -> None:
    os.remove(file)
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        try:
            xmlrpc.client.ServerProxy(host).feedback(app)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode == 404:
                return
        time.sleep(0.1)
    raise SystemExit(f"the door still knows {app}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--initial", type=json.loads)
    parser.add_argument("--remove")
    parser.add_argument("--background", action="store_true")
    for name in ["folder", "port", "method"]:
        parser.add_argument(name)
    parser.add_argument("arguments", type=json.loads)
    given = parser.parse_args()
    sys.path.insert(0, given.folder)
    client = importlib.import_module("pyapns.client")
    options = {"HOST": f"http://localhost:{given.port}/", "TIMEOUT": TIMEOUT}
    if given.initial is not None:
        options["INITIAL"] = given.initial
    try:
        client.configure(options)
        if given.remove is not None:
            remove(given.remove, given.arguments[0], options["HOST"])
        print(call(client, given.method, given.arguments, given.background))
    except xmlrpc.client.Fault as fault:
        print(f"fault {fault.faultCode}: {fault.faultString}")
    except client.UnknownAppID:
        print("UnknownAppID")


main()
