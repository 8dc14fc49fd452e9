"""Makes a spool of a week that no daemon has served: feedback, archives, result files, and names that are to be escaped.

usage: report-spool.py FOLDER
"""

import json
import math
import pathlib
import random
import sys
import time

DAY = 86_400
JOBS_A_DAY = {"weather": 120, "news": 30}
REASONS = [("Unregistered", "gone"), ("BadDeviceToken", "invalid"), ("<script>alert(1)</script>", "message")]
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def stamp(seconds: float) -> str:
    """A time as the daemon writes it."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds * 1000) % 1000:03d}Z"


def account(name: str, number: int, end: float, size: int, missed: int) -> dict:
    """What line and result file of a job have in common."""
    identity = "".join(ALPHABET[(number // 32**place) % 32] for place in range(25, -1, -1))
    length = max(0.02, random.lognormvariate(0, 1.5))
    waited = random.lognormvariate(-4, 1)
    code = {} if missed < size else {"code": "refused"}
    state = "done" if missed < size else "failed"
    times = {
        "dropped_at": stamp(end - length - waited),
        "claimed_at": stamp(end - length),
        "finished_at": stamp(end),
    }
    return {"job": name, "id": identity, "state": state} | code | times


def counts(size: int, missed: int) -> dict:
    """What became of a job's notifications."""
    return {"notifications": size, "accepted": size - missed, "rejected": missed, "expired": 0, "unsent": 0, "unknown": 0}


def write_job(spool: pathlib.Path, app: str, number: int, end: float) -> None:
    """Writes one job of three kinds: told by feedback, told by its result file only, and told by nothing but its name."""
    size = int(random.lognormvariate(4, 2)) + 1
    missed = size if random.random() < 0.02 else int(size * random.random() * 0.05)
    name = f"job-{number}-<i>&.json"
    told = account(name, number, end, size, missed)
    day = spool / app / told["state"] / told["finished_at"][:10]
    day.mkdir(parents=True, exist_ok=True)
    (day / name).write_text("{}")
    if missed:
        result = {"v": 1} | told | {"counts": counts(size, missed), "indexes": {"rejected": [[0, missed - 1]]}}
        (day / f"{name}.result.json").write_text(json.dumps(result))
    if number % 5 == 0:
        return
    origin = {"v": 1, "kind": "job", "app": app, "node": "node-a"}
    path = f"{app}/{told['state']}/{told['finished_at'][:10]}/{name}"
    lines = [origin | told | {"path": path} | counts(size, missed)]
    for index in range(min(missed, 50)):
        reason, verdict = random.choices(REASONS, [8, 4, 1])[0]
        lines.append(
            {"v": 1, "kind": "notification", "app": app, "node": "node-a", "job": name, "id": told["id"], "index": index}
            | {"token": f"{random.getrandbits(256):064x}", "outcome": "rejected", "reason": reason}
            | {"verdict": verdict, "at": told["finished_at"]}
        )
    compact = time.strftime("%Y%m%dT%H%M%S", time.gmtime(end + 1))
    file = spool / app / "feedback" / f"{compact}.{number:06d}Z-node-a.jsonl"
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def main() -> None:
    """Makes the spool."""
    random.seed(7)
    spool, now, number = pathlib.Path(sys.argv[1]), time.time(), 0
    for app, per_day in JOBS_A_DAY.items():
        (spool / app / "feedback").mkdir(parents=True)
        for position in range(per_day * 7):
            number += 1
            share = position / (per_day * 7)
            wave = 0.02 * math.sin(share * 7 * 2 * math.pi)
            write_job(spool, app, number, now - 7 * DAY + 600 + min(0.99, max(0, share + wave)) * 7 * DAY)


main()
