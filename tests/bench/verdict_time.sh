#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How long a verdict takes on a node with GPUs: of one candidate alone, and how many a minute one after the other while
# those behind are compiled. Building the harness and measuring the baselines are told apart.
#   tests/bench/verdict_time.sh CUCOCTL [WORKLOAD [RANKS [SHAPE...]]]
# CUCOCTL: the program, or the folder of an unpacked bundle. The candidates are the workload's strategies, three times over,
# at the search shapes or those that are named. CUCO_VERDICT_STAGES ("benchmark profile"): until when.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cucoctl=${1:?usage: verdict_time.sh CUCOCTL [WORKLOAD [RANKS [SHAPE...]]]}
[ -d "$cucoctl" ] && cucoctl=$cucoctl/bin/cucoctl
workload=${2:-gemm_allgather} ranks=${3:-2}
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
mkdir -p "$XDG_CACHE_HOME"

now_ms() { echo $(($(date +%s%N) / 1000000)); }
# timed WHAT COMMAND…: milliseconds in $took.
timed() {
    local what=$1 began
    shift
    began=$(now_ms)
    timeout -k 10 400 "$@" > "$work/out" 2>&1 < /dev/null || { echo "$what failed:"; tail -n 5 "$work/out"; exit 1; }
    took=$(($(now_ms) - began))
}
seconds() { awk -v ms="$1" 'BEGIN { printf "%.1f s", ms / 1000 }'; }

strategies=("$root/workloads/$workload"/strategies/*.cu)
one=${strategies[0]}
several=("${strategies[@]}" "${strategies[@]}" "${strategies[@]}")
options=(--node local --ranks "$ranks")
for shape in "${@:4}"; do options+=(--shape "$shape"); done
echo "$workload on $ranks of $(nvidia-smi -L | grep -c '^GPU ') $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1), $(nproc) CPU cores"
for stage in ${CUCO_VERDICT_STAGES:-benchmark profile}; do
    timed "one candidate, empty cache" "$cucoctl" eval "$workload" "$one" "${options[@]}" --stage "$stage"
    cold=$took
    timed "one candidate" "$cucoctl" eval "$workload" "$one" "${options[@]}" --stage "$stage"
    alone=$took
    grep -o 'Compiled in.*' "$work/out" | sed "s/^/  until $stage: /"
    timed "several candidates" "$cucoctl" eval "$workload" "${several[@]}" "${options[@]}" --stage "$stage"
    each=$(((took - alone) / (${#several[@]} - 1)))
    echo "  until $stage: first $(seconds "$cold"), with its cache $(seconds "$alone") (baselines measured in both)," \
        "each further one $(seconds "$each"): $(awk -v ms="$each" 'BEGIN { printf "%.1f", 60000 / ms }') a minute"
done
