"""Plays Firebase Cloud Messaging and Google's token endpoint on python-h2, and records each request.

usage: fcm-gateway.py CERTIFICATE KEY ACCOUNT RECORD [TOKEN]

Clients reach it through its proxy, which connects them to this gateway whichever of Google's hosts they ask for. So they need
no other setting. Prints the proxy's URL. RECORD gets a JSON line for each request, with the gateway's answer, for each GOAWAY,
and for each rule of HTTP/2 that a client broke. The endpoint checks the assertions of the service account ACCOUNT.

With TOKEN it makes trouble: access tokens live 3 s, answers come in any order, TOKEN is unregistered, streams are refused, the
quota is used up once, the service is unavailable now and then, and connections end with GOAWAY while requests are in flight. It
does not process a stream that it refuses, nor one above the last that a GOAWAY names.
"""

import asyncio
import base64
import collections
import functools
import json
import random
import ssl
import sys
import time
import urllib.parse

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, PingAckReceived, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

HOSTS = ("fcm.googleapis.com:443", "oauth2.googleapis.com:443")
STREAMS = 100
HIGHEST_STREAM = 2**31 - 1
JSON = [("content-type", "application/json; charset=UTF-8")]

# One request in so many meets this trouble.
REFUSED, REFUSED_AFTER_BODY, UNAVAILABLE = 53, 71, 61
# After so many requests a connection ends; with so many messages the quota is used up.
REQUESTS_OF_A_CONNECTION, QUOTA = 300, 900
# For how long the quota is used up, what `retry-after` asks for, and the longest time to an answer, in seconds.
QUOTA_PAUSE, RETRY_AFTER, LONGEST_ANSWER = 0.5, 2, 0.15
# How many unanswered requests a GOAWAY leaves unprocessed.
UNPROCESSED = 10


def error(code: int, status: str, text: str, *details: dict) -> bytes:
    """A `google.rpc.Status`, indented as Google's front end does."""
    said = {"code": code, "message": text, "status": status}
    if details:
        said["details"] = list(details)
    return json.dumps({"error": said}, indent=2).encode()


def detail(kind: str, **members: object) -> dict:
    return {"@type": f"type.googleapis.com/{kind}", **members}


def fcm_error(code: str) -> dict:
    return detail("google.firebase.fcm.v1.FcmError", errorCode=code)


class Google:
    """The state of both hosts: access tokens, and how often trouble was due."""

    def __init__(self, account: dict, record, unregistered: str | None) -> None:
        self.account, self.record, self.unregistered = account, record, unregistered
        self.public_key = load_pem_private_key(account["private_key"].encode(), None).public_key()
        self.lifetime = 3 if unregistered else 3599
        self.expiries: dict[str, int] = {}
        self.counts: collections.Counter[str] = collections.Counter()
        self.quota_back = 0.0
        self.random = random.Random(17)

    def note(self, **members: object) -> None:
        print(json.dumps({"at": time.time(), **members}), file=self.record, flush=True)

    def occurs(self, name: str, every: int) -> bool:
        """Counts a request. Returns whether it is the one in `every` that meets the trouble."""
        self.counts[name] += 1
        return bool(self.unregistered) and self.counts[name] % every == 0

    def answer(self, headers: dict[str, str], body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """Processes a request, and returns status, header fields and body of the answer."""
        if headers.get(":authority") == "oauth2.googleapis.com":
            return self.grant(headers, body)
        return self.send(headers, body)

    def grant(self, headers: dict[str, str], body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        try:
            form = dict(urllib.parse.parse_qsl(body.decode("ascii"), strict_parsing=True))
            if form["grant_type"] != "urn:ietf:params:oauth:grant-type:jwt-bearer":
                return 400, JSON, b'{"error":"unsupported_grant_type"}'
            # Checks the signature, the audience and both times.
            jwt.decode(
                form["assertion"], self.public_key, ["RS256"], audience=self.account["token_uri"],
                issuer=self.account["client_email"], options={"require": ["iss", "aud", "iat", "exp"]}, leeway=1)
        except (ValueError, KeyError, jwt.InvalidTokenError) as fault:
            said = {"error": "invalid_grant", "error_description": f"Invalid JWT: {fault}"}
            return 400, JSON, json.dumps(said).encode()
        token = "ya29.c." + base64.urlsafe_b64encode(self.random.randbytes(765)).decode()
        # In whole seconds, as clients count: the token expires for both at once, so that requests in flight get 401.
        self.expiries[token] = int(time.time()) + self.lifetime
        said = {"access_token": token, "expires_in": self.lifetime, "token_type": "Bearer"}
        return 200, JSON, json.dumps(said).encode()

    def time_left(self, headers: dict[str, str]) -> float:
        """For how long a request's access token is valid, in seconds."""
        return self.expiries.get(headers.get("authorization", "").removeprefix("Bearer "), 0) - time.time()

    def send(self, headers: dict[str, str], body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        if headers[":path"] != f"/v1/projects/{self.account['project_id']}/messages:send" or headers[":method"] != "POST":
            return 404, [("content-type", "text/html; charset=UTF-8")], b"<!DOCTYPE html>\n<title>Error 404</title>"
        credentials = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie."
        expiry = self.expiries.get(headers.get("authorization", "").removeprefix("Bearer "))
        if expiry is None:
            return 401, JSON, error(401, "UNAUTHENTICATED", credentials)
        if time.time() >= expiry:
            reason = detail(
                "google.rpc.ErrorInfo", reason="ACCESS_TOKEN_EXPIRED", domain="googleapis.com",
                metadata={"service": "fcm.googleapis.com"})
            return 401, JSON, error(401, "UNAUTHENTICATED", credentials, reason)
        if json.loads(body)["message"].get("token", "") == self.unregistered:
            return 404, JSON, error(404, "NOT_FOUND", "Requested entity was not found.", fcm_error("UNREGISTERED"))
        if self.occurs("quota", QUOTA) and self.counts["quota"] == QUOTA:
            self.quota_back = time.monotonic() + QUOTA_PAUSE
        if time.monotonic() < self.quota_back:
            return self.exhausted()
        if self.occurs("unavailable", UNAVAILABLE):
            return 503, JSON, error(503, "UNAVAILABLE", "The service is currently unavailable.", fcm_error("UNAVAILABLE"))
        self.counts["accepted"] += 1
        name = f"projects/{self.account['project_id']}/messages/0:{self.counts['accepted']:016}%31bd1c9631bd1c96"
        return 200, JSON, json.dumps({"name": name}, indent=2).encode()

    def exhausted(self) -> tuple[int, list[tuple[str, str]], bytes]:
        """Refuses a message because the project has sent as many as it may in a minute."""
        number = "projects/123456789012"
        failure = detail("google.rpc.QuotaFailure", violations=[
            {"subject": f"project:{number}", "description": "Send requests per minute"}])
        reason = detail(
            "google.rpc.ErrorInfo", reason="RATE_LIMIT_EXCEEDED", domain="googleapis.com",
            metadata={"consumer": number, "quota_limit": "DefaultRequestsPerMinutePerProject"})
        said = "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'."
        return 429, [*JSON, ("retry-after", str(RETRY_AFTER))], error(
            429, "RESOURCE_EXHAUSTED", said, reason, fcm_error("QUOTA_EXCEEDED"), failure)


class Connection(asyncio.Protocol):
    """A connection over TLS, with the protocol that ALPN chose. google-auth speaks HTTP/1.1."""

    numbers = iter(range(1, sys.maxsize))

    def __init__(self, google: Google) -> None:
        self.google = google
        self.number = next(self.numbers)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        protocol = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        self.speech = HTTP2(self) if protocol == "h2" else HTTP1(self)

    def data_received(self, data: bytes) -> None:
        self.speech.receive(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.speech.end()


class HTTP1:
    """One request at a time, with a `content-length`."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.buffer = b""

    def receive(self, data: bytes) -> None:
        self.buffer += data
        head, mark, rest = self.buffer.partition(b"\r\n\r\n")
        if not mark:
            return
        line, *lines = head.decode("ascii").split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        body, self.buffer = rest[:length], rest[length:]
        method, path, _ = line.split(" ")
        headers |= {":method": method, ":scheme": "https", ":authority": headers.pop("host"), ":path": path}
        google = self.connection.google
        status, fields, answer = google.answer(headers, body)
        google.note(connection=self.connection.number, headers=headers, body=body.decode(), answer=status)
        fields = [*fields, ("content-length", str(len(answer)))]
        said = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Error'}", *(f"{name}: {value}" for name, value in fields)]
        self.connection.transport.write("\r\n".join([*said, "", ""]).encode() + answer)

    def end(self) -> None:
        """Nothing is open."""


class Request:
    def __init__(self, headers: list[tuple[str, str]]) -> None:
        self.headers = dict(headers)
        self.body = b""
        self.began = time.time()


class HTTP2:
    def __init__(self, connection: Connection) -> None:
        self.connection, self.google = connection, connection.google
        self.machine = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.machine.local_settings = Settings(client=False, initial_values={
            SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS, SettingCodes.INITIAL_WINDOW_SIZE: 65_535,
            SettingCodes.MAX_HEADER_LIST_SIZE: 16_384})
        self.machine.initiate_connection()
        # Those without an answer, by stream.
        self.requests: dict[int, Request] = {}
        self.count = 0
        self.highest_answered = 0
        # The last stream to process, as the last GOAWAY named it.
        self.last = HIGHEST_STREAM
        # Whether the warning of a GOAWAY was sent, but not the last stream.
        self.is_leaving = False
        self.is_closed = False
        self.flush()

    def flush(self) -> None:
        if not self.is_closed:
            self.connection.transport.write(self.machine.data_to_send())

    def end(self) -> None:
        self.is_closed = True
        for stream in list(self.requests):
            self.note(stream, "cut off")

    def note(self, stream: int, answer: object) -> None:
        request = self.requests.pop(stream)
        self.google.note(
            connection=self.connection.number, stream=stream, began=request.began, headers=request.headers,
            body=request.body.decode(errors="replace"), answer=answer)

    def receive(self, data: bytes) -> None:
        try:
            for event in self.machine.receive_data(data):
                self.take(event)
        except ProtocolError as fault:
            self.google.note(connection=self.connection.number, violation=f"{type(fault).__name__}: {fault}")
            self.flush()
            self.connection.transport.close()
        self.flush()

    def take(self, event: object) -> None:
        match event:
            case RequestReceived():
                self.begin(event.stream_id, Request(event.headers))
            case DataReceived():
                self.machine.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                if request := self.requests.get(event.stream_id):
                    request.body += event.data
            case StreamEnded():
                self.complete(event.stream_id)
            case StreamReset() if event.stream_id in self.requests:
                self.note(event.stream_id, "reset by the client")
            case PingAckReceived() if self.is_leaving:
                self.say_last()

    def begin(self, stream: int, request: Request) -> None:
        self.requests[stream] = request
        if stream > self.last:
            return self.note(stream, "above the last stream")
        self.count += 1
        if self.google.occurs("refused", REFUSED):
            self.refuse(stream)
        if self.google.unregistered and self.count == REQUESTS_OF_A_CONNECTION:
            self.leave()

    def complete(self, stream: int) -> None:
        request = self.requests.get(stream)
        if request is None:
            return
        if self.google.occurs("refused after the body", REFUSED_AFTER_BODY):
            return self.refuse(stream)
        if not self.google.unregistered:
            return self.answer(stream)
        delay, left = self.google.random.uniform(0, LONGEST_ANSWER), self.google.time_left(request.headers)
        if 0 < left < LONGEST_ANSWER:
            # Until the token has expired.
            delay = left + 0.01
        asyncio.get_running_loop().call_later(delay, self.answer, stream)

    def refuse(self, stream: int) -> None:
        self.machine.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
        self.note(stream, "REFUSED_STREAM")

    def answer(self, stream: int) -> None:
        """Processes a request, unless the client has reset it or the connection is closed."""
        request = self.requests.get(stream)
        if request is None:
            return
        self.highest_answered = max(self.highest_answered, stream)
        status, fields, body = self.google.answer(request.headers, request.body)
        self.note(stream, status)
        self.machine.send_headers(stream, [(":status", str(status)), *fields])
        self.send_body(stream, body)

    def send_body(self, stream: int, body: bytes) -> None:
        """Ends an answer, as soon as the client's windows have room for it."""
        if self.is_closed:
            return
        if self.machine.local_flow_control_window(stream) < len(body):
            asyncio.get_running_loop().call_later(0.005, self.send_body, stream, body)
        else:
            self.machine.send_data(stream, body, end_stream=True)
        self.flush()

    def leave(self) -> None:
        """Ends the connection: every second one as RFC 9113 §6.8 recommends, with a GOAWAY that warns before."""
        if self.connection.number % 2:
            return self.say_last()
        self.is_leaving = True
        self.go_away(HIGHEST_STREAM)
        self.machine.ping(b"goodbye?")

    def say_last(self) -> None:
        """Names the last stream that the gateway processes. The latest requests are above it."""
        self.is_leaving = False
        pending = sorted(stream for stream in self.requests if stream > self.highest_answered)
        self.last = max([self.highest_answered, *pending[:-UNPROCESSED]])
        self.go_away(self.last)
        for stream in pending[-UNPROCESSED:]:
            self.note(stream, "above the last stream")

    def go_away(self, last: int) -> None:
        """Sends a GOAWAY. With h2's own, the connection could not send the answers that are left."""
        self.flush()
        frame = GoAwayFrame(0, last_stream_id=last, error_code=ErrorCodes.NO_ERROR)
        self.connection.transport.write(frame.serialize())
        self.google.note(connection=self.connection.number, goaway=last)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


async def tunnel(port: int, google: Google, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers CONNECT, and connects the client to the gateway's port."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        # The doctor tries whether the proxy can be reached.
        return writer.close()
    method, host, _ = head.decode("latin-1").split(" ", 2)
    if method != "CONNECT" or host not in HOSTS:
        google.note(violation=f"{method} {host}")
        writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        return writer.close()
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    gateway_reader, gateway_writer = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.gather(pump(reader, gateway_writer), pump(gateway_reader, writer))


async def serve(context: ssl.SSLContext, google: Google) -> None:
    gateway = await asyncio.get_running_loop().create_server(lambda: Connection(google), "127.0.0.1", 0, ssl=context)
    port = gateway.sockets[0].getsockname()[1]
    proxy = await asyncio.start_server(functools.partial(tunnel, port, google), "127.0.0.1", 0)
    print(f"proxy: http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.gather(gateway.serve_forever(), proxy.serve_forever())


def main() -> None:
    certificate, key, account, record, *unregistered = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    with open(account, encoding="utf-8") as file, open(record, "w", encoding="utf-8") as lines:
        asyncio.run(serve(context, Google(json.load(file), lines, *(unregistered or [None]))))


main()
