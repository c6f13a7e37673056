# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWS's own library makes of requests that were signed: reads a list of {"request": head and body as they came,
"access_key", "secret_key", "token", "region"} and writes the authorization header that botocore computes for each, one
a line."""
import json
import sys

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

for given in json.load(sys.stdin):
    head, body = given["request"].split("\r\n\r\n", 1)
    lines = head.split("\r\n")
    method, path, _ = lines[0].split(" ")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    headers = {name.lower(): value for name, value in headers.items()}
    signed = headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    request = AWSRequest(method=method, url="http://" + headers["host"] + path, data=body.encode(),
                         headers={name: headers[name] for name in signed})
    request.context["timestamp"] = headers["x-amz-date"]
    credentials = Credentials(given["access_key"], given["secret_key"], given["token"] or None)
    auth = SigV4Auth(credentials, "bedrock", given["region"])
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    auth._inject_signature_to_request(request, signature)
    print(request.headers["Authorization"])
