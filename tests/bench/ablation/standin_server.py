#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""standin.py behind OpenAI's protocol on this machine, for searches that go through HTTP and cost nothing.

    standin_server.py PORT_FILE WORKLOAD [SECONDS]

Writes the port that it listens on to PORT_FILE. Answers are streamed over so many seconds (2). The first question is
refused once, as a busy server does."""

import http.server
import json
import pathlib
import subprocess
import sys
import threading
import time

STANDIN = pathlib.Path(__file__).with_name("standin.py")
WORKLOAD = sys.argv[2]
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 2
PIECES = 40
refused = threading.Event()


def answer_of(body):
    messages = [{"role": m["role"], "text": m["content"]} for m in body["messages"] if m["role"] != "system"]
    request = json.dumps({"messages": messages, "temperature": body.get("temperature")})
    return subprocess.run([sys.executable, STANDIN, WORKLOAD], input=request, capture_output=True, text=True, check=True).stdout


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not refused.is_set():
            refused.set()
            self.whole(429, {"error": {"message": "Too many requests.", "type": "rate_limit"}}, {"retry-after": "1"})
            return
        try:
            text = answer_of(body)
        except subprocess.CalledProcessError as failure:
            self.whole(400, {"error": {"message": failure.stderr[-400:], "type": "invalid_request"}}, {})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        size = len(text) // PIECES + 1
        for at in range(0, len(text), size):
            self.event(body, [{"index": 0, "delta": {"content": text[at:at + size]}}])
            time.sleep(SECONDS / PIECES)
        self.event(body, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
        asked = sum(len(m["content"]) for m in body["messages"])
        self.event(body, [], usage={"prompt_tokens": asked // 4, "completion_tokens": len(text) // 4})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def event(self, body, choices, **more):
        self.wfile.write(f"data: {json.dumps({'model': body['model'], 'choices': choices} | more)}\n\n".encode())
        self.wfile.flush()

    def whole(self, status, body, headers):
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in ({"content-type": "application/json", "content-length": str(len(text))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
pathlib.Path(sys.argv[1]).write_text(str(server.server_address[1]))
server.serve_forever()
