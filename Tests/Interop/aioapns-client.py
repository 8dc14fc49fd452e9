"""Sends notifications with aioapns, a client that others wrote, to a gateway on localhost, and counts the answers.

usage: aioapns-client.py PORT CA COUNT certificate FILE
       aioapns-client.py PORT CA COUNT token KEY_FILE KEY_ID TEAM_ID

If PORT and CA are -, aioapns is as its makers made it: it connects to Apple's host, and trusts what the system trusts.
The last notification goes to a token of zeros. Prints one line: each status with its reason and how often it came.
"""

import asyncio
import collections
import secrets
import ssl
import sys

import aioapns
from aioapns import connection

TOPIC = "com.example.weather"


def client(port: str, authority: str, identity: list[str]) -> aioapns.APNs:
    options = {"topic": TOPIC, "err_func": ignore, "max_connections": 2}
    if port != "-":
        options |= redirected(int(port), authority)
    if identity[0] == "certificate":
        return aioapns.APNs(client_cert=identity[1], **options)
    with open(identity[1], encoding="ascii") as file:
        return aioapns.APNs(key=file.read(), key_id=identity[2], team_id=identity[3], **options)


def redirected(port: int, authority: str) -> dict:
    protocol = connection.APNsDevelopmentClientProtocol
    protocol.APNS_SERVER, protocol.APNS_PORT = "localhost", port
    context = ssl.create_default_context(cafile=authority)
    # aioapns offers no protocol in the handshake by itself; Apple's gateway takes HTTP/2 for granted, ours does not.
    context.set_alpn_protocols(["h2"])
    return {"use_sandbox": True, "ssl_context": context}


async def ignore(request: aioapns.NotificationRequest, result: object) -> None:
    """Refusals are counted with the other answers."""


async def main() -> None:
    port, authority, count, identity = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    apns = client(port, authority, identity)
    tokens = [secrets.token_hex(32) for _ in range(count)] + ["00" * 32]
    message = {"aps": {"alert": "Good morning"}}
    requests = [
        aioapns.NotificationRequest(token, message, push_type=aioapns.PushType.ALERT, time_to_live=3600)
        for token in tokens
    ]
    results = await asyncio.gather(*(apns.send_notification(request) for request in requests))
    answers = collections.Counter(f"{result.status} {result.description or ''}".strip() for result in results)
    print(", ".join(f"{answer}: {times}" for answer, times in sorted(answers.items())))


asyncio.run(main())
