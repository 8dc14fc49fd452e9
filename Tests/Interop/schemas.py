"""Compares the schemas that `pushspool schema` prints with the readers: a validator of others and the program must agree.

Usage: schemas.py PROGRAM TOP
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema
import yaml

TOKEN = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"
ANDROID = "dQw4w9WgXcQ-_AbCdEfGhI:APA91bHcX0u3rZtY8kq2"
ALERT = f'{{"token": "{TOKEN}", "alert": "x"'
DROID = f'{{"token": "{ANDROID}", "alert": "x"'
HTTP2 = "protocol: http2\nenvironment: sandbox\ntopic: com.example.weather\n"
KEY = "credentials: {token: {key: k.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}\n"
APP = HTTP2 + KEY
FCM = "protocol: fcm\ncredentials: {service_account: a.json}\n"
BINARY = "protocol: binary\nenvironment: sandbox\ncredentials: {certificate: a.pem}\n"
DOORS = "producers: {a: {apps: [weather], bearer_file: b}}\n"

# Both refuse these: unknown keys, other types, values out of range, what is missing, keys of another protocol.
REFUSED = [
    ("job", ALERT + ', "alrt": 1}'), ("job", ALERT + ', "priority": "10"}'), ("job", ALERT + ', "priority": 7}'),
    ("job", ALERT + ', "badge": -1}'), ("job", ALERT + ', "badge": "1"}'), ("job", ALERT + ', "lane": "slow"}'),
    ("job", ALERT + ', "strict": 1}'), ("job", ALERT + ', "count": -1}'), ("job", ALERT + ', "count": 1.5}'),
    ("job", ALERT + ', "record": "some"}'), ("job", ALERT + ', "on_doubt": "drop"}'),
    ("job", ALERT + ', "give_up_after": "4 hours"}'), ("job", ALERT + ', "give_up_after": 60}'),
    ("job", ALERT + ', "not_before": "tomorrow"}'), ("job", ALERT + ', "not_before": 60}'),
    ("job", ALERT + ', "push_type": "alerts"}'), ("job", ALERT + ', "apns_id": "1"}'),
    ("job", ALERT + ', "collapse_id": ""}'), ("job", ALERT + f', "collapse_id": "{"x" * 65}"}}'),
    ("job", ALERT + ', "content_available": 2}'), ("job", ALERT + ', "custom": []}'), ("job", ALERT + ', "custom": "x"}'),
    ("job", ALERT + ', "expiration": 3600}'), ("job", ALERT + ', "thread_id": 17}'), ("job", ALERT + ', "category": 17}'),
    ("job", ALERT + ', "topic": 17}'), ("job", ALERT + ', "expiration": "soon"}'), ("job", ALERT + ', "sound": 1}'), ("job", ALERT + ', "thread_id": {}}'),
    ("job", ALERT + ', "notification": {}}'), ("job", ALERT + ', "tokens": ["ab"]}'), ("job", '{"alert": "x"}'),
    ("job", '{"tokens": [], "alert": "x"}'), ("job", '{"tokens": "ab", "alert": "x"}'),
    ("job", '{"tokens": {"a": 1}, "alert": "x"}'), ("job", '{"recipients": {}, "alert": "x"}'), ("job", '[]'),
    ("job", f'{{"recipients": [{{"token": "{TOKEN}", "badge": "1"}}], "alert": "x"}}'),
    ("job", f'{{"recipients": [{{"token": "{TOKEN}", "lane": "bulk"}}], "alert": "x"}}'),
    ("job", '{"recipients": [{"badge": 1}], "alert": "x"}'), ("job", '{"token": 17, "alert": "x"}'),
    ("fcm", DROID + ', "push_type": "alert"}'), ("fcm", DROID + ', "badge": 0}'), ("fcm", DROID + ', "priority": 1}'),
    ("fcm", DROID + ', "priority": "urgent"}'), ("fcm", DROID + ', "color": "red"}'), ("fcm", DROID + ', "sound": {}}'),
    ("fcm", '{"topic": "a b", "alert": {"titel": "x"}}'), ("fcm", '{"token": "short", "alert": "x"}'),
    ("fcm", '{"alert": "x"}'), ("fcm", f'{{"token": "{ANDROID}", "notification": {{"titel": "x"}}}}'),
    ("fcm", f'{{"token": "{ANDROID}", "data": {{"a": 1}}}}'), ("fcm", f'{{"token": "{ANDROID}", "data": {{"a": {{}}}}}}'),
    ("fcm", f'{{"token": "{ANDROID}", "android": {{"ttl": "1h"}}}}'),
    ("fcm", f'{{"token": "{ANDROID}", "android": {{"notification": {{"sticky": "yes"}}}}}}'),
    ("fcm", f'{{"token": "{ANDROID}", "android": {{"notification": {{"visibility": "HIDDEN"}}}}}}'),
    ("app", "environment: sandbox\n" + KEY), ("app", "protocol: http2\n" + KEY), ("app", HTTP2),
    ("app", APP + "conections: 2\n"), ("app", APP + "connections: 0\n"), ("app", APP + "connections: 101\n"),
    ("app", APP + "connections: many\n"), ("app", APP + "rate: 5000\n"), ("app", APP + "rate: 5/d\n"),
    ("app", APP + "on_doubt: drop\n"), ("app", APP + "suppress: 1\n"), ("app", APP + "timeouts: {connect: 15}\n"),
    ("app", APP + "timeouts: {conect: 15s}\n"), ("app", APP + "timeouts: 15s\n"), ("app", APP + "retry: {later: soon}\n"),
    ("app", APP + "window: 0\n"), ("app", APP + "binary: {window: 5}\n"), ("app", APP + "project: a-1\n"),
    ("app", APP + "hook: []\n"), ("app", APP + "channels: {a: {policy: latest}}\n"), ("app", APP.replace("sandbox", "test")),
    ("app", APP + "channels: [a]\n"), ("app", APP.replace("http2", "http3")), ("app", APP.replace("ABC123DEFG", "abc")),
    ("app", HTTP2 + "credentials: {token: {key: k.p8, key_id: ABC123DEFG}}\n"), ("app", HTTP2 + "credentials: {}\n"),
    ("app", HTTP2 + "credentials: {certificate: a.pem, pkcs12: b.p12}\n"), ("app", FCM + "environment: sandbox\n"),
    ("app", FCM + "connections: 17\n"), ("app", FCM + "window: 101\n"), ("app", FCM + "topic: com.example.weather\n"),
    ("app", "protocol: fcm\ncredentials: {}\n"), ("app", "protocol: fcm\ncredentials: {certificate: a.pem}\n"),
    ("app", FCM + "unknown_fields: ignore\n"), ("app", BINARY + "window: 5\n"), ("app", BINARY + "proxy: http://a:1\n"),
    ("app", BINARY + "binary: {format: old}\n"), ("app", BINARY.replace("{certificate: a.pem}", "{service_account: a}")),
    ("daemon", "spol: a\n"), ("daemon", "spool: [a]\n"), ("daemon", "limits: {document: 64MB}\n"),
    ("daemon", "limits: {document: 5}\n"), ("daemon", "limits: {nesting: 3}\n"), ("daemon", "limits: 5\n"),
    ("daemon", "limits: {free_space: much}\n"), ("daemon", "intake: {settle: 1}\n"), ("daemon", "intake: {dedupe_content: 1}\n"),
    ("daemon", "intake: {require_end: always}\n"), ("daemon", "journal: {sync_records: 0}\n"), ("daemon", "cluster: 1\n"),
    ("daemon", "cluster: {leas: 5s}\n"), ("daemon", "archive: {keep_done: ever}\n"), ("daemon", "log: {level: loud}\n"),
    ("daemon", "log: {format: xml}\n"), ("daemon", "metrics: {public: 1}\n"), ("daemon", "control: {grup: a}\n"), ("daemon", "[]\n"),
    ("doors", DOORS + "htp: {listen: 127.0.0.1:8088}\n"), ("doors", DOORS + "http: {}\n"), ("doors", DOORS + "apns: {listen: 127.0.0.1:1}\n"),
    ("doors", DOORS + "xmlrpc: {listen: 127.0.0.1:7077, provision: any}\n"), ("doors", DOORS + "zeromq: {app: weather}\n"),
    ("doors", DOORS + "limits: {waiting: 0}\n"), ("doors", DOORS + "group: {requests: 1025}\n"),
    ("doors", "producers: {a: {bearer_file: b}}\n"), ("doors", "producers: {a: {apps: [weather]}}\n"),
    ("doors", "producers: {a: {apps: weather, bearer_file: b}}\n"), ("doors", "producers: {a: {apps: [weather], bearer_file: b, rat: 5/s}}\n"),
    ("doors", "producers: {a: {apps: [weather], bearer_file: b, certificate: c}}\n"), ("doors", "producers: [a]\n"),
]

# Both take these: null counts as absent, and what YAML allows.
VALID = [
    ("job", ALERT + ', "badge": null, "lane": null}'), ("job", ALERT + ', "id": 17}'), ("job", ALERT + ', "collapse_id": 17}'),
    ("job", ALERT + ', "expiration": 0}'), ("job", ALERT + ', "expiration": 1795000000}'), ("job", ALERT + ', "expiration": "now"}'),
    ("job", f'{{"recipients": [{{"token": "{TOKEN}", "badge": 1}}], "alert": {{"title": "x"}}}}'),
    ("job", f'{{"tokens": ["{TOKEN}"], "payloads": [{{"aps": {{"alert": "x"}}}}]}}'),
    ("job", f'{{"token": "{TOKEN}", "payload": "{{\\"aps\\": {{\\"alert\\": \\"x\\"}}}}"}}'),
    ("fcm", DROID + ', "priority": "high"}'), ("fcm", '{"topic": "news", "alert": "x"}'), ("fcm", DROID + ', "badge": 2}'),
    ("fcm", f'{{"fid": "cIZ1_aBcDeFgHiJkLmNoPq", "data": {{"a": "1"}}}}'),
    ("fcm", f'{{"token": "{ANDROID}", "fcmOptions": {{"analyticsLabel": "a"}}, "notification": {{"title": "x"}}}}'),
    ("fcm", f'{{"token": "{ANDROID}", "android": {{"notification": {{"bodyLocKey": "a", "visibility": "secret"}}}}}}'),
    ("app", APP), ("app", APP + "rate: null\nhook: [a, b]\nwindow: 5\nchannels: {a: dHN0LXNyY2gtY2hubA==}\n"),
    ("app", APP + "timeouts: {connect: 15 s}\nretry: {ceiling: 4h}\n"), ("app", APP.replace("ABC123DEFG", "1234567890")),
    ("app", FCM + "project: 123456789012\nunknown_fields: warn\n"), ("app", BINARY + "binary: {format: simple}\nfeedback_service: {}\n"),
    ("daemon", "{}\n"), ("daemon", "cluster: true\n"), ("daemon", "cluster: {lease: 5s}\n"), ("daemon", "archive: {keep_done: 0, keep_failed: forever}\n"),
    ("daemon", "limits: {free_space: auto, document: 65536, line: 16KiB}\nnode: null\n"), ("daemon", "metrics: {listen: \"127.0.0.1:9090\"}\n"),
    ("doors", DOORS + "http: {listen: 127.0.0.1:8088}\n"), ("doors", "producers: {a: {apps: \"*\", bearer_file: b}}\nhttp: {listen: 127.0.0.1:8088}\n"),
    ("doors", "producers: {a: {apps: [weather], key: k, key_id: ABC123DEFG, team_id: DEF123GHIJ}}\n"),
]

# Only the reader refuses these: rules over several keys, what a value means, sizes after encoding, and limits of durations.
BEYOND = {
    "a payload and shorthands": ("job", ALERT + ', "payload": {"aps": {}}}'),
    "a payload must be there": ("job", f'{{"token": "{TOKEN}"}}'),
    "as many payloads as tokens": ("job", f'{{"tokens": ["{TOKEN}"], "payloads": [{{}}, {{}}]}}'),
    "payloads only with tokens": ("job", ALERT + ', "payloads": [{}]}'),
    "a token that is neither hexadecimal nor base64": ("job", '{"token": "740f4", "alert": "x"}'),
    "a payload of more than 4096 bytes": ("job", f'{{"token": "{TOKEN}", "alert": "{"x" * 5000}"}}'),
    "a collapse id of more than 64 bytes, but not characters": ("job", ALERT + f', "collapse_id": "{"é" * 40}"}}'),
    "a priority that does not fit the push type": ("job", ALERT + ', "push_type": "location", "priority": 1}'),
    "a whole number with a fraction of zeros: JSON Schema cannot tell 3.0 from 3": ("job", ALERT + ', "badge": 3.0}'),
    "members that a push type needs": ("job", ALERT + ', "push_type": "liveactivity"}'),
    "custom must not have aps": ("job", ALERT + ', "custom": {"aps": {}}}'),
    "a time that is not in the calendar": ("job", ALERT + ', "expiration": "2026-13-22T06:00:00Z"}'),
    "a form of its own besides null": ("job", '{"token": null, "alert": "x"}'),
    "a duration of 0": ("job", ALERT + ', "give_up_after": "0s"}'),
    "a topic's characters": ("fcm", '{"topic": "a b", "alert": "x"}'),
    "a condition's syntax": ("fcm", '{"condition": "a in", "alert": "x"}'),
    "a time to live of more than 28 days": ("fcm", f'{{"token": "{ANDROID}", "android": {{"ttl": "2419201s"}}}}'),
    "keys that FCM reserves": ("fcm", f'{{"token": "{ANDROID}", "data": {{"from": "a"}}}}'),
    "members beside shorthands": ("fcm", DROID + ', "data": {"a": "b"}}'),
    "a topic and a token": ("fcm", DROID + ', "topic": "news"}'),
    "a duration out of range": ("app", APP + "timeouts: {connect: 2h}\n"),
    "a pause longer than its ceiling": ("app", APP + "retry: {later: 1m, ceiling: 30s}\n"),
    "a rate of 0": ("app", APP + "rate: 0/s\n"),
    "an address": ("app", APP + "gateway: https://example.com\n"),
    "a topic's form": ("app", APP.replace("com.example.weather", "com..weather")),
    "a key for a token": ("app", APP.replace("}}", "}, key: a.pem}")),
    "two passphrases": ("app", BINARY.replace("a.pem", "a.pem, passphrase_file: a, passphrase_env: B")),
    "a channel's id": ("app", APP + "channels: {a: b}\n"),
    "a flush probe without identifiers": ("app", BINARY + "binary: {format: simple, confirm: probe}\n"),
    "a node's name": ("daemon", "node: public\n"),
    "a size out of range": ("daemon", "limits: {document: 2GiB}\n"),
    "duplicates by content without dedupe": ("daemon", "intake: {dedupe: 0, dedupe_content: true}\n"),
    "feedback that nobody could read": ("daemon", "archive: {keep_feedback: 0}\n"),
    "public metrics": ("daemon", "metrics: {listen: \"0.0.0.0:9090\"}\n"),
    "a door without producers": ("doors", "http: {listen: 127.0.0.1:8088}\n"),
    "a door that is open to other hosts": ("doors", DOORS + "zeromq: {bind: \"tcp://0.0.0.0:1\", app: weather}\n"),
}

# Only the schema refuses these: YAML gives them a type, and the reader reads their text. A schema that took numbers here would
# take them from JSON too, which the reader refuses.
STRICTER = {
    "a token of digits alone, without quotes, in YAML": ("job-yaml", f"token: {'1' * 64}\nalert: x\n"),
    "a duration of seconds, without quotes, in YAML": ("job-yaml", f"token: {TOKEN}\nalert: x\nexpiration: +3600\n"),
    "a thread's digits, without quotes, in YAML": ("job-yaml", f"token: {TOKEN}\nalert: x\nthread_id: 17\n"),
    "a category's digits, without quotes, in YAML": ("job-yaml", f"token: {TOKEN}\nalert: x\ncategory: 17\n"),
    "a topic's digits, without quotes, in YAML": ("job-yaml", f"token: {TOKEN}\nalert: x\ntopic: 17\n"),
}


class Loader(yaml.SafeLoader):
    """The core schema of YAML 1.2: no times, no `yes`, no octal numbers with a leading 0."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"), ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
]:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first))


class Check:
    """The program and its schemas."""

    def __init__(self, program, folder):
        self.program, self.folder, self.failures, self.count = program, folder, 0, 0
        self.schemas = {}
        for kind in ["job", "app", "daemon", "doors"]:
            schema = json.loads(self.run("schema", kind).stdout)
            jsonschema.Draft202012Validator.check_schema(schema)
            self.schemas[kind] = jsonschema.Draft202012Validator(schema)
            if kind == "job":
                # A job does not say whose it is, but its app does.
                for name, part in [("job-yaml", "APNsJob"), ("apns", "APNsJob"), ("fcm", "FCMJob")]:
                    narrow = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
                    self.schemas[name] = jsonschema.Draft202012Validator(narrow)
        (folder / "apps").mkdir()
        key = subprocess.run(["openssl", "genpkey", "-algorithm", "RSA"], capture_output=True, check=True, text=True).stdout
        account = {
            "type": "service_account", "project_id": "weather-4711", "private_key": key, "private_key_id": "1",
            "client_email": "a@weather-4711.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token"}
        (folder / "apps/a.json").write_text(json.dumps(account))
        (folder / "apps/a.json").chmod(0o600)
        (folder / "pushspool.yaml").write_text("spool: spool\nstate: state\n")

    def run(self, *words):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)

    def validates(self, kind, text):
        """Whether the schema takes a document."""
        document = yaml.load(text, Loader)
        own = self.schemas["apns" if kind == "job" else kind].is_valid(document)
        assert self.schemas["job"].is_valid(document) or not own or kind not in ["job", "fcm"]
        return own

    def reads(self, kind, text):
        """Whether the reader takes a document. Its faults have a place; those of a missing key file have none."""
        place = {"daemon": "pushspool.yaml", "doors": "doors.yaml", "app": "apps/x.yaml", "job-yaml": "job.yaml"}.get(kind, "job.json")
        for old in ["doors.yaml", "apps/x.yaml", "apps/droid.yaml"]:
            (self.folder / old).unlink(missing_ok=True)
        config = self.folder / "pushspool.yaml"
        config.write_text("spool: spool\nstate: state\n")
        if kind == "fcm":
            (self.folder / "apps/droid.yaml").write_text(FCM)
        (self.folder / place).write_text(text)
        of_app = ["--app", "droid"] if kind == "fcm" else ["--jobs-only"]
        words = [*of_app, self.folder / place] if place.startswith("job.") else []
        result = self.run("check", "--config", config, *words)
        return not re.search(re.escape(str(self.folder / place)) + r"(:\d+:\d+)?: error: (?!credentials[.:a-z_]* .*No such file)", result.stderr)

    def expect(self, name, kind, text, validates, reads):
        """Reports a document that the schema or the reader judges in another way."""
        self.count += 1
        found = self.validates(kind, text), self.reads(kind, text)
        if found != (validates, reads):
            self.failures += 1
            print(f"FAIL {name}: {kind}: schema {found[0]}, reader {found[1]}: {text[:200]!r}")


def samples(top):
    """The documents that the project ships: samples, and the examples of the README."""
    for file in sorted((top / "etc/jobs").glob("*.yaml")):
        yield file.name, "fcm" if file.name.startswith("fcm") else "job", file.read_text()
    for file in sorted((top / "etc/apps").glob("*.sample")):
        yield file.name, "app", file.read_text()
    yield "pushspool.yaml", "daemon", (top / "etc/pushspool.yaml").read_text()
    yield "doors.yaml", "doors", (top / "etc/doors.yaml").read_text()
    for words, text in re.findall(r"^```(.*)\n((?:.*\n)*?)```$", (top / "README.md").read_text(), re.M):
        words = words.split()
        if words[:1] in [["json"], ["yaml"]] and not {"result", "app", "door", "wrong"} & set(words):
            yield "README.md", "fcm" if "fcm" in words else "job", text


def main():
    program, top = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        check = Check(program, pathlib.Path(folder))
        shipped = list(samples(top))
        for name, kind, text in shipped:
            check.count += 1
            if not check.validates(kind, text):
                check.failures += 1
                print(f"FAIL {name}: the schema refuses it")
        for kind, text in VALID:
            check.expect("valid", kind, text, True, True)
        for kind, text in REFUSED:
            check.expect("faulty", kind, text, False, False)
        for name, (kind, text) in BEYOND.items():
            check.expect(name, kind, text, True, False)
        for name, (kind, text) in STRICTER.items():
            check.expect(name, kind, text, False, True)
        print(f"{check.count} documents ({len(shipped)} shipped, {len(VALID)} valid, {len(REFUSED)} faulty,"
              f" {len(BEYOND)} beyond a schema): {check.failures} judged in different ways")
    sys.exit(1 if check.failures else 0)


main()
