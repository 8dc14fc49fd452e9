"""Carries out requests, one JSON object a line, with pushspool.py, and answers each with a line."""

import errno
import importlib.util
import itertools
import json
import os
import sys

specification = importlib.util.spec_from_file_location("pushspool", sys.argv[1])
pushspool = importlib.util.module_from_spec(specification)
sys.dont_write_bytecode = True
sys.modules["pushspool"] = pushspool
specification.loader.exec_module(pushspool)


def recipients(request):
    yield from request["recipients"]
    if request.get("breaks"):
        raise ConnectionResetError(errno.ECONNRESET, "the database has gone")


def answer(request):
    spool, app, call = request["spool"], request["app"], request["call"]
    name = os.fsdecode(bytes.fromhex(request["name_hex"])) if "name_hex" in request else request.get("name")
    if call == "submit":
        job = bytes.fromhex(request["job_hex"]) if "job_hex" in request else request["job"]
        return {"name_hex": os.fsencode(
            pushspool.submit(spool, job, name, app=app, unique=request.get("unique", True))).hex()}
    if call == "lines":
        return {"name_hex": os.fsencode(pushspool.submit_lines(
            spool, recipients(request), app=app, name=name, unique=request.get("unique", True), **request["head"])).hex()}
    if call == "wait":
        end = pushspool.wait(spool, name, app=app, timeout=request["timeout"])
        return {**end._asdict(), "is_accepted": end.is_accepted}
    lines = pushspool.feedback(spool, app=app, consume=request["consume"])
    return {"lines": list(itertools.islice(lines, request.get("take")))}


for line in sys.stdin:
    try:
        result = answer(json.loads(line))
    except pushspool.PushspoolError as error:
        kinds = {pushspool.InputFault: "input", pushspool.NotInTime: "not_in_time"}
        kind = kinds.get(type(error), "in_doubt" if error.name else "failed")
        result = {"error": kind, "message": error.message, "hint": error.hint, "job": error.name}
    except Exception as error:
        result = {"error": "other", "message": str(error), "hint": ""}
    print(json.dumps(result), flush=True)
