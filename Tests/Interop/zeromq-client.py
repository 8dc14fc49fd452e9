"""Sends commands to the ZeroMQ door with pyzmq, a client that others wrote, and compares its replies byte for byte.

usage: zeromq-client.py ENDPOINT

Plays the transcripts of py-apnsd's documentation, and what they leave out. The app must use HTTP/2, and no token may have been
reported gone. Prints one line for each check. Eight notifications are sent.
"""

import re
import sys
import time

import zmq

ENDPOINT = sys.argv[1]
FIRST = "DDE37D652A87B72516D51117B45980852A22CEFAB57ABF84ED11F937ED621007"
SECOND = "7B168DB2D8F3EBAE6A0235AFF7CEDAC279ECBA6DDE83099816383E94B3B2020C"
BASE64 = "oplo1dgXSxYT5jGmD/L3XjVSRHCT1EkMLBk+/xp5HAY="
BROKEN = "oplo1dgXSxYT5jGmD/L3XjVSRHCT1EkMLBk-/xp5HAD="
LATER = int(time.time()) + 3600
USAGE = "ERROR Invalid input (expected: send EXPIRY NUMBER TOKEN... PAYLOAD)"

# What each proves, the command, and its whole reply. Where a reply has ids, how many.
CASES: list[tuple[str, str | bytes, str | int]] = [
    # The transcripts; both of their times have passed.
    ("one device, in base64", f"send 1343727824 1 {BASE64} hello", 1),
    ("two devices, in hexadecimal", f"send 1343728733 2 {FIRST} {SECOND} hello", 2),
    ("a token of 6 bytes", "send 1343728831 1 DEADBEAF hello", "ERROR Wrong device token length (6 != 32): DEADBEAF"),
    ("a token that is not base64", f"send 1343730023 1 {BROKEN} hello",
     f"ERROR Wrong base64 encoding for device token: {BROKEN}"),
    ("feedback without tokens", "feedback", "OK"),
    # What they leave out.
    ("both kinds of tokens, and a time to come", f"SEND {LATER} 2 {FIRST.lower()} {BASE64} hello, all of you", 2),
    ("seconds from now, and JSON", f'send +60 1 {FIRST} {{"aps": {{"alert": "Hello", "badge": 1}}}}', 1),
    ("white space of any kind", f"\tSend  +60\n1 {FIRST}  Grüße \r\n", 1),
    ("a payload as long as HTTP/2 allows", f"send +60 1 {FIRST} {'a' * 4076}", 1),
    ("one byte more", f"send +60 1 {FIRST} {'a' * 4077}", "ERROR Payload too long (4097 > 4096)"),
    ("one bad token of two", f"send +60 2 {FIRST} YQ== hello", "ERROR Wrong device token length (1 != 32): YQ=="),
    ("64 characters that are not digits", f"send +60 1 {'g' * 64} hello",
     f"ERROR Wrong hexadecimal encoding for device token: {'g' * 64}"),
    ("an object that is none", f'send +60 1 {FIRST} {{"aps":', 'ERROR Invalid JSON payload: {"aps":'),
    ("a payload in Latin-1", f"send +60 1 {FIRST} Grüße".encode("latin-1"), "ERROR Invalid input (the payload must be UTF-8)"),
    ("milliseconds as expiry", f"send 1343727824000 1 {FIRST} hello", "ERROR Invalid expiry value: 1343727824000"),
    ("no tokens", "send +60 0 hello", "ERROR Invalid number of device tokens: 0"),
    ("fewer tokens than the number", f"send +60 2 {FIRST}", USAGE),
    ("no payload", f"send +60 1 {FIRST} ", USAGE),
    ("an empty command", "", "ERROR Invalid input"),
    ("another command", "status", "ERROR Invalid input"),
    ("feedback in other letters", " FeedBack\n", "OK"),
]


class Door:
    """A socket of type REQ."""

    def __init__(self) -> None:
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.REQ)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, 20_000)
        self.socket.connect(ENDPOINT)

    def ask(self, *parts: bytes) -> str:
        self.socket.send_multipart(parts)
        try:
            return self.socket.recv().decode()
        except zmq.Again:
            sys.exit(f"FAILED: no reply within 20 s from {ENDPOINT} to: {b' '.join(parts)[:100]!r}")


def main() -> int:
    doors, failures, last = [Door(), Door()], 0, -1

    def check(name: str, is_good: bool, wanted: str, reply: str) -> None:
        nonlocal failures
        failures += not is_good
        print(f"ok: {name}" if is_good else f"FAILED: {name}\n    wanted: {wanted}\n    came:   {reply}")

    # In turn from two clients.
    for number, (name, command, expected) in enumerate(CASES):
        reply = doors[number % 2].ask(command if isinstance(command, bytes) else command.encode())
        if isinstance(expected, str):
            check(name, reply == expected, expected, reply)
            continue
        is_good = re.fullmatch(r"OK( (0|[1-9][0-9]*))+", reply) is not None
        ids = [int(word) for word in reply.split()[1:]] if is_good else []
        check(name, len(ids) == expected and all(a < b for a, b in zip([last, *ids], ids)),
              f"{expected} ids", reply)
        last = max([last, *ids])
    expected = "ERROR Invalid input (the request must be one message part)"
    reply = doors[0].ask(b"feed", b"back")
    check("a request of two parts", reply == expected, expected, reply)
    print(f"{failures} checks failed" if failures else "all replies as expected")
    return min(failures, 1)


sys.exit(main())
