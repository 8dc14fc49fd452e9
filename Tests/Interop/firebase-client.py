"""Sends messages with firebase-admin, Google's own library, to a simulated FCM on localhost, and counts the answers.

usage: firebase-client.py FCM_PORT OAUTH_PORT CA SERVICE_ACCOUNT COUNT BAD_TOKEN

Half of the COUNT messages go to registration tokens, half to installations. One more has every kind of option, and the last goes
to BAD_TOKEN. Prints one line: each answer and how often it came.
"""

import asyncio
import collections
import datetime
import json
import os
import secrets
import sys
import types

FCM_PORT, OAUTH_PORT, AUTHORITY, ACCOUNT, COUNT, BAD_TOKEN = sys.argv[1:]
os.environ["SSL_CERT_FILE"] = AUTHORITY

import firebase_admin  # noqa: E402
import google.auth.transport  # noqa: E402
import google.auth.transport.requests  # noqa: E402
import httpx  # noqa: E402
from firebase_admin import exceptions, messaging  # noqa: E402


class HTTP2Request(google.auth.transport.Request):
    """google-auth asks for tokens over HTTP/1.1; the simulator speaks only HTTP/2."""

    def __init__(self, session: object = None) -> None:
        """The session is for HTTP/1.1."""

    def __call__(self, url, method="GET", body=None, headers=None, timeout=30, **kwargs):
        with httpx.Client(http1=False, http2=True, timeout=timeout) as client:
            answer = client.request(method, url, content=body, headers=headers)
        return types.SimpleNamespace(status=answer.status_code, headers=answer.headers, data=answer.content)


def message(**target: str) -> messaging.Message:
    return messaging.Message(data={"order": "17"}, notification=messaging.Notification("Storm", "Öl ☂"), **target)


def rich_message() -> messaging.Message:
    settings = messaging.LightSettings("#ff8000", 250, 500)
    android = messaging.AndroidNotification(
        title="t", color="#ff8000", tag="x", body_loc_key="k", body_loc_args=["1", "2"], sticky=True, visibility="public",
        event_timestamp=datetime.datetime(2026, 11, 22, 6), vibrate_timings_millis=[100, 1500], notification_count=3,
        light_settings=settings, priority="high", proxy="if_priority_lowered")
    aps = messaging.Aps(alert=messaging.ApsAlert(title="t", body="b"), badge=1, sound="default", thread_id="x")
    return messaging.Message(
        topic="news", data={"a": "1"}, notification=messaging.Notification("Storm", image="https://example.com/i.png"),
        android=messaging.AndroidConfig(
            collapse_key="c", priority="high", ttl=datetime.timedelta(hours=1, milliseconds=500), data={"b": "2"},
            notification=android, fcm_options=messaging.AndroidFCMOptions("label"), direct_boot_ok=True),
        apns=messaging.APNSConfig(
            headers={"apns-priority": "10"}, payload=messaging.APNSPayload(aps, order=17),
            fcm_options=messaging.APNSFCMOptions("label", "https://example.com/i.png")),
        webpush=messaging.WebpushConfig(
            headers={"TTL": "60"}, data={"c": "3"}, notification=messaging.WebpushNotification(title="t", custom_data={"d": 4}),
            fcm_options=messaging.WebpushFCMOptions("https://example.com/")),
        fcm_options=messaging.FCMOptions("label"))


def outcome(response: messaging.SendResponse) -> str:
    error = response.exception
    if error is None:
        return "accepted" if response.message_id.startswith("projects/weather-4711/messages/") else response.message_id
    return type(error).__name__ if isinstance(error, exceptions.FirebaseError) else repr(error)


async def main() -> None:
    google.auth.transport.requests.Request = HTTP2Request
    messaging._MessagingService.FCM_URL = f"https://localhost:{FCM_PORT}/v1/projects/{{0}}/messages:send"
    with open(ACCOUNT, encoding="utf-8") as file:
        account = json.load(file)
    account["token_uri"] = f"https://localhost:{OAUTH_PORT}/token"
    firebase_admin.initialize_app(firebase_admin.credentials.Certificate(account))
    half = range(int(COUNT) // 2)
    messages = [message(token=f"{secrets.token_urlsafe(16)}:APA91b{secrets.token_urlsafe(90)}") for _ in half]
    messages += [message(fid=secrets.token_hex(11)) for _ in half]
    batch = await messaging.send_each_async([*messages, rich_message(), message(token=BAD_TOKEN)])
    answers = collections.Counter(outcome(response) for response in batch.responses)
    print(", ".join(f"{answer}: {times}" for answer, times in sorted(answers.items())))


asyncio.run(main())
