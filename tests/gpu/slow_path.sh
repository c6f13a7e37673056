#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A search by models on a node with GPUs: a stand-in answers by HTTP on this machine in a model's place. The search is
# stopped after a while, as Ctrl-C does, and resumed; then it is looked at as a person would.
#   tests/gpu/slow_path.sh CUCOCTL [FOLDER]
# CUCOCTL: the program, or the folder of an unpacked bundle. The run file and all answers go to FOLDER.
# CUCO_SLOW_PATH_S (200) and CUCO_SLOW_PATH_RESUMED_S (200): when it is stopped, and when once more.
# CUCO_SLOW_PATH_GENERATIONS (4), CUCO_SLOW_PATH_RACED (6, choices of a candidate's tunables), CUCO_SLOW_PATH_NODE (local).
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cucoctl=${1:?usage: slow_path.sh CUCOCTL [FOLDER]}
[ -d "$cucoctl" ] && cucoctl=$cucoctl/bin/cucoctl
mkdir -p "${2:-slow-path-results}" || exit 3
out=$(cd "${2:-slow-path-results}" && pwd)
rm -f "$out/port" "$out"/run.cuco*

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
python3 "$root/tests/bench/ablation/standin_server.py" "$out/port" "$root/workloads/gemm_allgather" 2> "$out/server.log" &
server=$!
trap 'kill $server' EXIT
for _ in {1..100}; do [ -s "$out/port" ] && break; sleep 0.1; done
[ -s "$out/port" ] || { say "The stand-in does not start."; cat "$out/server.log"; exit 3; }

# Notes after three candidates: a short search would have none otherwise. A stand-in runs out of programs sooner than a model.
echo '{"summary_interval": 3, "substitutes_in_a_row": 1000, "raced_choices": '"${CUCO_SLOW_PATH_RACED:-6}}" > "$out/settings.json"
run=$out/run.cuco
timeout -s INT -k 60 "${CUCO_SLOW_PATH_S:-200}" "$cucoctl" run gemm_allgather --node "${CUCO_SLOW_PATH_NODE:-local}" --ranks 2 \
    --proposer llm --provider openai --base-url "http://127.0.0.1:$(cat "$out/port")/v1" --model stand-in \
    --slow-path "$out/settings.json" --generations "${CUCO_SLOW_PATH_GENERATIONS:-4}" --islands 2 --children 1 --out "$run" \
    > "$out/run.txt" 2>&1 < /dev/null
say "run ended with $?"
tail -n 40 "$out/run.txt"
if ! grep -q '"state": *"finished"' <("$cucoctl" show "$run" --json); then
    timeout -s INT -k 60 "${CUCO_SLOW_PATH_RESUMED_S:-200}" "$cucoctl" resume "$run" --trust-provider \
        > "$out/resume.txt" 2>&1 < /dev/null
    say "resume ended with $?"
    tail -n 20 "$out/resume.txt"
fi
"$cucoctl" show "$run" | tee "$out/show.txt"
"$cucoctl" show "$run" --json > "$out/show.json"
"$cucoctl" events "$run" > "$out/events.jsonl"
kinds=$(sed 's/.*"event":"\([^"]*\)".*/\1/' "$out/events.jsonl" | sort | uniq -c | tr -s ' \n' ' ')
say "$(wc -l < "$out/events.jsonl") events: $kinds"
"$cucoctl" scratchpad "$run"
"$cucoctl" scratchpad "$run" --show last
"$cucoctl" llm list "$run" > "$out/calls.txt"
say "$(tail -n 3 "$out/calls.txt")"
best=$(python3 -c '
import json, sys
timed = [c for c in json.load(open(sys.argv[1]))["candidates"] if c.get("speedup")]
print(max(timed, key=lambda c: c["speedup"])["id"] if timed else "")' "$out/show.json")
[ -n "$best" ] || { say "No candidate was timed."; exit 1; }
"$cucoctl" candidate "$run" "$best" | tee "$out/best.txt"
"$cucoctl" candidate "$run" "$best" --json > "$out/best.json"
"$cucoctl" candidate "$run" "$best" --diff > "$out/best.diff"
