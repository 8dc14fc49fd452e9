"""Sends notifications with aioapns over one connection, and says how many were accepted.

usage: aioapns-writer.py PORT CA KEY COUNT

Prints the same words as the other clients. Each notification goes to one of 1,024 tokens and has a body of 236 bytes;
a thousand are on their way at a time, as many as the gateway allows.
"""

import asyncio
import secrets
import ssl
import sys

import aioapns
from aioapns import connection

# With the spaces that json.dumps puts in, 236 bytes.
MESSAGE = {"aps": {"alert": "x" * 214}}
STREAMS = 1_000


class Protocol(connection.APNsDevelopmentClientProtocol):
    """Takes answers in the order of requests.

    aioapns tells answers apart by their apns-id, and the sink, which does not look into requests, always writes the same.
    """

    APNS_SERVER = "localhost"

    def on_response_received(self, headers: dict[bytes, bytes]) -> None:
        super().on_response_received(headers | {b"apns-id": next(iter(self.requests)).encode()})


def client(port: int, authority: str, key_path: str) -> aioapns.APNs:
    Protocol.APNS_PORT = port
    context = ssl.create_default_context(cafile=authority)
    # aioapns offers no protocol in the handshake by itself; Apple's gateway takes HTTP/2 for granted, others do not.
    context.set_alpn_protocols(["h2"])
    with open(key_path, encoding="ascii") as file:
        apns = aioapns.APNs(
            key=file.read(), key_id="ABC123DEFG", team_id="DEF123GHIJ", topic="com.example.benchmark",
            use_sandbox=True, ssl_context=context, max_connections=1)
    apns.pool.protocol_class = Protocol
    return apns


async def send(apns: aioapns.APNs, tokens: list[str], numbers: range) -> int:
    accepted = 0
    for number in numbers:
        request = aioapns.NotificationRequest(
            tokens[number % len(tokens)], MESSAGE, push_type=aioapns.PushType.ALERT, time_to_live=3600, priority=10)
        accepted += (await apns.send_notification(request)).is_successful
    return accepted


async def main() -> None:
    port, authority, key_path, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    apns = client(port, authority, key_path)
    tokens = [secrets.token_hex(32) for _ in range(1_024)]
    accepted = await asyncio.gather(*(send(apns, tokens, range(first, count, STREAMS)) for first in range(STREAMS)))
    print(f'{{"outcomes":{{"accepted":{sum(accepted)}}}}}')


asyncio.run(main())
