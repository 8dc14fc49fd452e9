"""The webhook in pushspool.yaml(5): what it posts, and what it makes of each answer."""

import http.server
import os
import subprocess
import threading
import unittest

from spool import ROOT, SpoolTest

PAGE = os.path.join(ROOT, "etc", "man", "pushspool.yaml.5")
LINES = b'{"v":1,"kind":"job"}\n{"v":1,"kind":"notification","token":"\xc3\xb6"}\n'


def webhook():
    """The script of the page, as a reader sees its characters."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    start = page.index("#!/bin/sh\n")
    return page[start:page.index(".fi\n", start)].replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_):
        """Nothing is printed."""


class WebhookTests(SpoolTest):
    def setUp(self):
        super().setUp()
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
        self.server.requests = []
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.script = self.outside("post-feedback", webhook())
        self.secret = self.outside("shop.header", "authorization: bearer 0123456789abcdef\n")

    def run_hook(self, port):
        environment = {"PATH": os.environ["PATH"], "PUSHSPOOL_FILE": "/spool/weather/feedback/20261129T100000.000-1.jsonl"}
        command = ["sh", self.script, f"http://127.0.0.1:{port}/pushes", self.secret]
        return subprocess.run(command, input=LINES, env=environment, capture_output=True, timeout=60)

    def test_a_file_is_posted_whole_with_its_name_and_the_secret(self):
        self.server.status = 204
        result = self.run_hook(self.server.server_port)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
        [(path, headers, body)] = self.server.requests
        self.assertEqual((path, body), ("/pushes", LINES))
        names = {name.lower(): value for name, value in headers.items()}
        self.assertEqual(names["content-type"], "application/jsonl")
        self.assertEqual(names["idempotency-key"], "20261129T100000.000-1.jsonl")
        self.assertEqual(names["authorization"], "bearer 0123456789abcdef")

    def test_a_file_that_is_refused_for_ever_is_passed_over_and_all_else_comes_again(self):
        cases = {200: 0, 202: 0, 400: 65, 413: 65, 415: 65, 422: 65, 301: 1, 401: 1, 404: 1, 408: 1, 429: 1, 500: 1, 503: 1}
        for status, code in cases.items():
            with self.subTest(status=status):
                self.server.status = status
                result = self.run_hook(self.server.server_port)
                self.assertEqual(result.returncode, code)
                self.assertEqual(str(status).encode() in result.stdout, code != 0)

    def test_a_receiver_that_is_away_gets_the_file_again(self):
        # Nobody listens on port 1.
        result = self.run_hook(1)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"curl", result.stderr)


if __name__ == "__main__":
    unittest.main()
