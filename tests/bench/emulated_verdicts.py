#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a verdict on the emulated node takes.

    emulated_verdicts.py CUCOCTL [WORKLOAD…]

`cucoctl eval` of each shipped strategy until the profile, one at a time, from the program's start to its end: compiling the
candidate, its run and its checking included. What is built or modelled once for all candidates (harness, oracle, baselines) is
there before; the rows "first" tell how long host.cu takes with an empty cache. CPU seconds are of all processes. Exit status
1 when a strategy takes longer than CUCO_VERDICT_LIMIT_S (10) seconds.
"""

import ctypes
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ("gemm_allgather", "kv_transfer", "moe_layer", "ring_attention")
PR_SET_CHILD_SUBREAPER = 36


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reap():
    """What a sandbox leaves behind for this process, so that its CPU time is counted."""
    try:
        while os.waitpid(-1, 0)[0]:
            pass
    except ChildProcessError:
        pass


def verdict(cucoctl, workload, source, environment):
    load, cpu, began = os.getloadavg()[0], cpu_s(), time.monotonic()
    command = [cucoctl, "eval", workload, str(source), "--node", "emulated", "--json"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, env=environment)
    wall = time.monotonic() - began
    reap()
    document = json.loads(run.stdout)
    document = document[0] if isinstance(document, list) else document
    return document, wall, cpu_s() - cpu, load


def row(workload, what, result):
    document, wall, cpu, load = result
    parts = " | ".join(f"{document.get(key, 0) / 1e3:.1f}" for key in ("compile_ms", "run_ms"))
    print(f"| {workload} | {what} | {document['verdict']} | {wall:.1f} | {cpu:.1f} | {parts} | {load:.1f} |", flush=True)
    return document["verdict"] == "verified"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    cucoctl, workloads = str(pathlib.Path(arguments[0]).resolve()), arguments[1:] or WORKLOADS
    limit = float(os.environ.get("CUCO_VERDICT_LIMIT_S", "10"))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    compiler = subprocess.run(["g++", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[0]
    print(f"{len(os.sched_getaffinity(0))} of {processor()}, {compiler}\n")
    print("| workload | strategy | verdict | wall, s | CPU, s | compiled in, s | run and checked in, s | load before |")
    print("|---|---|---|---|---|---|---|---|")
    failed, late = 0, []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        for workload in workloads:
            folder = ROOT / "workloads" / workload
            failed += not row(workload, "first: host", verdict(cucoctl, workload, folder / "host.cu", environment))
            for source in sorted((folder / "strategies").glob("*.cu")):
                result = verdict(cucoctl, workload, source, environment)
                failed += not row(workload, source.stem, result)
                if result[1] > limit:
                    late.append(f"{workload} {source.stem} by {result[1] - limit:.1f} s")
    print(f"\nLonger than {limit:g} s: {', '.join(late) or 'none'}.")
    sys.exit(1 if failed or late else 0)


main(sys.argv[1:])
