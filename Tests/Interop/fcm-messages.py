"""The same messages as a program sends them with firebase-admin, and as jobs. Compares the requests that come of them.

usage: fcm-messages.py send ACCOUNT         sends them with firebase-admin, through the proxy of the environment
       fcm-messages.py drop FOLDER          drops them as jobs into an app's folder, each once in pushspool's words and once
                                            in those of firebase-admin
       fcm-messages.py compare THEIRS OURS  compares the requests that two gateways recorded
       fcm-messages.py tokens THEIRS OURS   compares the requests for access tokens

These differences are intended:
- JSON does not order members, and characters may be escaped. So bodies are compared as parsed JSON.
- pushspool always writes the time to live: without one, FCM keeps a message for 28 days. It counts an expiration down to the
  moment of sending, in whole seconds. It also writes it for Apple's devices and browsers if the message has a part for them.
- FCM reads several spellings of a duration, a time and an enum, such as `1.500000000s` and `1.5s`, or `high` and `HIGH`.
- firebase-admin asks for access to six services of Google's, pushspool only to messaging. pushspool dates the assertion back by
  10 s, because clocks may be fast.
- firebase-admin also names its version and that of Python in headers, for Google's statistics.
"""

import asyncio
import base64
import collections
import datetime
import functools
import json
import os
import sys
import urllib.parse

import firebase_admin
from firebase_admin import _http_client
from firebase_admin import messaging as m

LONGEST_LIFE = 28 * 86_400
# The address of the message that doctor has FCM validate.
DOCTOR = "topic pushspool-doctor"
# How long a job may wait until it is sent, in seconds.
PATIENCE = 60


def token(name: str) -> str:
    return f"{name:-<22}:APA91b{'x' * 134}"


def fid(name: str) -> str:
    return f"{name:_<22}"


CHARACTERS = (
    "Ge\u00adwitter ⛈ \U0001f469\u200d\U0001f680 «Öl» \u05e9\u05dc\u05d5\u05dd e\u0301 \u2028 \" \\ / \x7f \x01 \t\n\r"
    " </script>")
LONG = "Wetter ☂ " * 300  # 3,300 bytes, near FCM's limit of 4,096
# #ff8000, as the library computes it.
ORANGE = {"red": 1.0, "green": 0.5019607843137255, "blue": 0.0, "alpha": 1.0}


def messages() -> list[m.Message]:
    """What firebase-admin sends. Each has an address of its own, by which its request is found."""
    hour = datetime.timedelta(hours=1)
    android_notification = m.AndroidNotification(
        title="t", body="b", icon="i", color="#ff8000", sound="s", tag="x", click_action="OPEN", body_loc_key="bk",
        body_loc_args=["1", "2"], title_loc_key="tk", title_loc_args=["3"], channel_id="weather",
        image="https://example.com/a.png", ticker="k", sticky=True, local_only=False, priority="max",
        event_timestamp=datetime.datetime(2026, 11, 22, 6, 30, 15, 250_000), vibrate_timings_millis=[100, 1500, 2000],
        default_vibrate_timings=False, default_sound=True, light_settings=m.LightSettings("#ff8000", 250, 1000),
        default_light_settings=False, visibility="secret", notification_count=3, proxy="if_priority_lowered")
    aps = m.Aps(
        alert=m.ApsAlert(
            title="t", subtitle="s", body="b", loc_key="k", loc_args=["1"], title_loc_key="tk", title_loc_args=["2"],
            action_loc_key="ak", launch_image="l", custom_data={"summary-arg": "x"}),
        badge=0, sound=m.CriticalSound("siren.caf", critical=True, volume=0.5), content_available=True, category="c",
        thread_id="th", mutable_content=True, custom_data={"interruption-level": "critical", "relevance-score": 0.75})
    web = m.WebpushNotification(
        title="t", body="b", icon="i", badge="bd",
        actions=[m.WebpushNotificationAction("a", "A", "i"), m.WebpushNotificationAction("b", "B")],
        data={"x": [1, None, 2.5]}, direction="rtl", image="im", language="he", renotify=True,
        require_interaction=False, silent=False, tag="tg", timestamp_millis=1_795_262_400_000, vibrate=[200, 100],
        custom_data={"extra": {"y": 1}})
    return [
        m.Message(token=token("notification"), notification=m.Notification(
            "Storm", "Within the hour", "https://example.com/i.png")),
        m.Message(token=token("data"), data={"order": "17", "big": "9007199254740993", "yes": "true", "list": "[1,{\"a\":2}]"}),
        m.Message(fid=fid("installation"), notification=m.Notification("Storm"), data={"order": "18"}),
        # The library removes the prefix; a job has the topic alone.
        m.Message(topic="/topics/news-%7Eall.1", notification=m.Notification(body="To all")),
        m.Message(condition="'storm' in topics && ('north' in topics || !('south' in topics))", data={"a": "1"}),
        m.Message(token=token("android"), data={"a": "1"}, android=m.AndroidConfig(
            collapse_key="storm", priority="high", ttl=hour, restricted_package_name="com.example.weather", data={"b": "2"},
            fcm_options=m.AndroidFCMOptions("label-1"), direct_boot_ok=True, bandwidth_constrained_ok=True,
            restricted_satellite_ok=False)),
        m.Message(token=token("androidnotification"), android=m.AndroidConfig(
            ttl=datetime.timedelta(days=1, milliseconds=500), notification=android_notification)),
        m.Message(
            token=token("shorthands"), notification=m.Notification("T", "B", "https://example.com/i.png"), data={"o": "1.0"},
            android=m.AndroidConfig(collapse_key="c", priority="normal", ttl=hour, notification=m.AndroidNotification(
                sound="default", channel_id="ch", tag="tg", icon="ic", color="#00ff00", click_action="GO", body_loc_key="bk",
                body_loc_args=["1"], notification_count=4))),
        m.Message(token=token("now"), data={"call": "7f1d"}, android=m.AndroidConfig(priority="high", ttl=0)),
        m.Message(token=token("apns"), notification=m.Notification("Storm"), apns=m.APNSConfig(
            headers={"apns-priority": "5", "apns-collapse-id": "c", "apns-expiration": "1795262400"},
            payload=m.APNSPayload(aps, order=17, nested={"a": [1, 2.5, None, True]}),
            fcm_options=m.APNSFCMOptions("label-2", "https://example.com/i.png"))),
        m.Message(token=token("liveactivity"), android=m.AndroidConfig(ttl=hour), apns=m.APNSConfig(
            live_activity_token="abcdef0123", payload=m.APNSPayload(m.Aps(custom_data={
                "event": "update", "timestamp": 1_795_262_400, "content-state": {"home": 2}})))),
        m.Message(token=token("webpush"), webpush=m.WebpushConfig(
            headers={"Urgency": "high", "TTL": "60"}, data={"c": "3"}, notification=web,
            fcm_options=m.WebpushFCMOptions("https://example.com/x?y=1"))),
        m.Message(
            fid=fid("everywhere"), notification=m.Notification("Storm"), android=m.AndroidConfig(ttl=hour),
            apns=m.APNSConfig(payload=m.APNSPayload(m.Aps(alert="Öl", sound="default"))),
            webpush=m.WebpushConfig(data={"c": "3"})),
        m.Message(token=token("options"), data={"a": "1"}, fcm_options=m.FCMOptions("a_label.of~all%")),
        m.Message(
            token=token("characters"), notification=m.Notification(CHARACTERS, CHARACTERS),
            data={CHARACTERS: CHARACTERS, "empty": ""}),
        m.Message(token=token("long"), data={"text": LONG}),
        *(m.Message(token=token(f"batch{number}"), data={"a": "1"}) for number in range(3)),
        *(m.Message(fid=fid(f"batch{number}"), data={"a": "1"}) for number in range(3)),
        m.Message(token=token("payload"), notification=m.Notification("Öl"), android=m.AndroidConfig(
            ttl=hour, direct_boot_ok=True)),
        m.Message(
            token=token("yaml"), notification=m.Notification("1984", "no"), data={"station": "66"},
            android=m.AndroidConfig(ttl=hour, notification=m.AndroidNotification(tag="y"))),
        m.Message(token=token("line1"), notification=m.Notification("Storm", "Prognose ☂"), android=m.AndroidConfig(ttl=hour)),
        m.Message(token=token("line2"), notification=m.Notification("Storm"), android=m.AndroidConfig(ttl=hour)),
    ]


def own_jobs() -> dict[str, str]:
    """The messages as the library encodes them, by the name of the file: lines for devices, documents for topics."""
    lines = [str(message) for message in messages()]
    shared = [line for line in lines if {"topic", "condition"} & json.loads(line).keys()]
    files = {f"own-{number}.json": line for number, line in enumerate(shared)}
    return files | {"own.jsonl": "".join(f"{line}\n" for line in lines if line not in shared)}


def jobs() -> dict[str, str]:
    """The same messages in pushspool's words, by the name of the file."""
    documents = {
        "notification": {"token": token("notification"), "alert": {"title": "Storm", "body": "Within the hour"},
                         "image": "https://example.com/i.png"},
        "data": {"token": token("data"),
                 "custom": {"order": 17, "big": 9007199254740993, "yes": True, "list": [1, {"a": 2}]}},
        "installation": {"fid": fid("installation"), "notification": {"title": "Storm"}, "data": {"order": "18"}},
        "topic": {"topic": "news-%7Eall.1", "alert": "To all"},
        "condition": {"condition": "'storm' in topics && ('north' in topics || !('south' in topics))", "data": {"a": "1"}},
        "android": {"token": token("android"), "data": {"a": "1"}, "expiration": "+1h", "android": {
            "collapse_key": "storm", "priority": "high", "restricted_package_name": "com.example.weather", "data": {"b": "2"},
            "fcm_options": {"analytics_label": "label-1"}, "direct_boot_ok": True, "bandwidth_constrained_ok": True,
            "restricted_satellite_ok": False}},
        "androidnotification": {"token": token("androidnotification"), "android": {"ttl": "86400.5s", "notification": {
            "title": "t", "body": "b", "icon": "i", "color": "#ff8000", "sound": "s", "tag": "x", "click_action": "OPEN",
            "body_loc_key": "bk", "body_loc_args": ["1", "2"], "title_loc_key": "tk", "title_loc_args": ["3"],
            "channel_id": "weather", "image": "https://example.com/a.png", "ticker": "k", "sticky": True, "local_only": False,
            "notification_priority": "PRIORITY_MAX", "event_time": "2026-11-22T06:30:15.25Z",
            "vibrate_timings": ["0.1s", "1.5s", "2s"], "default_vibrate_timings": False, "default_sound": True,
            "light_settings": {"color": ORANGE, "light_on_duration": "0.25s", "light_off_duration": "1s"},
            "default_light_settings": False, "visibility": "SECRET", "notification_count": 3,
            "proxy": "IF_PRIORITY_LOWERED"}}},
        "shorthands": {"token": token("shorthands"), "alert": {"title": "T", "body": "B", "loc-key": "bk", "loc-args": ["1"]},
                       "image": "https://example.com/i.png", "custom": {"o": 1.0}, "collapse_id": "c", "priority": 5,
                       "expiration": "+1h", "sound": "default", "channel_id": "ch", "tag": "tg", "icon": "ic",
                       "color": "#00ff00", "click_action": "GO", "badge": 4},
        "urgent-now": {"token": token("now"), "custom": {"call": "7f1d"}, "priority": "high", "expiration": "now"},
        "apns": {"token": token("apns"), "notification": {"title": "Storm"}, "apns": {
            "headers": {"apns-priority": "5", "apns-collapse-id": "c", "apns-expiration": "1795262400"},
            "payload": {"aps": {
                "alert": {"title": "t", "subtitle": "s", "body": "b", "loc-key": "k", "loc-args": ["1"], "title-loc-key": "tk",
                          "title-loc-args": ["2"], "action-loc-key": "ak", "launch-image": "l", "summary-arg": "x"},
                "badge": 0, "sound": {"name": "siren.caf", "critical": 1, "volume": 0.5}, "content-available": 1,
                "category": "c", "thread-id": "th", "mutable-content": 1, "interruption-level": "critical",
                "relevance-score": 0.75}, "order": 17, "nested": {"a": [1, 2.5, None, True]}},
            "fcm_options": {"analytics_label": "label-2", "image": "https://example.com/i.png"}}},
        "liveactivity": {"token": token("liveactivity"), "expiration": "+1h", "apns": {
            "live_activity_token": "abcdef0123",
            "payload": {"aps": {"event": "update", "timestamp": 1795262400, "content-state": {"home": 2}}}}},
        "webpush": {"token": token("webpush"), "webpush": {
            "headers": {"Urgency": "high", "TTL": "60"}, "data": {"c": "3"}, "notification": {
                "title": "t", "body": "b", "icon": "i", "badge": "bd", "data": {"x": [1, None, 2.5]}, "dir": "rtl", "image": "im",
                "actions": [{"action": "a", "title": "A", "icon": "i"}, {"action": "b", "title": "B"}], "lang": "he",
                "renotify": True, "requireInteraction": False, "silent": False, "tag": "tg", "timestamp": 1795262400000,
                "vibrate": [200, 100], "extra": {"y": 1}},
            "fcm_options": {"link": "https://example.com/x?y=1"}}},
        "everywhere": {"fid": fid("everywhere"), "notification": {"title": "Storm"}, "expiration": "+1h",
                       "apns": {"payload": {"aps": {"alert": "Öl", "sound": "default"}}}, "webpush": {"data": {"c": "3"}}},
        "options": {"token": token("options"), "data": {"a": "1"}, "fcm_options": {"analytics_label": "a_label.of~all%"}},
        "characters": {"token": token("characters"), "alert": {"title": CHARACTERS, "body": CHARACTERS},
                       "custom": {CHARACTERS: CHARACTERS, "empty": ""}},
        "long": {"token": token("long"), "data": {"text": LONG}},
        "batch": {"tokens": [token(f"batch{number}") for number in range(3)],
                  "fids": [fid(f"batch{number}") for number in range(3)], "data": {"a": "1"}},
        "payload": {"token": token("payload"), "expiration": "+1h",
                    "payload": '{ "notification" : {"title": "\\u00d6l"},\n "android": {"direct_boot_ok": true} }'},
    }
    files = {f"{name}.json": json.dumps(job, ensure_ascii=name == "webpush") for name, job in documents.items()}
    files["yaml.yaml"] = (
        f"token: {token('yaml')}\nalert: {{title: 1984, body: no}}\ncustom: {{station: 66}}\ntag: y\nexpiration: +1h\n")
    files["lines.jsonl"] = "".join(json.dumps(line) + "\n" for line in (
        {"job": {"count": 2}, "defaults": {"notification": {"title": "Storm"}, "expiration": "+1h"}},
        {"token": token("line1"), "notification": {"title": "Storm", "body": "Prognose ☂"}}, token("line2")))
    return files


async def send(account: str) -> None:
    """Sends all messages, and has FCM validate one as `pushspool doctor` does."""
    # google-auth reads the proxy from the environment. firebase-admin brings a transport of its own, which does not.
    _http_client.HttpxRetryTransport = functools.partial(
        _http_client.HttpxRetryTransport, proxy=os.environ["https_proxy"])
    firebase_admin.initialize_app(firebase_admin.credentials.Certificate(account))
    batch = await m.send_each_async(messages())
    faults = [repr(response.exception) for response in batch.responses if response.exception]
    await m.send_each_async([m.Message(topic="pushspool-doctor")], dry_run=True)
    print(f"accepted: {batch.success_count}", *faults)


def drop(folder: str) -> None:
    for name, text in (jobs() | own_jobs()).items():
        with open(f"{folder}/tmp/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(f"{folder}/tmp/{name}", f"{folder}/new/{name}")


def requests(path: str, authority: str) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if "headers" in line and line["headers"][":authority"] == authority]


def unique_members(pairs: list[tuple[str, object]]) -> dict:
    """An object's members. Two of one name are a fault that JSON parsers hide."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"an object has a member twice: {[name for name, _ in pairs]}")
    return members


def parse(body: str) -> dict:
    return json.loads(body, object_pairs_hook=unique_members)


def canonical(value: object, name: str = "") -> object:
    """A value of `android` as FCM reads it."""
    match value:
        case dict():
            return {key: canonical(item, key) for key, item in value.items()}
        case list():
            return [canonical(item, name) for item in value]
        case str() if name in ("ttl", "vibrate_timings", "light_on_duration", "light_off_duration"):
            return float(value.removesuffix("s"))
        case str() if name == "event_time":
            return datetime.datetime.fromisoformat(value).timestamp()
        case str() if name == "priority":
            return value.upper()
    return value


def settle(ours: dict, theirs: dict, sent: float) -> list[str]:
    """Removes the times to live from two messages. Returns what is wrong with ours."""
    life = theirs.get("android", {}).pop("ttl", LONGEST_LIFE)
    left = ours["android"].pop("ttl", None)
    faults = [] if left is not None and max(0, life - PATIENCE) <= left <= life else [f"ttl {left} instead of {life}"]
    for part, header, base in (("apns", "apns-expiration", sent), ("webpush", "TTL", 0)):
        headers = ours.get(part, {}).get("headers", {})
        if part in theirs and header not in theirs[part].get("headers", {}):
            if header not in headers:
                faults.append(f"no {header}")
                continue
            value = int(headers.pop(header))
            if not base + life - PATIENCE <= value <= base + life:
                faults.append(f"{header} {value} of {life}")
    for message in (ours, theirs):
        for part in ("apns", "webpush"):
            if message.get(part, {}).get("headers") == {}:
                del message[part]["headers"]
        if message.get("android") == {}:
            del message["android"]
    return faults


def by_address(path: str) -> dict[str, list[dict]]:
    """The recorded messages by their address."""
    found = collections.defaultdict(list)
    for line in requests(path, "fcm.googleapis.com"):
        message = parse(line["body"])["message"]
        found[next(f"{kind} {message[kind]}" for kind in ("token", "fid", "topic", "condition") if kind in message)].append(line)
    return found


def compare(theirs_path: str, ours_path: str) -> None:
    theirs, ours = by_address(theirs_path), by_address(ours_path)
    counts: collections.Counter[str] = collections.Counter()
    for address in sorted(theirs.keys() | ours.keys()):
        wanted = (1, 1) if address == DOCTOR else (1, 2)
        if (len(theirs[address]), len(ours[address])) != wanted:
            print(f"{address}: came {len(theirs[address])} and {len(ours[address])} times, not {wanted[0]} and {wanted[1]}")
            continue
        for line in ours[address]:
            counts[judge(address, theirs[address][0], line)] += 1
    print(", ".join(f"{verdict}: {count}" for verdict, count in sorted(counts.items())))


def judge(address: str, theirs: dict, ours: dict) -> str:
    """Compares two requests of one message, and prints differences."""
    faults = [
        f"{name}: {ours['headers'].get(name)}, not {theirs['headers'].get(name)}"
        for name in (":method", ":scheme", ":authority", ":path", "content-type", "x-goog-api-format-version")
        if theirs["headers"].get(name) != ours["headers"].get(name)]
    for line in (theirs, ours):
        # The gateway has checked the token.
        if line["answer"] != 200 or not line["headers"]["authorization"].startswith("Bearer "):
            faults.append(f"answer {line['answer']} to {line['headers']['authorization'].split(' ')[0]}")
        if "stream" not in line:
            faults.append("not over HTTP/2")
        if int(line["headers"]["content-length"]) != len(line["body"].encode()):
            faults.append(f"content-length: {line['headers']['content-length']}")
    their_body, our_body = parse(theirs["body"]), parse(ours["body"])
    is_trial = "validate_only" in our_body
    for body in (their_body, our_body):
        if "android" in body["message"]:
            body["message"]["android"] = canonical(body["message"]["android"])
    if not is_trial:
        faults += settle(our_body["message"], their_body["message"], ours["at"])
    if their_body != our_body:
        faults.append(f"body:\n  theirs {theirs['body']}\n  ours   {ours['body']}")
    for fault in faults:
        print(f"{address}: {fault}")
    return "different" if faults else "validated" if is_trial else "same"


def assertion(line: dict) -> tuple[list[str], str, dict, dict]:
    """The names in the form, the kind of grant, and the assertion's header and claims."""
    form = dict(urllib.parse.parse_qsl(line["body"], strict_parsing=True))
    parts = form["assertion"].split(".")
    header, claims = (json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2])
    return sorted(form), form["grant_type"], header, claims


def compare_tokens(theirs_path: str, ours_path: str) -> None:
    theirs, ours = (requests(path, "oauth2.googleapis.com")[0] for path in (theirs_path, ours_path))
    faults = [
        f"{name}: {ours['headers'][name]}, not {theirs['headers'][name]}"
        for name in (":method", ":scheme", ":authority", ":path", "content-type")
        if theirs["headers"][name] != ours["headers"][name]]
    (*their_form, their_claims), (*our_form, our_claims) = assertion(theirs), assertion(ours)
    if their_form != our_form:
        faults.append(f"form and header: {our_form}, not {their_form}")
    their_scopes = their_claims.pop("scope").split(" ")
    scopes, age = our_claims.pop("scope").split(" "), int(ours["at"]) - our_claims["iat"]
    for claims in (their_claims, our_claims):
        claims["exp"] -= claims.pop("iat")
    if their_claims != our_claims:
        faults.append(f"claims: {our_claims}, not {their_claims}")
    if not 10 <= age <= 10 + PATIENCE or scopes != ["https://www.googleapis.com/auth/firebase.messaging"]:
        faults.append(f"issued {age} s before it came, for {scopes}")
    print(*faults or [f"same, for 1 scope instead of {len(their_scopes)}"], sep="\n")


match sys.argv[1:]:
    case ["send", account]:
        asyncio.run(send(account))
    case ["drop", folder]:
        drop(folder)
    case ["compare", theirs_path, ours_path]:
        compare(theirs_path, ours_path)
    case ["tokens", theirs_path, ours_path]:
        compare_tokens(theirs_path, ours_path)
